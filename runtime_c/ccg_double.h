/* What files with doubles include: vectors of four, where gcc has wider ones.

   Gcc takes some permutations of eight doubles, as it makes of short rows that lie apart, for such as
   stay within pairs: of those that leave the second pair but no other (seen in version 12). */
#ifndef CCG_DOUBLE_H
#define CCG_DOUBLE_H

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target("prefer-vector-width=256")
#endif

#endif
