"""A workload as files, which peers read instead of drawing the arrays anew.

`python -m tests.benchmarks.formats FORMAT WORKLOAD FOLDER` writes one format, in a process of its
own: what an exporter needs (JAX, PyTorch) must not count as memory of the peer that runs the model.

    jax     program.mlir: StableHLO; argumentN.npy: inputs, then weights, as JAX takes them (NHWC);
            resultN.npy: those of XLA; facts.json
    onnx    model.onnx, by PyTorch
    tflite  model.tflite, by litert-torch

A format that cannot be made leaves FORMAT.failed with a sentence that says why.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.functions import JaxFunctions, TorchFunctions
from tests.benchmarks.workload import Array, Kind, Onnx, Operand, Workload, all_workloads

_ONNX_OPSET, _ONNX_IR = 17, 9
_NO_EXPORT = "exporters lack something in it"
_MOST_INSIDE = 1 << 28  # bytes of weights; a protobuf ends at 2 GB, so larger ones go beside it


@dataclass(frozen=True)
class Facts:
    """What the arrays in a folder are. Types by name, as NumPy's files do not know bf16."""

    inputs: int
    arguments: list[str]
    results: list[str]
    read: int
    written: int


def ensure(form: str, workload: str, folder: Path, interpreter: str, timeout: float) -> str:
    """Makes a format where it is missing. Returns why it cannot be had, or nothing."""
    failed, done = folder / f"{form}.failed", folder / f"{form}.done"
    if done.exists():
        return ""
    if failed.exists():
        return failed.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    command = [interpreter, "-m", __name__, form, workload, str(folder)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"no {form} in {timeout:.0f} s"
    if ended.returncode == 0:
        done.touch()
        return ""
    reason = f"no {form}: {error_of(ended.stderr)}"
    if "ModuleNotFoundError" not in reason:  # that can be put right
        failed.write_text(reason, encoding="utf-8")
    return reason


def error_of(said: str) -> str:
    """The error that a Python program ended with, of all that it wrote; at most 200 characters."""
    lines = said.strip().splitlines() or ["it ended without a word"]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Unsupported)\b", line)]
    return [*lines[-1:], *named][-1][:200]


def facts(folder: Path) -> Facts:
    return Facts(**json.loads((folder / "facts.json").read_text(encoding="utf-8")))


def inputs(folder: Path) -> list[Array]:
    """As JAX takes them; mapped, not read."""
    return arguments(folder)[: facts(folder).inputs]


def arguments(folder: Path) -> list[Array]:
    """Inputs and weights as JAX takes them; mapped, not read."""
    return _load(folder, "argument", facts(folder).arguments)


def results(folder: Path) -> list[Array]:
    """XLA's, in JAX's layout; mapped, not read."""
    return _load(folder, "result", facts(folder).results)


def channels_first(workload: Workload, arrays: Sequence[Array]) -> list[Array]:
    """Arguments as JAX takes them → as PyTorch does."""
    pairs = zip(workload.operands, arrays, strict=False)  # there may be inputs only
    return [_undo(operand.kind, array) for operand, array in pairs]


