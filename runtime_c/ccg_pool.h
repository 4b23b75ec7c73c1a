/* Threads for programs that are loaded into a process: ccg_pool_run is a ccg_parallel_for.

   A pool starts its helpers at its first call. Between calls they look out for the next one for a
   moment, then sleep. The turns of a call are cut into shares, a few for each thread. Every thread,
   the caller too, takes its own shares one after the other, and then those of others: nobody waits
   for a thread that has not begun. From call to call a thread has the same part of the turns, so
   what it has written and reads again is in its core's caches.

   The caller does all turns itself while another call is under way, in a process forked after the
   helpers were started, where none could be started, and where there is no pthread.h. A forked
   process may not even begin a call: a helper may have held what calls are begun by. */
#ifndef CCG_POOL_H
#define CCG_POOL_H

#include "ccg_base.h"
#include "ccg_processor.h"
#include "ccg_threads.h"

#if defined(__GNUC__) && !defined(CCG_PLAIN) && (defined(__unix__) || defined(__APPLE__))

#include "ccg_number.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define CCG_POOL_MOST 64 /* threads, the caller's included */
#define CCG_POOL_LOOKS 1000 /* of the caller before it yields: on x86 some 10 to 50 microseconds */
#define CCG_POOL_WATCH 4000 /* looks of a helper before it sleeps: waking it may take as long */
#define CCG_AT_UNLOAD __attribute__((destructor)) /* called when the library is unloaded */

#if defined(__i386__) || defined(__x86_64__)
#define CCG_PAUSE() __builtin_ia32_pause()
#else
#define CCG_PAUSE() ((void)0)
#endif

#define CCG_POOL_SHARES 4 /* of a call for each thread */
#define CCG_POOL_TICKETS 8u /* more than a thread ever has shares */

/* The shares of one thread, on cache lines of its own. */
typedef struct ccg_pool_queue {
    uint32_t ticket; /* number of the call * CCG_POOL_TICKETS + how many nobody has taken */
    uint32_t done;   /* shares of any thread that this one has done, modulo 2^32 */
    char apart[128 - 2 * sizeof(uint32_t)];
} ccg_pool_queue;

/* What helpers watch comes with the rest of the call on one cache line, if the pool begins one; only
   the caller writes there, and who falls asleep. */
typedef struct ccg_pool {
    ccg_number call; /* how many calls have begun, modulo 2^32 */
    int stop;        /* helpers end instead of taking shares */
    int processor;   /* that the caller was on when the call began */
    ccg_part *part;
    void *context;
    ptrdiff_t count;
    ptrdiff_t shares;
    ptrdiff_t helpers; /* how many threads were started */
    char apart[128];
    ptrdiff_t size;  /* threads of a call, the caller's included */
    int busy;        /* a call is under way */
    pid_t process;   /* the one that has started the helpers; 0: none has */
    uint32_t due;    /* shares of all calls, modulo 2^32 */
    ptrdiff_t begun; /* helpers that know their number */
    pthread_t threads[CCG_POOL_MOST];
    ccg_pool_queue queues[CCG_POOL_MOST]; /* the caller's first */
} ccg_pool;

/* A pool for so many threads, the caller included. */
#define CCG_POOL(threads) {.size = threads, .call = CCG_NUMBER}

/* The first share of a thread: the shares of a thread end where those of the next begin. */
CCG_INLINE ptrdiff_t ccg_pool_first(const ccg_pool *pool, ptrdiff_t thread)
{
    return pool->shares * thread / (pool->helpers + 1);
}

