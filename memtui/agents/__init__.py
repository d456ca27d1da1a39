"""Where each agent keeps its memories, and in which format; nothing here writes.

`known` has one file per agent, `table` lists them, `discovery` finds the roots, `session_start` works out what a
session loads.
"""