def torch_module(workload: Workload, folder: Path, functions: Any = None) -> Any:
    """A module that takes the inputs and has the weights as parameters."""
    import torch

    functions = functions or TorchFunctions()
    weights = channels_first(workload, arguments(folder))[len(workload.inputs) :]

    class Module(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            fixed = [torch.nn.Parameter(_tensor(w), requires_grad=False) for w in weights]
            self.weights = torch.nn.ParameterList(fixed)

        def forward(self, *arrays: Any) -> Any:
            return workload.function(functions, *arrays, *self.weights)

    return Module().eval()


def torch_inputs(workload: Workload, folder: Path) -> list[Any]:
    return [_tensor(array) for array in channels_first(workload, inputs(folder))]


def _tensor(array: Array) -> Any:
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    # PyTorch has few functions on unsigned integers; and it wants arrays that it may write.
    return torch.from_numpy(array.astype(np.int64) if array.dtype == np.uint32 else array.copy())


def _write_jax(workload: Workload, folder: Path) -> None:
    import jax

    given = [_for_jax(operand, seed) for seed, operand in enumerate(workload.operands)]
    lowered = lower(workload, given)
    (folder / "program.mlir").write_text(lowered.as_text(), encoding="utf-8")
    made = [np.asarray(array) for array in jax.tree_util.tree_leaves(lowered.compile()(*given))]
    _save(folder, "argument", given)
    _save(folder, "result", made)
    found = Facts(
        inputs=len(workload.inputs),
        arguments=[array.dtype.name for array in given],
        results=[array.dtype.name for array in made],
        read=sum(array.nbytes for array in given),
        written=sum(array.nbytes for array in made),
    )
    (folder / "facts.json").write_text(json.dumps(asdict(found)), encoding="utf-8")


def lower(workload: Workload, arrays: Sequence[Any]) -> Any:
    """JAX's Lowered of a workload, one parameter for each argument."""
    import jax

    functions = JaxFunctions()
    jitted = jax.jit(lambda *given: workload.function(functions, *given), keep_unused=True)
    return jitted.lower(*arrays)


def _write_onnx(workload: Workload, folder: Path) -> None:
    path = str(folder / "model.onnx")
    if workload.onnx is Onnx.INTEGER_MATMUL:
        _write_integer_matmul(workload, path)
    elif workload.onnx is Onnx.LSTM:
        _write_lstm(workload, folder, path)
    elif workload.onnx is Onnx.TORCH:
        _write_by_torch(workload, folder, path)
    else:
        sys.exit(_NO_EXPORT)


def _write_by_torch(workload: Workload, folder: Path, path: str) -> None:
    import torch

    module, given = torch_module(workload, folder), tuple(torch_inputs(workload, folder))
    large = sum(weight.nbytes for weight in module.weights) > _MOST_INSIDE
    names = [f"in{n}" for n in range(len(given))]
    with torch.no_grad():
        torch.onnx.export(
            module, given, path, dynamo=True, verbose=False, input_names=names, external_data=large
        )


def _write_integer_matmul(workload: Workload, path: str) -> None:
    import onnx
    from onnx import TensorProto, helper

    (rows, inner), (_, columns) = (operand.shape for operand in workload.inputs)
    shapes = {"in0": [rows, inner], "in1": [inner, columns]}
    given = [helper.make_tensor_value_info(n, TensorProto.INT8, s) for n, s in shapes.items()]
    made = helper.make_tensor_value_info("out", TensorProto.INT32, [rows, columns])
    node = helper.make_node("MatMulInteger", ["in0", "in1"], ["out"])
    graph = helper.make_graph([node], "integer_matmul", given, [made])
    opset = helper.make_opsetid("", _ONNX_OPSET)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=_ONNX_IR), path)


def _write_lstm(workload: Workload, folder: Path, path: str) -> None:
    import torch

    given = tuple(torch_inputs(workload, folder))
    weights = torch_module(workload, folder).weights
    lstm = torch.nn.LSTM(given[0].shape[-1], weights[1].shape[1])
    with torch.no_grad():
        for parameter, weight in zip(lstm.parameters(), weights, strict=True):
            parameter.copy_(weight)

    class Outputs(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = lstm

        def forward(self, x: Any) -> Any:
            return self.lstm(x)[0]

    torch.onnx.export(
        Outputs().eval(), given, path, dynamo=False, input_names=["in0"], opset_version=_ONNX_OPSET
    )


def _write_tflite(workload: Workload, folder: Path) -> None:
    if workload.onnx is Onnx.NONE:
        sys.exit(_NO_EXPORT)
    import litert_torch

    given = tuple(torch_inputs(workload, folder))
    litert_torch.convert(torch_module(workload, folder), given).export(folder / "model.tflite")


def _for_jax(operand: Operand, seed: int) -> Array:
    array = operand.array(seed)
    if operand.kind is Kind.IMAGE:
        array = array.transpose(0, 2, 3, 1)
    elif operand.kind is Kind.FILTER:
        array = array.transpose(2, 3, 1, 0)
    return np.ascontiguousarray(array)


def _undo(kind: Kind, array: Array) -> Array:
    if kind is Kind.IMAGE:
        return np.ascontiguousarray(array.transpose(0, 3, 1, 2))
    if kind is Kind.FILTER:
        return np.ascontiguousarray(array.transpose(3, 2, 0, 1))
    return array


def _save(folder: Path, name: str, arrays: Sequence[Array]) -> None:
    for number, array in enumerate(arrays):
        plain = array.view(np.uint16) if array.dtype.name == "bfloat16" else array
        np.save(folder / f"{name}{number}.npy", plain)


def _load(folder: Path, name: str, types: Sequence[str]) -> list[Array]:
    arrays: list[Array] = []
    for number, element in enumerate(types):
        path = folder / f"{name}{number}.npy"
        array: Array = np.load(path, mmap_mode="r")
        if element == "bfloat16":
            import ml_dtypes

            array = array.view(ml_dtypes.bfloat16)
        arrays.append(array)
    return arrays


_WRITERS: dict[str, Callable[[Workload, Path], None]] = {
    "jax": _write_jax,
    "onnx": _write_onnx,
    "tflite": _write_tflite,
}

if __name__ == "__main__":
    chosen, workload_name, target = sys.argv[1:]
    _WRITERS[chosen](all_workloads()[workload_name], Path(target))
