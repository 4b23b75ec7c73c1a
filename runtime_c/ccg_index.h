/* Operators on indices. */
#ifndef CCG_INDEX_H
#define CCG_INDEX_H

#include "ccg_base.h"

CCG_INLINE ptrdiff_t ccg_maximum_index(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

CCG_INLINE ptrdiff_t ccg_minimum_index(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

#endif
