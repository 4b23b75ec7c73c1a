/* Complex numbers in memory: two floats each, the real part first. */
#ifndef CCG_COMPLEX_ARRAY_H
#define CCG_COMPLEX_ARRAY_H

#include "ccg_complex.h"

CCG_INLINE ccg_c64 ccg_load_c64(const float *pair)
{
    return ccg_complex_c64(pair[0], pair[1]);
}

CCG_INLINE void ccg_store_c64(float *pair, ccg_c64 value)
{
    pair[0] = value.re;
    pair[1] = value.im;
}

CCG_INLINE ccg_c128 ccg_load_c128(const double *pair)
{
    return ccg_complex_c128(pair[0], pair[1]);
}

CCG_INLINE void ccg_store_c128(double *pair, ccg_c128 value)
{
    pair[0] = value.re;
    pair[1] = value.im;
}

#endif
