/* Integer operators of s1 s2 s4 s8 u1 u2 u4 u8; see ccg_integer.h. */
#ifndef CCG_INTEGER_8_H
#define CCG_INTEGER_8_H

#include "ccg_integer.h"

#define CCG_T int8_t
#define CCG_S s1
#define CCG_BITS 1
#include "ccg_signed.inc"
#define CCG_T int8_t
#define CCG_S s2
#define CCG_BITS 2
#include "ccg_signed.inc"
#define CCG_T int8_t
#define CCG_S s4
#define CCG_BITS 4
#include "ccg_signed.inc"
#define CCG_T int8_t
#define CCG_S s8
#define CCG_BITS 8
#include "ccg_signed.inc"

#define CCG_T uint8_t
#define CCG_S u1
#define CCG_BITS 1
#include "ccg_unsigned.inc"
#define CCG_T uint8_t
#define CCG_S u2
#define CCG_BITS 2
#include "ccg_unsigned.inc"
#define CCG_T uint8_t
#define CCG_S u4
#define CCG_BITS 4
#include "ccg_unsigned.inc"
#define CCG_T uint8_t
#define CCG_S u8
#define CCG_BITS 8
#include "ccg_unsigned.inc"

#endif
