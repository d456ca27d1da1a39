"""The tools a client sees, and the answers to its calls: every failure is a result a model can read, never a fault.

A model recovers from a sentence; it cannot recover from an error of the protocol, which most clients hide from it.
Nothing of the protocol's library is used here, because the tools are listed before it is there.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.errors import MemtuiError
from memtui.mcp_server import recall
from memtui.mcp_server.connection import Desk
from memtui.memory_tool import fields
from memtui.memory_tool.result import Result, shown
from memtui.memory_tool.rights import Rights, rights
from memtui.wire.doors import words

if TYPE_CHECKING:
    from typing import Any

NAME = "memory"
READ_AND_KEEP, READ = "Read and keep memories", "Read memories"
WHAT = (
    ": notes that outlive this conversation, shared with the user and their other agents. Paths are "
    "/memories/<scope>/<path>: global is for everything, project for this project, workspace for this checkout. "
)
LOOKING = "The command view shows a file or a directory. "
COMMANDS = (
    "Commands: view (a file or a directory), create, str_replace, insert, delete, rename. Every version is kept, so "
    "the user can undo any change. "
)
_LOG = logging.getLogger(__name__)


def offered(desk: Desk) -> "list[dict[str, Any]]":
    """List the tools of a client as they are sent; none when agents are switched off."""
    try:
        door = desk.door()
    except MemtuiError:
        return []
    allowed = rights(door.engine)
    reads_only = not allowed.writable
    return [
        {
            "name": NAME,
            "title": "Memory",
            "description": description(allowed),
            "inputSchema": fields.schema(allowed.in_words),
            "annotations": {
                "title": "Memory",
                "readOnlyHint": reads_only,
                "destructiveHint": not reads_only,
                "idempotentHint": False,
                "openWorldHint": False,
            },
        },
        {
            "name": recall.NAME,
            "title": "Search memories",
            "description": recall.DESCRIPTION,
            "inputSchema": recall.SCHEMA,
            "annotations": {
                "title": "Search memories",
                "readOnlyHint": True,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        },
    ]


def description(allowed: Rights) -> str:
    """Describe the memory tool to a client: what it may do, and nothing else."""
    what, how = (READ_AND_KEEP, COMMANDS) if allowed.writable else (READ, LOOKING)
    return f"{what}{WHAT}{how}{allowed.in_words}".strip()


def call(desk: Desk, name: str, arguments: Mapping[str, object] | None) -> Result:
    """Carry out one call; never raises."""
    try:
        door = desk.door()
        given = arguments or {}
        if name == NAME:
            return door.tool.call(given)
        if name == recall.NAME:
            return Result(ok=True, text=recall.search(door.engine, given))
    except MemtuiError as error:
        return refusal(error)
    except Exception:  # noqa: BLE001 - logged, and answered whatever it is: the session lives on
        _LOG.exception("a call failed")
        return Result(
            ok=False, text="E_INTERNAL: the call failed by a fault in memtui. Memories are as they were kept."
        )
    return Result(ok=False, text=f"E_USAGE: there is no tool {shown(name)!r} here, only {NAME} and {recall.NAME}.")


def refusal(error: MemtuiError) -> Result:
    """Turn an error into a result; it names no file of this machine."""
    return Result(ok=False, text=words(error))
