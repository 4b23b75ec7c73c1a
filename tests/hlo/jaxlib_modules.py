"""HLO modules by way of jaxlib, as bytes of a proto and as text with all constants.

As a script it converts the files named on standard input: for `NUMBER PATH` it writes NUMBER.pb
and NUMBER.hlo to the folder given. jaxlib ends the process for some modules; `converted` then
goes on behind the culprit.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def forms(module: Any) -> tuple[bytes, str]:
    """The proto and the text of a jaxlib HloModule."""
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return module.as_serialized_hlo_module_proto(), module.to_string(options)


def converted(paths: Sequence[Path], folder: Path) -> Iterator[tuple[Path, bytes, str]]:
    """(path, proto, text) of each HLO file that jaxlib takes."""
    start = 0
    while start < len(paths):
        lines = [f"{i} {path}" for i, path in enumerate(paths) if i >= start]
        command = [sys.executable, __file__, str(folder)]
        subprocess.run(command, input="\n".join(lines), text=True, capture_output=True)
        start = int((folder / "last").read_text()) + 1
    for i, path in enumerate(paths):
        if (folder / f"{i}.hlo").exists():
            yield path, (folder / f"{i}.pb").read_bytes(), (folder / f"{i}.hlo").read_text()


def _main(folder: Path) -> None:
    from jaxlib import _hlo

    for line in sys.stdin:
        number, path = line.split()
        (folder / "last").write_text(number)
        try:
            proto, text = forms(_hlo.hlo_module_from_text(Path(path).read_text()))
        except Exception:
            continue
        (folder / f"{number}.pb").write_bytes(proto)
        (folder / f"{number}.hlo").write_text(text)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
