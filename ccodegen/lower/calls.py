"""The kernel calls of each step; a step like an earlier one gets that one's kernels at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from ccodegen.loop.ir import Buffer, ConstantData, Kernel
from ccodegen.lower.coalesce import Storage
from ccodegen.lower.copies import copy_kernel
from ccodegen.lower.kernel import Built, build_kernels
from ccodegen.lower.origins import Origin
from ccodegen.lower.share import KernelTable
from ccodegen.lower.step_job import StepJob, kernel_job, likeness
from ccodegen.lower.steps import Compute, Copy, Step, Value
from ccodegen.support.immutable import frozen, immutable
from ccodegen.target.model import Target


@frozen
class Call:
    """A kernel with what it is called on: storages, then scratch and tables of its own."""

    kernel: Kernel
    storages: tuple[Storage, ...]
    scratch: tuple[Buffer, ...] = ()
    tables: tuple[ConstantData, ...] = ()


@immutable
class _Made:
    """A kernel, and which of its job's storages, by number, its parameters are."""

    kernel: Kernel
    places: tuple[int, ...]
    scratch: tuple[Buffer, ...]
    tables: tuple[ConstantData, ...]


class CallMaker:
    def __init__(
        self,
        memory: Mapping[Value, Storage],
        target: Target,
        strict: bool,
        origin: Origin,
        made: Callable[[Kernel], None],
    ) -> None:
        self._memory, self._target, self._strict = memory, target, strict
        self._origin = origin
        self._table = KernelTable(made)
        self._made: dict[Hashable, tuple[_Made, ...]] = {}

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self._table.kernels

    def calls(self, step: Step) -> tuple[Call, ...]:
        """In order; no call for control flow, and where there is nothing to do."""
        if isinstance(step, Copy):
            return self._copy(step)
        if not isinstance(step, Compute) or not any(v.shape.size for v in step.outputs):
            return ()
        job = kernel_job(step, self._memory, self._target, self._strict)
        key = likeness(step, self._memory)
        if key not in self._made:
            name, origin = step.instruction.name, self._origin(step.instruction)
            found = build_kernels(name, job.job, origin)
            self._made[key] = tuple(self._add(job, b) for b in found if b.kernel.body)
        storages = tuple(job.storages.values())
        return tuple(
            Call(made.kernel, tuple(storages[n] for n in made.places), made.scratch, made.tables)
            for made in self._made[key]
        )

    def _copy(self, copy: Copy) -> tuple[Call, ...]:
        source, target = self._memory[copy.source], self._memory[copy.target]
        shape = copy.source.shape
        if source is target or not shape.size:
            return ()
        kernel = self._table.add(copy_kernel(shape.element_type, shape.size))
        return (Call(kernel, (source, target)),)

    def _add(self, job: StepJob, built: Built) -> _Made:
        order = {buffer: n for n, buffer in enumerate(job.storages)}
        places = tuple(order[b] for b in built.buffers)
        return _Made(self._table.add(built.kernel), places, built.scratch, built.tables)
