"""The memory tool for programs: one JSON object a line in and one out, or the MCP server."""

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memtui.engine.model import Actor, is_reserved
from memtui.errors import RefusedError, UsageError, missing_extra
from memtui.features.feature import Offer
from memtui.memory_tool.call import Result, rights, schema
from memtui.wire import outcomes
from memtui.wire.call import GC_THRESHOLD, LOCK_WAIT, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.engine.look.roots import Access
    from memtui.wire.access import LiveAccess
    from memtui.wire.sdk_access import SdkAccess
    from memtui.wire.session import Options

    Answer = Callable[[Mapping[str, object]], Result]

LONGEST = 4 * 1_048_576
"""Bytes of one line; a file's text may have a fortieth of it."""
LONGEST_SDK = 256 * 1_048_576
"""The same for the profile `sdk`, whose files may be larger."""
_PERSON = Actor("cli")
"""The command line's default actor; here nobody is at the keys."""


WHAT = (
    ": notes that outlive this conversation, shared with the user and their other agents. Paths are "
    "/memories/<scope>/<path>: global is for everything, project for this project, workspace for this checkout. "
)
LOOKING = "The command view shows a file or a directory. "
COMMANDS = (
    "Commands: view (a file or a directory), create, str_replace, insert, delete, rename. Every version is kept, so "
    "the user can undo any change. "
)


def offer(engine: "Engine") -> Offer:
    """Describe the commands that a client may use."""
    allowed = rights(engine)
    writes = bool(allowed.writable)
    what, how = ("Read and keep memories", COMMANDS) if writes else ("Read memories", LOOKING)
    hints = {"readOnlyHint": not writes, "destructiveHint": writes, "idempotentHint": False, "openWorldHint": False}
    return Offer(f"{what}{WHAT}{how}{allowed.in_words}".strip(), schema(allowed.in_words), hints)


def tool(call: Call) -> int:
    """Answer calls until the input ends."""
    client, base = call.args.text("client"), call.args.text("base")
    if (base is not None) is not (call.args.text("profile") == "sdk"):
        raise UsageError("--profile sdk and --base DIR belong together.", hint="Give both, or neither.")
    if client and is_reserved(client):
        raise UsageError(
            f"--client {client}: a client cannot have a name for the person at the keys.", hint="Name the program."
        )
    options = call.options
    if options.actor == _PERSON:
        options = options._replace(actor=Actor(f"tool:{client}" if client else "tool"))
    if base is not None:
        return _sdk(call, options, base, client or "")
    from memtui.memory_tool.scoped import ScopedTool
    from memtui.wire.access import LiveAccess
    from memtui.wire.session import open_session

    def open_engine(settings: "Settings", access: "Access") -> "Engine":
        return open_session(settings, options, lock_wait=LOCK_WAIT, access=access).engine

    door = LiveAccess(call.reload, open_engine, client=client or "", access=call.args.text("access"))
    return _attend(call, door, lambda: ScopedTool(door.engine(), options.actor).call, LONGEST, door.engine)


def _sdk(call: Call, options: "Options", base: str, client: str) -> int:
    from memtui.wire.sdk_access import SdkAccess

    door = SdkAccess(
        call.reload,
        base,
        actor=options.actor,
        client=client,
        access=call.args.text("access"),
        read_only=options.read_only,
        lock_wait=LOCK_WAIT,
    )

    def begin() -> None:
        tool = door.tool()
        with suppress(RefusedError):  # who may only read does without the folder
            tool.make_root()

    return _attend(call, door, lambda: door.tool().call, LONGEST_SDK, begin)


def _attend(
    call: Call, door: "LiveAccess | SdkAccess", now: "Callable[[], Answer]", longest: int, begin: "Callable[[], object]"
) -> int:
    """Serve a client to its end; a refused client is told so, and the exit number says it at the end."""
    from memtui.errors import MemtuiError
    from memtui.wire.access import error_text

    shut: MemtuiError | None = None

    def answer(found: "Mapping[str, object] | Result") -> Result:
        nonlocal shut
        try:
            do = now()
        except MemtuiError as error:
            shut = error
            return Result(ok=False, text=error_text(error))
        shut = None
        return found if isinstance(found, Result) else do(found)

    try:
        try:
            begin()
        except RefusedError as error:
            if error.code != "E_DISABLED":
                raise
            shut = error
        ending = Ending()
        with ending.on_signals():
            serve(call, answer, longest, ending)
    finally:
        door.close()
    for notice in door.notices():
        call.out.say(f"memtui: {notice}")
    if shut is None:
        return outcomes.DONE
    call.out.error(shut)
    return outcomes.exit_code(shut)


