"""The campaign's command line."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.random_modules import batch
from tests.random_modules.campaign import Campaign
from tests.random_modules.trial import Mode, Trial

_TEXT = """\
Random modules by evaluator, loop interpreter and compiled C; what differs, crashes or hangs is
written to a folder. Run again, it goes on where it was.

  python -m tests.random_modules --count 200000 --both
  python -m tests.random_modules --count 5000 --both --sanitize
  python -m tests.random_modules --count 5000 --wide
  python -m tests.random_modules --count 5000 --xla
"""
_USUAL = (*[batch.FAST] * 20, batch.GCC, batch.JIT)


def main() -> int:
    args = _parser().parse_args()
    if args.sanitize and "LD_PRELOAD" not in os.environ:
        _preload_sanitizer()
    campaign = Campaign(args.seed, args.count, _modes(args), _USUAL, args.folder, size=args.batch)
    if args.sanitize:
        campaign.compilations = (batch.SANITIZED,)
    if args.wide:  # of whose fused operations other modes make other bits
        campaign.compilations, campaign.modes = (batch.WIDE,), (Mode.EXACT,)
    if args.xla:
        from tests.random_modules.xla import run as run_xla

        campaign.work, campaign.modes = run_xla, (Mode.XLA,)
        campaign.ends_are_refusals = True
    else:
        _warm_up()
    campaign.run()
    return 1 if campaign.finds else 0


def _modes(args: argparse.Namespace) -> tuple[Mode, ...]:
    if args.both:
        return (Mode.STRICT, Mode.EXACT, Mode.LOOSE)
    return (Mode.STRICT,) if args.strict else (Mode.EXACT, Mode.LOOSE)


def _warm_up() -> None:
    """Fills the caches that all batches then have from the start."""
    for seed in range(90):
        with contextlib.suppress(Exception):
            Trial(seed, Mode.STRICT).prepare()


def _preload_sanitizer() -> None:
    """Starts this program again with clang's sanitizers in the process: they must come first."""
    found = subprocess.run(
        ["clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True
    )
    environment = {
        **os.environ,
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    command = [sys.executable, "-m", "tests.random_modules", *sys.argv[1:]]
    os.execve(sys.executable, command, environment)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.random_modules",
        description=_TEXT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    folder = Path(tempfile.gettempdir()) / "ccodegen-campaign"
    parser.add_argument("--count", type=int, default=1000, help="modules; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the first one; default: 0")
    parser.add_argument("--batch", type=int, default=60, help="modules to a library")
    parser.add_argument("--folder", type=Path, default=folder, help="default: %(default)s")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--strict", action="store_true", help="strict mode instead of default mode")
    modes.add_argument("--both", action="store_true", help="both modes")
    modes.add_argument("--xla", action="store_true", help="the evaluator against XLA:CPU instead")
    parser.add_argument("--sanitize", action="store_true", help="with clang's sanitizers")
    parser.add_argument("--wide", action="store_true", help="small integers, by gcc for AVX-512")
    return parser


if __name__ == "__main__":
    sys.exit(main())
