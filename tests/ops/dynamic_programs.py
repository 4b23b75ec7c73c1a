"""Programs over values of dynamic shape, one for each way in which an op may meet them.

Each takes arrays at their bounds, then the sizes that its values of dynamic shape get.
"""

from __future__ import annotations

ADD = "add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }"
MAX = "max { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] maximum(p, q) }"
ODD = """
odd {
  p = f32[] parameter(0)  q = f32[] parameter(1)
  two = f32[] constant(2)  twice = f32[] multiply(p, two)
  ROOT r = f32[] subtract(twice, q)
}
"""
BOTH = """
both {
  a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)
  s = f32[] add(a, c)  m = s32[] maximum(b, d)
  ROOT r = (f32[], s32[]) tuple(s, m)
}
"""
SECOND = "new { p = f32[] parameter(0)  ROOT q = f32[] parameter(1) }"
LESS = """
less { p = f32[] parameter(0)  q = f32[] parameter(1)
  ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER }
"""
LESS_OF_TWO = """
less2 { p = f32[] parameter(0)  q = f32[] parameter(1)
  a = s32[] parameter(2)  b = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT }
"""
GE = """
ge { p = f32[] parameter(0)  q = f32[] parameter(1)
  ROOT r = pred[] compare(p, q), direction=GE }
"""

# %x: f32[5,4] of which the first dimension is of size %n.
ROWS = """
  data = f32[5,4] parameter(0)
  n = s32[] parameter(1)
  x = f32[<=5,4] set-dimension-size(data, n), dimensions={0}
"""
# %x: f32[5,4] of sizes %n and %m.
BOTH_WAYS = """
  data = f32[5,4] parameter(0)
  n = s32[] parameter(1)
  m = s32[] parameter(2)
  rows = f32[<=5,4] set-dimension-size(data, n), dimensions={0}
  x = f32[<=5,<=4] set-dimension-size(rows, m), dimensions={1}
"""
ZERO = "  zero = f32[] constant(0)\n"


def entry(*lines: str) -> str:
    return "ENTRY e {\n" + "\n".join(lines) + "\n}"


