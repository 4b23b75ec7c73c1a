"""What a library for this process exports: see emit/table.py."""

ENTRY = "ccg_call"
ENTRY_DECLARATION = f"int {ENTRY}(void *const *table);"
PYTHON_ENTRY = "ccg_python_call"  # for Python, where the program asks for no hooks
