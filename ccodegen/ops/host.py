"""Which instructions ask the host, and for what."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.ops.custom_call import call_request
from ccodegen.ops.io import Infeed, Outfeed, Transfer
from ccodegen.support.hooks import IO, Hook, Request, missing


def request_of(instruction: Instruction) -> Request | None:
    """What the instruction asks of the program's caller; None where it asks nothing.

    A recv only begins a transfer: the recv-done asks. A send asks, and its send-done nothing.
    """
    attributes = instruction.attributes
    match attributes:
        case Infeed():
            return Request(Hook.INFEED, attributes.infeed_config)
        case Outfeed():
            return Request(Hook.OUTFEED, attributes.outfeed_config)
        case Transfer() if instruction.op in ("send", "recv-done"):
            hook = Hook.SEND if instruction.op == "send" else Hook.RECV
            return Request(hook, channel=attributes.channel_id or 0)
    return call_request(instruction)


def check_io(module: Module, io: IO) -> None:
    """Raises InputError for the first instruction that asks for what `io` lacks."""
    for instruction in (i for c in module.computations for i in c.instructions):
        request = request_of(instruction)
        if request is not None and io.function(request) is None:
            raise missing(request, instruction.name, instruction.location)
