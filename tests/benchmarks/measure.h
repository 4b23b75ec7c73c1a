/* Clock, vectors and threads of the measuring programs. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#if defined(__AVX512F__)
#define VECTOR 64
#elif defined(__AVX__)
#define VECTOR 32
#else
#define VECTOR 16
#endif
#define MOST_THREADS 64

typedef float floats __attribute__((vector_size(VECTOR)));

static volatile float sink; /* what is read or computed must be used */
static pthread_barrier_t barrier;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The number of threads in a word; 0 where it is none or too large. */
static unsigned parse_threads(const char *word)
{
    long threads = strtol(word, NULL, 10);
    return threads < 1 || threads > MOST_THREADS ? 0 : (unsigned)threads;
}

/* Runs `measure` in each of so many threads, with a non-null argument in the first. */
static void run_threads(unsigned threads, void *(*measure)(void *))
{
    pthread_t others[MOST_THREADS];
    pthread_barrier_init(&barrier, NULL, threads);
    for (unsigned n = 1; n < threads; ++n)
        pthread_create(&others[n], NULL, measure, NULL);
    measure(&barrier);
    for (unsigned n = 1; n < threads; ++n)
        pthread_join(others[n], NULL);
}
