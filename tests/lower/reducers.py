"""Computations that tests reduce with."""

ARGMAX = """argmax {
  a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT  nan = pred[] compare(a, a), direction=NE
  first = pred[] or(more, nan)  equal = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT  tie = pred[] and(equal, before)
  stays = pred[] or(first, tie)  best = f32[] select(first, a, b)
  place = s32[] select(stays, i, j)  ROOT r = (f32[], s32[]) tuple(best, place) }"""
"""NaN before all numbers, of equal elements the first."""
