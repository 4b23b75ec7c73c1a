/* QR factors by reflectors: ccg_geqrf_<type>, ccg_geqp3_<type>, ccg_orgqr_<type>,
   ccg_ormqr_<type>. The bodies stand in ccg_geqrf.inc, blocks of reflectors in
   ccg_reflector_block.inc. */
#ifndef CCG_GEQRF_H
#define CCG_GEQRF_H

#include "ccg_householder.h"

#include "ccg_element_f32.inc"
#include "ccg_reflector_block.inc"
#include "ccg_geqrf.inc"
#include "ccg_element_f64.inc"
#include "ccg_reflector_block.inc"
#include "ccg_geqrf.inc"
#include "ccg_element_c64.inc"
#include "ccg_reflector_block.inc"
#include "ccg_geqrf.inc"
#include "ccg_element_c128.inc"
#include "ccg_reflector_block.inc"
#include "ccg_geqrf.inc"
#include "ccg_element_none.inc"

#endif
