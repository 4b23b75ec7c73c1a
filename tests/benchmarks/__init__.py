"""Our speed beside that of other compilers and libraries, on one machine, in one run.

    python -m tests.benchmarks --workloads 'matmul|softmax' --peers ccodegen,xla --threads 1,2

Where things are:

    workload.py    what a workload is; workloads/ has them, each written once
    functions.py   the array functions that workloads are written with, bound to JAX and to PyTorch
    formats.py     a workload as files: StableHLO and the reference results, ONNX, TFLite
    peers/         one file for each compiler or library; peers/__init__.py lists them
    worker.py      the process that a peer runs in; process.py holds it from outside
    run.py         the side-by-side timing; results.py is what comes of it
    limits.py      what the machine can do at most, measured by peak.c and bandwidth.c
    report.py plot.py

How it is measured. Each peer runs in a process of its own, which is stopped outside its time
slice, so that the spinning threads of one do not disturb another; slices go round-robin. The
figure is the least time of a call: with one thread the lesser of wall and CPU time of the process
(other load on the machine adds to the former only), with more threads wall time. Results are
compared with those of XLA.

Weights are constants for peers that take them so (ccodegen, inductor, ONNX Runtime, OpenVINO,
LiteRT) and arguments for the others, as XLA spends minutes in folding large constants.

Peers are optional installs: one that is missing is left out with a word. A peer that lives in
another environment is reached by `--python PEER=INTERPRETER`; the environment needs numpy and
ml_dtypes, the package itself (onnxruntime and openvino: torch, onnx and onnxscript as well;
litert: ai-edge-litert and litert-torch), and Python 3.11 or later.
"""
