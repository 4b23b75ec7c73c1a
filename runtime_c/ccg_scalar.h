/* Every scalar operator and conversion of HLO that is exact; the math functions are elsewhere. */
#ifndef CCG_SCALAR_H
#define CCG_SCALAR_H

#include "ccg_convert.h"
#include "ccg_float.h"
#include "ccg_half.h"
#include "ccg_integer.h"
#include "ccg_narrow.h"

#endif
