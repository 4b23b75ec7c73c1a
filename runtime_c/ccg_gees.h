/* Schur's form: ccg_gees_f32, _f64, _c64 and _c128. ccg_gees.inc has what all types share;
   ccg_gees_real.inc and ccg_gees_complex.inc the shifts, and what a form's blocks are. */
#ifndef CCG_GEES_H
#define CCG_GEES_H

#include "ccg_gehrd.h"
#include "ccg_rotation.h"

#include "ccg_element_f32.inc"
#include "ccg_gees_real.inc"
#include "ccg_gees.inc"
#include "ccg_element_f64.inc"
#include "ccg_gees_real.inc"
#include "ccg_gees.inc"
#include "ccg_element_c64.inc"
#include "ccg_gees_complex.inc"
#include "ccg_gees.inc"
#include "ccg_element_c128.inc"
#include "ccg_gees_complex.inc"
#include "ccg_gees.inc"
#include "ccg_element_none.inc"

#endif
