"""Where each real agent keeps memory, and in which format; nothing here writes.

`known` has one file for each agent and `table` names them all; `discovery` turns where the user stands into roots,
which the engine learns as plain data. `session_start` is what an agent reads when a session starts. The rest is what
they share.
"""
