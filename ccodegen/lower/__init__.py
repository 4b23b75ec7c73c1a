"""Scheduled HLO → loop program.

`program.py` is the way in. It asks, in this order: `schedule` for the order of instructions,
`steps` for a list of steps over flat values, `coalesce` for values that share memory, `turns` for
loops that had better run two turns at a time, `kernel` for the loop nest of each step, and
`assignment` for the place of each buffer in the arena.
"""
