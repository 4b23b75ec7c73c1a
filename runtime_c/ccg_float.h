/* Float operators that only choose, round or rearrange bits: exact, and the same on every target.

   ccg_<operator>_f32 and _f64; narrower floats go through f32. The bodies stand in
   ccg_float.inc. */
#ifndef CCG_FLOAT_H
#define CCG_FLOAT_H

#include "ccg_base.h"

/* CCG_T: the float type. CCG_U, CCG_I: unsigned and signed integers of its width. CCG_DIGITS: bits
   of mantissa stored. CCG_BIAS: of the exponent. CCG_LIBM(f): f of <math.h> for it. */
#define CCG_F(name) CCG_PASTE(CCG_PASTE(ccg_, name), CCG_PASTE(_, CCG_S))
#define CCG_BITS(x) CCG_PASTE(ccg_bits_, CCG_S)(x)
#define CCG_FROM_BITS(x) CCG_PASTE(CCG_PASTE(ccg_, CCG_S), _bits)(x)
#define CCG_SIGN ((CCG_U)1 << (8 * sizeof(CCG_U) - 1))
#define CCG_INFINITE ((CCG_SIGN >> CCG_DIGITS << CCG_DIGITS) - ((CCG_U)1 << CCG_DIGITS))

#define CCG_T float
#define CCG_S f32
#define CCG_U uint32_t
#define CCG_I int32_t
#define CCG_DIGITS 23
#define CCG_BIAS 127
#define CCG_LIBM(name) CCG_MATH(name##f)
#include "ccg_float.inc"

#define CCG_T double
#define CCG_S f64
#define CCG_U uint64_t
#define CCG_I int64_t
#define CCG_DIGITS 52
#define CCG_BIAS 1023
#define CCG_LIBM(name) CCG_MATH(name)
#include "ccg_float.inc"

#undef CCG_F
#undef CCG_BITS
#undef CCG_FROM_BITS
#undef CCG_SIGN
#undef CCG_INFINITE

#endif
