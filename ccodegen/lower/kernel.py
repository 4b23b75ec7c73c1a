"""The kernels of a job, most often one: picks the plan that fits, and splits loops until indices
are affine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.block_loops import block_loops
from ccodegen.loop.conditions import has_conditions
from ccodegen.loop.constant_divisors import divide_by_constants
from ccodegen.loop.cse import share_common
from ccodegen.loop.cut_loops import cut_loops
from ccodegen.loop.dead import remove_dead
from ccodegen.loop.far_lookups import read_singly
from ccodegen.loop.far_rows import read_far_rows
from ccodegen.loop.fixed_divisors import divide_by_reciprocals
from ccodegen.loop.fuse_products import fuse_products
from ccodegen.loop.hoist import hoist
from ccodegen.loop.ir import Buffer, ConstantData, Kernel
from ccodegen.loop.mask_choices import mask_choices
from ccodegen.loop.masks_of_doubles import widen_masks_of_doubles
from ccodegen.loop.name_arms import name_arms
from ccodegen.loop.name_conditions import name_conditions
from ccodegen.loop.name_halves import name_halves
from ccodegen.loop.name_values import name_values
from ccodegen.loop.native_halves import compute_in_halves
from ccodegen.loop.near_angles import near_angles
from ccodegen.loop.overlap_tails import overlap_tails
from ccodegen.loop.pack_rows import pack_rows
from ccodegen.loop.pair_turns import pair_turns
from ccodegen.loop.rebuild import expressions, used_buffers
from ccodegen.loop.separate import separate
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.slow_loops import divide_slow_loops
from ccodegen.loop.split_chains import split_chains
from ccodegen.loop.starts import name_starts
from ccodegen.loop.unroll_folds import unroll_folds
from ccodegen.loop.unroll_rows import unroll_rows
from ccodegen.loop.widen_halves import widen_halves
from ccodegen.loop.widen_masks import widen_row_masks
from ccodegen.loop.widen_narrow_stores import widen_narrow_stores
from ccodegen.lower.column_plan import column_plan, columns_fit
from ccodegen.lower.concatenate_plan import concatenate_plan
from ccodegen.lower.contract_plan import HEROES, contract_plan
from ccodegen.lower.flat import flatten, join_loops, mark_loops
from ccodegen.lower.frame import frame_plan, pays_to_frame
from ccodegen.lower.job import Job, Work
from ccodegen.lower.kernel_builder import SplitRequest
from ccodegen.lower.loop_plan import loop_plan
from ccodegen.lower.nest_plan import nest_plan
from ccodegen.lower.row_plan import row_plan
from ccodegen.lower.row_steps import reductions, row_outputs_fit
from ccodegen.lower.short_row_plan import short_row_plan, short_rows_fit
from ccodegen.lower.turns_plan import turns_plan
from ccodegen.lower.update_plan import update_plan
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

Plan = Callable[[Work], None]


@immutable
class Built:
    """A kernel. Its parameters: those of the job's `buffers`, then scratch memory and tables of its
    own."""

    kernel: Kernel
    buffers: tuple[Buffer, ...]
    scratch: tuple[Buffer, ...]
    tables: tuple[ConstantData, ...]


def build_kernels(name: str, job: Job, origin: str) -> Iterator[Built]:
    """In the order of their calls; each is made when it is asked for."""
    work, buffers, kernel = _flat_kernel(name, job, origin)
    for piece in separate(kernel.body):
        used = used_buffers(piece)
        own = {flat: b for flat, b in zip(kernel.buffers, buffers, strict=True) if flat in used}
        yield _built(work, tuple(own.values()), Kernel(name, tuple(own), piece, origin))


def _built(work: Work, buffers: tuple[Buffer, ...], kernel: Kernel) -> Built:
    """`kernel`: what the plan has made, or a part of it; `buffers`: what its own stand for."""
    job = work.job
    scratch = tuple(b for b in work.scratch if b in buffers)
    tables = tuple(t for t in work.tables if t.buffer in buffers)
    fresh, machine, flat = work.builder.fresh, job.target.machine, kernel.body
    if _pays_to_cut(job):
        body = cut_loops(kernel.body, fresh, machine.vector_elements(1))
        body = unroll_folds(remove_dead(name_values(body)), fresh)
        kernel = replace(kernel, body=body)
    body = join_loops(kernel).body
    if machine.has_vectors:
        body = block_loops(body, fresh, machine.vector_bytes)
        body = body if body == flat else simplify_body(body)
    body = mark_loops(body)
    has_f16 = any(b.type is ElementType.F16 for b in buffers)
    if machine.computes_f16 and has_f16:
        body = compute_in_halves(body)
    body = name_halves(body)
    if machine.has_vectors:
        body = pack_rows(body, fresh, machine.vector_elements(4))
    if machine.converts_f16 and has_f16:
        body = widen_halves(body, fresh, machine.vector_elements(4))
    if machine.has_vectors:
        body = widen_row_masks(body, fresh, machine.vector_bytes)
        body = widen_narrow_stores(body, fresh, machine.vector_bytes)
        body = overlap_tails(body, fresh, machine.vector_bytes)
        if has_conditions(body):
            body = name_conditions(mask_choices(body), fresh)
            body = name_arms(body, fresh, machine.masked_bytes)
        if machine.has_wide_vectors and any(b.type is ElementType.F64 for b in buffers):
            body = widen_masks_of_doubles(body)
        body = pair_turns(body, fresh)
    if machine.fetches_ahead:
        body = read_far_rows(body, fresh)
    body = hoist(name_starts(body, fresh))
    if machine.has_vectors:
        body = unroll_rows(body, fresh)
    if machine.has_vectors and not job.strict:
        body = near_angles(divide_by_reciprocals(body, fresh), fresh)
    body = share_common(body, fresh)
    if not job.strict:
        body = fuse_products(divide_by_constants(body))
    if machine.has_vectors:
        body = split_chains(body, fresh)
    if machine.has_vectors and not machine.fetches_ahead:
        body = read_singly(divide_slow_loops(body, fresh), fresh)
    kernel = replace(kernel, body=body)
    return Built(kernel, buffers[: len(buffers) - len(scratch) - len(tables)], scratch, tables)


def _flat_kernel(name: str, job: Job, origin: str) -> tuple[Work, tuple[Buffer, ...], Kernel]:
    """What the plan makes, once all loops are split that it asks for: where an index is not simple
    at once, or, if it becomes so, at the end."""
    splits: dict[str, int] = {}
    while True:
        work = Work(job, splits)
        try:
            choose_plan(work)(work)
            body = remove_dead(simplify_body(work.builder.statements))
            used = used_buffers(body)
            buffers = tuple(b for b in work.buffers if b in used)
            kernel = flatten(Kernel(name, buffers, body, origin))
            work.builder.ask_for_splits(expressions(kernel.body))
        except SplitRequest as request:
            splits[request.var.name] = request.inner
            continue
        return work, buffers, kernel


def choose_plan(work: Work) -> Plan:
    """The plan for what the job computes."""
    job = work.job
    root = job.root
    loops = [i for i in job.fused if i.op == "while"]
    if loops:
        return lambda w: turns_plan(w, loops[0])
    if root in job.fused and opdef.get(root.op).lowers_by_nest(root):
        return lambda w: nest_plan(w, root)
    if len(job.outputs) == 1 and root.op == "dynamic-update-slice" and is_in_place(job, root):
        return lambda w: update_plan(w, root)
    if len(job.outputs) == 1 and root.op == "concatenate":
        return lambda w: concatenate_plan(w, root)
    heroes = [i for i in job.fused if i.op in HEROES]
    if len(heroes) == 1:
        return lambda w: contract_plan(w, heroes[0])
    found = reductions(work)
    if found and columns_fit(work, found):
        return lambda w: column_plan(w, found)
    if found and row_outputs_fit(job.outputs, found):
        return short_row_plan if short_rows_fit(work, found) else row_plan
    if len(job.outputs) == 1 and job.target.machine.has_vectors and pays_to_frame(root):
        return frame_plan
    return loop_plan


def is_in_place(job: Job, update: Instruction) -> bool:
    """Whether the output's buffer is the one that operand 0 lies in."""
    buffers = job.inputs.get(update.operands[0], ())
    return buffers == (job.outputs[0].buffer,)


def _pays_to_cut(job: Job) -> bool:
    """Whether loops without conditions on indices are worth more code: where they become vectors,
    and not in kernels that are long already."""
    long = any(i.op in HEROES or opdef.get(i.op).lowers_by_nest(i) for i in job.fused)
    return not long and job.target.machine.has_vectors
