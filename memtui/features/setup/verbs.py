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
        out.fact({"path": settings.config_file, "exists": os.path.exists(settings.config_file)}, settings.config_file)
        return outcomes.DONE
    if action == "check":
        _check(call)
        out.fact({"ok": True, "path": settings.config_file}, f"{settings.config_file}: {_checked(settings)}")
        return outcomes.DONE
    items = [_setting(settings, field.key, field.text) for field in FIELDS] + _tables(settings)
    if out.json:
        out.document(values.listing(items))
        return outcomes.DONE
    out.table(
        (Column("SETTING"), Column("VALUE"), Column("FROM"), Column("MEANING", flexible=True, wraps=True)),
        [(str(item["name"]), _written(item["value"]), str(item["source"]), str(item["help"])) for item in items],
    )
    if out.terminal:
        out.say(
            f"The file is {settings.config_file}"
            + ("." if os.path.exists(settings.config_file) else ", not there yet.")
        )
    return outcomes.DONE


def _check(call: Call) -> None:
    """Check what reading the file alone does not refuse: roots that cannot be used, keys of unknown actions."""
    if call.settings.removed:
        raise UsageError(
            " ".join(said.replace("config.toml", call.settings.config_file, 1) for said in call.settings.removed),
            code="E_CONFIG",
            hint="Delete the line.",
            details={"file": call.settings.config_file},
        )
    _, problems = _actions(call)
    if problems:
        raise UsageError(
            " ".join(problem.replace("config.toml", call.settings.config_file, 1) for problem in problems),
            code="E_CONFIG",
            hint="`memtui keys` lists the actions and their keys.",
            details={"file": call.settings.config_file, "key": "keys"},
        )
    for rule in call.settings.access:
        from memtui.agents.table import meant

        near = meant(rule.client)
        if near:
            raise UsageError(
                f"{call.settings.config_file}: access.{rule.client}: memtui knows no such client.",
                code="E_CONFIG",
                hint=f"Did you mean {near}?",
                details={"file": call.settings.config_file, "key": f"access.{rule.client}"},
            )
    call.open()


def _checked(settings: Settings) -> str:
    return "sound" if os.path.exists(settings.config_file) else "not there; every setting is at its default"


def _setting(settings: Settings, key: str, text: str) -> Json:
    default = next(field.default for field in FIELDS if field.key == key)
    return {
        "name": key,
        "value": settings.value(key),
        "source": settings.origin(key),
        "default": default,
        "help": text,
    }


def _tables(settings: Settings) -> list[Json]:
    """The settings that are not simple: keys, roots, and the folders everything lives in."""
    keys: list[Json] = [
        {"name": f"keys.{action}", "value": key, "source": "config.toml", "default": None, "help": "a key of your own"}
        for action, key in settings.keys
    ]
    roots: list[Json] = [
        {
            "name": f"roots.{root.name}",
            "value": root.dir,
            "source": root.origin,
            "default": None,
            "help": "a root by hand",
        }
        for root in settings.roots
    ]
    access: list[Json] = [
        {
            "name": _rule_name(rule, settings),
            "value": rule.access,
            "source": rule.origin,
            "default": "rw",
            "help": "the most this agent may do",
        }
        for rule in settings.access
    ]
    directories = settings.directories
    folders: list[Json] = [
        {"name": name, "value": value, "source": directories.origin, "default": None, "help": text}
        for name, value, text in (
            ("folder.config", directories.config, "Where `config.toml` is looked for."),
            ("folder.state", directories.state, "Where the ledger, the locks and the drafts live."),
            ("folder.data", directories.data, "Where memtui's own memories live."),
        )
    ]
    return keys + access + roots + folders


def _rule_name(rule: AccessRule, settings: Settings) -> str:
    """Name an entry of the table as it is written in the file: `"*"` where scopes of their own stand beside it."""
    table = any(other.client == rule.client and other.scope != "*" for other in settings.access)
    parts = [rule.client, rule.scope] if table else [rule.client]
    return ".".join(["access", *('"*"' if part == "*" else part for part in parts)])


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def workbench(call: Call) -> int:
    """Open the workbench on what was found."""
    need_terminal(call)
    return run_workbench(call.open(front="tui"), demo=False)


def run_workbench(session: Session, *, demo: bool) -> int:
    """Run the workbench to its end and return the exit number; it collects garbage as often as programs usually do."""
    run = load("memtui.workbench.app:run_workbench")
    gc.set_threshold(GC_THRESHOLD)
    status: int = run(session, demo=demo)
    return status


def need_terminal(call: Call) -> None:
    """Refuse to draw where nobody can see it.

    Raises:
        UsageError: input or output is not a terminal that can be drawn on, or JSON is asked for.
    """
    if call.out.json or not (call.out.interactive or call.settings.terminal.web):
        raise UsageError(
            "The workbench needs a terminal.",
            hint="Run memtui in a terminal, or use a verb: memtui --help lists them.",
        )
    if call.settings.terminal.name == "dumb":
        raise UsageError(
            "TERM is dumb, so this terminal cannot be drawn on.",
            hint="Run memtui in a real terminal, such as xterm-256color, or use a verb: memtui --help lists them.",
        )


def _actions(call: Call) -> tuple[Sequence[Action], Sequence[str]]:
    """List the workbench's actions with the user's keys, and say which of these cannot be used."""
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
        items: list[Json] = [
            {
                "id": action.id,
                "keys": list(action.keys),
                "label": action.label,
                "help": action.help,
                "room": action.room,
            }
            for action in actions
        ]
        call.out.document(values.listing(items))
        return outcomes.DONE
    call.out.table(
        (Column("ROOM"), Column("KEYS"), Column("ACTION"), Column("DOES", flexible=True, wraps=True)),
        [(action.room, ", ".join(action.keys), action.id, action.help) for action in actions],
    )
    for problem in problems:
        call.out.say(problem)
    return outcomes.DONE


OPENING = "open-in-browser.html"
"""The file in the state folder that takes a browser to the workbench. A browser's command line holds its name only,
because every user of the machine can read that."""


def web(call: Call) -> int:
    """Print the address to open, and serve until interrupted."""
    write = call.args.flag("write") and not call.options.read_only
    words = [word for word in call.again() if word not in ("--json", "--read-only")]
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
    """Load what serves a browser.

    Raises:
        UsageError: `E_DISABLED`: memtui[web] is not installed.
    """
    try:
        serve = load("memtui.web.server:serve")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("memtui"):
            raise
        raise missing_extra("Serving to a browser", "web") from None
    gc.set_threshold(GC_THRESHOLD)
    return serve


def _open(folder: str, address: str) -> bool:
    """Let the browser open an address that only the user may read; whether there is one."""
    import os
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
