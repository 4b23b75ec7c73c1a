/* Threads for programs that are loaded into a process: ccg_pool_run is a ccg_parallel_for.

   A pool starts its threads at its first call. They look out for the next call for a moment, then
   sleep. The turns of a call are cut into a few shares for each thread, which take one after the
   other; the caller takes them too, so that it never waits for a thread that has not begun.
   The caller does all turns itself while another call is under way, in a process forked after the
   threads were started, and where there is no pthread.h. */
#ifndef CCG_POOL_H
#define CCG_POOL_H

#include "ccg_base.h"
#include "ccg_threads.h"

#if defined(__GNUC__) && !defined(CCG_PLAIN) && (defined(__unix__) || defined(__APPLE__))

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define CCG_POOL_MOST 64 /* threads, the caller's included */
#define CCG_POOL_LOOKS 1000 /* before a thread sleeps or yields: some 10 to 50 microseconds */
#define CCG_AT_UNLOAD __attribute__((destructor))

#if defined(__i386__) || defined(__x86_64__)
#define CCG_PAUSE() __builtin_ia32_pause()
#else
#define CCG_PAUSE() ((void)0)
#endif

#define CCG_POOL_SHARES 4 /* of a call for each thread */
#define CCG_POOL_TICKETS 512 /* more than all shares of a call */

typedef struct ccg_pool {
    ptrdiff_t size;    /* threads of a call, the caller's included */
    int busy;          /* a call is under way; guards what follows, up to the ticket */
    pid_t process;     /* the one that has started the helpers; 0: none has */
    ptrdiff_t helpers; /* how many there are */
    ccg_part *part;
    void *context;
    ptrdiff_t count;
    ptrdiff_t shares;
    size_t ticket;  /* number of the call * CCG_POOL_TICKETS + shares that nobody has taken */
    ptrdiff_t left; /* shares that are not done */
    int stop;
    pthread_mutex_t mutex; /* between looking at the ticket and falling asleep */
    pthread_cond_t changed;
    pthread_t threads[CCG_POOL_MOST];
} ccg_pool;

#define CCG_POOL(threads) \
    {.size = threads, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

CCG_INLINE size_t ccg_pool_call(const ccg_pool *pool)
{
    return __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE) / CCG_POOL_TICKETS;
}

/* The number of a share of this call, which nobody else gets; -1: there is none left. */
CCG_INLINE ptrdiff_t ccg_pool_take(ccg_pool *pool, size_t call)
{
    size_t ticket = __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE);
    while (ticket / CCG_POOL_TICKETS == call && ticket % CCG_POOL_TICKETS != 0) {
        if (__atomic_compare_exchange_n(
                &pool->ticket, &ticket, ticket - 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return (ptrdiff_t)(ticket % CCG_POOL_TICKETS) - 1;
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

/* Does shares of this call until all are taken. */
CCG_INLINE void ccg_pool_work(ccg_pool *pool, size_t call)
{
    ptrdiff_t share;
    while ((share = ccg_pool_take(pool, call)) >= 0) {
        pool->part(pool->context, ccg_pool_turn(pool, share), ccg_pool_turn(pool, share + 1));
        __atomic_sub_fetch(&pool->left, 1, __ATOMIC_RELEASE);
    }
}

/* The number of the first call that is not `seen`. */
CCG_INLINE size_t ccg_pool_next_call(ccg_pool *pool, size_t seen)
{
    size_t call = ccg_pool_call(pool);
    int look;
    for (look = 0; look < CCG_POOL_LOOKS && call == seen; ++look) {
        CCG_PAUSE();
        call = ccg_pool_call(pool);
    }
    if (call == seen) {
        pthread_mutex_lock(&pool->mutex);
        while ((call = ccg_pool_call(pool)) == seen) {
            pthread_cond_wait(&pool->changed, &pool->mutex);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    return call;
}

/* What a thread of the pool does. */
CCG_INLINE void *ccg_pool_help(void *owner)
{
    ccg_pool *const pool = owner;
    size_t call = ccg_pool_next_call(pool, 0);
    while (!__atomic_load_n(&pool->stop, __ATOMIC_RELAXED)) {
        ccg_pool_work(pool, call);
        call = ccg_pool_next_call(pool, call);
    }
    return NULL;
}

/* Begins the next call, of so many shares, and returns its number. */
CCG_INLINE size_t ccg_pool_begin(ccg_pool *pool, ptrdiff_t shares)
{
    const size_t call = ccg_pool_call(pool) + 1;
    pool->shares = shares;
    __atomic_store_n(&pool->left, shares, __ATOMIC_RELAXED);
    pthread_mutex_lock(&pool->mutex);
    __atomic_store_n(
        &pool->ticket, call * CCG_POOL_TICKETS + (size_t)shares, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    return call;
}

/* As many helpers as asked for, or as the system gives. */
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
    ccg_pool_work(pool, ccg_pool_begin(pool, count < most ? count : most));
    while (__atomic_load_n(&pool->left, __ATOMIC_ACQUIRE) != 0) {
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

/* Ends the pool's threads; nothing may run in it afterwards. */
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
