"""Run one command line to its exit number: parse it, carry it out, and answer every failure in words.

The one place where an exception becomes an exit number, so that no command can end in a traceback or in silence.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress

from memtui import __version__
from memtui.cli.arguments import Parsed, parse, peek_json
from memtui.config.read import read_environment
from memtui.errors import InternalError, MemtuiError
from memtui.features.feature import load
from memtui.wire import outcomes, output
from memtui.wire.output import Output

WITHOUT_A_VERB = "memtui.features.setup.verbs:workbench"
"""What bare `memtui` runs."""
ELSEWHERE = "memtui.features.hosts.verbs:run_remote"
"""What runs commands with `--on`."""
ASKED = "--asked="
"""The beginning of the single word that `memtui/features/hosts/machines.py` makes."""
_NO_SETTINGS = ("completion", "config", "context", "doctor", "mcp")
"""Verbs that must work although the configuration cannot be read, as every hook must."""


def run(words: Sequence[str] | None = None) -> int:
    """Carry out one command line, by default the process's own, and return the exit number."""
    given = list(sys.argv[1:] if words is None else words)
    out = output.standard(json=peek_json(given))
    try:
        if given and given[0].startswith(ASKED):
            given = _asked(given[0], out)
        status = _carry_out(parse(given), out)
        out.flush()
    except KeyboardInterrupt:
        return outcomes.INTERRUPTED
    except BrokenPipeError:
        return outcomes.BROKEN_PIPE
    except MemtuiError as error:
        return _fail(out, error)
    except Exception as error:
        if read_environment().get("MEMTUI_DEBUG", "") not in ("", "0"):
            raise
        return _fail(out, _fault(error))
    return status


def _asked(word: str, out: Output) -> list[str]:
    """Unpack the request of memtui on another machine, and mark on both streams where the answer begins."""
    words: list[str]
    line, words = load("memtui.features.hosts.machines:unpack")(word)
    out.line(line)
    out.flush()
    out.say(line)
    out.json = peek_json(words)
    return words


def _carry_out(parsed: Parsed, out: Output) -> int:
    verb, options = parsed.verb, parsed.options
    away = options.text("on") is not None and not options.flag("help")
    if options.flag("version") and not away:
        out.fact({"version": __version__}, f"memtui {__version__}")
        return outcomes.DONE
    if options.flag("help") or (verb and verb.name == "help"):
        from memtui.cli.help import answer

        return answer(verb, parsed.arguments.text("verb"), out)
    from memtui.wire.call import Call

    out.secrets = options.flag("show_secrets")
    call = Call(parsed.arguments, options, out)
    if (away or verb is None or verb.name not in _NO_SETTINGS) and not parsed.arguments.flag("hook"):
        terminal = call.settings.terminal
        color = not terminal.no_color and terminal.name not in ("", "dumb")
        out.adapt(ascii_only=call.settings.ascii, color=color)
    try:
        if away:
            status: int = load(ELSEWHERE)(call, verb, options.text("on"), version=options.flag("version"))
        else:
            status = load(verb.does if verb else WITHOUT_A_VERB)(call)
        return status
    except (MemtuiError, BrokenPipeError):
        raise
    except Exception as error:
        from memtui.engine.disk import state_file

        with suppress(MemtuiError):  # settings that cannot be read name no folder
            if not call.options.read_only:
                state_file.note_fault(call.settings.state_dir, error, "cli")
        raise
    finally:
        call.close()


def _fail(out: Output, error: MemtuiError) -> int:
    """Report an error, as JSON where that is asked for and nothing was printed yet."""
    with suppress(BrokenPipeError):
        if out.json and not out.answered:
            out.document(outcomes.error_document(error))
            out.flush()
        else:
            out.error(error)
    return outcomes.exit_code(error)


def _fault(error: Exception) -> InternalError:
    return InternalError(
        f"memtui failed: {type(error).__name__}: {error}",
        unharmed="What history held before is still there.",
        hint="Run it again with MEMTUI_DEBUG=1 to see where, and report it.",
    )
