"""The tools a client sees, and the answers to its calls: every failure is a result a model can read, never a fault.

A model recovers from a sentence; it cannot recover from an error of the protocol, which most clients hide from it.
"""

import logging
from collections.abc import Mapping

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from memtui.errors import MemtuiError
from memtui.mcp_server import recall
from memtui.mcp_server.desk import Desk
from memtui.memory_tool import fields
from memtui.memory_tool.result import sendable, shown
from memtui.memory_tool.rights import Rights, rights
from memtui.wire.doors import words

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


def offered(desk: Desk) -> list[Tool]:
    """List the tools of a client; none when agents are switched off."""
    try:
        door = desk.door()
    except MemtuiError:
        return []
    allowed = rights(door.engine)
    reads_only = not allowed.writable
    return [
        Tool(
            name=NAME,
            title="Memory",
            description=description(allowed),
            input_schema=fields.schema(allowed.in_words),
            annotations=ToolAnnotations(
                title="Memory",
                read_only_hint=reads_only,
                destructive_hint=not reads_only,
                idempotent_hint=False,
                open_world_hint=False,
            ),
        ),
        Tool(
            name=recall.NAME,
            title="Search memories",
            description=recall.DESCRIPTION,
            input_schema=recall.SCHEMA,
            annotations=ToolAnnotations(
                title="Search memories", read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        ),
    ]


def description(allowed: Rights) -> str:
    """Describe the memory tool to a client: what it may do, and nothing else."""
    what, how = (READ_AND_KEEP, COMMANDS) if allowed.writable else (READ, LOOKING)
    return f"{what}{WHAT}{how}{allowed.in_words}".strip()


def call(desk: Desk, name: str, arguments: Mapping[str, object] | None) -> CallToolResult:
    """Carry out one call; never raises."""
    try:
        door = desk.door()
        given = arguments or {}
        if name == NAME:
            result = door.tool.call(given)
            return answer(result.text, ok=result.ok)
        if name == recall.NAME:
            return answer(recall.search(door.engine, given), ok=True)
    except MemtuiError as error:
        return refusal(error)
    except Exception:  # noqa: BLE001 - logged, and answered whatever it is: the session lives on
        _LOG.exception("a call failed")
        return answer("E_INTERNAL: the call failed by a fault in memtui. Memories are as they were kept.", ok=False)
    return answer(f"E_USAGE: there is no tool {shown(name)!r} here, only {NAME} and {recall.NAME}.", ok=False)


def refusal(error: MemtuiError) -> CallToolResult:
    """Turn an error into a result; it names no file of this machine."""
    return answer(words(error), ok=False)


def answer(text: str, *, ok: bool) -> CallToolResult:
    """Make a result of one text."""
    return CallToolResult(content=[TextContent(type="text", text=sendable(text))], is_error=not ok)
