"""Install memtui in a client and take it out again: plans that can be shown first, then carried out.

Before its first change memtui keeps the file's content in its own state folder. As long as nobody else has edited the
file, uninstalling restores exactly that; afterwards only memtui's entries go. The survey of all clients reports
unreadable files, so that one broken file does not hide the other agents.
"""

import importlib.util
import json
import os
import shutil
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from memtui.agents.agent import MORE_HOOKS, PROJECT, USER, Client, ClientFile
from memtui.clients import disk, entries, formats
from memtui.clients.disk import FileContent, own_folder
from memtui.clients.entries import NO_CONTEXT, SHORT_CONTEXT, clients, wanted
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.errors import ConflictError, MemtuiError, UsageError

INSTALLED, OUTDATED, ABSENT, TAKEN, UNREADABLE = "installed", "outdated", "absent", "taken", "unreadable"


class ClientState(NamedTuple):
    """One client at one level."""

    client: Client
    level: str
    present: bool
    state: str
    """`installed`; `outdated`, when memtui would now write it otherwise; `absent`; `taken`, when the name is another
    server's; `unreadable`."""
    hook: bool
    more: tuple[str, ...]
    paths: tuple[str, ...]
    context: bool = False
    """Whether its server gives the index and the hot set."""
    access: str | None = None
    command: str | None = None
    runs: bool = False
    problem: MemtuiError | None = None
    """Why it is unreadable, or who has the name."""
    strays: tuple[str, ...] = ()
    """Leftovers of a killed memtui in the folders of its files."""


_OURS = (entries.OTHER, entries.CURRENT)


class FileChange(NamedTuple):
    """One file, and its planned content."""

    target: ClientFile
    before: FileContent
    after: bytes | None
    """None: no file."""
    states: tuple[tuple[str, str], ...]
    """The entries in it now: `server`, `hook` and `recall`, each `absent`, `other`, `current` or `foreign`."""
    taken: MemtuiError | None = None
    """Why nothing can be put in, when another server has the name."""

    @property
    def action(self) -> str:
        """`none`, `create`, `edit` or `delete`."""
        if self.after == self.before.data:
            return "none"
        if self.before.data is None:
            return "create"
        return "delete" if self.after is None else "edit"

    @property
    def stays(self) -> bool:
        """Whether an entry that runs memtui is there afterwards, such as one older than the installation."""
        text = (self.after or b"").decode()
        return any(entries.state(self.target, text, entry) in _OURS for entry in self.target.entries)


class CarriedOut(NamedTuple):
    """The result of several plans."""

    removed: tuple[str, ...]
    backups: tuple[str | None, ...]
    """For each plan the copy of the file's old content; None when it was empty, or unchanged."""


class _Record(NamedTuple):
    """What memtui remembers of a file it changed."""

    before: bytes | None
    """The content before memtui's first change; None: there was no file."""
    after: tuple[str, ...]
    """The sha-256 of what memtui left; two, when it was interrupted between the record and the change."""
    folders: tuple[str, ...] = ()
    """The folders that were made for it, the innermost first."""


def look(target: ClientFile) -> FileChange:
    """Return what is in a file, without a plan; raises what `plan_install` does."""
    target = _followed(target)
    found = disk.read(target.path, target.inside)
    return _step(target, found, found.data)


def plan_install(target: ClientFile) -> FileChange:
    """Plan a file with all of memtui's entries in it.

    Raises UsageError: `E_CONFIG`: it is not what its format says, or something is in the way. ConflictError:
    `E_EXISTS`: the name is another server's. RefusedError: a link, no regular file, closed. StorageError: the disk
    failed.
    """
    target = _followed(target)
    found = disk.read(target.path, target.inside)
    text = found.text
    try:
        for entry in target.entries:
            text = entries.put(target, text, entry)
    except formats.CommentedError as error:
        raise _named(target.path, _to_paste(target, error)) from error
    except (UsageError, ConflictError) as error:
        raise _named(target.path, error) from error
    same = found.data is not None and text == found.text
    return _step(target, found, found.data if same else text.encode())


def plan_uninstall(target: ClientFile, state_dir: str) -> FileChange:
    """Plan a file with none of memtui's entries in it; raises what `plan_install` does."""
    target = _followed(target)
    found = disk.read(target.path, target.inside)
    if found.data is None:
        return _step(target, found, None)
    record = None if target.beside else _recorded(target, state_dir)
    if record is not None and sha256(found.data).hexdigest() in record.after:
        return _step(target, found, record.before)
    plan = _step(target, found, found.data)
    if all(state not in _OURS for _, state in plan.states):
        return plan
    return _step(target, found, _without(target, found, record))


