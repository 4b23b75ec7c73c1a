/* Gaussian elimination: ccg_getrf_<type>, ccg_lu_decomposition_<type>. See ccg_getrf.inc. */
#ifndef CCG_GETRF_H
#define CCG_GETRF_H

#include "ccg_linalg.h"

#include "ccg_element_f32.inc"
#include "ccg_getrf.inc"
#include "ccg_element_f64.inc"
#include "ccg_getrf.inc"
#include "ccg_element_c64.inc"
#include "ccg_getrf.inc"
#include "ccg_element_c128.inc"
#include "ccg_getrf.inc"
#include "ccg_element_none.inc"

#endif
