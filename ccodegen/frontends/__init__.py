"""Ways in: `read.read` takes HLO, StableHLO and JAX objects in all their forms, gives a Module."""
