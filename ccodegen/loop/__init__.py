"""The loop-nest IR between HLO and C: definition, builder, verifier, interpreter, printer."""
