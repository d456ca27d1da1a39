"""Agents' configurations: install, uninstall, and the list of clients."""

import os
from hashlib import sha256

from memtui.agents.agent import MORE_HOOKS, USER, Client, ClientFile
from memtui.clients.entries import client_named, wanted
from memtui.clients.install import (
    ClientState,
    FileChange,
    carry_out_all,
    has_hook,
    plan_install,
    plan_uninstall,
    server_runs_here,
    survey,
)
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.diff.differences import unified_file
from memtui.errors import RefusedError, UsageError, how_to_add
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column, Output

_LABELS = {"none": "unchanged", "create": "new file", "edit": "change", "delete": "file goes"}


def install(call: Call) -> int:
    """Show or make the entries of one client; without one, list all clients."""
    name = call.args.text("client")
    if name is None:
        return _list(call)
    client, level = client_named(name), call.args.text("level") or USER
    place, access, settings = _place(call), call.args.text("access"), call.settings
    more = [verb for verb in MORE_HOOKS if call.args.flag(verb)]
    context = _context(call, client, level)
    targets = wanted(client, place, level, settings, access=access, context=context, more=more, on=_on(call))
    if more and not any(entry.what in more for target in targets for entry in target.entries):
        raise UsageError(
            f"{client.title} has no hook that memtui knows, of prompts or of the end of a session.",
            hint=f"Leave --{more[0]} out: the tool memory_recall answers when it asks, `memtui extract` when you do.",
        )
    if call.args.flag("no_hook"):
        targets = tuple(filter(lambda target: target.entries, map(_without_hook, targets)))
    steps = [plan_install(target) for target in targets]
    return _answer(call, client, level, steps, installing=True)


def _context(call: Call, client: Client, level: str) -> bool | None:
    """Return whether the server is to give the context, or None for the usual; never twice to one agent."""
    if call.args.flag("no_context"):
        return False
    if not call.args.flag("no_hook"):
        return None
    return None if has_hook(wanted(client, _place(call), level, call.settings, access=None)) else True


def uninstall(call: Call) -> int:
    """Show or make the removal of one client's entries."""
    client, level = client_named(call.args.need("client")), call.args.text("level") or USER
    targets = wanted(client, _place(call), level, call.settings, access=None, more=MORE_HOOKS, on=_on(call))
    steps = [plan_uninstall(target, call.settings.state_dir) for target in reversed(targets)]
    return _answer(call, client, level, steps, installing=False)


def _on(call: Call) -> str:
    """Return the other machine the server is to ask, or an empty string; an unknown one is refused (`E_HOST`)."""
    name = call.args.text("on") or ""
    known = call.settings.entries("hosts")
    if name and name not in known:
        raise RefusedError(
            f"The settings name no other machine {name!r}.",
            code="E_HOST",
            hint=f"There are: {', '.join(known) or 'none'}.",
        )
    return name


def _place(call: Call) -> Surroundings:
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise UsageError("The working directory is gone.", hint="Change to a folder that exists.") from None
    return surroundings_from(call.settings, cwd=cwd, project=call.options.project)


def _without_hook(target: ClientFile) -> ClientFile:
    kept = tuple(entry for entry in target.entries if entry.what in ("server", *MORE_HOOKS))
    return target._replace(entries=kept)


def _answer(call: Call, client: Client, level: str, steps: list[FileChange], *, installing: bool) -> int:
    out, write = call.out, call.args.flag("write")
    changed = any(step.action != "none" for step in steps)
    notes = _notes(call, client, level) if installing and changed else []
    notes += [f"{step.taken.message} {step.taken.unharmed}" for step in steps if step.taken is not None]
    diffs = [unified_file(step.target.path, step.before.data, step.after) for step in steps]
    if not out.json:
        for step, lines in zip(steps, diffs, strict=True):
            _show(out, step, lines)
        out.flush()
    removed, backups = (
        carry_out_all(steps, call.settings.state_dir, installing=installing) if write else ((), (None,) * len(steps))
    )
    if out.json:
        changes: list[Json] = [
            {"path": step.target.path, "action": step.action, "diff": values.text_of(lines)} | {"backup": kept}
            for step, lines, kept in zip(steps, diffs, backups, strict=True)
        ]
        answer: Json = {"client": client.name, "level": level, "written": write and changed}
        out.document(answer | {"changes": changes, "removed": list(removed), "notes": notes})
        return outcomes.DONE
    _tell(call, client, steps, installing=installing)
    for step, kept in zip(steps, backups, strict=True):
        if kept is not None:
            version = sha256(step.before.data or b"").hexdigest()[:12]
            out.say(f"What {step.target.path} held until now (version {version}) is kept in {kept}")
    for path in removed:
        out.say(f"Removed {path}, which a memtui that was killed had left.")
    for note in notes:
        out.say(note)
    return outcomes.DONE


