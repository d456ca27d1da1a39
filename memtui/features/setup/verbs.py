"""memtui itself: its settings, the workbench's keys, the workbench in a browser."""

import gc
import os
from collections.abc import Callable, Sequence

from memtui.config.settings import FIELDS, AccessRule, Settings
from memtui.errors import UsageError, missing_extra
from memtui.features.feature import load
from memtui.ui.action import Action
from memtui.wire import outcomes, values
from memtui.wire.call import GC_THRESHOLD, Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session


def config(call: Call) -> int:
    """Show, check or locate the settings."""
    action, out = call.args.text("action"), call.out
    settings = call.settings
    if action == "path":
        out.fact({"path": settings.config_file, "exists": _exists(settings)}, settings.config_file)
        return outcomes.DONE
    if action == "check":
        _check(call)
        state = "sound" if _exists(settings) else "not there; every setting is at its default"
        out.fact({"ok": True, "path": settings.config_file}, f"{settings.config_file}: {state}")
        return outcomes.DONE
    items = [
        _row(field.key, settings.value(field.key), settings.origin(field.key), field.default, field.text)
        for field in FIELDS
    ]
    items += _tables(settings)
    if out.json:
        out.document(values.listing(items))
        return outcomes.DONE
    out.table(
        (Column("SETTING"), Column("VALUE"), Column("FROM"), Column("MEANING", flexible=True, wraps=True)),
        [(str(item["name"]), _written(item["value"]), str(item["source"]), str(item["help"])) for item in items],
    )
    if out.terminal:
        out.say(f"The file is {settings.config_file}{'' if _exists(settings) else ', not there yet'}.")
    return outcomes.DONE


def _check(call: Call) -> None:
    """Check what reading the file does not refuse: roots that cannot be used, keys of unknown actions."""
    file = call.settings.config_file

    def refuse(what: str, hint: str, key: str | None = None) -> UsageError:
        return UsageError(what, code="E_CONFIG", hint=hint, details={"file": file, **({"key": key} if key else {})})

    if call.settings.removed:
        raise refuse(" ".join(one.replace("config.toml", file, 1) for one in call.settings.removed), "Delete the line.")
    _, problems = _actions(call)
    if problems:
        what = " ".join(problem.replace("config.toml", file, 1) for problem in problems)
        raise refuse(what, "`memtui keys` lists the actions and their keys.", "keys")
    for rule in call.settings.access:
        from memtui.agents.table import meant

        near = meant(rule.client)
        if near:
            what = f"{file}: access.{rule.client}: memtui knows no such client."
            raise refuse(what, f"Did you mean {near}?", f"access.{rule.client}")
    call.open()


def _exists(settings: Settings) -> bool:
    return os.path.exists(settings.config_file)


def _row(name: str, value: object, source: str, default: object, text: str) -> Json:
    return {"name": name, "value": value, "source": source, "default": default, "help": text}


def _tables(settings: Settings) -> list[Json]:
    folders, origin, most = settings.directories, settings.directories.origin, "the most this agent may do"
    return [
        *(_row(f"keys.{action}", key, "config.toml", None, "a key of your own") for action, key in settings.keys),
        *(_row(_rule_name(rule, settings), rule.access, rule.origin, "rw", most) for rule in settings.access),
        *(_row(f"roots.{root.name}", root.dir, root.origin, None, "a root by hand") for root in settings.roots),
        _row("folder.config", folders.config, origin, None, "Where `config.toml` is looked for."),
        _row("folder.state", folders.state, origin, None, "Where the ledger, the locks and the drafts live."),
        _row("folder.data", folders.data, origin, None, "Where memtui's own memories live."),
    ]


def _rule_name(rule: AccessRule, settings: Settings) -> str:
    """Name an entry of the table as the file has it: `"*"` where its client has scopes of their own."""
    table = any(other.client == rule.client and other.scope != "*" for other in settings.access)
    parts = [rule.client, rule.scope] if table else [rule.client]
    return ".".join(["access", *('"*"' if part == "*" else part for part in parts)])


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def workbench(call: Call) -> int:
    """Open the workbench on the roots that were found."""
    need_terminal(call)
    return run_workbench(call.open(front="tui"), demo=False)


