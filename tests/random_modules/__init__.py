"""Random modules: small, typed, of nasty sizes and values, with control flow now and then.

    module = random_module(seed=7)
    python -m tests.random_modules --count 1000 --seed 0 --both

A kind of instruction is a function that adds one to a `Body`; the files hold them by theme,
`generator` lists them all. `campaign` runs many modules every way there is and compares.
"""

from tests.random_modules.generator import random_module
from tests.random_modules.values import arguments

__all__ = ["arguments", "random_module"]
