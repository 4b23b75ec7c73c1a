"""batch-norm-training, -inference and -grad. A pass expands them, so they have no lowering."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class BatchNormAttributes(Attributes):
    epsilon: float = attr(AttrKind.FLOAT)
    feature_index: int = attr(AttrKind.INT)


register(OpDef("batch-norm-training", BatchNormAttributes, arity=(3, 3)))
register(OpDef("batch-norm-inference", BatchNormAttributes, arity=(5, 5)))
register(OpDef("batch-norm-grad", BatchNormAttributes, arity=(5, 5)))
