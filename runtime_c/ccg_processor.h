/* Which processor a thread runs on.

   Some systems wake a thread on the processor of the one that wakes it, and leave it there though
   another processor is idle: the two then run by turns. So the thread that was woken moves away,
   and stays off that processor until it meets the other thread on a different one.

   That takes functions which Linux has beside those of POSIX: nothing happens elsewhere, nor where
   _GNU_SOURCE was not defined before the first header. The C library has had two of them in more
   than one version, and is asked for none (see ccg_number.h). */
#ifndef CCG_PROCESSOR_H
#define CCG_PROCESSOR_H

#include "ccg_base.h"

#if defined(__linux__) && defined(_GNU_SOURCE) && defined(__GNUC__) && !defined(CCG_PLAIN)

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef cpu_set_t ccg_processors;

/* The number of the processor that this thread is on; negative where it is not known. */
CCG_INLINE int ccg_this_processor(void)
{
    return sched_getcpu();
}

/* Those that this thread may run on; none where they are not known. */
CCG_INLINE ccg_processors ccg_own_processors(void)
{
    cpu_set_t own;
    CPU_ZERO(&own);
    if (syscall(SYS_sched_getaffinity, 0, sizeof own, &own) < 0) {
        CPU_ZERO(&own);
    }
    return own;
}

/* If this thread is on that processor, moves it to the others of its own, if there are any; until
   the next move it runs on those only. */
CCG_INLINE void ccg_leave_processor(int processor, const ccg_processors *own)
{
    cpu_set_t others;
    if (processor < 0 || processor != sched_getcpu()) {
        return;
    }
    others = *own;
    CPU_CLR((size_t)processor, &others);
    if (CPU_COUNT(&others) > 0) {
        (void)syscall(SYS_sched_setaffinity, 0, sizeof others, &others);
    }
}

#else

typedef int ccg_processors;

CCG_INLINE int ccg_this_processor(void)
{
    return -1;
}

CCG_INLINE ccg_processors ccg_own_processors(void)
{
    return 0;
}

CCG_INLINE void ccg_leave_processor(int processor, const ccg_processors *own)
{
    (void)processor;
    (void)own;
}

#endif

#endif
