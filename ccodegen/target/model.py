"""What a target is: one frozen dataclass per table of its TOML file."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from ccodegen.support.immutable import frozen

_WIDE = 64  # bytes of a vector


@frozen
class Compiler:
    """How C is compiled for the target.

    `commands`: tried in order, the first one installed is taken; `environment`: $CC goes before.
    `flags`: always given. `default_flags` or `strict_flags` follow, by the mode of the build.
    `link_flags` end the command that makes a program. `install`: what to do where no compiler is.
    """

    commands: tuple[str, ...]
    environment: bool = False
    standard: str = "c99"
    flags: tuple[str, ...] = ()
    default_flags: tuple[str, ...] = ()
    strict_flags: tuple[str, ...] = ("-ffp-contract=off",)
    link_flags: tuple[str, ...] = ()
    install: str = ""

    def arguments(self, strict: bool) -> tuple[str, ...]:
        """The flags of one translation unit in that mode."""
        mode = self.strict_flags if strict else self.default_flags
        return (f"-std={self.standard}", *self.flags, *mode)


@frozen
class Abi:
    """Facts about memory. Alignments in bytes: of the arena, and of each array of weights."""

    pointer_bits: int = 64
    big_endian: bool = False
    arena_alignment: int = 64
    weight_alignment: int = 64


@frozen
class Machine:
    """What the processor is good at.

    `vector_bytes`: width of a vector register, the size of a scalar one where there are none; 0:
    that of the machine we run on. `vector_registers`: how many, 0 likewise.
    `cache_bytes`: of the first-level data cache. `fetches_ahead`: the processor goes ahead of what
    reads memory by itself, best of two readers at a time, and to be asked may hold it up. Both are
    found out where `vector_bytes` is.
    `threads`: that share a call's work, as many as the caller asks for.
    `f64`: the hardware computes in it. `converts_f16`: instructions convert lines of f16 to f32 and
    back (see runtime_c/ccg_half_lines.h). `computes_f16`: they add, multiply and compare vectors of
    f16 (see runtime_c/ccg_half_arithmetic.h). `bf16_pairs`: one adds products of pairs of bf16 to
    f32, that of AVX512_BF16. `matrix_registers`: AMX multiplies matrices of bytes and of bf16, and
    its process has asked the system for them (see runtime_c/ccg_matrix.h). All four are found out
    where `vector_bytes` is, the last one for code that is loaded into this process.
    `strict`: IEEE arithmetic to the letter is possible (no excess precision, no flush to zero).
    """

    vector_bytes: int = 16
    vector_registers: int = 16
    cache_bytes: int = 1 << 15
    fetches_ahead: bool = False
    threads: int = 1
    converts_f16: bool = False
    computes_f16: bool = False
    f64: bool = True
    bf16_pairs: bool = False
    matrix_registers: bool = False
    strict: bool = True

    @property
    def has_vectors(self) -> bool:
        return self.vector_elements(4) > 1

    @property
    def has_wide_vectors(self) -> bool:
        """Whether a vector is as long as a line of a cache. Much that was measured on processors
        that have such (Zen 4) is not so where they are narrower (Zen 3)."""
        return self.vector_bytes >= _WIDE

    @property
    def masked_bytes(self) -> int:
        """The least element of which vectors are read in part: words since AVX, bytes since
        AVX-512; 0 if they never are."""
        return {32: 4, 64: 1}.get(self.vector_bytes, 0)

    def vector_elements(self, element_bytes: int) -> int:
        """How many elements a vector register holds: 1 where there are no vectors."""
        has_vectors = self.vector_bytes > 4
        return max(1, self.vector_bytes // element_bytes) if has_vectors else 1


@frozen
class Memory:
    """Sizes in bytes, 0 where unlimited or unknown."""

    flash: int = 0
    ram: int = 0
    stack: int = 0


@frozen
class Tile:
    """Blocking of a contraction: `rows` × `vectors` registers of accumulators.

    0 rows or vectors: chosen after the number of vector registers. `most`: what there are
    functions for.
    """

    rows: int = field(default=0, metadata={"most": 64})
    vectors: int = field(default=0, metadata={"most": 16})


@frozen
class Board:
    """What a program without an operating system is linked with: files beside the TOML file."""

    startup: tuple[str, ...] = ()
    linker_script: str = ""


@frozen
class Runner:
    """How a program runs: a command line in which `{program}` stands for its path.

    `in_process`: the host loads the code itself. `timeout` in seconds.
    """

    command: tuple[str, ...] = ("{program}",)
    in_process: bool = False
    timeout: int = 60
    install: str = ""


@frozen
class Target:
    """A compiler, a machine and a way to run: all that tells one target from another.

    `macros`: options of runtime_c, CCG_ names with their values, defined for every file.
    `tiles`: those of single contractions, such as f32-64x64x576, as `ccodegen tune` finds them.
    """

    name: str
    description: str
    compiler: Compiler
    abi: Abi = field(default_factory=Abi)
    machine: Machine = field(default_factory=Machine)
    memory: Memory = field(default_factory=Memory)
    tile: Tile = field(default_factory=Tile)
    board: Board = field(default_factory=Board)
    runner: Runner = field(default_factory=Runner)
    macros: tuple[tuple[str, str], ...] = ()
    tiles: tuple[tuple[str, Tile], ...] = ()
    directory: Path = field(default=Path(), compare=False, repr=False)

    def tile_size(self, element_bytes: int, contraction: str = "") -> tuple[int, int]:
        """Rows and columns, in elements, of the tile of a contraction over such elements.

        By default two vectors wide, so that sizes which are powers of two divide evenly, and as
        high as registers allow beside the operands: 14 × 2 of 32, 6 × 2 of 16.
        """
        tile = dict(self.tiles).get(contraction, self.tile)
        rows = tile.rows or (14 if self.machine.vector_registers >= 32 else 6)
        vectors = tile.vectors or 2
        columns = vectors * self.machine.vector_elements(element_bytes)
        return rows, columns

    def compile_flags(self, strict: bool) -> tuple[str, ...]:
        """All flags of one translation unit, the macros included."""
        ahead = (("CCG_FETCHES_AHEAD", "1"),) if self.machine.fetches_ahead else ()
        macros = tuple(f"-D{name}={value}" for name, value in (*ahead, *self.macros))
        return (*self.compiler.arguments(strict), *macros)
