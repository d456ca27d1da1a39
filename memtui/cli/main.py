"""From a command line to an exit number: take it apart, carry it out, and answer every failure in words.

The one place where an exception becomes an exit number, so that no command can end in a traceback or in silence.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui import __version__
from memtui.cli import output
from memtui.cli.arguments import Parsed, parse, peek_json
from memtui.cli.output import Output
from memtui.config.settings import read_environment
from memtui.errors import InternalError, MemtuiError
from memtui.wire import outcomes

if TYPE_CHECKING:
    from memtui.cli.call import Call, McpServer, Workbench

COMMANDS = {
    "roots": "list",
    "ls": "list",
    "search": "list",
    "trash": "list",
    "view": "read",
    "history": "read",
    "diff": "read",
    "health": "health",
    "orphans": "projects",
    "create": "change",
    "save": "change",
    "cp": "transfer",
    "mv": "transfer",
    "export": "bundles",
    "import": "bundles",
    "rm": "change",
    "repoint": "projects",
    "restore": "change",
    "undo": "change",
    "redo": "change",
    "pin": "change",
    "unpin": "change",
    "pins": "pins",
    "redact": "change",
    "workspace": "change",
    "edit": "edit",
    "entries": "entries",
    "changes": "follow",
    "seen": "follow",
    "log": "follow",
    "watch": "follow",
    "tool": "tool",
    "mcp": "mcp",
    "install": "install",
    "uninstall": "install",
    "doctor": "doctor",
    "config": "setup",
    "keys": "setup",
    "completion": "setup",
    "demo": "demo",
    "context": "context",
    "cost": "cost",
    "web": "web",
}
"""The module of `memtui.cli.commands` with each verb's function; imported when the verb is used."""

_PYTHON = ("import",)
"""Verbs that are words of Python: their functions have a `_` behind them."""

_NO_SETTINGS = ("completion", "config", "context", "doctor", "mcp")
"""Verbs that must work although the configuration cannot be read."""


def run(
    words: Sequence[str] | None = None, *, workbench: "Workbench | None" = None, mcp: "McpServer | None" = None
) -> int:
    """Carry out one command line.

    Args:
        words: what follows the program's name; None: the process's own.
        workbench: another front; None: there is none.
        mcp: another front; None: there is none.

    Returns:
        The exit number.
    """
    given = list(sys.argv[1:] if words is None else words)
    out = output.standard(json=peek_json(given))
    try:
        status = _carry_out(parse(given), out, workbench, mcp)
        out.flush()
    except KeyboardInterrupt:
        return outcomes.INTERRUPTED
    except BrokenPipeError:
        out.hang_up()
        return outcomes.BROKEN_PIPE
    except MemtuiError as error:
        return _fail(out, error)
    except Exception as error:
        if read_environment().get("MEMTUI_DEBUG", "") not in ("", "0"):
            raise
        return _fail(out, _fault(error))
    return status


def _carry_out(parsed: Parsed, out: Output, workbench: "Workbench | None", mcp: "McpServer | None") -> int:
    verb, options = parsed.verb, parsed.options
    if options.flag("version"):
        out.fact({"version": __version__}, f"memtui {__version__}")
        return outcomes.DONE
    if options.flag("help") or (verb and verb.name == "help"):
        from memtui.cli.help import answer

        return answer(verb, parsed.arguments.text("verb"), out)
    from memtui.cli.call import Call

    call = Call(parsed.arguments, options, out, workbench, mcp)
    if verb is None or verb.name not in _NO_SETTINGS:
        terminal = call.settings.terminal
        color = not terminal.no_color and terminal.name not in ("", "dumb")
        out.adapt(ascii_only=call.settings.ascii, color=color)
    try:
        if verb is None:
            call.need_terminal()
            return call.workbench.open(call.open(front="tui"), demo=False)
        return command_of(verb.name)(call)
    finally:
        call.close()


def command_of(verb: str) -> "Callable[[Call], int]":
    """Give the function that does a verb; its module is imported now."""
    name = f"{verb}_" if verb in _PYTHON else verb
    command: Callable[[Call], int] = getattr(
        __import__(f"memtui.cli.commands.{COMMANDS[verb]}", fromlist=(name,)), name
    )
    return command


def _fail(out: Output, error: MemtuiError) -> int:
    """Answer with an error, as JSON where that is asked for and nothing was answered yet."""
    try:
        if out.json and not out.answered:
            out.document(outcomes.error_document(error))
            out.flush()
        else:
            out.error(error)
    except BrokenPipeError:
        out.hang_up()
    return outcomes.exit_code(error)


def _fault(error: Exception) -> InternalError:
    return InternalError(
        f"memtui failed: {type(error).__name__}: {error}",
        unharmed="What history held before is still there.",
        hint="Run it again with MEMTUI_DEBUG=1 to see where, and report it.",
    )