/* The number of a thread's share of this call, which nobody else gets; -1: there is none left. */
CCG_INLINE ptrdiff_t ccg_pool_take(ccg_pool *pool, uint32_t call, ptrdiff_t thread)
{
    uint32_t *const shared = &pool->queues[thread].ticket;
    uint32_t ticket = __atomic_load_n(shared, __ATOMIC_ACQUIRE), left;
    /* Of another call the difference is a multiple of CCG_POOL_TICKETS more, or less. */
    while ((left = ticket - call * CCG_POOL_TICKETS) - 1 < CCG_POOL_TICKETS - 1) {
        if (__atomic_compare_exchange_n(
                shared, &ticket, ticket - 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return ccg_pool_first(pool, thread) + (ptrdiff_t)left - 1;
        }
    }
    return -1;
}

/* The first turn of a share: count·share/shares, without overflow on the way. */
CCG_INLINE ptrdiff_t ccg_pool_turn(const ccg_pool *pool, ptrdiff_t share)
{
    const ptrdiff_t whole = pool->count / pool->shares, rest = pool->count % pool->shares;
    return whole * share + rest * share / pool->shares;
}

/* Does shares of this call until all are taken, those of this thread first. */
CCG_INLINE void ccg_pool_work(ccg_pool *pool, uint32_t call, ptrdiff_t thread)
{
    ccg_pool_queue *const own = &pool->queues[thread];
    const ptrdiff_t threads = pool->helpers + 1;
    uint32_t done;
    ptrdiff_t n, share;
    __builtin_prefetch(own, 1); /* to write: a load would fetch the line to share it first */
    done = own->done;
    for (n = 0; n < threads; ++n) {
        while ((share = ccg_pool_take(pool, call, (thread + n) % threads)) >= 0) {
            pool->part(pool->context, ccg_pool_turn(pool, share), ccg_pool_turn(pool, share + 1));
            ++done;
        }
    }
    __atomic_store_n(&own->done, done, __ATOMIC_RELEASE);
}

/* Waits until another call than `seen` has begun, and returns its number. */
CCG_INLINE uint32_t ccg_pool_next_call(ccg_pool *pool, uint32_t seen)
{
    uint32_t call = ccg_number_now(&pool->call);
    int look;
    for (look = 0; look < CCG_POOL_WATCH && call == seen; ++look) {
        CCG_PAUSE();
        call = ccg_number_now(&pool->call);
    }
    while (call == seen) {
        ccg_number_sleep(&pool->call, seen);
        call = ccg_number_now(&pool->call);
    }
    return call;
}

/* What a helper does. */
CCG_INLINE void *ccg_pool_help(void *owner)
{
    ccg_pool *const pool = owner;
    const ccg_processors own = ccg_own_processors();
    const ptrdiff_t thread = __atomic_add_fetch(&pool->begun, 1, __ATOMIC_RELAXED);
    uint32_t call = ccg_pool_next_call(pool, 0);
    while (!__atomic_load_n(&pool->stop, __ATOMIC_RELAXED)) {
        ccg_leave_processor(__atomic_load_n(&pool->processor, __ATOMIC_RELAXED), &own);
        ccg_pool_work(pool, call, thread);
        call = ccg_pool_next_call(pool, call);
    }
    return NULL;
}

/* Begins the next call, of so many shares, and returns its number. */
CCG_INLINE uint32_t ccg_pool_begin(ccg_pool *pool, ptrdiff_t shares)
{
    const uint32_t call = ccg_number_now(&pool->call) + 1;
    ptrdiff_t n;
    pool->shares = shares;
    __atomic_store_n(&pool->processor, ccg_this_processor(), __ATOMIC_RELAXED);
    pool->due += (uint32_t)shares;
    for (n = 0; n <= pool->helpers; ++n) {
        const ptrdiff_t own = ccg_pool_first(pool, n + 1) - ccg_pool_first(pool, n);
        __atomic_store_n(
            &pool->queues[n].ticket, call * CCG_POOL_TICKETS + (uint32_t)own, __ATOMIC_RELEASE);
    }
    ccg_number_set(&pool->call, call);
    return call;
}

/* Whether all shares of all calls are done. */
CCG_INLINE int ccg_pool_is_done(const ccg_pool *pool)
{
    uint32_t due = pool->due;
    ptrdiff_t n;
    for (n = 0; n <= pool->helpers; ++n) {
        due -= __atomic_load_n(&pool->queues[n].done, __ATOMIC_ACQUIRE);
    }
    return due == 0;
}

/* Starts as many helpers as asked for, or as the system gives. */
CCG_INLINE void ccg_pool_start(ccg_pool *pool)
{
    const ptrdiff_t most = pool->size < CCG_POOL_MOST ? pool->size : CCG_POOL_MOST;
    pool->process = getpid();
    while (pool->helpers + 1 < most) {
        if (pthread_create(&pool->threads[pool->helpers], NULL, ccg_pool_help, pool) != 0) {
            break;
        }
        ++pool->helpers;
    }
}

CCG_INLINE void ccg_pool_share(ccg_pool *pool, ptrdiff_t count, ccg_part *part, void *context)
{
    const ptrdiff_t most = (pool->helpers + 1) * CCG_POOL_SHARES;
    int look = 0;
    pool->part = part;
    pool->context = context;
    pool->count = count;
    ccg_pool_work(pool, ccg_pool_begin(pool, count < most ? count : most), 0);
    while (!ccg_pool_is_done(pool)) {
        if (look < CCG_POOL_LOOKS) {
            CCG_PAUSE();
            ++look;
        } else {
            sched_yield();
        }
    }
}

CCG_INLINE void ccg_pool_run(void *owner, ptrdiff_t count, ccg_part *part, void *context)
{
    ccg_pool *const pool = owner;
    if (__atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE)) {
        part(context, 0, count);
        return;
    }
    if (pool->process == 0) {
        ccg_pool_start(pool);
    }
    if (pool->helpers == 0 || pool->process != getpid()) {
        part(context, 0, count);
    } else {
        ccg_pool_share(pool, count, part, context);
    }
    __atomic_store_n(&pool->busy, 0, __ATOMIC_RELEASE);
}

/* Ends the helpers for good: a later call does all turns itself. Does nothing while a call is under
   way, and in a process that has not started them. */
CCG_INLINE void ccg_pool_stop(ccg_pool *pool)
{
    ptrdiff_t n;
    if (__atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE) || pool->process != getpid()) {
        return;
    }
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
    ccg_pool_begin(pool, 0);
    for (n = 0; n < pool->helpers; ++n) {
        pthread_join(pool->threads[n], NULL);
    }
}

#else

#define CCG_AT_UNLOAD CCG_UNUSED

typedef struct ccg_pool {
    ptrdiff_t size;
} ccg_pool;

#define CCG_POOL(threads) {threads}

CCG_INLINE void ccg_pool_run(void *pool, ptrdiff_t count, ccg_part *part, void *context)
{
    (void)pool;
    part(context, 0, count);
}

CCG_INLINE void ccg_pool_stop(ccg_pool *pool)
{
    (void)pool;
}

#endif

#endif
