/* The threads of a program that is loaded into a process: a pool of its own, which ends when the
   program is unloaded. One file of a program defines CCG_THREADS, how many share a call, and
   includes this header, which defines ccg_shared_threads. */
#ifndef CCG_OWN_POOL_H
#define CCG_OWN_POOL_H

#define _GNU_SOURCE 1 /* ccg_processor.h */
#include "ccg_pool.h"

static ccg_pool ccg_own_pool CCG_ALIGNED(128) = CCG_POOL(CCG_THREADS);

extern const ccg_threads ccg_shared_threads;
const ccg_threads ccg_shared_threads = {ccg_pool_run, &ccg_own_pool};

CCG_AT_UNLOAD static void ccg_end_threads(void)
{
    ccg_pool_stop(&ccg_own_pool);
}

#endif
