/* Threads that the caller supplies: how to do the turns of a loop side by side.

   A program asks for this only where the turns are independent and many; which thread does which
   of them changes no bit of the result. */
#ifndef CCG_THREADS_H
#define CCG_THREADS_H

#include <stddef.h>

/* Does turns begin ... end - 1 of a loop. Safe to run beside other turns of the same loop. */
typedef void ccg_part(void *context, ptrdiff_t begin, ptrdiff_t end);

/* Calls part(context, begin, end) for ranges that make up 0 ... count - 1, on any threads and in
   any order, and returns when all are done. pool: as in ccg_threads. */
typedef void ccg_parallel_for(void *pool, ptrdiff_t count, ccg_part *part, void *context);

typedef struct ccg_threads {
    ccg_parallel_for *run;
    void *pool; /* the caller's own, handed to run as it is */
} ccg_threads;

/* All turns of a loop. threads: null means one turn after the other. */
static inline void ccg_in_parts(
    const ccg_threads *threads, ptrdiff_t count, ccg_part *part, void *context)
{
    if (threads == NULL) {
        part(context, 0, count);
    } else {
        threads->run(threads->pool, count, part, context);
    }
}

#endif
