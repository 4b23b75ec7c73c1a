/* The largest errors of one function of runtime_c, in both modes, against a wider reference.

   -DT= the float type, -DWIDE= the reference's, "-DREFER(a,b)=" an expression of that type in one or
   two arguments. `sweep BEGIN END STEP`: over every STEP-th of the floats whose bits lie
   between; `sweep COUNT`: over COUNT drawn arguments and the special ones. Prints for each mode the
   error in ulp and the arguments; infinite where a special value is not the reference's. */
#include "ccg_base.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 4096

void default_run(const T *x, const T *y, T *r);
void strict_run(const T *x, const T *y, T *r);

#if defined(__GLIBC__) && defined(__x86_64__) && defined(LIBMVEC)
__attribute__((simd("notinbranch"))) double LIBMVEC(double);
#endif

typedef struct {
    double error;
    T x, y;
} worst;

static T x[BLOCK], y[BLOCK], result[BLOCK];
static WIDE want[BLOCK];

static uint64_t drawn(void)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static T from_bits(uint64_t bits)
{
    return sizeof(T) == 4 ? (T)ccg_f32_bits((uint32_t)bits) : (T)ccg_f64_bits(bits);
}

/* In [-1, 1). */
static double uniform(void)
{
    return (double)(int64_t)drawn() * 0x1p-63;
}

/* A float of any bits, of an ordinary size, near ±1, or near a multiple of π/4. */
static T argument(uint64_t kind)
{
    switch (kind & 7) {
    case 0:
    case 1:
        return from_bits(drawn());
    case 2:
        return (T)(uniform() * 1000);
    case 3:
        return (T)(uniform() * 4);
    case 4:
        return (T)((drawn() & 1 ? 1 : -1) * (1 + uniform() * ldexp(1, -(int)(drawn() % 50))));
    case 5:
        return (T)(0.78539816339744830962 * (double)(int)(drawn() % 2000));
    default:
        return (T)ldexp(uniform(), 20 - (int)(drawn() % 60));
    }
}

static const T special[] = {
    0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 4, 7, -7, 1.5, -2.5, HUGE_VAL, -HUGE_VAL, (T)NAN, 0x1p-140,
    -0x1p-140, 0x1p-149, -0x1p-149, 0x1p-126, 0x1p-100, 0x1p100, -0x1p127, 0x1.fffffep127,
    -0x1.fffffep127, 88, 89, -104, 1e-3, 1e5, 0x1.fffffep-1, -0x1.fffffep-1, 0x1.000002p0, 0x1p23, 0x1p24,
    0x1.000002p23, 0x1p53, (T)0x1p-1074, (T)0x1p-1022, (T)0x1.fffffffffffffp1023, (T)0x1p1000, (T)709.8,
    (T)-745.2,
};

static void draw(uint64_t block)
{
    const uint64_t count = sizeof special / sizeof *special;
    for (int i = 0; i < BLOCK; i++) {
        uint64_t n = block * BLOCK + (uint64_t)i;
        x[i] = n < count * count ? special[n / count] : argument(drawn());
        y[i] = n < count * count ? special[n % count] : argument(drawn());
    }
}

static void refer(void)
{
    for (int i = 0; i < BLOCK; i++) {
        WIDE a = x[i], b = y[i];
        want[i] = REFER(a, b);
    }
}

/* Denormals have one distance; past the largest number, infinity is the next power of two. */
static double error(T got, WIDE wanted)
{
    const int digits = sizeof(T) == 4 ? FLT_MANT_DIG : DBL_MANT_DIG;
    const int least = sizeof(T) == 4 ? FLT_MIN_EXP : DBL_MIN_EXP;
    const WIDE end = ldexpl(1, sizeof(T) == 4 ? FLT_MAX_EXP : DBL_MAX_EXP);
    WIDE found = got;
    int exponent;
    if (wanted != wanted || found != found)
        return wanted != wanted && found != found ? 0 : HUGE_VAL;
    if ((double)fabsl(wanted) == HUGE_VAL && fabsl(wanted) > end)
        wanted = wanted > 0 ? HUGE_VAL : -HUGE_VAL;
    if (found == wanted)
        return wanted == 0 && signbit(wanted) != signbit(found) ? HUGE_VAL : 0;
    if (fabsl(wanted) == HUGE_VAL)
        return HUGE_VAL;
    wanted = wanted > end ? end : wanted < -end ? -end : wanted;
    found = fabsl(found) == HUGE_VAL ? (found > 0 ? end : -end) : found;
    frexpl(wanted, &exponent);
    exponent = wanted == 0 || exponent < least ? least : exponent;
    return (double)ldexpl(fabsl(found - wanted), digits - exponent);
}

/* Most results are within an ulp: a short way for those. */
static void compare(worst *found)
{
    for (int i = 0; i < BLOCK; i++) {
        double e;
        if (result[i] == (T)want[i] && result[i] != 0 && found->error >= 0.5)
            continue;
        e = error(result[i], want[i]);
        if (e > found->error) {
            found->error = e;
            found->x = x[i];
            found->y = y[i];
        }
    }
}

static void try_block(worst *normal, worst *strict)
{
    refer();
    default_run(x, y, result);
    compare(normal);
    strict_run(x, y, result);
    compare(strict);
}

int main(int count, char **words)
{
    worst normal = {0, 0, 0}, strict = {0, 0, 0};
    if (count == 2) {
        uint64_t blocks = strtoull(words[1], NULL, 0) / BLOCK + 1;
        for (uint64_t block = 0; block < blocks; block++) {
            draw(block);
            try_block(&normal, &strict);
        }
    } else {
        uint64_t bits = strtoull(words[1], NULL, 0), end = strtoull(words[2], NULL, 0);
        uint64_t step = strtoull(words[3], NULL, 0);
        while (bits < end) {
            for (int i = 0; i < BLOCK; i++, bits += bits + step < end ? step : end - bits)
                x[i] = from_bits(bits < end ? bits : end - 1);
            try_block(&normal, &strict);
        }
    }
    printf("%.4f %a %a\n", normal.error, (double)normal.x, (double)normal.y);
    printf("%.4f %a %a\n", strict.error, (double)strict.x, (double)strict.y);
    return 0;
}
