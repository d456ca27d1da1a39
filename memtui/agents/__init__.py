"""Where each real agent keeps memory, and in which format: one module per agent; none of them writes.

`discover` turns where the user stands into roots. An agent's folders change every few weeks, so what is known about
them stays in that agent's module, and the engine learns it only as plain data.
"""

from memtui.agents.discovery import discover as discover