def carry_out(step: FileChange, state_dir: str, *, installing: bool) -> str | None:
    """Make a planned change, record what it replaced, and return the copy of the old content, if any.

    A file that changed since the plan is a `ConflictError`; else it raises what `plan_install` does.
    """
    if step.action == "none" and installing:
        return None
    with disk.alone(own_folder(state_dir)):
        target, key = step.target, _key(step.target.path, state_dir)
        record = None if target.beside else _recorded(target, state_dir)
        if step.action == "none":
            if record is not None and step.before.data == record.before:
                _forget(key, step, record)  # it was taken out already, and memtui killed before it could say so
            return None
        disk.check_unchanged(target.path, step.before, target.inside)
        backup = None
        if step.before.data is not None:
            backup = f"{key}-{sha256(step.before.data).hexdigest()[:16]}.backup"
            disk.keep(backup, step.before.data)
        if installing and not target.beside:
            _remember(key, _first(target, step, record), step, record, disk.missing_folders(target.path))
        disk.replace(target.path, step.before, step.after, private=target.inside is None, inside=target.inside)
        if not installing and not target.beside:
            _forget(key, step, record)
    return backup


def plan_for(client: Client, place: Surroundings, settings: Settings) -> tuple[FileChange, ...]:
    """Plan what `memtui install CLIENT` changes in the user's configuration, keeping the client's access."""
    access = look_at(client, USER, place, settings).access
    return tuple(map(plan_install, wanted(client, place, USER, settings, access=access)))


def carry_out_all(steps: Iterable[FileChange], state_dir: str, *, installing: bool) -> CarriedOut:
    """Make planned changes, after removing leftovers of killed processes beside the files; raises as `carry_out`."""
    plans = tuple(steps)
    folders = [own_folder(state_dir), *(os.path.dirname(step.target.path) for step in plans)]
    removed = tuple(disk.sweep(folders, state_dir))
    return CarriedOut(removed, tuple(carry_out(step, state_dir, installing=installing) for step in plans))


def _followed(target: ClientFile) -> ClientFile:
    return target if target.inside is not None else target._replace(path=disk.followed(target.path))


def _forget(key: str, step: FileChange, record: _Record | None) -> None:
    if step.after is None and record is not None:
        disk.remove_empty(list(record.folders))
    disk.forget(key + ".json")
    disk.forget(key + ".before")


def _step(target: ClientFile, found: FileContent, after: bytes | None) -> FileChange:
    states = _states(target, found.text)
    if after != found.data:
        disk.check_writable(target.path, found)
    taken = entries.taken(target, found.text)
    return FileChange(target, found, after, states, None if taken is None else _named(target.path, taken))


def _states(target: ClientFile, text: str) -> tuple[tuple[str, str], ...]:
    try:
        return tuple(
            (entry.what, entries.state(target, text, entry)) for entry in target.entries if entry.what != "value"
        )
    except UsageError as error:
        raise _named(target.path, error) from error


def _without(target: ClientFile, found: FileContent, record: _Record | None) -> bytes | None:
    """Take memtui's entries out; an empty file that did not exist before memtui goes."""
    text = found.text
    before = None if record is None else (record.before or b"").decode()
    try:
        for entry in reversed(target.entries):
            if entry.what != "value" or (before is not None and not formats.json_has(before, entry.path)):
                text = entries.take(target, text, entry, before)
    except UsageError as error:
        raise _named(target.path, error) from error
    if record is not None and record.before is None and text.strip() in ("", "{}"):
        return None
    return text.encode()


def _to_paste(target: ClientFile, error: UsageError) -> UsageError:
    text = ""
    for entry in target.entries:
        text = entries.put(target, text, entry)
    return UsageError(error.message, code="E_CONFIG", hint=f"Add this to it by hand: {json.dumps(json.loads(text))}")


def _first(target: ClientFile, step: FileChange, record: _Record | None) -> bytes | None:
    """Return the file without memtui: its earlier content, unless somebody else has edited it since."""
    if record is None or all(state == entries.ABSENT for _, state in step.states):
        return step.before.data
    if sha256(step.before.data or b"").hexdigest() in record.after:
        return record.before
    return _without(target, step.before, record)


def _named(path: str, error: MemtuiError) -> MemtuiError:
    return type(error)(
        f"{path}: {error.message}", code=error.code, unharmed=error.unharmed, hint=error.hint, details={"file": path}
    )


