"""Other machines on the command line: any verb done there, and which machines there are."""

from __future__ import annotations

import getpass
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

from memtui.engine.model import Actor, Finding
from memtui.errors import RefusedError, UsageError
from memtui.features.hosts import asked, far
from memtui.features.hosts.far import Far, ask, call, guarded, usable
from memtui.features.hosts.reach import HostAway, host_named, hosts, words_for
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.doors import door_access, least, switched_off
from memtui.wire.output import Column, Output
from memtui.wire.session import Session, acting, run_by
from memtui.wire.verb import Arguments, Verb

_OURS = frozenset({"--on", "--home", "--given", "--actor", "--ascii", "--calm"})
"""Global options that are about this machine."""
_DOORS = ("mcp", "tool", "context")
_STREAMS = ("mcp", "tool", "watch")
"""What goes on until somebody ends it."""
_SCREENS = ("edit", "demo", "web", "keys")
_NAME_LIMIT = 100


def elsewhere(given: Call, verb: Verb | None, on: str, *, version: bool) -> int:
    """Have another machine do what the command line says; without a verb, open the workbench there."""
    host = host_named(given.settings, on)
    words = given.again(_OURS)
    if host.project and given.options.project is None:
        words = ["--project", host.project, *words]
    if verb is None and not version:
        return _workbench(given, host, words)
    if verb is not None and verb.name in _SCREENS:
        raise UsageError(f"{verb.name} needs the terminal there.", hint=f"memtui --on {host.name} opens memtui there.")
    text, stream = _text(given, verb)
    name = verb.name if verb else ""
    if verb is not None and name in _DOORS:
        _door(given, verb)
    if name not in ("mcp", "tool") or given.options.actor != Actor("cli"):
        words = ["--actor", writer(given), *words]
    words += _words(verb, given.args, text=text is not None)
    live, parts = name in _STREAMS, list[bytes]()

    def take(data: bytes) -> None:
        parts.append(data)
        if live:
            _show(given.out, parts)

    def once() -> int:
        parts.clear()
        limit = None if live else far.ANSWER
        return call(Far(host, words, stream if text is None else text, limit=limit), take, given.out.say)

    status = guarded(once) if name == "save" else once()
    _show(given.out, parts)
    return status


def _show(out: Output, parts: list[bytes]) -> None:
    """Print what was answered: as it is where it is piped, safe on a terminal."""
    data = b"".join(parts)
    parts.clear()
    if data and out.terminal:
        out.text(data.decode(errors="replace"))
    elif data:
        out.raw(data)
    out.answered = out.answered or bool(data)


def writer(given: Call) -> str:
    """Say who changes there are by: this user on this machine, or the agent that runs the command; never `cli`."""
    found = acting(given.options)
    if found != Actor("cli"):
        return found.name
    name = f"ssh:{getpass.getuser()}@{socket.gethostname()}"
    return "".join(one if one.isprintable() else "_" for one in name)[:_NAME_LIMIT]


def _workbench(given: Call, host: HostAway, words: list[str]) -> int:
    """Give the terminal to the workbench there; only a person gets it, because whoever has it approves there."""
    found = run_by(given.options)
    if found is not None or not given.out.interactive:
        raise RefusedError(
            f"Only a person may open the workbench on {host.name}, at a terminal.",
            code="E_PERSON",
            hint="Give a verb to do there, such as ls.",
        )
    packed = asked.pack("screen", words)
    status: int = subprocess.call(words_for(host, (packed,), terminal=True), cwd=far.folder(host))
    return status if status in outcomes.MEANING else outcomes.STORAGE


def _text(given: Call, verb: Verb | None) -> tuple[bytes | None, IO[bytes] | None]:
    """Read the text that a verb is given, here, or say which stream it reads there."""
    params = {param.key: param for param in verb.params} if verb else {}
    file, dash = given.args.text("file"), given.args.text("source")
    if "file" in params and params["file"].option and (dash or file or (verb and verb.name in ("create", "save"))):
        return given.given_text(), None
    streams = verb is not None and (verb.name in ("mcp", "tool") or file == "-")
    return None, sys.stdin.buffer if streams and sys.stdin is not None else None


def _words(verb: Verb | None, args: Arguments, *, text: bool) -> list[str]:
    """Write a verb's arguments as words again; its text comes on standard input."""
    if verb is None:
        return ["--version"]
    options: list[str] = []
    places: list[str] = []
    for param in verb.params:
        value = args.values.get(param.key)
        if text and param.name in ("--file", "source"):
            if param.name == "source" or all(one.name != "source" for one in verb.params):
                (options if param.option else places).append("--file=-" if param.option else "-")
        elif value is True:
            options.append(param.name)
        elif value is not None and value is not False:
            every = value if isinstance(value, list) else [str(value)]
            if param.option:
                options += [f"{param.name}={one}" for one in every]
            else:
                places += every
    return [verb.name, *options, *(("--", *places) if places else ())]


def _door(given: Call, verb: Verb) -> None:
    """Shut an agent out there too that is shut out here, and let it do no more there than here.

    Raises:
        RefusedError: `E_DISABLED`.
    """
    found = run_by(given.options)
    client = given.args.text("client") or (found.agent if found else "")
    access = door_access(given.settings, client, given.args.text("access"))
    level = least(access.label, *(level for _, level in access.scopes))
    if level == "off":
        raise switched_off(f"A scope of the table [access], and so every other machine for {client or 'this client'},")
    if level != "rw" and any(param.key == "access" for param in verb.params):
        given.args.values["access"] = level


def host(given: Call) -> int:
    """List the other machines, or look whether memtui answers on one."""
    found = hosts(given.settings)
    name = given.args.text("name")
    if given.args.text("action") == "test":
        if name is None:
            raise UsageError("memtui host test needs a name.", hint=f"There are: {', '.join(found) or 'none'}.")
        return _test(given, host_named(given.settings, name))
    rows: list[outcomes.Json] = [
        {"name": one.name, "reached": one.shown, "project": one.project or None} for one in found.values()
    ]
    if given.out.json:
        given.out.document(values.listing(rows))
    else:
        columns = (Column("NAME"), Column("REACHED BY", flexible=True), Column("PROJECT"))
        given.out.table(columns, [(one.name, one.shown, one.project) for one in found.values()])
    return outcomes.DONE


def _test(given: Call, one: HostAway) -> int:
    project = ("--project", one.project) if one.project else ()
    version = str(ask(one, ("--version",)).get("version"))
    items = ask(one, (*project, "roots")).get("items")
    count = len(items) if isinstance(items, list) else 0
    given.out.fact(
        {"name": one.name, "version": version, "roots": count}, f"{one.name}: memtui {version}, {count} roots"
    )
    return outcomes.DONE


def findings(session: Session) -> Iterator[Finding]:
    """What `memtui doctor` says of other machines; it asks none of them."""
    for one in hosts(session.settings).values():
        why = usable(one)
        if why:
            yield Finding("warning", "hosts", f"{one.name} cannot be reached: {why}.", f"memtui host test {one.name}")
