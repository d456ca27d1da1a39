"""`memtui doctor`: what is wrong, and which guarantees hold here, from the engine, the terminal and its tools.

Each finding says what it means and what to do, so that nobody has to know the engine to read the report.
"""

import locale
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from memtui.config.read import read_environment
from memtui.config.settings import Settings
from memtui.engine.disk import state_file
from memtui.engine.model import Finding
from memtui.errors import MemtuiError, UsageError, how_to_add
from memtui.features.edit.verbs import editor_command
from memtui.features.feature import parts
from memtui.features.memories.unseen import look
from memtui.safe_text import cell_width
from memtui.wire import outcomes, values
from memtui.wire.call import Call

if TYPE_CHECKING:
    from memtui.clients.install import ClientState

_WIDTHS = "aé語🙂✓"
"""Characters whose width terminals disagree about, simplest first."""
_WATCHES, _INSTANCES = 8_192, 64
"""Below these, ordinary programs already reach the limit."""
_SIGNS = {"ok": ("good", "ok"), "note": ("dim", "note"), "warning": ("warn", "warning"), "error": ("bad", "ERROR")}


def doctor(call: Call) -> int:
    """Report findings; exit 7 when one of them is an error."""
    if call.args.text("file") is not None and not call.args.flag("salvage"):
        raise UsageError("A file is only looked at with --salvage.", hint="memtui doctor --salvage FILE")
    found = list(_all(call))
    if call.out.json:
        call.out.document(values.listing(map(values.finding, found)))
    else:
        _print(call, found)
    return outcomes.STORAGE if any(each.level == "error" for each in found) else outcomes.DONE


def _print(call: Call, found: list[Finding]) -> None:
    out = call.out
    if not out.terminal:
        for each in found:
            out.line_of(each.level, each.topic, each.text, each.advice)
        return
    for each in found:
        style, word = _SIGNS.get(each.level, ("", each.level))
        out.entry(f"{word:7}", style, f"{each.topic}: {each.text}", each.advice)
    counts = [(level, sum(each.level == level for each in found)) for level in ("error", "warning", "note")]
    said = ", ".join(f"{count} {level}{'s' * (count != 1)}" for level, count in counts if count)
    out.say(said or "Nothing is wrong.")


def _all(call: Call) -> Iterator[Finding]:
    try:
        settings = call.settings
    except MemtuiError as error:
        yield Finding("error", "settings", error.message, error.hint)
        return
    state = "read" if os.path.exists(settings.config_file) else "not there, so every setting is at its default"
    yield Finding("ok", "settings", f"{settings.config_file}: {state}.")
    try:
        if call.args.flag("salvage"):
            file = call.args.text("file")
            # Notices name it without its folder.
            here = os.path.abspath(file) if file is not None and os.path.exists(file) else file
            yield Finding("note", "salvage", call.engine.doctor.salvage(here))
        yield from call.engine.doctor.findings()
        yield from _unseen(call)
        for findings in parts("findings_of").values():
            yield from findings(call.session)
    except MemtuiError as error:
        yield Finding("error", "roots" if error.code != "E_STORE" else "ledger", error.message, error.hint)
    yield from _faults(settings)
    yield from _agents(call, settings)
    yield from _watching()
    yield from _terminal(call, settings)
    yield _editor(settings)
    yield _clipboard(settings)


def _unseen(call: Call) -> Iterator[Finding]:
    if call.session.options.only_roots:
        return
    found = look(call.session.surroundings, call.session.roots)
    for one in found.folders:
        yield Finding("note", "roots", f"{one.name} looks like memories, and no root shows it.", one.how)
    if found.ended:
        yield Finding("note", "roots", found.ended, "memtui roots in a folder further down looks at that one.")


