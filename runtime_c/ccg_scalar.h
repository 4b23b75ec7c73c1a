/* Every scalar operator and conversion of HLO that is exact; the math functions are elsewhere. */
#ifndef CCG_SCALAR_H
#define CCG_SCALAR_H

#include "ccg_convert.h"
#include "ccg_float.h"
#include "ccg_half.h"
#include "ccg_integer_16.h"
#include "ccg_integer_32.h"
#include "ccg_integer_64.h"
#include "ccg_integer_8.h"
#include "ccg_narrow.h"

#endif
