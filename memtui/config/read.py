"""The settings, read and checked: the environment, of which this is the only reader, `config.toml`, and `--root`.

Every complaint about the file names it, the line, the key and a way out. Nothing here creates a folder, and the parser
of TOML, which costs a one-shot command a third of its time, is imported only when there is a file.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from memtui.config.directories import expand_user, find_directories, user_home
from memtui.config.named import NAMED, NamedEntry
from memtui.config.settings import (
    ACCESS,
    AGENT_VARIABLES,
    FIELDS,
    REMOVED,
    ROOT_KEYS,
    TABLES,
    AccessRule,
    RootEntry,
    SettingField,
    Settings,
    Terminal,
    Value,
)
from memtui.config.smallfile import LIMIT, read_small
from memtui.errors import UsageError

SCOPES = ("global", "project", "workspace", "channel")
"""The scopes a root can have; a test compares them with the engine's."""
_NAME_LIMIT = 100
"""Characters of a client's name."""


def read_environment() -> dict[str, str]:
    """Copy the process's environment; nothing else in memtui looks at it."""
    return dict(os.environ)


def local_zone() -> str:
    """Name the machine's time zone: by `TZ`, then by its file of local time; UTC where neither names one."""
    from memtui.config.named_check import is_zone

    variable = read_environment().get("TZ", "").removeprefix(":")
    found = variable or os.path.realpath("/etc/localtime").rpartition("/zoneinfo/")[2]
    return found if found and is_zone(found) else "UTC"


def load_settings(
    environ: Mapping[str, str], *, home: str | None = None, options: Mapping[str, Value] | None = None
) -> Settings:
    """Read the settings: options of the command line first, then `config.toml`, the environment, the defaults.

    Args:
        environ: the environment, as `read_environment` gives it.
        home: `--home`: one folder for everything memtui keeps; overrides `MEMTUI_HOME`.
        options: settings given as options, by key, such as `{"calm": True}`.

    Raises:
        UsageError: `E_CONFIG`, with the file, the line and the key where there are some.
    """
    user = user_home(environ)
    directories = find_directories(environ, user, home)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    keys: tuple[tuple[str, str], ...] = ()
    key_lines: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    roots: tuple[RootEntry, ...] = ()
    access: tuple[AccessRule, ...] = ()
    named: tuple[NamedEntry, ...] = ()
    _from_environment(environ, values, origins)
    if os.path.lexists(directories.config_file):
        chosen = read_config(directories.config_file, user)
        keys, roots, access = chosen.keys, chosen.roots, chosen.access
        key_lines, removed, named = chosen.key_lines, chosen.removed, chosen.named
        for key, value, line in chosen.values:
            values[key], origins[key] = value, f"config.toml, line {line}" if line else "config.toml"
    for key, value in (options or {}).items():
        values[key], origins[key] = value, "--" + key.replace("_", "-").replace(".", "-")
    settings = Settings(
        directories,
        user,
        keys=keys,
        key_lines=key_lines,
        removed=removed,
        roots=roots,
        access=access,
        named=named,
        workspace=_workspace(environ),
        debug=environ.get("MEMTUI_DEBUG", "") not in ("", "0"),
        worker=bool(environ.get("MEMTUI_WORKER")),
        terminal=_terminal(environ),
        variables=tuple((name, environ[name]) for name in AGENT_VARIABLES if environ.get(name)),
        origins=tuple(origins.items()),
    )
    given: dict[str, Any] = {key.replace(".", "_"): value for key, value in values.items()}
    return settings._replace(**given)


