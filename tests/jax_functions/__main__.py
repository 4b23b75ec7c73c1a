"""python -m tests.jax_functions [--module M] [--function F] [--write]"""

from __future__ import annotations

import argparse
import sys
import time

from tests.jax_functions import page
from tests.jax_functions.listing import MODULES, Function, functions
from tests.jax_functions.outcome import AGREES, NOT_TAKEN, Outcome, outcomes


def main() -> int:
    """The exit code is 1 where a function differs or fails."""
    options = _arguments()
    wanted = [
        function
        for module in options.module or MODULES
        for function in functions(module)
        if not options.function or function.name in options.function
    ]
    results = {}
    for function in wanted:
        if function.skipped:
            continue
        start = time.time()
        results[function.path] = outcomes(function)
        _show(function, results[function.path], time.time() - start)
    print(page.summary(wanted, results))
    if options.write:
        page.write(results)
    return int(any(page.is_wrong(one) for found in results.values() for one in found.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.jax_functions", description=__doc__)
    parser.add_argument("--module", action="append", help="only this one; may be repeated")
    parser.add_argument("--function", action="append", help="only functions of this name")
    parser.add_argument("--write", action="store_true", help="renew their rows of docs/jax.md")
    return parser.parse_args()


def _show(function: Function, found: dict[str, Outcome], seconds: float) -> None:
    kinds = "  ".join(f"{name} {one.kind}" for name, one in found.items())
    print(f"{function.path:40} {kinds}  ({seconds:.1f} s)", flush=True)
    silent = (AGREES,) if any(one.kind != NOT_TAKEN for one in found.values()) else ()
    for name, one in found.items():
        if one.detail and one.kind not in (*silent, *((NOT_TAKEN,) if silent else ())):
            print(f"    {name}: {one.detail}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
