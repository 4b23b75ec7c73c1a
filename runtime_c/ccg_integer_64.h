/* Integer operators of s64 u64; see ccg_integer.h. */
#ifndef CCG_INTEGER_64_H
#define CCG_INTEGER_64_H

#include "ccg_integer.h"

#define CCG_T int64_t
#define CCG_S s64
#define CCG_BITS 64
#include "ccg_signed.inc"

#define CCG_T uint64_t
#define CCG_S u64
#define CCG_BITS 64
#include "ccg_unsigned.inc"

#endif
