"""One file per command of the command line: `add` describes it, its `main` runs it."""