def _faults(settings: Settings) -> Iterator[Finding]:
    found = state_file.faults(settings.state_dir)
    if found:
        last = found[-1].split(b" ", 1)[0].decode("ascii", "replace")
        file = os.path.join(settings.state_dir, state_file.FAULTS)
        count = f"{len(found)} fault{'s' * (len(found) != 1)}"
        advice = "It says where in the program, and holds no text or name of a memory: attach it to your report."
        yield Finding("note", "faults", f"{count} of memtui itself, the last at {last}: {file}", advice)


def _agents(call: Call, settings: Settings) -> Iterator[Finding]:
    """Report who reaches memories: the switch, the table of access, and each agent's configuration."""
    from memtui.agents.table import meant
    from memtui.clients import disk
    from memtui.clients.install import server_runs_here, survey

    if not settings.agents_enabled:
        yield Finding("note", "agents", f"Agents' access is switched off ({settings.origin('agents.enabled')}).")
    for rule in settings.access:
        near = meant(rule.client)
        if near:
            text = f"[access] names {rule.client!r}, which is no client memtui knows ({rule.origin})."
            yield Finding("warning", "agents", text, f"Did you mean {near}?")
    try:
        for path in disk.strays_in([disk.own_folder(settings.state_dir)]):
            yield _left(path, "agents", "The next memtui install or uninstall with --write removes it.")
    except MemtuiError as error:
        yield Finding("warning", "agents", error.message, error.hint)
    installed = False
    for found in survey(call.session.surroundings, settings):
        installed |= found.command is not None
        yield from _client(found, settings)
    if installed and not server_runs_here():
        text = "memtui mcp needs memtui[mcp], which is not installed, so no agent can start it."
        yield Finding("warning", "agents", text, how_to_add("mcp"))


def _left(path: str, topic: str, advice: str) -> Finding:
    return Finding("warning", topic, f"memtui was killed while it wrote, and left {path}.", advice)


def _client(found: "ClientState", settings: Settings) -> Iterator[Finding]:
    title, name = found.client.title, found.client.name
    level = "" if found.level == "user" else f" --level {found.level}"
    again = f"memtui install {name}{level} shows what it would change."
    verb = "uninstall" if found.command is None else "install"
    for path in found.strays:
        yield _left(path, f"agent {name}", f"memtui {verb} {name}{level} --write removes it.")
    if found.problem is not None:
        if found.present:
            yield Finding("warning", f"agent {name}", f"{found.problem.message}", found.problem.hint)
    elif found.command is None:
        if found.present:
            yield Finding("note", f"agent {name}", f"{title} is here, without memtui.", again)
    elif not found.runs:
        yield Finding("warning", f"agent {name}", f"{title} would start {found.command}, which is not there.", again)
    elif found.state == "outdated":
        yield Finding("note", f"agent {name}", f"{title} starts memtui otherwise than it would be set up now.", again)
    else:
        where = "the project's" if found.level == "project" else "its"
        hook = "with its hook" if found.hook else "without a hook"
        allowed = _allowed(settings, name, found.access)
        yield Finding("ok", f"agent {name}", f"memtui is in {where} configuration ({title}), {hook}; {allowed}.")


def _allowed(settings: Settings, client: str, flag: str | None) -> str:
    """Describe what the flag of an entry and the table allow an agent."""
    from memtui.wire.access import client_access

    try:
        access = client_access(settings, client, flag)
    except MemtuiError as error:
        return f"{error.message.removesuffix('.')} [{error.code}]"
    scopes = [f"{level} in {scope}" for scope, level in access.scopes]
    return f"access {', '.join([access.label, *scopes])}"


def _watching() -> Iterator[Finding]:
    if not sys.platform.startswith("linux"):
        return
    for limit, least, what in (
        ("max_user_watches", _WATCHES, "folders can be watched"),
        ("max_user_instances", _INSTANCES, "programs of yours can watch"),
    ):
        name, value = f"fs.inotify.{limit}", _kernel_limit(limit)
        if value is None:
            yield Finding("note", "watching", f"The kernel does not tell {name}.")
        elif value < least:
            text = f"Only {value:,} {what} at once; memtui polls when that is used up."
            yield Finding("warning", "watching", text, f"Raise it: sudo sysctl {name}={least * 16}")
        else:
            yield Finding("ok", "watching", f"{value:,} {what} at once ({name}).")


