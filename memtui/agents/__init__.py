"""Where each real agent keeps memory, and in which format; nothing here writes.

`layouts` has one module per agent and `table` names them all; `discover` turns where the user stands into roots, which
the engine learns as plain data. `loads` is what an agent reads when a session starts. The rest is what they share.
"""

from memtui.agents.discovery import discover as discover
