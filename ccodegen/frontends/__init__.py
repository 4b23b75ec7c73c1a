"""Ways in: `read.read` makes a Module of HLO, StableHLO and JAX objects in all their forms."""
