/* A filter of second order, in its transposed direct form II. */
#ifndef BIQUAD_H
#define BIQUAD_H

/* Operands, results, then scalars: the order in which ccodegen calls it. y: 64 samples; state and
   next: what the filter remembers, before and after. */
static inline void biquad(const float *x, const float *state, float *y, float *next, float b0,
                          float b1, float b2, float a1, float a2)
{
    float s0 = state[0], s1 = state[1];
    for (int i = 0; i < 64; ++i) {
        const float in = x[i], out = b0 * in + s0;
        s0 = b1 * in - a1 * out + s1;
        s1 = b2 * in - a2 * out;
        y[i] = out;
    }
    next[0] = s0;
    next[1] = s1;
}

#endif
