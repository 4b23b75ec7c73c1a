"""HLO → HLO: one pass a file, each a function `(Module, PassContext) -> Module`.

The same object back means "unchanged". `pipelines.py` lists the passes in their order.
"""
