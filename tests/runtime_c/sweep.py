"""Sweeps unary f32 functions over all 2^32 arguments and prints the largest error in ulp.

    python -m tests.runtime_c.sweep [--step N] [--strict] [--compiler gcc] [FUNCTION ...]

The reference is the C library's function in double precision. A step of 1 takes one to three
minutes per function on one core; a larger odd step samples.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[2] / "runtime_c"
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"]
STRICT = ["-DCCG_STRICT", "-ffp-contract=off"]

# The reference as a C expression in the double x.
REFERENCES = {
    "exp": "exp(x)",
    "expm1": "expm1(x)",
    "log": "log(x)",
    "log1p": "log1p(x)",
    "logistic": "1 / (1 + exp(-x))",
    "tanh": "tanh(x)",
    "erf": "erf(x)",
    "sin": "sin(x)",
    "cos": "cos(x)",
    "tan": "tan(x)",
    "asin": "asin(x)",
    "acos": "acos(x)",
    "atan": "atan(x)",
    "sinh": "sinh(x)",
    "cosh": "cosh(x)",
    "asinh": "asinh(x)",
    "acosh": "acosh(x)",
    "atanh": "atanh(x)",
    "sqrt": "sqrt(x)",
    "rsqrt": "1 / sqrt(x)",
    "cbrt": "cbrt(x)",
}

PROGRAM = """
#include "ccg_math_f32.h"
#include <stdio.h>
#define BLOCK 4096
/* The distance in ulp of the reference, whose exponent is at least that of the denormals; past the
   largest float, infinity is 2^128. */
static double error(float got, double want)
{
    int exponent;
    double found = (double)got;
    if (want != want || found != found)
        return want != want && found != found ? 0 : HUGE_VAL;
    if (fabs(want) >= 0x1.ffffffp127)
        return found == (want > 0 ? HUGE_VAL : -HUGE_VAL) ? 0 : HUGE_VAL;
    if (fabs(found) == HUGE_VAL)
        found = found > 0 ? 0x1p128 : -0x1p128;
    if (found == want)
        return (want == 0 && signbit(want) != signbit(found)) ? HUGE_VAL : 0;
    frexp(want, &exponent);
    exponent = want == 0 || exponent < -125 ? -125 : exponent;
    return fabs(found - want) / ldexp(1, exponent - 24);
}
int main(void)
{
    static float in[BLOCK], out[BLOCK];
    double worst = 0;
    uint32_t at = 0;
    uint64_t bits = 0;
    while (bits < (uint64_t)1 << 32) {
        int count = 0;
        for (; count < BLOCK && bits < (uint64_t)1 << 32; count++, bits += STEP)
            in[count] = ccg_f32_bits((uint32_t)bits);
        for (int i = 0; i < count; i++)
            out[i] = FUNCTION(in[i]);
        for (int i = 0; i < count; i++) {
            double x = (double)in[i], e = error(out[i], REFERENCE);
            if (e > worst) {
                worst = e;
                at = ccg_bits_f32(in[i]);
            }
        }
    }
    printf("%.3f ulp at %a\\n", worst, (double)ccg_f32_bits(at));
    return 0;
}
"""


def sweep(function: str, step: int, strict: bool, compiler: str) -> str:
    """The largest error of ccg_<function>_f32 over every step-th argument, and where it is."""
    text = PROGRAM.replace("FUNCTION", f"ccg_{function}_f32").replace("STEP", f"{step}u")
    text = text.replace("REFERENCE", REFERENCES[function])
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "sweep.c", Path(folder) / "sweep"
        source.write_text(text)
        flags = FLAGS + (STRICT if strict else [])
        command = [compiler, *flags, f"-I{RUNTIME}", str(source), "-o", str(program), "-lm"]
        subprocess.run(command, check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", choices=[[], *REFERENCES], default=[])
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--compiler", default="gcc")
    options = parser.parse_args()
    for function in options.functions or REFERENCES:
        result = sweep(function, options.step, options.strict, options.compiler)
        print(f"{function:10} {result}", flush=True)


if __name__ == "__main__":
    main()
