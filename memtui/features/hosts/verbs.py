"""The verb `host`, and the option `--on`: any verb run on another machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from typing import IO

from memtui.engine.model import Actor, Finding
from memtui.errors import RefusedError, UsageError
from memtui.features.hosts.machines import RemoteHost, command_line, host_named, hosts, pack
from memtui.features.hosts.remote import (
    MAX_ANSWER,
    RemoteCall,
    ask,
    call,
    refuse_taken_back,
    retry_guarded,
    ssh_name,
    working_directory,
)
from memtui.safe_text import visible
from memtui.wire import outcomes, results
from memtui.wire.access import client_access, lowest, switched_off
from memtui.wire.call import Call
from memtui.wire.output import Column, Output
from memtui.wire.session import Session, acting, run_by
from memtui.wire.verb import Arguments, Verb

_LOCAL_OPTIONS = frozenset({"--on", "--home", "--given", "--actor", "--ascii", "--calm"})
"""Global options that concern this machine."""
_AGENT_VERBS = ("mcp", "tool", "context")
_STREAMS = ("mcp", "tool", "watch")
"""Verbs that run until somebody ends them."""
_NEEDS_TERMINAL = ("edit", "demo", "web", "keys", "serve")
"""Verbs that need the terminal of that machine, or outlive the call."""
_RAW = ("view", "export", "context", "recall", "entries", "dream", "extract", "tool", "mcp")
"""Verbs whose piped output is passed on as it is; all other output is made safe."""
_READS = ("ls", "view", "search", "history", "blame", "diff", "trash", "status", "rules", "orphans", "log", "cost")
"""Verbs that change nothing, whatever their options."""


def run_remote(given: Call, verb: Verb | None, on: str, *, version: bool) -> int:
    """Run the command line on another machine; without a verb, open the workbench there."""
    host = host_named(given.settings, on)
    words = given.global_words(_LOCAL_OPTIONS)
    if host.project and given.options.project is None:
        words = ["--project", host.project, *words]
    if verb is None and not version:
        return _workbench(given, host, words)
    if verb is not None and verb.name in _NEEDS_TERMINAL:
        raise UsageError(f"{verb.name} is done at that machine.", hint=f"memtui --on {host.name} opens memtui there.")
    text, stream = _text(given, verb)
    name = verb.name if verb else ""
    if verb is not None and name in _AGENT_VERBS:
        _restrict_access(given, verb)
    if name not in ("mcp", "tool") or given.options.actor != Actor("cli"):
        words = ["--actor", _remote_actor(given), *words]
    asks = [*words, *_words(verb, given.args, text=text is not None)]
    live = name in _STREAMS or given.args.flag("follow")
    raw, parts, tries = name in _RAW, list[bytes](), list[None]()

    def take(data: bytes) -> None:
        parts.append(data)
        if live:
            _show(given.out, parts, raw=raw, whole=False)

    def once() -> int:
        parts.clear()
        if tries and text is not None:
            address, expected = given.args.need("address"), given.args.need("expect")
            refuse_taken_back(host, words, address, expected, sha256(text).hexdigest())
        tries.append(None)
        limit, reads = None if live else MAX_ANSWER, not name or name in _READS
        return call(
            RemoteCall(host, asks, stream if text is None else text, limit=limit, reads=reads), take, given.out.say
        )

    status = retry_guarded(once) if name == "save" else once()
    _show(given.out, parts, raw=raw)
    return status


def _show(out: Output, parts: list[bytes], *, raw: bool, whole: bool = True) -> None:
    """Print output that came: safe on a terminal, as it is where a `raw` verb is piped; only whole lines until the end.

    What is not printed yet stays in `parts`.
    """
    data = b"".join(parts)
    parts.clear()
    if not (raw or whole):
        data, newline, rest = data.rpartition(b"\n")
        data += newline
        parts.append(rest)
    if data and out.terminal:
        out.text(data.decode(errors="replace"))
    elif data:
        if not raw:
            text = data.decode(errors="replace")
            text = visible(text, keep_newlines=True, keep_tabs=True, ascii_tokens=out.ascii_only, secrets=True)
            data = text.encode()
        out.raw(data)
    out.answered = out.answered or bool(data)


def _remote_actor(given: Call) -> str:
    """Return the actor of changes there: this user on this machine, or the agent that runs the command; never `cli`."""
    found = acting(given.options)
    return found.name if found != Actor("cli") else ssh_name()


def _workbench(given: Call, host: RemoteHost, words: list[str]) -> int:
    """Open the workbench there in this terminal; only for a person, because whoever has it approves there."""
    found = run_by(given.options)
    if found is not None or not given.out.interactive:
        raise RefusedError(
            f"Only a person may open the workbench on {host.name}, at a terminal.",
            code="E_PERSON",
            hint="Give a verb to do there, such as ls.",
        )
    packed = pack("screen", words)
    status: int = subprocess.call(command_line(host, (packed,), terminal=True), cwd=working_directory(host))
    return status if status in outcomes.MEANING else outcomes.STORAGE


def _text(given: Call, verb: Verb | None) -> tuple[bytes | None, IO[bytes] | None]:
    """Read a verb's text here, or return the stream that it reads there."""
    params = {param.key: param for param in verb.params} if verb else {}
    file, dash = given.args.text("file"), given.args.text("source")
    if "file" in params and params["file"].option and (dash or file or (verb and verb.name in ("create", "save"))):
        return given.given_text(), None
    dashes = [given.args.values.get(param.key) for param in verb.positionals] if verb else []
    streams = verb is not None and (
        verb.name in ("mcp", "tool")
        or file == "-"
        or bool(given.args.values.get("hook"))
        or any(one in ("-", ["-"]) for one in dashes)
    )
    return None, sys.stdin.buffer if streams and sys.stdin is not None else None