def reread(settings: Settings) -> Settings:
    """Read the file again; what options and the environment say stays as it was.

    Raises:
        UsageError: `E_CONFIG`, as `load_settings`.
    """
    origins = {key: origin for key, origin in settings.origins if not origin.startswith("config.toml")}
    values = {field.key: field.default for field in FIELDS if field.key not in origins}
    chosen = ConfigFile((), (), ())
    if os.path.lexists(settings.config_file):
        chosen = read_config(settings.config_file, settings.home)
    for key, value, line in chosen.values:
        if key in values:
            values[key], origins[key] = value, _origin(line)
    given: dict[str, Any] = {key.replace(".", "_"): value for key, value in values.items()}
    return settings._replace(
        **given,
        keys=chosen.keys,
        roots=chosen.roots,
        access=chosen.access,
        named=chosen.named,
        origins=tuple(origins.items()),
    )


def _from_environment(environ: Mapping[str, str], values: dict[str, Value], origins: dict[str, str]) -> None:
    for variable in ("MEMTUI_EDITOR", "VISUAL", "EDITOR"):
        if environ.get(variable, "").strip():
            values["editor"], origins["editor"] = environ[variable].strip(), variable
            break
    if environ.get("SSH_CONNECTION"):
        values["calm"], origins["calm"] = True, "SSH_CONNECTION"
    for variable in ("LC_ALL", "LC_CTYPE", "LANG"):
        locale = environ.get(variable, "")
        if locale:
            encoding = locale.partition(".")[2].partition("@")[0].lower().replace("-", "")
            if encoding not in ("", "utf8"):
                values["ascii"], origins["ascii"] = True, variable
            break


def _terminal(environ: Mapping[str, str]) -> Terminal:
    return Terminal(
        name=environ.get("TERM", ""),
        no_color=bool(environ.get("NO_COLOR")),
        remote=bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")),
        tmux=bool(environ.get("TMUX")),
        display=bool(environ.get("WAYLAND_DISPLAY") or environ.get("DISPLAY")),
        web=environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"),
    )


def _workspace(environ: Mapping[str, str]) -> str | None:
    name = environ.get("MEMTUI_WORKSPACE", "")
    if not name:
        return None
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (plain.isascii() and plain.isalnum()) or name.startswith((".", "-")) or len(name) > 64:
        raise UsageError(
            f"MEMTUI_WORKSPACE is {name!r}, which cannot name a folder.",
            code="E_CONFIG",
            hint="Use 1 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter, a digit or `_`.",
        )
    return name


class ConfigFile(NamedTuple):
    """What the file says."""

    values: tuple[tuple[str, Value, int], ...]
    """Key, value and line (from 1; 0 when the line is not known)."""
    keys: tuple[tuple[str, str], ...]
    roots: tuple[RootEntry, ...]
    access: tuple[AccessRule, ...] = ()
    key_lines: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    named: tuple[NamedEntry, ...] = ()


class _File(NamedTuple):
    """The file while it is read."""

    path: str
    text: str
    home: str | None

    def refuse(self, what: str, hint: str, *, key: str = "", line: int = 0) -> UsageError:
        """Make the error for one complaint."""
        place = self.path + (f", line {line}" if line else "")
        return UsageError(
            f"{place}: {what}",
            code="E_CONFIG",
            unharmed="No memory and no setting was touched.",
            hint=hint,
            details={"file": self.path, "line": line or None, "key": key or None},
        )

    def line_of(self, key: str, nth: int = 0) -> int:
        """Find the line a key is set on, or else the line of the table around it.

        Args:
            key: dotted; for the nth table of an array, `roots` or `roots.dir` and `nth`.
            nth: which table of the array, from 1; 0 for a plain table.

        Returns:
            From 1; 0 when it is written in a way this simple search does not see.
        """
        while key:
            line = self._line_of(key, nth) or (self._line_of(key, 0) if nth else 0)
            if line:
                return line
            key = key.rpartition(".")[0]
        return 0

    def _line_of(self, key: str, nth: int) -> int:
        table, seen = "", 0
        for number, raw in enumerate(self.text.split("\n"), start=1):
            line = raw.strip()
            if line.startswith("["):
                table = _plain(line.strip("[ \t").partition("]")[0])
                seen += line.startswith("[[") and table == key.partition(".")[0]
                full = table
            else:
                name, equals, _ = line.partition("=")
                if not equals:
                    continue
                full = f"{table}.{_plain(name)}" if table else _plain(name)
            if (full == key or full.startswith(key + ".")) and nth in (0, seen):
                return number
        return 0


