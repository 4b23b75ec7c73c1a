/* Rotations of two rows of numbers, and powers of two to scale with: ccg_..._f32 and _f64. Rows of
   complex numbers are rows of twice as many real ones. The bodies stand in ccg_rotation.inc. */
#ifndef CCG_ROTATION_H
#define CCG_ROTATION_H

#include "ccg_linalg.h"

#include "ccg_element_f32.inc"
#include "ccg_rotation.inc"
#include "ccg_element_f64.inc"
#include "ccg_rotation.inc"
#include "ccg_element_none.inc"

#endif