def _words(verb: Verb | None, args: Arguments, *, text: bool) -> list[str]:
    """Write a verb's arguments as a command line; its text comes on standard input."""
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


def _restrict_access(given: Call, verb: Verb) -> None:
    """Apply this machine's access rules to an agent that calls there. Raises `E_DISABLED`."""
    found = run_by(given.options)
    client = given.args.text("client") or (found.agent if found else "")
    access = client_access(given.settings, client, given.args.text("access"))
    level = lowest(access.label, *(level for _, level in access.scopes))
    if level == "off":
        raise switched_off(f"A scope of the table [access], and so every other machine for {client or 'this client'},")
    if level != "rw" and any(param.key == "access" for param in verb.params):
        given.args.values["access"] = level


def host(given: Call) -> int:
    """List the other machines, or test one."""
    found, name = hosts(given.settings), given.args.text("name")
    if given.args.text("action") == "test":
        if name is None:
            raise UsageError("memtui host test needs a name.", hint=f"There are: {', '.join(found) or 'none'}.")
        return _test(given, host_named(given.settings, name))
    items = ({"name": one.name, "reached": one.shown, "project": one.project or None} for one in found.values())
    columns = (Column("NAME"), Column("REACHED BY", flexible=True), Column("PROJECT"))
    rows = ((one.name, one.shown, one.project) for one in found.values())
    none = "There are no other machines. Add [hosts.NAME] to config.toml."
    return results.listed(given.out, items, columns, rows, none)


def _test(given: Call, one: RemoteHost) -> int:
    project = ("--project", one.project) if one.project else ()
    version = str(ask(one, ("--version",)).get("version"))
    items = ask(one, (*project, "roots")).get("items")
    count = len(items) if isinstance(items, list) else 0
    given.out.fact(
        {"name": one.name, "version": version, "roots": count}, f"{one.name}: memtui {version}, {count} roots"
    )
    return outcomes.DONE


def findings(session: Session) -> Iterator[Finding]:
    """Yield the findings of `memtui doctor` about other machines, without asking any."""
    for one in hosts(session.settings).values():
        program = one.argv[0] if one.argv else "ssh"
        if not shutil.which(program):
            why = f"{one.name} cannot be reached: there is no program {program!r} here."
            yield Finding("warning", "hosts", why, f"memtui host test {one.name}")
