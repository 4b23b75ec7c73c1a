/* Integer operators of s32 u32; see ccg_integer.h. */
#ifndef CCG_INTEGER_32_H
#define CCG_INTEGER_32_H

#include "ccg_integer.h"

#define CCG_T int32_t
#define CCG_S s32
#define CCG_BITS 32
#include "ccg_signed.inc"

#define CCG_T uint32_t
#define CCG_S u32
#define CCG_BITS 32
#include "ccg_unsigned.inc"

#endif
