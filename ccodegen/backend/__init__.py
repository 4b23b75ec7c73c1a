"""Compilers and ways to run: `host.load(program, target, options)` makes a callable."""