PROGRAMS: dict[str, str] = {
    "elementwise": entry(
        BOTH_WAYS,
        "y = f32[<=5,<=4] negate(x)",
        "whole = f32[5,4] broadcast(n2), dimensions={}",
        "ROOT r = f32[<=5,<=4] multiply(y, whole)",
    ).replace("ENTRY e {\n", "ENTRY e {\n  n2 = f32[] constant(2)\n"),
    "least of two sizes": entry(
        ROWS,
        "m = s32[] parameter(2)",
        "y = f32[<=5,4] set-dimension-size(data, m), dimensions={0}",
        "ROOT r = f32[<=5,4] add(x, y)",
    ),
    "select": entry(
        ROWS,
        ZERO,
        "z = f32[5,4] broadcast(zero), dimensions={}",
        "c = pred[<=5,4] compare(x, z), direction=LT",
        "ROOT r = f32[<=5,4] select(c, x, z)",
    ),
    "broadcast": entry(
        ROWS, "ROOT r = f32[3,<=5,4] broadcast(x), dimensions={1,2}"
    ),
    "transpose": entry(BOTH_WAYS, "ROOT r = f32[<=4,<=5] transpose(x), dimensions={1,0}"),
    "reverse": entry(BOTH_WAYS, "ROOT r = f32[<=5,<=4] reverse(x), dimensions={0,1}"),
    "reverse of one": entry(BOTH_WAYS, "ROOT r = f32[<=5,<=4] reverse(x), dimensions={1}"),
    "slice": entry(BOTH_WAYS, "ROOT r = f32[3,<=4] slice(x), slice={[1:4], [0:4]}"),
    "size": entry(
        BOTH_WAYS,
        "t = f32[<=4,<=5] transpose(x), dimensions={1,0}",
        "ROOT r = s32[] get-dimension-size(t), dimensions={0}",
    ),
    "size of all": entry(ROWS, "ROOT r = s32[] get-dimension-size(x), dimensions={1}"),
    "grown again": entry(
        ROWS,
        "five = s32[] constant(9)",
        "ROOT r = f32[<=5,4] set-dimension-size(x, five), dimensions={0}",
    ),
    "concatenate": entry(
        ROWS,
        "ROOT r = f32[<=15,4] concatenate(x, data, x), dimensions={0}",
    ),
    "concatenate across": entry(ROWS, "ROOT r = f32[<=5,8] concatenate(x, x), dimensions={1}"),
    "pad": entry(BOTH_WAYS, ZERO, "ROOT r = f32[<=12,<=5] pad(x, zero), padding=2_1_1x1_0"),
    "crop": entry(ROWS, ZERO, "ROOT r = f32[<=9,3] pad(x, zero), padding=0_0_1x0_-1"),
    "dynamic-slice": entry(
        ROWS,
        "m = s32[] parameter(2)",
        "ROOT r = f32[<=5,2] dynamic-slice(x, m, m), dynamic_slice_sizes={5,2}",
    ),
    "dynamic-update-slice": entry(
        ROWS,
        "m = s32[] parameter(2)",
        "whole = f32[3,2] parameter(3)",
        "k = s32[] parameter(4)",
        "u = f32[<=3,2] set-dimension-size(whole, k), dimensions={0}",
        "ROOT r = f32[<=5,4] dynamic-update-slice(x, u, m, k)",
    ),
    "reshape outermost": entry(ROWS, "ROOT r = f32[<=20] reshape(x)"),
    "reshape": entry(BOTH_WAYS, "ROOT r = f32[<=20] reshape(x)"),
    "reshape split": entry(
        "  data = f32[2,6] parameter(0)",
        "  n = s32[] parameter(1)",
        "  x = f32[2,<=6] set-dimension-size(data, n), dimensions={1}",
        "ROOT r = f32[2,2,<=3] reshape(x)",
    ),
    "reshape inferred": entry(
        "  data = f32[12] parameter(0)",
        "  n = s32[] parameter(1)",
        "  x = f32[<=12] set-dimension-size(data, n), dimensions={0}",
        "ROOT r = f32[2,<=3,2] reshape(x), inferred_dimension=1",
    ),
    "dynamic-reshape": entry(
        BOTH_WAYS, "ROOT r = f32[<=4,<=5] dynamic-reshape(x, m, n)"
    ),
    "dynamic-reshape flat": entry(
        BOTH_WAYS, "k = s32[] multiply(n, m)", "ROOT r = f32[<=20] dynamic-reshape(x, k)"
    ),
    "reduce": ADD + entry(
        BOTH_WAYS, ZERO, "ROOT r = f32[<=5] reduce(x, zero), dimensions={1}, to_apply=add"
    ),
    "reduce all": MAX + entry(
        BOTH_WAYS, "o = f32[] constant(-1)",
        "ROOT r = f32[] reduce(x, o), dimensions={0,1}, to_apply=max",
    ),
    "reduce oddly": ODD + entry(
        BOTH_WAYS, "o = f32[] constant(3)",
        "ROOT r = f32[<=4] reduce(x, o), dimensions={0}, to_apply=odd",
    ),
    "reduce two": BOTH + entry(
        ROWS,
        ZERO,
        "i = s32[5,4] iota(), iota_dimension=0",
        "first = s32[] constant(-1)",
        "ROOT r = (f32[4], s32[4]) reduce(x, i, zero, first), dimensions={0}, to_apply=both",
    ),
    "cumulative": ADD + entry(
        ROWS,
        ZERO,
        "ROOT r = f32[<=5,4] reduce-window(x, zero), window={size=5x1 pad=4_0x0_0}, to_apply=add",
    ),
    "reduce-window": ADD + entry(
        BOTH_WAYS,
        "o = f32[] constant(1)",
        "ROOT r = f32[<=3,<=4] reduce-window(x, o), window={size=3x2 stride=2x1 pad=1_1x1_0},"
        " to_apply=add",
    ),
    "reduce-window with holes": MAX + entry(
        ROWS,
        "o = f32[] constant(-7)",
        "ROOT r = f32[<=8,4] reduce-window(x, o), window={size=2x1 lhs_dilate=2x1}, to_apply=max",
    ),
    "select-and-scatter": ADD + GE + entry(
        "  data = f32[6,4] parameter(0)",
        "  n = s32[] parameter(1)",
        "  source = f32[3,4] parameter(2)",
        ZERO,
        "  half = s32[] constant(2)",
        "  k = s32[] divide(n, half)",
        "  x = f32[<=6,4] set-dimension-size(data, n), dimensions={0}",
        "  s = f32[<=3,4] set-dimension-size(source, k), dimensions={0}",
        "ROOT r = f32[<=6,4] select-and-scatter(x, s, zero), window={size=2x1 stride=2x1},"
        " select=ge, scatter=add",
    ),
    "sort": LESS + entry(BOTH_WAYS, "ROOT r = f32[<=5,<=4] sort(x), dimensions={0}, to_apply=less"),
    "sort two": LESS_OF_TWO + entry(
        ROWS,
        "i = s32[5,4] iota(), iota_dimension=0",
        "ROOT r = (f32[<=5,4], s32[<=5,4]) sort(x, i), dimensions={0}, is_stable=true,"
        " to_apply=less2",
    ),
    "topk": entry(ROWS, "ROOT r = (f32[<=5,2], s32[<=5,2]) topk(x), k=2, largest=true"),
    "dot": entry(
        BOTH_WAYS,
        "other = f32[4,3] parameter(3)",
        "ROOT r = f32[<=5,3] dot(x, other), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "dot of batches": entry(
        BOTH_WAYS,
        "ROOT r = f32[<=4] dot(x, x), lhs_batch_dims={1}, rhs_batch_dims={1},"
        " lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    ),
    "convolution": entry(
        "  data = f32[2,7,3] parameter(0)",
        "  n = s32[] parameter(1)",
        "  kernel = f32[3,3,2] parameter(2)",
        "  m = s32[] parameter(3)",
        "  some = f32[<=2,7,3] set-dimension-size(data, m), dimensions={0}",
        "  x = f32[<=2,<=7,3] set-dimension-size(some, n), dimensions={1}",
        "ROOT r = f32[<=2,<=4,2] convolution(x, kernel), window={size=3 stride=2 pad=1_1},"
        " dim_labels=b0f_0io->b0f",
    ),
    "convolution of features": entry(
        "  data = f32[2,7,3] parameter(0)",
        "  n = s32[] parameter(1)",
        "  kernel = f32[3,3,2] parameter(2)",
        "  x = f32[2,7,<=3] set-dimension-size(data, n), dimensions={2}",
        "  k = f32[3,<=3,2] set-dimension-size(kernel, n), dimensions={1}",
        "ROOT r = f32[2,7,2] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
    ),
    "gather": entry(
        "  data = f32[5,4] parameter(0)",
        "  where = s32[6] parameter(1)",
        "  n = s32[] parameter(2)",
        "  m = s32[] parameter(3)",
        "  x = f32[5,<=4] set-dimension-size(data, m), dimensions={1}",
        "  i = s32[<=6] set-dimension-size(where, n), dimensions={0}",
        "ROOT r = f32[<=6,<=4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
    ),
    "scatter": SECOND + entry(
        "  data = f32[5,4] parameter(0)",
        "  where = s32[6] parameter(1)",
        "  n = s32[] parameter(2)",
        "  new = f32[6,4] parameter(3)",
        "  i = s32[<=6] set-dimension-size(where, n), dimensions={0}",
        "  u = f32[<=6,4] set-dimension-size(new, n), dimensions={0}",
        "ROOT r = f32[5,4] scatter(data, i, u), update_window_dims={1}, inserted_window_dims={0},"
        " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=new",
    ),
    "scatter of windows": ADD + entry(
        "  data = f32[5,4] parameter(0)",
        "  where = u8[6] parameter(1)",
        "  n = s32[] parameter(2)",
        "  new = f32[6,3] parameter(3)",
        "  u = f32[6,<=3] set-dimension-size(new, n), dimensions={1}",
        "ROOT r = f32[5,4] scatter(data, where, u), update_window_dims={1},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,"
        " to_apply=add",
    ),
    "fft": entry(
        ROWS,
        "c = c64[<=5,4] complex(x, x)",
        "ROOT r = c64[<=5,4] fft(c), fft_type=FFT, fft_length={4}",
    ),
    "batch-norm-inference": entry(
        ROWS,
        "v = f32[4] parameter(2)",
        "ROOT r = f32[<=5,4] batch-norm-inference(x, v, v, v, v), epsilon=0.01, feature_index=1",
    ),
    "map": ODD + entry(ROWS, "ROOT r = f32[<=5,4] map(x, x), dimensions={0,1}, to_apply=odd"),
    "tuple": entry(
        BOTH_WAYS,
        "t = (f32[<=5,<=4], s32[]) tuple(x, n)",
        "b = (f32[<=5,<=4], s32[]) opt-barrier(t)",
        "g = f32[<=5,<=4] get-tuple-element(b), index=0",
        "ROOT r = (f32[<=5,<=4], (f32[<=5,<=4])) tuple(g, u)",
    ).replace("ROOT", "u = (f32[<=5,<=4]) tuple(x)\n  ROOT"),
    "call": """
f {
  p = f32[<=5,4] parameter(0)
  ROOT q = f32[<=5,4] negate(p)
}
""" + entry(ROWS, "ROOT r = f32[<=5,4] call(x), to_apply=f"),
    "conditional": """
f {
  p = f32[<=5,4] parameter(0)
  two = s32[] constant(2)
  ROOT q = f32[<=5,4] set-dimension-size(p, two), dimensions={0}
}
g {
  p = f32[5,4] parameter(0)
  ROOT q = f32[5,4] negate(p)
}
""" + entry(
        ROWS,
        "three = s32[] constant(3)",
        "c = pred[] compare(n, three), direction=LT",
        "ROOT r = f32[<=5,4] conditional(c, x, data), true_computation=f, false_computation=g",
    ),
    "stack": """
more {
  s = (f32[<=5,4], s32[]) parameter(0)
  x = f32[<=5,4] get-tuple-element(s), index=0
  k = s32[] get-dimension-size(x), dimensions={0}
  limit = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(k, limit), direction=LT
}
push {
  s = (f32[<=5,4], s32[]) parameter(0)
  x = f32[<=5,4] get-tuple-element(s), index=0
  limit = s32[] get-tuple-element(s), index=1
  k = s32[] get-dimension-size(x), dimensions={0}
  f = f32[] convert(k)
  row = f32[1,4] broadcast(f), dimensions={}
  zero = s32[] constant(0)
  one = s32[] constant(1)
  y = f32[<=5,4] dynamic-update-slice(x, row, k, zero)
  next = s32[] add(k, one)
  z = f32[<=5,4] set-dimension-size(y, next), dimensions={0}
  ROOT t = (f32[<=5,4], s32[]) tuple(z, limit)
}
""" + entry(
        ROWS,
        "m = s32[] parameter(2)",
        "five = s32[] constant(5)",
        "limit = s32[] minimum(m, five)",
        "s = (f32[<=5,4], s32[]) tuple(x, limit)",
        "w = (f32[<=5,4], s32[]) while(s), condition=more, body=push",
        "ROOT r = f32[<=5,4] get-tuple-element(w), index=0",
    ),
}
