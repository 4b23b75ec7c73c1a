"""Loop programs as text that reads like Python and parses back to the same text.

    kernel scale(x: f32[4,12] argument, y: f32[4,12] argument) {
      for i < 4 parallel {
        for j < 12 {
          y[i, j] = x[i, j] * 2.0:f32
        }
      }
    }

Two buffers of one name are told apart by a number: `x` and `x#2`.
"""

from ccodegen.loop.text.parser import parse, parse_kernel
from ccodegen.loop.text.printer import to_text

__all__ = ["parse", "parse_kernel", "to_text"]
