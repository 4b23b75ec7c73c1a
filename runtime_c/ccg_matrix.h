/* Matrix registers: AMX has eight, of up to 16 rows of 64 bytes. A register of sums takes the
   products of the rows of a left one with the columns of a right one, which has in a row the
   elements of as many of the depth as fill 32 bits, of one column after the other.

   CCG_MATRIX_INT8 and CCG_MATRIX_BF16 are defined where the compiler makes such code. Linux lets a
   process use it that has asked: syscall(SYS_arch_prctl, 0x1023, 18) gives 0 where it may.
   CCG_MATRIX_SHAPES comes first in a function, CCG_MATRIX_RELEASE last. `step`: bytes from row to
   row in memory. */
#ifndef CCG_MATRIX_H
#define CCG_MATRIX_H

#include "ccg_base.h"

/* Early versions of clang have names of their own. */
#if defined(__GNUC__) && (defined(__AMX_TILE__) || defined(__AMXTILE__)) && !defined(CCG_PLAIN)
#if defined(__AMX_INT8__) || defined(__AMXINT8__)
#define CCG_MATRIX_INT8
#endif
#if defined(__AMX_BF16__) || defined(__AMXBF16__)
#define CCG_MATRIX_BF16
#endif

/* The shapes of all registers, in 64 bytes; their elements become zeros. */
#define CCG_MATRIX_SHAPES(shapes) __asm__ volatile("ldtilecfg %0" : : "m"(shapes))
#define CCG_MATRIX_LOAD(register, p, step) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #register : : "r"(p), "r"(step) : "memory")
#define CCG_MATRIX_STORE(register, p, step) \
    __asm__ volatile("tilestored %%tmm" #register ", (%0,%1,1)" : : "r"(p), "r"(step) : "memory")
#define CCG_MATRIX_ZERO(register) __asm__ volatile("tilezero %%tmm" #register : :)
#define CCG_MATRIX_ADD(instruction, sums, left, right) \
    __asm__ volatile(#instruction " %%tmm" #right ", %%tmm" #left ", %%tmm" #sums : :)
#define CCG_MATRIX_RELEASE() __asm__ volatile("tilerelease" : :)
#endif

#endif