def _plain(key: str) -> str:
    """Write a key without quotes and spaces."""
    return "".join(c for c in key if c not in "\"' \t")


def read_config(path: str, home: str | None) -> ConfigFile:
    """Read the settings file.

    Raises:
        UsageError: `E_CONFIG`: it cannot be read, is not TOML, or a key or value is not one memtui knows.
    """
    file = _File(path, _read_text(path), home)
    table = _parse(file)
    values: list[tuple[str, Value, int]] = []
    keys: tuple[tuple[str, str], ...] = ()
    roots: tuple[RootEntry, ...] = ()
    access: tuple[AccessRule, ...] = ()
    named: list[NamedEntry] = []
    removed: list[str] = []
    fields = {field.key: field for field in FIELDS}
    for key, value in _flatten(table):
        if key == "keys":
            keys = _keys(file, value)
        elif key == "roots":
            roots = _roots(file, value)
        elif key == "access":
            access = _access(file, value)
        elif key in NAMED:
            named += _named(file, key, value)
        elif key in fields:
            values.append((key, _check(file, fields[key], value), file.line_of(key)))
        elif key in REMOVED:
            line = file.line_of(key)
            place = "config.toml" + (f", line {line}" if line else "")
            removed.append(f"{place}: memtui has no setting {key!r} any more and ignores it.")
        else:
            known = [*fields, *(name for name, _ in TABLES)]
            raise file.refuse(f"there is no setting {key!r}.", _suggest(key, known), key=key, line=file.line_of(key))
    lines = tuple((id_, file.line_of(f"keys.{id_}")) for id_, _ in keys)
    return ConfigFile(tuple(values), keys, roots, access, lines, tuple(removed), tuple(named))


def _named(file: _File, table: str, value: object) -> Iterable[NamedEntry]:
    from memtui.config.named_check import NamedError, entry

    if not isinstance(value, dict):
        raise file.refuse(f"{table} is not a table.", f"Write [{table}.NAME].", key=table, line=file.line_of(table))
    for name, given in value.items():
        try:
            yield entry(table, name, given)
        except NamedError as error:
            line = file.line_of(_plain(error.key))
            raise file.refuse(error.what, error.hint, key=error.key, line=line) from None


