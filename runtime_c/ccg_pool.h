/* Threads for programs that are loaded into a process: ccg_pool_run is a ccg_parallel_for.

   A pool starts its threads at its first call. They look out for the next call for a moment, then
   sleep. Each call gives every thread, the caller's included, one contiguous share of the turns.
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

struct ccg_pool;

typedef struct ccg_helper {
    struct ccg_pool *pool;
    ptrdiff_t number; /* of its share; 0 is the caller's */
    pthread_t thread;
} ccg_helper;

typedef struct ccg_pool {
    ptrdiff_t size;    /* threads of a call, the caller's included */
    int busy;          /* a call is under way; guards what follows, up to the mutex */
    pid_t process;     /* the one that has started the helpers; 0: none has */
    ptrdiff_t helpers; /* how many there are */
    int stop;
    ccg_part *part;
    void *context;
    ptrdiff_t count;
    ptrdiff_t running;     /* helpers that have not done their share yet */
    unsigned call;         /* goes up with each call: what helpers look out for */
    pthread_mutex_t mutex; /* between looking at `call` and falling asleep */
    pthread_cond_t changed;
    ccg_helper all[CCG_POOL_MOST];
} ccg_pool;

#define CCG_POOL(threads) \
    {.size = threads, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

CCG_INLINE void ccg_pool_share(const ccg_pool *pool, ptrdiff_t number)
{
    const ptrdiff_t shares = pool->helpers + 1, count = pool->count;
    pool->part(pool->context, count * number / shares, count * (number + 1) / shares);
}

/* The number of a call later than `seen`. */
CCG_INLINE unsigned ccg_pool_next_call(ccg_pool *pool, unsigned seen)
{
    unsigned call;
    int look;
    for (look = 0; look < CCG_POOL_LOOKS; ++look) {
        call = __atomic_load_n(&pool->call, __ATOMIC_ACQUIRE);
        if (call != seen) {
            return call;
        }
        CCG_PAUSE();
    }
    pthread_mutex_lock(&pool->mutex);
    while ((call = __atomic_load_n(&pool->call, __ATOMIC_ACQUIRE)) == seen) {
        pthread_cond_wait(&pool->changed, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return call;
}

/* What a thread of the pool does. */
CCG_INLINE void *ccg_pool_help(void *helper)
{
    const ccg_helper *const own = helper;
    ccg_pool *const pool = own->pool;
    unsigned call = ccg_pool_next_call(pool, 0);
    while (!pool->stop) {
        ccg_pool_share(pool, own->number);
        __atomic_sub_fetch(&pool->running, 1, __ATOMIC_RELEASE);
        call = ccg_pool_next_call(pool, call);
    }
    return NULL;
}

/* Wakes the helpers for a call or to stop. */
CCG_INLINE void ccg_pool_wake(ccg_pool *pool)
{
    /* 0 is what new helpers have seen. */
    const unsigned call = pool->call + 1 == 0 ? 1 : pool->call + 1;
    pthread_mutex_lock(&pool->mutex);
    __atomic_store_n(&pool->call, call, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

/* As many helpers as asked for, or as the system gives. */
CCG_INLINE void ccg_pool_start(ccg_pool *pool)
{
    const ptrdiff_t most = pool->size < CCG_POOL_MOST ? pool->size : CCG_POOL_MOST;
    pool->process = getpid();
    while (pool->helpers + 1 < most) {
        ccg_helper *const helper = &pool->all[pool->helpers];
        helper->pool = pool;
        helper->number = pool->helpers + 1;
        if (pthread_create(&helper->thread, NULL, ccg_pool_help, helper) != 0) {
            break;
        }
        ++pool->helpers;
    }
}

CCG_INLINE void ccg_pool_run_shares(
    ccg_pool *pool, ptrdiff_t count, ccg_part *part, void *context)
{
    int look = 0;
    pool->part = part;
    pool->context = context;
    pool->count = count;
    __atomic_store_n(&pool->running, pool->helpers, __ATOMIC_RELAXED);
    ccg_pool_wake(pool);
    ccg_pool_share(pool, 0);
    while (__atomic_load_n(&pool->running, __ATOMIC_ACQUIRE) != 0) {
        CCG_PAUSE();
        if (++look > CCG_POOL_LOOKS) {
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
        ccg_pool_run_shares(pool, count, part, context);
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
    pool->stop = 1;
    ccg_pool_wake(pool);
    for (n = 0; n < pool->helpers; ++n) {
        pthread_join(pool->all[n].thread, NULL);
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
