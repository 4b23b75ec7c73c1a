"""How each op is written over arrays at their bounds; `passes.pad_dynamic` is the pass."""
