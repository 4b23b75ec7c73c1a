"""The workloads, a file for each group; those of odd_shapes.py are for nobody to tune for."""

MODULES = (
    "elementwise",
    "reductions",
    "contractions",
    "convolutions",
    "models",
    "language_models",
    "science",
    "odd_shapes",
)
