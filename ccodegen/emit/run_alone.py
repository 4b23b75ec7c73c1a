"""Which calls in loops one thread runs, though threads may share what their kernels do.

What a turn of a loop leaves in a core's caches the next kernel finds there, and the next turn. Half
of what two threads write lies in another core's. A kernel of the loop that is not shared fetches it
from there, at a twentieth of the speed: in a loop over small arrays that can take longer than the
threads save.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ccodegen.loop.cost import cost
from ccodegen.loop.ir import Buffer, CallKernel, Kernel, Step, While
from ccodegen.loop.rebuild import written_buffers
from ccodegen.loop.steps import all_steps, kernel_calls
from ccodegen.support.decisions import decided
from ccodegen.support.element_type import ElementType

_NEAR = 1 << 21  # bytes that the second-level caches of two cores keep
# In a nanosecond, where caches have the arrays.
_OPERATIONS = 60  # and half as many of doubles
_BYTES = 120
_BYTES_FROM_ANOTHER_CORE = 6


def run_alone(steps: Iterable[Step], shareable: Collection[Kernel]) -> frozenset[int]:
    """Calls of these kernels, by identity."""
    alone: set[int] = set()
    for loop in all_steps(steps):
        if isinstance(loop, While):  # one inside of another comes later
            turn = list(kernel_calls((*loop.condition, *loop.body)))
            shared = [call for call in turn if call.kernel in shareable]
            others = [call for call in turn if call.kernel not in shareable]
            calls = set(map(id, shared))
            alone = alone | calls if _is_slower(shared, others) else alone - calls
    return frozenset(alone)


def _is_slower(shared: Sequence[CallKernel], others: Sequence[CallKernel]) -> bool:
    """Whether a turn of these calls takes two threads longer than one."""
    if sum(buffer.bytes for buffer in _used((*shared, *others))) > _NEAR:
        return False
    saved = sum(_nanoseconds(call.kernel) for call in shared) / 2
    written = {buffer for call in (*shared, *others) for buffer in _written(call)}
    fetched = sum(buffer.bytes for buffer in written & _used(shared) & _used(others))
    is_slower = fetched / _BYTES_FROM_ANOTHER_CORE > saved
    for call in shared if is_slower else ():
        why = f"{fetched} bytes of its loop's would come from another core, to save {saved:.0f} ns"
        decided(call.kernel.name, "run by one thread", why)
    return is_slower


def _nanoseconds(kernel: Kernel) -> float:
    reached = sum(buffer.bytes for buffer in kernel.buffers)
    per_double = 2 if any(buffer.type is ElementType.F64 for buffer in kernel.buffers) else 1
    return max(cost(kernel).work * per_double / _OPERATIONS, reached / _BYTES)


def _used(calls: Iterable[CallKernel]) -> set[Buffer]:
    return {buffer for call in calls for buffer in call.buffers}


def _written(call: CallKernel) -> Iterable[Buffer]:
    written = written_buffers(call.kernel.body)
    return (b for b, own in zip(call.buffers, call.kernel.buffers, strict=True) if own in written)
