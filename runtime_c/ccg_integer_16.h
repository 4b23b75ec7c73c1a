/* Integer operators of s16 u16; see ccg_integer.h. */
#ifndef CCG_INTEGER_16_H
#define CCG_INTEGER_16_H

#include "ccg_integer.h"

#define CCG_T int16_t
#define CCG_S s16
#define CCG_BITS 16
#include "ccg_signed.inc"

#define CCG_T uint16_t
#define CCG_S u16
#define CCG_BITS 16
#include "ccg_unsigned.inc"

#endif
