"""Whether an entry of ours is in a file, putting it in, and taking it out again: for any client, in either format.

What is ours is told by what it does, not by how it is written, so that an entry of an older memtui, or one typed by
hand, is found, changed in place and never doubled.
"""

from memtui.clients import jsonfile, tomlfile
from memtui.clients.client import Entry, Target
from memtui.clients.start import runs_context
from memtui.values import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

ABSENT, OTHER, CURRENT = "absent", "other", "current"
"""Not there; there, and different from what is wanted; there as wanted."""
_MANAGED = ("type", "command", "args", "cwd")
"""Settings of a server that are memtui's alone; others that the user added stay."""


def state(target: Target, text: str, entry: Entry) -> str:
    """Tell whether an entry is in a file: `ABSENT`, `OTHER` or `CURRENT`.

    Raises:
        UsageError: `E_CONFIG`, when the file cannot be read.
    """
    if entry.what == "hook":
        hooks = _ours(text, entry.path)
        if not hooks:
            return ABSENT
        return CURRENT if len(hooks) == 1 and jsonfile.get(text, hooks[0]) == _hook(entry) else OTHER
    present = _get(target, text, entry.path)
    if present is None:
        return ABSENT
    if isinstance(present, dict) and isinstance(entry.value, dict):
        wanted: dict[str, Any] = entry.value
        known = {name: each for name, each in present.items() if name in wanted or name in _MANAGED}
        return CURRENT if known == wanted else OTHER
    return CURRENT if present == entry.value else OTHER


def put(target: Target, text: str, entry: Entry) -> str:
    """Put an entry into a file, or bring the one that is there up to date.

    Raises:
        UsageError: `E_CONFIG`, when the file cannot be read, or something else is in the way.
    """
    if state(target, text, entry) == CURRENT:
        return text
    if entry.what == "hook":
        hooks = _ours(text, entry.path)
        if not hooks:
            return jsonfile.append(text, entry.path, entry.value)
        for extra in reversed(hooks[1:]):
            text = _take_hook(text, entry, extra)
        return jsonfile.put(text, hooks[0], _hook(entry))
    value = entry.value
    present = _get(target, text, entry.path)
    if isinstance(present, dict) and isinstance(value, dict):
        value = {name: each for name, each in present.items() if name not in _MANAGED and name not in value} | value
        value = {name: value[name] for name in (*entry.value, *value)}  # type: ignore[misc]
    return _put(target, text, entry.path, value)


def take(target: Target, text: str, entry: Entry, before: str | None) -> str:
    """Take an entry out of a file, if it is there.

    Args:
        target: the file.
        text: what it holds now.
        entry: what to take out.
        before: what the file held before memtui's first change: what is empty now and was not there then goes too.
            None: not known, so that only the entry goes.

    Raises:
        UsageError: `E_CONFIG`, when the file cannot be read.
    """
    if entry.what == "hook":
        for hook in reversed(_ours(text, entry.path)):
            text = _take_hook(text, entry, hook)
    elif target.format == "json":
        text = jsonfile.take(text, entry.path)
    else:
        text = tomlfile.take(text, entry.path)
    if target.format == "json" and before is not None:
        around = entry.path if entry.what == "hook" else entry.path[:-1]
        while around and jsonfile.get(text, around) in ({}, []) and not jsonfile.has(before, around):
            text = jsonfile.take(text, around)
            around = around[:-1]
        if around and jsonfile.get(text, around) in ({}, []) and jsonfile.get(before, around) is None:
            text = jsonfile.put(text, around, None)  # it was there, as null
    return text


def server_words(target: Target, text: str) -> tuple[str, ...]:
    """Return the command and arguments our server is started with by this file; empty when it says none.

    Raises:
        UsageError: `E_CONFIG`, when the file cannot be read.
    """
    for entry in target.entries:
        present = _get(target, text, entry.path) if entry.what == "server" else None
        if isinstance(present, dict) and isinstance(present.get("command"), str):
            args = present.get("args")
            return present["command"], *(map(str, args) if isinstance(args, list) else ())
    return ()


def _get(target: Target, text: str, path: tuple[str, ...]) -> object:
    return jsonfile.get(text, path) if target.format == "json" else tomlfile.get(text, path)


def _put(target: Target, text: str, path: tuple[str, ...], value: object) -> str:
    if target.format == "json":
        return jsonfile.put(text, path, value)
    return tomlfile.put(text, path, dict(value) if isinstance(value, dict) else {})


def _hook(entry: Entry) -> object:
    """Return the hook itself, without the group around it."""
    value: Any = entry.value
    return value["hooks"][0] if "hooks" in value else value


def _ours(text: str, path: tuple[str, ...]) -> list[jsonfile.Path]:
    """Find our hooks in an array of hooks, or of groups of them."""
    items = jsonfile.get(text, path)
    found: list[jsonfile.Path] = []
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        if runs_context(item.get("command")):
            found.append((*path, at))
        inner = item.get("hooks")
        for below, hook in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(hook, dict) and runs_context(hook.get("command")):
                found.append((*path, at, "hooks", below))
    return found


def _take_hook(text: str, entry: Entry, hook: jsonfile.Path) -> str:
    text = jsonfile.take(text, hook)
    group = hook[: len(entry.path) + 1]
    if len(hook) > len(group) and jsonfile.get(text, (*group, "hooks")) == []:
        text = jsonfile.take(text, group)
    return text
