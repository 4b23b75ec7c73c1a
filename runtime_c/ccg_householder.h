/* Reflections that make a row zero but for one element, as eigenvalues and singular values need
   them. The bodies stand in ccg_householder.inc. */
#ifndef CCG_HOUSEHOLDER_H
#define CCG_HOUSEHOLDER_H

#include "ccg_reflector.h"

#include "ccg_element_f32.inc"
#include "ccg_householder.inc"
#include "ccg_element_f64.inc"
#include "ccg_householder.inc"
#include "ccg_element_c64.inc"
#include "ccg_householder.inc"
#include "ccg_element_c128.inc"
#include "ccg_householder.inc"
#include "ccg_element_none.inc"

#endif