def run_workbench(session: Session, *, demo: bool) -> int:
    """Run the workbench and return the exit number, collecting garbage as often as programs usually do."""
    run = load("memtui.workbench.app:run_workbench")
    gc.set_threshold(GC_THRESHOLD)
    status: int = run(session, demo=demo)
    return status


def need_terminal(call: Call) -> None:
    """Refuse to draw where nobody can see it: on no terminal, on a dumb one, or when JSON is asked for."""
    if call.out.json or not (call.out.interactive or call.settings.terminal.web):
        raise UsageError(
            "The workbench needs a terminal.", hint="Run memtui in a terminal, or use a verb: memtui --help lists them."
        )
    if call.settings.terminal.name == "dumb":
        raise UsageError(
            "TERM is dumb, so this terminal cannot be drawn on.",
            hint="Run memtui in a real terminal, such as xterm-256color, or use a verb: memtui --help lists them.",
        )


def _actions(call: Call) -> tuple[Sequence[Action], Sequence[str]]:
    found: tuple[Sequence[Action], Sequence[str]] = load("memtui.workbench.keys:with_overrides")(
        dict(call.settings.keys), lines=dict(call.settings.key_lines)
    )
    return found


def keys(call: Call) -> int:
    """List the workbench's keys, as the settings have them, or show what the terminal sends."""
    if call.args.flag("test"):
        need_terminal(call)
        actions, _ = _actions(call)
        status: int = load("memtui.ui.keys.keytest:run")(actions, no_color=call.settings.terminal.no_color)
        return status
    actions, problems = _actions(call)
    if call.out.json:
        names = ("id", "keys", "label", "help", "room")
        call.out.document(values.listing({name: getattr(action, name) for name in names} for action in actions))
        return outcomes.DONE
    call.out.table(
        (Column("ROOM"), Column("KEYS"), Column("ACTION"), Column("DOES", flexible=True, wraps=True)),
        [(action.room, ", ".join(action.keys), action.id, action.help) for action in actions],
    )
    for problem in problems:
        call.out.say(problem)
    return outcomes.DONE


OPENING = "open-in-browser.html"
"""The file in the state folder that opens the workbench in a browser. The browser's command line, which every user of
the machine can read, holds its name only."""


def web(call: Call) -> int:
    """Print the address to open, and serve until interrupted."""
    write = call.args.flag("write") and not call.options.read_only
    words = [word for word in call.global_words() if word not in ("--json", "--read-only")]
    words += [] if write else ["--read-only"]
    words += ["demo"] if call.args.flag("demo") else []

    def ready(address: str, once: str) -> None:
        call.out.fact({"address": address, "write": write}, address, exact=True)  # its token is what it is for
        call.out.flush()
        may = "read and change" if write else "read"
        call.out.say(f"Whoever has this address can {may} your memories. ctrl+c ends it.")
        if call.args.flag("open") and not _open(call.settings.state_dir, once):
            call.out.say("No browser could be opened here: open the address yourself.")

    try:
        _server()(words, port=call.args.number("port", 0), ready=ready, narrate=call.out.say)
    finally:
        if call.args.flag("open"):
            _forget(call.settings.state_dir)
    return 0


def _server() -> Callable[..., object]:
    """Load the server; `UsageError` (`E_DISABLED`) when memtui[web] is not installed."""
    try:
        serve = load("memtui.web.server:serve")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("memtui"):
            raise
        raise missing_extra("Serving to a browser", "web") from None
    gc.set_threshold(GC_THRESHOLD)
    return serve


def _open(folder: str, address: str) -> bool:
    """Let the browser open an address through a file that only the user may read; return whether there is one."""
    import urllib.parse
    import webbrowser

    from memtui.engine.disk import state_file

    text = f'<!DOCTYPE html><title>memtui</title><meta http-equiv="refresh" content="0; url={address}">'
    state_file.write(folder, OPENING, text.encode())
    return webbrowser.open("file://" + urllib.parse.quote(os.path.join(folder, OPENING)))


def _forget(folder_path: str) -> None:
    import contextlib

    from memtui.engine.disk import fsio

    with contextlib.suppress(FileNotFoundError), fsio.closing(fsio.open_root(folder_path)) as folder:
        fsio.unlink(folder, OPENING)
