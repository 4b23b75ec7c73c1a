/* A number that threads wait for: they sleep until it changes.

   Under Linux, for 64 bits, they sleep on the number itself. The C library has had conditions of
   POSIX in several versions, and a linker that has to tell them apart reads all of the library,
   which takes it longer than all else. Elsewhere, and where _GNU_SOURCE was not defined before the
   first header, they do sleep on a condition. */
#ifndef CCG_NUMBER_H
#define CCG_NUMBER_H

#include "ccg_base.h"

#if defined(__linux__) && defined(__LP64__) && defined(_GNU_SOURCE)

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE: <linux/futex.h> does not come with every C library. */
#define CCG_FUTEX_WAIT 128
#define CCG_FUTEX_WAKE 129

typedef struct ccg_number {
    uint32_t value;
    uint32_t asleep; /* threads that are, or are about to be */
} ccg_number;

#define CCG_NUMBER {0, 0}

/* Returns at once where the number is not `seen`; may return although it still is. */
CCG_INLINE void ccg_number_sleep(ccg_number *number, uint32_t seen)
{
    __atomic_add_fetch(&number->asleep, 1, __ATOMIC_SEQ_CST);
    (void)syscall(SYS_futex, &number->value, CCG_FUTEX_WAIT, seen, NULL);
    __atomic_sub_fetch(&number->asleep, 1, __ATOMIC_RELAXED);
}

/* Changes the number, and wakes all that sleep. */
CCG_INLINE void ccg_number_set(ccg_number *number, uint32_t value)
{
    __atomic_store_n(&number->value, value, __ATOMIC_SEQ_CST);
    /* Who is about to sleep and not seen here sees the new value. */
    if (__atomic_load_n(&number->asleep, __ATOMIC_SEQ_CST) != 0) {
        (void)syscall(SYS_futex, &number->value, CCG_FUTEX_WAKE, INT_MAX);
    }
}

#else

#include <pthread.h>

typedef struct ccg_number {
    uint32_t value;
    pthread_mutex_t mutex; /* the value does not change between a thread's look and its sleep */
    pthread_cond_t changed;
} ccg_number;

#define CCG_NUMBER {0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}

CCG_INLINE void ccg_number_sleep(ccg_number *number, uint32_t seen)
{
    pthread_mutex_lock(&number->mutex);
    if (__atomic_load_n(&number->value, __ATOMIC_RELAXED) == seen) {
        pthread_cond_wait(&number->changed, &number->mutex);
    }
    pthread_mutex_unlock(&number->mutex);
}

CCG_INLINE void ccg_number_set(ccg_number *number, uint32_t value)
{
    pthread_mutex_lock(&number->mutex);
    __atomic_store_n(&number->value, value, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&number->changed);
    pthread_mutex_unlock(&number->mutex);
}

#endif

CCG_INLINE uint32_t ccg_number_now(const ccg_number *number)
{
    return __atomic_load_n(&number->value, __ATOMIC_ACQUIRE);
}

#endif
