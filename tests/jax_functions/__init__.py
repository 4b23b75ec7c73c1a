"""Every public function of JAX's numerical modules, by `ccodegen.jit` and by XLA.

    python -m tests.jax_functions [--module M] [--function F] [--write]

    listing.py   the functions, read from the modules
    arrays.py    arrays of one element type to call them with
    samples.py   calls of a function: from its signature, or from tables/ where it does not say
    compare.py   whether two results agree; departures.py  where they differ for a reason
    outcome.py   runs a function in a type: agrees, is not taken by JAX, is unsupported, differs
    page.py      docs/jax.md
    sweep.py     errors in ulp of functions that JAX writes out; ccodegen/commands/expansions.py
"""
