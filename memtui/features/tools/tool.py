"""The tool `memory` of MCP: its description for a client."""

from memtui.engine import Engine
from memtui.features.feature import Offer
from memtui.memory_tool.call import rights, schema

WHAT = (
    ": notes that outlive this conversation, shared with the user and their other agents. Paths are "
    "/memories/<scope>/<path>: global is for everything, project for this project, workspace for this checkout. "
)
LOOKING = "The command view shows a file or a directory. "
COMMANDS = (
    "Commands: view (a file or a directory), create, str_replace, insert, delete, rename. Every version is kept, so "
    "the user can undo any change. "
)


def offer(engine: Engine) -> Offer:
    """Describe the commands that a client may use."""
    allowed = rights(engine)
    writes = bool(allowed.writable)
    what, how = ("Read and keep memories", COMMANDS) if writes else ("Read memories", LOOKING)
    hints = {"readOnlyHint": not writes, "destructiveHint": writes, "idempotentHint": False, "openWorldHint": False}
    return Offer(f"{what}{WHAT}{how}{allowed.in_words}".strip(), schema(allowed.in_words), hints)
