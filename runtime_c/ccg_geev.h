/* Eigenvalues and eigenvectors: ccg_geev_f32, _f64, _c64 and _c128. The body stands in
   ccg_geev.inc; eigenvectors are complex, whatever the matrix is. */
#ifndef CCG_GEEV_H
#define CCG_GEEV_H

#include "ccg_gees.h"

#include "ccg_element_c64.inc"
#define CCG_M(name) CCG_PASTE(CCG_PASTE(ccg_, name), _f32)
#include "ccg_geev_real.inc"
#include "ccg_element_c128.inc"
#define CCG_M(name) CCG_PASTE(CCG_PASTE(ccg_, name), _f64)
#include "ccg_geev_real.inc"
#include "ccg_element_c64.inc"
#include "ccg_geev_complex.inc"
#include "ccg_element_c128.inc"
#include "ccg_geev_complex.inc"
#include "ccg_element_none.inc"

#endif
