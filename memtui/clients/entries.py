"""memtui's entries in the configuration of a client: how each is made, found, put in and taken out.

Only an entry of exactly the shape that is made here is memtui's, so that an older one is brought up to date in place,
and a line of the user's own, such as `memtui context | tee notes`, is never touched. What the user added stays. The
command is written as an absolute path, because an agent's own PATH is not that of the user's shell; only what a project
shares with others has the bare name. It knows texts and no files.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from memtui.agents.agent import MORE_HOOKS, PROJECT, Client, ClientEntry, ClientFile, Start
from memtui.agents.table import KNOWN, agent_of
from memtui.clients import formats
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.errors import ConflictError, UsageError

if TYPE_CHECKING:
    from typing import Any


NO_CONTEXT = "--no-context"
"""The server leaves the index and the hot set to a hook."""
SHORT_CONTEXT = "--short-context"
"""The server gives a short index, because its agent does not run its hook in every session."""
_FLAGS = {"full": (), "short": (SHORT_CONTEXT,), "none": (NO_CONTEXT,)}
_DEFAULTS = (("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share"))


def clients() -> tuple[Client, ...]:
    """Return every client, in the order of the table; imports the files of their agents."""
    known = (agent_of(one.id).client for one in KNOWN if one.client)
    return tuple(client for client in known if client is not None)


def client_named(name: str) -> Client:
    """Return a client by its name, a key of `table.CLIENTS`."""
    return next(client for client in clients() if client.name == name)


def found_command(argv0: str, executable: str) -> tuple[str, ...]:
    """Return the command that starts this memtui from any folder: its script, links unresolved, or its module."""
    script = os.path.abspath(argv0) if argv0 else ""
    if os.path.basename(script) == "memtui" and os.access(script, os.X_OK) and os.path.isfile(script):
        return (script,)
    return (executable, "-P", "-m", "memtui")


def how_to_start(
    settings: Settings,
    client: str,
    *,
    access: str | None = None,
    shared: bool = False,
    context: str = "full",
    more: Collection[str] = (),
) -> Start:
    """Work out how an agent starts memtui.

    `access` is the flag of its door; `shared` entries hold nothing of this machine; `context` is what the server gives
    of the index and the hot set: `full`, `short` or `none`; `more` are the wanted hooks of `MORE_HOOKS`.
    """
    command = ("memtui",) if shared else found_command(sys.argv[0], sys.executable)
    home = () if shared else _home(settings)
    args = (*command[1:], "mcp", *(("--access", access) if access else ()), *_FLAGS[context], *home)
    hook = (*command, "context", "--format", "hook", "--client", client, *home)
    asked = (
        shlex.join((*command, verb, "--hook", "--client", client, *home)) if verb in more else "" for verb in MORE_HOOKS
    )
    return Start(command[0], args, shlex.join(hook), () if shared else _environment(settings), *asked)


def _home(settings: Settings) -> tuple[str, ...]:
    """Return the option for a single folder of the user's choice, which the server must use as well."""
    return () if settings.directories.origin == "per user" else ("--home", settings.directories.config)