def _key(path: str, state_dir: str) -> str:
    return os.path.join(own_folder(state_dir), sha256(os.fsencode(path)).hexdigest()[:16])


def _remember(key: str, before: bytes | None, step: FileChange, record: _Record | None, folders: list[str]) -> None:
    if before is not None:
        disk.keep(key + ".before", before)
    now, new = sha256(step.before.data or b"").hexdigest(), sha256(step.after or b"").hexdigest()
    earlier = [now] if record is not None and now in record.after else []
    fields = {
        "path": step.target.path,
        "existed": before is not None,
        "after": [*earlier, new],
        "folders": [*folders, *(record.folders if record is not None else ())],
    }
    disk.keep(key + ".json", json.dumps(fields, indent=2).encode())


def _recorded(target: ClientFile, state_dir: str) -> _Record | None:
    key = _key(target.path, state_dir)
    try:
        fields = json.loads(disk.read(key + ".json").data or b"null")
        if not isinstance(fields, dict) or fields["path"] != target.path:
            return None
        before = disk.read(key + ".before").data if fields["existed"] else None
        if fields["existed"] and before is None:
            return None
        folders = tuple(folder for folder in fields["folders"] if isinstance(folder, str))
        return _Record(before, tuple(map(str, fields["after"])), folders)
    except (KeyError, TypeError, ValueError):
        return None


def server_runs_here() -> bool:
    """Whether the package that `memtui mcp` needs is installed."""
    return importlib.util.find_spec("mcp") is not None


def survey(place: Surroundings, settings: Settings) -> tuple[ClientState, ...]:
    """Look at every client: the user's own configuration, and the project's where memtui is in it."""
    everything = [look_at(client, level, place, settings) for client in clients() for level in (USER, PROJECT)]
    told = (INSTALLED, OUTDATED, TAKEN)
    named: set[str] = set()
    for at, found in enumerate(everything):  # the home folder can be the project too
        everything[at] = found._replace(strays=tuple(path for path in found.strays if path not in named))
        named.update(found.strays)
    return tuple(found for found in everything if found.level == USER or found.strays or found.state in told)


def look_at(client: Client, level: str, place: Surroundings, settings: Settings) -> ClientState:
    """Look at one client's configuration at one level."""
    plain = wanted(client, place, level, settings, access=None, more=MORE_HOOKS)
    paths = tuple(target.path for target in plain)
    folder = client.folder(place)
    found = ClientState(client, level, os.path.isdir(folder), ABSENT, hook=False, more=(), paths=paths)
    try:
        found = found._replace(strays=tuple(disk.strays_in(map(os.path.dirname, paths))))
        looks = [look(target) for target in plain]
        words = next(filter(None, (entries.server_words(one.target, one.before.text) for one in looks)), None)
        access = words[words.index("--access") + 1] if words and "--access" in words else None
        hooks = {what for one in looks for what, state in one.states if state != entries.ABSENT}
        hook = "hook" in hooks
        found = found._replace(more=tuple(verb for verb in MORE_HOOKS if verb in hooks))
        # Without a hook the server may give the context or leave it out, as the user chose; with one it is as usual.
        context = None if hook else NO_CONTEXT not in (words or ())
        targets = wanted(client, place, level, settings, access=access, context=context, more=MORE_HOOKS)
        steps = [look(target) for target in targets]
        states = [state for step in steps for state in step.states]
        problem = next(filter(None, (step.taken for step in steps)), None)
    except MemtuiError as error:
        # A link to itself is no folder, and yet a trace of the agent: its finding must not be left out.
        present = found.present or os.path.lexists(folder)
        return found._replace(state=UNREADABLE, present=present, problem=error)
    if problem is not None:
        return found._replace(state=TAKEN, hook=hook, problem=problem)
    if words is None:
        return found._replace(hook=hook)
    outdated = any(state == entries.OTHER for _, state in states)
    return found._replace(
        state=OUTDATED if outdated else INSTALLED,
        hook=hook,
        context=not {NO_CONTEXT, SHORT_CONTEXT}.intersection(words),
        access=access,
        command=words[0],
        runs=shutil.which(words[0]) is not None,
    )


def has_hook(targets: tuple[ClientFile, ...]) -> bool:
    """Whether a hook of memtui's at the start of a session is in one of these files, current or not."""
    return any(what == "hook" and state != entries.ABSENT for target in targets for what, state in look(target).states)