def _notes(call: Call, client: Client, level: str) -> list[str]:
    write, folder = call.args.flag("write"), client.folder(_place(call))
    moment = "after" if write else "before"
    notes = [note.text for note in client.notes if note.level in ("", level) and note.when in ("", moment)]
    if level == USER and not os.path.isdir(folder):
        notes.insert(0, f"There {'was' if write else 'is'} no folder {folder}: is {client.title} installed?")
    if not call.settings.agents_enabled:
        notes.append(f"Agents' access is switched off: agents.enabled in {call.settings.config_file}.")
    if call.args.flag("extract") and call.settings.lifecycle_extract != "auto":
        notes.append(
            f'The hook only works with extract = "auto" in the table [lifecycle] of {call.settings.config_file}.'
        )
    if not server_runs_here():
        notes.append(f"The server needs memtui[mcp], which is not installed: {how_to_add('mcp')}")
    return notes


def _show(out: Output, step: FileChange, lines: list[str]) -> None:
    if step.action == "none":
        if out.terminal:
            out.line(f"{step.target.path}: {_LABELS[step.action]}", "dim")
        return
    out.diff(lines)


def _tell(call: Call, client: Client, steps: list[FileChange], *, installing: bool) -> None:
    verb = "install" if installing else "uninstall"
    if all(step.action == "none" for step in steps):
        call.out.say(f"{client.title} is as it should be." if installing else f"memtui is not in {client.title}.")
    elif not call.args.flag("write"):
        words = [verb, client.name, *_given(call), "--write"]
        call.out.say(f"Nothing was written. To make the change: memtui {' '.join(words)}")
    elif installing:
        call.out.say(f"memtui is in {client.title}. Start {client.title} anew to use it.")
    elif any(step.stays for step in steps):
        call.out.say(f"{client.title} is as it was before: an entry for memtui that was there already is there again.")
    else:
        call.out.say(f"memtui is no longer in {client.title}.")


def _given(call: Call) -> list[str]:
    words = [
        word for name in ("level", "on", "access") if (value := call.args.text(name)) for word in (f"--{name}", value)
    ]
    flags = [f"--{name}" for name in (*MORE_HOOKS, "no-hook", "no-context") if call.args.flag(name.replace("-", "_"))]
    return words + flags


def _list(call: Call) -> int:
    found = survey(_place(call), call.settings)
    rows = (
        (each.client.name, each.level, "yes" if each.present else "no", _word(each), ", ".join(each.paths))
        for each in found
    )
    names = tuple(map(Column, ("CLIENT", "LEVEL", "FOUND", "MEMTUI")))
    results.listed(call.out, map(_row, found), (*names, Column("FILES", flexible=True, wraps=True)), rows)
    for each in found if not call.out.json else ():
        if each.problem is not None:
            call.out.say(f"{each.client.name}: {each.problem.message} {each.problem.hint}")
    if call.out.terminal and not call.out.json:
        call.out.say("memtui install CLIENT shows what it would change; --write makes the change.")
    return outcomes.DONE


def _word(found: ClientState) -> str:
    extra = [f"--access {found.access}"] if found.access else []
    if found.command and not found.hook and found.level == USER:
        extra.append("no hook" if found.context else "no hook, no context")
    extra += found.more
    if found.command and not found.runs:
        extra.append("command is gone")
    return found.state + (f" ({', '.join(extra)})" if extra else "")


def _row(found: ClientState) -> Json:
    return {
        "client": found.client.name,
        "title": found.client.title,
        "level": found.level,
        "found": found.present,
        **values.plain_fields(found, "state hook"),
        **{verb: verb in found.more for verb in MORE_HOOKS},
        **values.plain_fields(found, "context access command runs"),
        "paths": list(found.paths),
        "problem": found.problem.message if found.problem else None,
    }
