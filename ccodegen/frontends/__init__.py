"""Ways in: `read` takes HLO, StableHLO and JAX objects in all their forms and gives a Module."""

from ccodegen.frontends.read import read

__all__ = ["read"]
