/* One function of runtime_c over a block: -DRUN= the name of the loop, -DFUNCTION(x, y)= the call. */
#include "ccg_math_c128.h"
#include "ccg_math_c64.h"

void RUN(const T *CCG_RESTRICT x, const T *CCG_RESTRICT y, T *CCG_RESTRICT r);

void RUN(const T *CCG_RESTRICT x, const T *CCG_RESTRICT y, T *CCG_RESTRICT r)
{
    (void)y;
    CCG_SIMD
    for (int i = 0; i < 4096; i++)
        r[i] = FUNCTION(x[i], y[i]);
}