def _kernel_limit(name: str) -> int | None:
    try:
        with open(f"/proc/sys/fs/inotify/{name}", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _terminal(call: Call, settings: Settings) -> Iterator[Finding]:
    terminal = settings.terminal
    environ = read_environment()
    if not call.out.terminal:
        yield Finding("note", "terminal", "The output is not a terminal.", "Run memtui doctor in the terminal you use.")
    name = terminal.name or "unset"
    if name in ("unset", "dumb"):
        yield Finding(
            "warning", "terminal", f"TERM is {name}.", "The workbench needs a real terminal, such as xterm-256color."
        )
    else:
        program = " ".join(filter(None, (environ.get("TERM_PROGRAM"), environ.get("TERM_PROGRAM_VERSION"))))
        where = [f"in {program}"] * bool(program) + ["over SSH"] * terminal.remote
        yield Finding("ok", "terminal", ", ".join([f"TERM is {name}", *where]) + f", {call.out.columns} columns wide.")
    yield _color(settings, environ)
    if terminal.tmux:
        yield Finding("note", "terminal", "tmux may hold back escape.", "In ~/.tmux.conf: set -sg escape-time 10")
    encoding = call.out.encoding
    name = locale.setlocale(locale.LC_CTYPE)
    if encoding.replace("-", "") != "utf8":
        yield Finding("warning", "locale", f"{name}, which prints {encoding}.", "Use a UTF-8 locale, such as C.UTF-8.")
    else:
        yield Finding("ok", "locale", f"{name}, UTF-8.")
        widths = "".join(f"{char}={cell_width(char)} " for char in _WIDTHS)
        yield Finding("ok", "widths", f"memtui counts {widths.rstrip()} cells.")
    calm = f"calm is {'on' if settings.calm else 'off'} ({settings.origin('calm')})"
    plain = f"ascii is {'on' if settings.ascii else 'off'} ({settings.origin('ascii')})"
    yield Finding("ok", "drawing", f"{calm}, {plain}.")


def _color(settings: Settings, environ: Mapping[str, str]) -> Finding:
    if settings.terminal.no_color:
        return Finding("ok", "color", "off (NO_COLOR).")
    many = environ.get("COLORTERM", "").lower() in ("truecolor", "24bit")
    depth = "16 million" if many else "256" if "256" in settings.terminal.name else "16"
    return Finding("ok", "color", f"{depth} colours, as far as the environment tells.")


def _editor(settings: Settings) -> Finding:
    origin = settings.origin("editor")
    try:
        command = editor_command(settings.editor)
    except MemtuiError as error:
        return Finding("warning", "editor", f"{error.message} ({origin})", error.hint)
    kind = "in a window of its own" if command.windowed else "in the terminal"
    return Finding("ok", "editor", f"{' '.join(command.argv)} ({origin}), {kind}.")


def _clipboard(settings: Settings) -> Finding:
    terminal = settings.terminal
    if not terminal.remote:
        for tool in ("wl-copy", "xclip", "xsel", "pbcopy", "clip.exe"):
            if (terminal.display or tool in ("pbcopy", "clip.exe")) and shutil.which(tool):
                return Finding("ok", "clipboard", f"through {tool}.")
    if terminal.tmux:
        text = "through tmux, which passes it on to the terminal when set-clipboard is on."
        return Finding("note", "clipboard", text, "In ~/.tmux.conf: set -s set-clipboard on")
    text = "through the terminal (OSC 52), which not every terminal accepts."
    advice = "If copying does not arrive, allow clipboard access in the terminal's settings."
    return Finding("note", "clipboard", text, advice)
