"""What the steps of a program name: other steps, buffers, kernels, hooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ccodegen.loop.ir import Buffer, CallHook, CallKernel, Kernel, Step, Switch, While


def all_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """All of them in the order of printing, those of loops and branches after what holds them."""
    for step in steps:
        yield step
        match step:
            case While():
                yield from all_steps((*step.condition, *step.body))
            case Switch():
                for branch in step.branches:
                    yield from all_steps(branch)


def kernel_calls(steps: Iterable[Step]) -> Iterator[CallKernel]:
    return (step for step in all_steps(steps) if isinstance(step, CallKernel))


def hook_calls(steps: Iterable[Step]) -> Iterator[CallHook]:
    return (step for step in all_steps(steps) if isinstance(step, CallHook))


def called_kernels(steps: Iterable[Step]) -> list[Kernel]:
    """The kernels that the steps call, each once, in the order of their first call."""
    return list(dict.fromkeys(call.kernel for call in kernel_calls(steps)))


def used_buffers(steps: Iterable[Step]) -> list[Buffer]:
    """All buffers that the steps name, each once, in order."""
    return list(dict.fromkeys(b for step in all_steps(steps) for b in _own_buffers(step)))


def _own_buffers(step: Step) -> tuple[Buffer, ...]:
    match step:
        case CallKernel():
            return step.buffers
        case CallHook():
            return (*(handed.buffer for handed in step.reads), *step.writes)
        case While():
            return (step.predicate,)
        case Switch():
            return (step.selector,)
