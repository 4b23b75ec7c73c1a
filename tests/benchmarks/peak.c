/* How many operations a second the processors do at most: `peak KIND THREADS` prints them.
   KIND is f32 (fused multiply-adds, two operations each), s8 (dot products of four, eight operations)
   or bf16 (dot products of two, four operations), in matrix registers where the process may use them;
   0 where the processor or the compiler has no such instruction. Chains of arithmetic in registers, as
   many as hide its latency. */
#define _GNU_SOURCE
#include "measure.h"
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif
#if defined(__linux__) && defined(__AMX_INT8__) && defined(__AMX_BF16__)
#define MATRIX
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define TURNS 20000L
#define ROUNDS 200
#define CHAINS 12 /* latency 4 times throughput 2, and some more: 16 registers are enough */

static double (*work)(void); /* runs TURNS turns, returns the operations in them */
static double best;

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static double f32(void)
{
    floats factor, offset;
    for (int i = 0; i < VECTOR / 4; ++i) {
        factor[i] = 0.999999f;
        offset[i] = 1e-7f;
    }
#define START(n) floats a##n = offset * (float)n;
    EACH(START)
#undef START
    for (long turn = 0; turn < TURNS; ++turn) {
#define STEP(n) a##n = a##n * factor + offset;
        EACH(STEP)
#undef STEP
    }
#define USE(n) sink += a##n[0];
    EACH(USE)
#undef USE
    return 2.0 * VECTOR / 4 * CHAINS * TURNS;
}

#if defined(__AVX512VNNI__)
typedef __m512i words;
#define DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#define ALL_BYTES(x) _mm512_set1_epi8(x)
#define FIRST(x) _mm512_cvtsi512_si32(x)
#elif defined(__AVXVNNI__)
typedef __m256i words;
#define DOT(sum, a, b) _mm256_dpbusd_avx_epi32(sum, a, b)
#define ALL_BYTES(x) _mm256_set1_epi8(x)
#define FIRST(x) _mm256_cvtsi256_si32(x)
#elif defined(__ARM_FEATURE_DOTPROD)
typedef int32x4_t words;
#define DOT(sum, a, b) vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b))
#define ALL_BYTES(x) vreinterpretq_s32_s8(vdupq_n_s8(x))
#define FIRST(x) vgetq_lane_s32(x, 0)
#endif

static double s8(void)
{
#ifdef DOT
    words left = ALL_BYTES(3), right = ALL_BYTES(2);
#define START(n) words a##n = ALL_BYTES(n);
    EACH(START)
#undef START
    for (long turn = 0; turn < TURNS; ++turn) {
#define STEP(n) a##n = DOT(a##n, left, right);
        EACH(STEP)
#undef STEP
        __asm__ volatile("" : : : "memory"); /* the loop is not one multiplication */
    }
#define USE(n) sink += (float)FIRST(a##n);
    EACH(USE)
#undef USE
    return 2.0 * sizeof(words) * CHAINS * TURNS;
#else
    return 0;
#endif
}

static double bf16(void)
{
#if defined(__AVX512BF16__)
    __m512 seed = _mm512_set1_ps(1e-3f);
    __m512bh left = _mm512_cvtne2ps_pbh(seed, seed), right = left;
#define START(n) __m512 a##n = _mm512_set1_ps((float)n);
    EACH(START)
#undef START
    for (long turn = 0; turn < TURNS; ++turn) {
#define STEP(n) a##n = _mm512_dpbf16_ps(a##n, left, right);
        EACH(STEP)
#undef STEP
    }
#define USE(n) sink += _mm512_cvtss_f32(a##n);
    EACH(USE)
#undef USE
    return 2.0 * 32 * CHAINS * TURNS;
#else
    return 0;
#endif
}

#ifdef MATRIX
static int has_matrix_registers(void)
{
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0; /* asks for them */
}

/* Four registers of sums, each 16 rows of 16, of products of 64 bytes. */
#define MATRIX_WORK(name, add, elements) \
    static double name(void) \
    { \
        static const struct { \
            unsigned char palette, zeros[15]; \
            unsigned short row_bytes[16]; \
            unsigned char rows[16]; \
        } shapes = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}}; \
        _tile_loadconfig(&shapes); \
        for (long turn = 0; turn < TURNS; ++turn) { \
            add(0, 4, 6); \
            add(1, 4, 7); \
            add(2, 5, 6); \
            add(3, 5, 7); \
        } \
        _tile_release(); \
        return 2.0 * 4 * 16 * 16 * (elements) * TURNS; \
    }
MATRIX_WORK(matrix_s8, _tile_dpbssd, 64)
MATRIX_WORK(matrix_bf16, _tile_dpbf16ps, 32)
#endif

static void *measure(void *is_first)
{
    for (int round = 0; round < ROUNDS; ++round) {
        pthread_barrier_wait(&barrier);
        double start = now();
        double operations = work();
        pthread_barrier_wait(&barrier);
        double rate = operations / (now() - start);
        if (is_first && rate > best)
            best = rate;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    unsigned threads = count == 3 ? parse_threads(arguments[2]) : 0;
    if (!threads)
        return 2;
    work = !strcmp(arguments[1], "s8") ? s8 : !strcmp(arguments[1], "bf16") ? bf16 : f32;
#ifdef MATRIX
    if (work != f32 && has_matrix_registers())
        work = work == s8 ? matrix_s8 : matrix_bf16;
#endif
    run_threads(threads, measure);
    printf("%.6g\n", best * (double)threads);
    return 0;
}
