"""The peers: a file each, with a class `Peer` after the protocol of peer.py.

A peer more: write its file, and name it here with the formats that it reads (see formats.py).
"""

PEERS: dict[str, tuple[str, ...]] = {
    "ccodegen": (),
    "xla": (),
    "onnxruntime": ("onnx",),
    "openvino": ("onnx",),
    "litert": ("tflite",),
    "iree": (),
    "torch": (),
    "inductor": (),
    "numba": (),
    "numpy": (),
}
