/* How many bytes a second memory gives or takes: `bandwidth KIND THREADS BYTES` prints them.
   KIND is read (sums), copy (bytes read and bytes written both count) or write; BYTES is the size of
   what is read and written together, so that small sizes measure a cache. Each thread has its part
   of them. */
#define _DEFAULT_SOURCE
#include "measure.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define UNROLL 8
#define HUGE_PAGE ((size_t)2 << 20)
#define ROUND_BYTES 4e6 /* a round moves about so many, or all of them once */
#define LEAST_SECONDS 0.05

typedef void move(floats *to, const floats *from, size_t count);

static move *moves[2]; /* two ways; the better one counts */
static size_t count;   /* vectors per thread and array */
static double bytes;   /* moved per thread and turn */
static int is_over;
static double best;

static void read_all(floats *to, const floats *from, size_t n)
{
    floats sums[UNROLL] = {{0}};
    for (size_t i = 0; i + UNROLL <= n; i += UNROLL)
        for (size_t j = 0; j < UNROLL; ++j)
            sums[j] += from[i + j];
    for (size_t j = 1; j < UNROLL; ++j)
        sums[0] += sums[j];
    sink += sums[0][0];
    (void)to;
}

static void copy_loop(floats *restrict to, const floats *restrict from, size_t n)
{
    for (size_t i = 0; i + UNROLL <= n; i += UNROLL)
        for (size_t j = 0; j < UNROLL; ++j)
            to[i + j] = from[i + j] + 1.0f; /* else it becomes a call of memcpy */
}

static void copy_library(floats *to, const floats *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static void write_loop(floats *to, const floats *from, size_t n)
{
    floats value = from[0];
    for (size_t i = 0; i + UNROLL <= n; i += UNROLL)
        for (size_t j = 0; j < UNROLL; ++j)
            to[i + j] = value;
}

static void write_library(floats *to, const floats *from, size_t n)
{
    memset(to, 1, n * sizeof *to);
    (void)from;
}

static floats *allocate(void)
{
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, count * sizeof(floats)))
        exit(1);
#ifdef MADV_HUGEPAGE
    madvise(memory, count * sizeof(floats), MADV_HUGEPAGE); /* as NumPy does */
#endif
    memset(memory, 0, count * sizeof(floats));
    return memory;
}

static void *measure(void *is_first)
{
    floats *from = allocate(), *to = moves[0] == read_all ? from : allocate();
    long turns = 1 + (long)(ROUND_BYTES / bytes);
    double begin = now();
    for (int round = 0; !is_over; ++round) {
        pthread_barrier_wait(&barrier);
        double start = now();
        for (long turn = 0; turn < turns; ++turn) {
            moves[round % 2](to, from, count);
            __asm__ volatile("" : : : "memory"); /* each turn counts */
        }
        pthread_barrier_wait(&barrier);
        double end = now(), rate = bytes * (double)turns / (end - start);
        if (is_first) {
            best = rate > best ? rate : best;
            is_over = round >= 6 && end - begin > LEAST_SECONDS;
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int words, char **arguments)
{
    unsigned threads = words == 4 ? parse_threads(arguments[2]) : 0;
    if (!threads)
        return 2;
    int is_read = !strcmp(arguments[1], "read"), is_copy = !strcmp(arguments[1], "copy");
    moves[0] = is_read ? read_all : is_copy ? copy_loop : write_loop;
    moves[1] = is_read ? read_all : is_copy ? copy_library : write_library;
    double share = strtod(arguments[3], NULL) / (double)threads / (is_copy ? 2 : 1);
    count = (size_t)(share / (VECTOR * UNROLL) + 1) * UNROLL;
    bytes = (double)count * VECTOR * (is_copy ? 2 : 1);
    run_threads(threads, measure);
    printf("%.6g\n", best * (double)threads);
    return 0;
}