def serve(
    call: Call, answer: "Callable[[Mapping[str, object] | Result], Result]", longest: int, ending: "Ending"
) -> None:
    """Answer each line of standard input with one line, until it ends; blank lines are skipped.

    `answer` takes the call of a line, or why it holds none; `ending` keeps a signal from separating a call from its
    answer.
    """
    if sys.stdin is None:
        raise UsageError("There is no standard input.", hint="Write one JSON object a line to it.")
    if call.out.interactive:
        call.out.say('One call a line, such as {"command": "view", "path": "/memories"}; ctrl+d ends.')
    while (line := _line(sys.stdin.buffer, longest)) is not None:
        if not line.strip():
            continue
        with ending.call():
            result = answer(_read(line, longest))
            call.out.json_line({"ok": result.ok, ("output" if result.ok else "error"): result.text}, exact=True)


def _line(source: "BinaryIO", longest: int) -> bytes | None:
    """Return the next line, without its end; of one that is too long only the beginning; None at the end."""
    line = source.readline(longest + 1)
    if not line:
        return None
    if len(line) > longest and not line.endswith(b"\n"):
        while (rest := source.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
    return line


def _read(line: bytes, longest: int) -> "Mapping[str, object] | Result":
    import json

    if len(line) > longest:
        return _no_call(f"it is longer than {longest:,} bytes")
    try:
        found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError:
        return _no_call("it is not UTF-8")
    except RecursionError:
        return _no_call("it is nested too deeply")
    except json.JSONDecodeError as error:
        return _no_call("it begins with a byte-order mark" if line.startswith(b"\xef\xbb\xbf") else error.msg)
    except _NoCall as error:
        return _no_call(str(error))
    except ValueError:
        return _no_call("a number has too many digits")
    return found if isinstance(found, dict) else _no_call("it is not an object")


class _NoCall(ValueError):  # noqa: N818
    """JSON that only Python's parser accepts."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NoCall("a key is there twice")
    return found


def _no_constant(name: str) -> object:
    raise _NoCall(f"{name} is no JSON")


def _no_call(why: str) -> Result:
    return Result(
        ok=False, text=f'Invalid call: the line is no JSON object ({why}); write {{"command": …}} on one line'
    )


class Ending:
    """Lets a signal end the process between two calls, never between a call and its answer.

    The second signal ends it at once.
    """

    def __init__(self) -> None:
        self._busy = False
        self._status: int | None = None

    @contextmanager
    def call(self) -> "Iterator[None]":
        """Carry out one call and answer it."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        if self._status is not None:
            raise SystemExit(self._status)

    @contextmanager
    def on_signals(self) -> "Iterator[None]":
        """End the block on signals, so that counters are written; ignored signals stay ignored."""
        import signal

        def end(number: int, _frame: object) -> None:
            waits, self._status = self._busy and self._status is None, 128 + number
            if not waits:
                raise SystemExit(self._status)

        before = {}
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, end)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def mcp(call: Call) -> int:
    """Serve one client on standard input and output, until it disconnects."""
    import gc
    from importlib.util import find_spec

    from memtui.features.attribution.chat import chat_of, checked_id
    from memtui.features.feature import load

    if call.out.interactive:
        call.out.say("memtui mcp talks to a program, not to you: an MCP client starts it and speaks JSON on its input.")
    context = "none" if call.args.flag("no_context") else "short" if call.args.flag("short_context") else "full"
    if find_spec("mcp") is None:
        raise missing_extra("Serving MCP clients", "mcp")
    gc.disable()  # what is loaded now stays
    serve = load("memtui.mcp_server.handshake:serve")

    def settle() -> None:
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        gc.enable()

    # Settings that cannot be read are said to the client: one whose server ends at once cannot tell its user why.
    access = call.args.text("access")
    names = [call.args.text(name) for name in ("channel", "chat", "thread")]
    chat = None if names == [None] * 3 else chat_of(*(name or "" for name in names))
    options = call.given._replace(
        session=checked_id("session", call.args.text("session") or "", needed=chat is not None)
    )
    status: int = serve(call.reload, options, access=access, context=context, chat=chat, loaded=settle)
    return status
