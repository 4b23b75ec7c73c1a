/* Matrices made nearly triangular by reflectors from both sides: ccg_gehrd_<type> and
   ccg_sytrd_<type>. The bodies stand in ccg_gehrd.inc. */
#ifndef CCG_GEHRD_H
#define CCG_GEHRD_H

#include "ccg_reflector.h"

#include "ccg_element_f32.inc"
#include "ccg_gehrd.inc"
#include "ccg_element_f64.inc"
#include "ccg_gehrd.inc"
#include "ccg_element_c64.inc"
#include "ccg_gehrd.inc"
#include "ccg_element_c128.inc"
#include "ccg_gehrd.inc"
#include "ccg_element_none.inc"

#endif
