/* Householder's reflectors, made and applied: see ccg_reflector.inc. */
#ifndef CCG_REFLECTOR_H
#define CCG_REFLECTOR_H

#include "ccg_linalg.h"

#include "ccg_element_f32.inc"
#include "ccg_reflector.inc"
#include "ccg_element_f64.inc"
#include "ccg_reflector.inc"
#include "ccg_element_c64.inc"
#include "ccg_reflector.inc"
#include "ccg_element_c128.inc"
#include "ccg_reflector.inc"
#include "ccg_element_none.inc"

#endif