def _environment(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return the folders that the user's environment names, because agents start servers with little of it."""
    if settings.directories.origin != "per user" or settings.home is None or sys.platform == "darwin":
        return ()
    places = (settings.directories.config, settings.directories.state, settings.directories.data)
    return tuple(
        (variable, os.path.dirname(place))
        for (variable, default), place in zip(_DEFAULTS, places, strict=True)
        if os.path.dirname(place) != os.path.normpath(os.path.join(settings.home, default))
    )


def wanted(
    client: Client,
    place: Surroundings,
    level: str,
    settings: Settings,
    *,
    access: str | None = None,
    context: bool | None = None,
    more: Collection[str] = (),
    on: str = "",
) -> tuple[ClientFile, ...]:
    """Return the files of a client's configuration at a level, with the entries that memtui needs there.

    `context` tells whether the server gives the index and the hot set; None: where no hook does, and a short index
    where the hook may not run. `on` is another machine, whose server is put beside the one for this. See
    `how_to_start`.
    """

    def files(context: str) -> tuple[ClientFile, ...]:
        shared = level == PROJECT
        start = how_to_start(settings, client.name, access=access, shared=shared, context=context, more=more)
        return client.files(place, level, start)

    if on:
        return tuple(filter(lambda file: file.entries, (_elsewhere(file, on) for file in files("full"))))
    if context is not None:
        return files("full" if context else "none")
    found = files("short" if client.hook_may_not_run else "none")
    hooked = any(entry.what == "hook" for file in found for entry in file.entries)
    return found if hooked else files("full")


def _elsewhere(file: ClientFile, on: str) -> ClientFile:
    """Keep only the server of a file, under a name of its own, with memtui asking another machine."""
    name, entries = re.sub(r"[^A-Za-z0-9_-]", "_", on), []
    for entry in file.entries:
        if entry.what == "server" and isinstance(entry.value, dict):
            before, args = entry.value, entry.value["args"]
            place = args.index("mcp") + 1
            value = before | {"args": [*args[:place], f"--on={on}", *args[place:]]}
            entries.append(entry._replace(path=(*entry.path[:-1], f"{entry.path[-1]}-{name}"), value=value))
    return file._replace(entries=tuple(entries), beside=True)


# --- entries in a text

_PYTHONS = ("python", "pypy", "graalpy")
_MODULES = (("-P", "-m", "memtui"), ("-m", "memtui"))
_HOOKS = (("context", "--format", "hook", "--client"), *((verb, "--hook", "--client") for verb in MORE_HOOKS))
_LEVELS = ("rw", "plan", "ro")

ABSENT, OTHER, CURRENT, FOREIGN = "absent", "other", "current", "foreign"
"""Missing; outdated; as wanted; the name is taken by what is not memtui's."""
_WORKSPACE = "${workspaceFolder}"
"""The one working directory that memtui writes; any other is the user's."""
_GROUP = {"matcher", "hooks"}
"""The members of a group of hooks; one with more was made by the user."""
_SHOWN = 200


def state(target: ClientFile, text: str, entry: ClientEntry) -> str:
    """Return whether an entry is in a file: `ABSENT`, `OTHER`, `CURRENT` or `FOREIGN`."""
    if entry.is_hook:
        hooks = [formats.json_get(text, hook) for hook in _ours(text, entry)]
        if not hooks:
            return ABSENT
        return CURRENT if all(hook == _renewed_hook(hook, entry) for hook in hooks) else OTHER
    present = _get(target, text, entry.path)
    if present is None:
        return ABSENT
    if entry.what == "value":
        return CURRENT if present == entry.value else FOREIGN
    if not is_server(present):
        return FOREIGN
    return CURRENT if present == _renewed(present, entry) else OTHER


def put(target: ClientFile, text: str, entry: ClientEntry) -> str:
    """Put an entry into a file, or bring the existing one up to date.

    Raises UsageError: `E_CONFIG`: the file cannot be read, or something is in the way. ConflictError: the name is
    taken.
    """
    found = state(target, text, entry)
    if found == CURRENT:
        return text
    if entry.is_hook:
        if found == ABSENT:
            return formats.json_append(text, entry.path, entry.value)
        for hook in _ours(text, entry):
            text = formats.json_put(text, hook, _renewed_hook(formats.json_get(text, hook), entry))
        return text
    if found == ABSENT:
        return _put(target, text, entry.path, entry.value)
    present: Any = _get(target, text, entry.path)
    if found == FOREIGN:
        raise _unknown(entry, present) if entry.what == "value" else _taken(entry, present)
    return _put(target, text, entry.path, _renewed(present, entry))


def take(target: ClientFile, text: str, entry: ClientEntry, before: str | None) -> str:
    """Take an entry out of a file, if it is there and memtui's.

    With the content before memtui's first change in `before`, an entry that was there then gets its value back, and
    what is empty now and was missing then goes too; without it only the entry goes.
    """
    if entry.is_hook:
        text = _take_hooks(text, entry, before)
    elif state(target, text, entry) not in (ABSENT, FOREIGN):
        if before is not None and _has(target, before, entry.path):
            return _put(target, text, entry.path, _get(target, before, entry.path))
        if target.format == "json":
            text = formats.json_take(text, entry.path)
        else:
            text = formats.toml_take(text, entry.path, entry.value if isinstance(entry.value, dict) else {})
    if target.format == "json" and before is not None:
        around = entry.path if entry.is_hook else entry.path[:-1]
        while around and formats.json_get(text, around) in ({}, []) and not formats.json_has(before, around):
            text = formats.json_take(text, around)
            around = around[:-1]
        if around and formats.json_get(text, around) in ({}, []) and formats.json_get(before, around) is None:
            text = formats.json_put(text, around, None)  # it was there, as null
    return text


def server_words(target: ClientFile, text: str) -> tuple[str, ...]:
    """Return the command and arguments of memtui's server in this file; empty when it is not there."""
    for entry in target.entries:
        present: Any = _get(target, text, entry.path) if entry.what == "server" else None
        if is_server(present):
            return present["command"], *present["args"]
    return ()


def _get(target: ClientFile, text: str, path: tuple[str, ...]) -> object:
    return formats.json_get(text, path) if target.format == "json" else formats.toml_get(text, path)


def _put(target: ClientFile, text: str, path: tuple[str, ...], value: object) -> str:
    if target.format == "json":
        return formats.json_put(text, path, value)
    return formats.toml_put(text, path, dict(value) if isinstance(value, dict) else {})


def _has(target: ClientFile, text: str, path: tuple[str, ...]) -> bool:
    return formats.json_has(text, path) if target.format == "json" else formats.toml_get(text, path) is not None


def taken(target: ClientFile, text: str) -> ConflictError | None:
    """Return the refusal, when a name of memtui's is taken by an entry that memtui did not write."""
    for entry in target.entries:
        if entry.what == "server" and state(target, text, entry) == FOREIGN:
            return _taken(entry, _get(target, text, entry.path))
    return None


def _unknown(entry: ClientEntry, present: object) -> UsageError:
    return UsageError(
        f"{entry.path[-1]!r} is {json.dumps(present)[:_SHOWN]}, and memtui knows the file only with {entry.value!r}.",
        code="E_CONFIG",
        hint="Add the entry by hand.",
    )


def _taken(entry: ClientEntry, present: "Any") -> ConflictError:
    shown = json.dumps(present, ensure_ascii=False)
    if isinstance(present, dict) and isinstance(present.get("command"), str):
        args = present.get("args")
        shown = shlex.join([present["command"], *(map(str, args) if isinstance(args, list) else ())])
    return ConflictError(
        f"there is a server named {entry.path[-1]} that memtui did not write ({shown[:_SHOWN]}).",
        code="E_EXISTS",
        unharmed="It was left as it is.",
        hint="Give it another name, or remove it if it is no longer wanted, and try again.",
    )


def _renewed(present: "Any", entry: ClientEntry) -> "dict[str, object]":
    wanted: Any = entry.value
    new: dict[str, Any] = present | wanted
    if "cwd" in present and present["cwd"] != _WORKSPACE:
        new["cwd"] = present["cwd"]
    elif "cwd" not in wanted:
        new.pop("cwd", None)
    if "env" in present:
        new["env"] = present["env"] | wanted.get("env", {})
    return new


def _hook(entry: ClientEntry) -> "dict[str, object]":
    value: Any = entry.value
    hook: dict[str, object] = value["hooks"][0] if "hooks" in value else value
    return hook


def _renewed_hook(present: "Any", entry: ClientEntry) -> "dict[str, object]":
    """Return a hook of memtui's with the wanted command; its time limit and the rest are the user's."""
    wanted: dict[str, object] = {name: value for name, value in _hook(entry).items() if name in ("type", "command")}
    return {**present, **wanted}


def _ours(text: str, entry: ClientEntry) -> list[formats.Path]:
    client = hook_client(_hook(entry)["command"])
    items = formats.json_get(text, entry.path)
    found: list[formats.Path] = []
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        if _is_ours(item, client):
            found.append((*entry.path, at))
        inner = item.get("hooks")
        for below, hook in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(hook, dict) and _is_ours(hook, client):
                found.append((*entry.path, at, "hooks", below))
    return found


def _is_ours(hook: "dict[str, object]", client: str | None) -> bool:
    found = hook_client(hook.get("command"))
    return found is not None and found == client and hook.get("type", "command") == "command"


def _take_hooks(text: str, entry: ClientEntry, before: str | None) -> str:
    """Take memtui's hooks out, and groups that held nothing else; earlier ones get their old value back."""
    were = [] if before is None else [formats.json_get(before, hook) for hook in _ours(before, entry)]
    hooks = _ours(text, entry)
    for hook, value in zip(hooks, were, strict=False):
        text = formats.json_put(text, hook, value)
    for hook in reversed(hooks[len(were) :]):
        text = formats.json_take(text, hook)
        group = hook[: len(entry.path) + 1]
        left = formats.json_get(text, group)
        if len(hook) > len(group) and isinstance(left, dict) and left["hooks"] == [] and left.keys() <= _GROUP:
            text = formats.json_take(text, group)
    return text


def hook_client(line: object) -> str | None:
    """Return the client that `install` wrote a hook's command for; None when the command is the user's own."""
    if not isinstance(line, str):
        return None
    try:
        words = tuple(shlex.split(line))
    except ValueError:
        return None
    if shlex.join(words) != line:
        return None  # more than words: something a shell would act on
    rest = _arguments(words)
    begin = next((begin for begin in _HOOKS if rest[: len(begin)] == begin), rest)
    client, options = rest[len(begin) : len(begin) + 1], rest[len(begin) + 1 :]
    if not client or client[0].startswith("-"):
        return None
    return client[0] if _is_home(options) else None


def is_server(value: object) -> bool:
    """Whether a server is started as `install` would; the rest of its entry may be the user's."""
    if not isinstance(value, dict):
        return False
    entry: dict[str, Any] = value
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return False
    if entry.get("type", "stdio") != "stdio" or not isinstance(entry.get("env", {}), dict):
        return False
    rest = _arguments((command, *args))
    if rest[:1] != ("mcp",):
        return False
    options = rest[2:] if rest[1:2] and rest[1].startswith("--on=") else rest[1:]
    if options[:1] == ("--access",):
        if options[1:2] == () or options[1] not in _LEVELS:
            return False
        options = options[2:]
    return _is_home(options[1:] if options[:1] in ((NO_CONTEXT,), (SHORT_CONTEXT,)) else options)


def _arguments(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words:
        return ()
    program, name = words[0], os.path.basename(words[0])
    if name == "memtui" and program in (name, os.path.abspath(program)):
        return words[1:]
    if program == sys.executable or name.startswith(_PYTHONS):
        for module in _MODULES:
            if words[1 : 1 + len(module)] == module:
                return words[1 + len(module) :]
    return ()


def _is_home(options: tuple[str, ...]) -> bool:
    return not options or (len(options) == 2 and options[0] == "--home" and not options[1].startswith("-"))