def _read_text(path: str) -> str:
    nothing = _File(path, "", None)
    try:
        data = read_small(path)
    except OSError as error:
        raise nothing.refuse(
            f"the settings cannot be read ({os.strerror(error.errno or 0)}).",
            "Make the file readable, or move it away.",
        ) from error
    if data is None:
        raise nothing.refuse(
            f"the settings are not a regular file of at most {LIMIT:,} bytes.", "Put a TOML file there, or nothing."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise nothing.refuse(
            f"the settings are not UTF-8 at byte {error.start}.",
            "Save the file as UTF-8.",
            line=data.count(b"\n", 0, error.start) + 1,
        ) from error


def _parse(file: _File) -> Mapping[str, object]:
    from memtui.config import toml

    try:
        return toml.loads(file.text)
    except toml.NotTomlError as error:
        hint = "Correct that line; text values need quotes." if error.line else "Settings are plain values and tables."
        raise file.refuse(f"this is not TOML: {error.what}.", hint, line=error.line) from error


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Give dotted keys and values; `keys`, `access` and `roots` stay whole."""
    tables = {name for name, _ in TABLES}
    inner = {field.key.partition(".")[0] for field in FIELDS if "." in field.key}
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and key not in tables and key in inner:
            yield from _flatten(value, key + ".")
        else:
            yield key, value


def _check(file: _File, field: SettingField, value: object) -> Value:
    line = file.line_of(field.key)
    if field.kind == "yes/no":
        if isinstance(value, bool):
            return value
        raise file.refuse(f"{field.key} is {value!r}.", "Write true or false.", key=field.key, line=line)
    if field.kind == "number":
        if isinstance(value, int) and not isinstance(value, bool) and field.least <= value <= field.most:
            return value
        hint = f"Write a whole number from {field.least} to {field.most}."
        raise file.refuse(f"{field.key} is {value!r}.", hint, key=field.key, line=line)
    if field.kind == "texts":
        if isinstance(value, list) and all(isinstance(one, str) and one.strip() and one.isprintable() for one in value):
            return tuple(value)
        raise file.refuse(f"{field.key} is {value!r}.", "Write a list of texts in quotes.", key=field.key, line=line)
    if not isinstance(value, str) or not (value.strip() or value == field.default) or not value.isprintable():
        raise file.refuse(f"{field.key} is {value!r}.", "Write text in quotes.", key=field.key, line=line)
    if field.choices and value not in field.choices:
        raise file.refuse(f"{field.key} is {value!r}.", _suggest(value, field.choices), key=field.key, line=line)
    return value


def _keys(file: _File, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise file.refuse(
            "keys is not a table.",
            'Write [keys], and below it lines like pin = "P".',
            key="keys",
            line=file.line_of("keys"),
        )
    found: list[tuple[str, str]] = []
    for action, key in _dotted(value):
        if not isinstance(key, str) or not key.strip() or not key.isprintable():
            name = f"keys.{action}"
            raise file.refuse(f"{name} is {key!r}.", "Write the key in quotes.", key=name, line=file.line_of(name))
        found.append((action, key))
    return tuple(found)


def _dotted(table: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _access(file: _File, value: object) -> tuple[AccessRule, ...]:
    if not isinstance(value, dict):
        raise file.refuse(
            "access is not a table.",
            'Write [access], and below it lines like codex = "ro".',
            key="access",
            line=file.line_of("access"),
        )
    found: list[AccessRule] = []
    for client, given in value.items():
        key = f"access.{client}"
        line = file.line_of(f"access.{_plain(client)}")
        if not client.strip() or not client.isprintable() or len(client) > _NAME_LIMIT:
            raise file.refuse(
                f"{client!r} cannot be a client's name.",
                'Write the name the client gives, such as codex, or "*" for all others.',
                key=key,
                line=line,
            )
        if not isinstance(given, dict):
            found.append(AccessRule(client, "*", _word(file, key, given, line), _origin(line)))
            continue
        for scope, word in given.items():
            line = file.line_of(f"access.{_plain(client)}.{_plain(scope)}")
            if scope not in (*SCOPES, "*"):
                raise file.refuse(
                    f"there is no scope {scope!r}.", _suggest(scope, SCOPES), key=f"{key}.{scope}", line=line
                )
            found.append(AccessRule(client, scope, _word(file, f"{key}.{scope}", word, line), _origin(line)))
    return tuple(found)


def _word(file: _File, key: str, value: object, line: int) -> str:
    """Check what a client may do."""
    known = [word for word, _ in ACCESS]
    if isinstance(value, str) and value in known:
        return value
    hint = (
        _suggest(value, known)
        if isinstance(value, str)
        else f"Write {', '.join(known[:-1])} or {known[-1]}, in quotes."
    )
    raise file.refuse(f"{key} is {value!r}.", hint, key=key, line=line)


def _origin(line: int) -> str:
    return f"config.toml, line {line}" if line else "config.toml"


def _roots(file: _File, value: object) -> tuple[RootEntry, ...]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise file.refuse(
            "roots is not an array of tables.",
            "Write [[roots]], and below it name and dir.",
            key="roots",
            line=file.line_of("roots"),
        )
    found: list[RootEntry] = []
    for number, table in enumerate(value, start=1):
        entry = _root(file, table, number)
        if any(entry.name == other.name for other in found):
            raise file.refuse(
                f"two roots are named {entry.name!r}.",
                "Give one of them another name.",
                key="roots.name",
                line=file.line_of("roots.name", number),
            )
        found.append(entry)
    return tuple(found)


def _root(file: _File, table: Mapping[str, object], number: int) -> RootEntry:
    known = [name for name, _, _ in ROOT_KEYS]
    texts: dict[str, str] = {}
    for name, value in table.items():
        line = file.line_of(f"roots.{name}", number)
        if name not in known:
            raise file.refuse(f"a root has no key {name!r}.", _suggest(name, known), key=f"roots.{name}", line=line)
        if not isinstance(value, str) or not value:
            raise file.refuse(f"roots.{name} is {value!r}.", "Write text in quotes.", key=f"roots.{name}", line=line)
        texts[name] = value
    line = file.line_of("roots", number)
    for name, _, needed in ROOT_KEYS:
        if needed and name not in texts:
            raise file.refuse(f"this root has no {name!r}.", f'Add {name} = "...".', key=f"roots.{name}", line=line)
    folder = expand_user(texts["dir"], file.home)
    if not os.path.isabs(folder):
        raise file.refuse(
            f"the folder {texts['dir']!r} is not an absolute path.",
            "Write an absolute path, or one that starts with ~/.",
            key="roots.dir",
            line=file.line_of("roots.dir", number),
        )
    entry = RootEntry(
        texts["name"],
        os.path.normpath(folder),
        texts.get("agent", "files"),
        texts.get("scope", "global"),
        _origin(line),
    )
    problem = root_problem(entry)
    if problem:
        raise file.refuse(problem[0], problem[1], key="roots", line=line)
    return entry


def _suggest(word: str, known: Iterable[str]) -> str:
    """Say what was probably meant, else what there is."""
    from memtui.matching import slips

    names = list(known)
    near = slips(word, names, ".")
    return f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."


def parse_root(text: str, *, cwd: str, home: str | None) -> RootEntry:
    """Read a `--root` option, `NAME=DIR[,agent=KIND][,scope=SCOPE]`; DIR may be relative to `cwd`.

    Raises:
        UsageError: a part is missing, empty or unknown.
    """
    name, equals, rest = text.partition("=")
    chosen: dict[str, str] = {}
    while True:  # from the right, because a folder's name may hold commas
        front, comma, part = rest.rpartition(",")
        key, sign, value = part.partition("=")
        if not comma or not sign or key not in ("agent", "scope") or key in chosen:
            break
        chosen[key], rest = value, front
    if not (equals and name and rest):
        raise UsageError(
            f"--root {text!r} does not name a folder.", hint="Write --root NAME=DIR[,agent=KIND][,scope=SCOPE]."
        )
    entry = RootEntry(
        name,
        os.path.normpath(os.path.join(cwd, expand_user(rest, home))),
        chosen.get("agent", "files"),
        chosen.get("scope", "global"),
        "--root",
    )
    problem = root_problem(entry)
    if problem:
        raise UsageError(f"--root {text!r}: {problem[0]}", hint=problem[1])
    return entry


def root_problem(entry: RootEntry) -> tuple[str, str] | None:
    """Check a root given by hand.

    Returns:
        None when it is sound; else what is wrong and what to do, one sentence each.
    """
    if not entry.name or "/" in entry.name or entry.name != entry.name.strip() or not entry.name.isprintable():
        return (
            f"{entry.name!r} cannot be a root's name.",
            "A name has no `/`, no control characters, and no space at either end.",
        )
    if entry.name.startswith(("-", "~", ".")):
        return f"the name {entry.name!r} is not free to use.", "Choose another name, such as notes."
    if entry.scope not in SCOPES:
        return f"there is no scope {entry.scope!r}.", f"The scopes are {', '.join(SCOPES)}."
    if "\0" in entry.dir:
        return "the folder's path holds a NUL character.", "Give the folder's path."
    return None
