"""Read and check `config.toml`; apart because a command without a settings file imports none of it.

Every complaint names the file, the line, the key and a way out.
"""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.config import toml
from memtui.config.directories import expand_user
from memtui.config.named import NAMED, NamedEntry
from memtui.config.named_check import NamedError, entry
from memtui.config.settings import (
    ACCESS,
    FIELDS,
    REMOVED,
    ROOT_KEYS,
    SCOPES,
    TABLES,
    AccessRule,
    RootEntry,
    SettingField,
    Value,
    root_problem,
)
from memtui.config.smallfile import LIMIT, read_small
from memtui.errors import UsageError
from memtui.matching import slips

_NAME_LIMIT = 100
"""Characters of a client's name."""


class ConfigFile(NamedTuple):
    """The contents of the settings file."""

    values: tuple[tuple[str, Value, str], ...] = ()
    """Key, value and origin."""
    keys: tuple[tuple[str, str], ...] = ()
    roots: tuple[RootEntry, ...] = ()
    access: tuple[AccessRule, ...] = ()
    key_lines: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    named: tuple[NamedEntry, ...] = ()


class _File(NamedTuple):
    """The file while it is read."""

    path: str
    text: str
    home: str | None

    def refuse(self, what: str, hint: str, *, key: str = "", nth: int = 0, line: int = 0) -> UsageError:
        """Make the error for one complaint, on the line of its key unless a line is given."""
        line = line or self.line_of(key, nth)
        return UsageError(
            f"{self.path}{f', line {line}' if line else ''}: {what}",
            code="E_CONFIG",
            unharmed="No memory and no setting was touched.",
            hint=hint,
            details={"file": self.path, "line": line or None, "key": key or None},
        )

    def origin(self, key: str, nth: int = 0) -> str:
        """Return where a key is set: the file, and the line where it is known."""
        line = self.line_of(key, nth)
        return f"config.toml, line {line}" if line else "config.toml"

    def line_of(self, key: str, nth: int = 0) -> int:
        """Find the line, from 1, that sets a key, or else of the table around it; 0 when this simple search fails.

        The key is dotted; for the nth table of an array it is `roots` or `roots.dir`, with `nth` from 1.
        """
        key = _plain(key)
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
    return "".join(c for c in key if c not in "\"' \t")


def read_config(path: str, home: str | None) -> ConfigFile:
    """Read the settings file; an unreadable file or an unknown key or value is a `UsageError` (`E_CONFIG`)."""
    file = _File(path, _read_text(path), home)
    values: list[tuple[str, Value, str]] = []
    named: list[NamedEntry] = []
    removed: list[str] = []
    fields = {field.key: field for field in FIELDS}
    config = ConfigFile()
    for key, value in _flatten(_parse(file)):
        if key == "keys":
            config = config._replace(keys=_keys(file, value))
        elif key == "roots":
            config = config._replace(roots=_roots(file, value))
        elif key == "access":
            config = config._replace(access=_access(file, value))
        elif key in NAMED:
            named += _named(file, key, value)
        elif key in fields:
            values.append((key, _check(file, fields[key], value), file.origin(key)))
        elif key in REMOVED:
            removed.append(f"{file.origin(key)}: memtui has no setting {key!r} any more and ignores it.")
        else:
            known = [*fields, *(name for name, _ in TABLES)]
            raise file.refuse(f"there is no setting {key!r}.", _suggest(key, known), key=key)
    lines = tuple((id_, file.line_of(f"keys.{id_}")) for id_, _ in config.keys)
    return config._replace(values=tuple(values), key_lines=lines, removed=tuple(removed), named=tuple(named))


def _read_text(path: str) -> str:
    file = _File(path, "", None)
    try:
        data = read_small(path)
    except OSError as error:
        what = f"the settings cannot be read ({os.strerror(error.errno or 0)})."
        raise file.refuse(what, "Make the file readable, or move it away.") from error
    if data is None:
        what = f"the settings are not a regular file of at most {LIMIT:,} bytes."
        raise file.refuse(what, "Put a TOML file there, or nothing.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what, line = f"the settings are not UTF-8 at byte {error.start}.", data.count(b"\n", 0, error.start) + 1
        raise file.refuse(what, "Save the file as UTF-8.", line=line) from error


def _parse(file: _File) -> Mapping[str, object]:
    try:
        return toml.loads(file.text)
    except toml.NotTomlError as error:
        hint = "Correct that line; text values need quotes." if error.line else "Settings are plain values and tables."
        raise file.refuse(f"this is not TOML: {error.what}.", hint, line=error.line) from error


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Yield dotted keys and values; the tables of `TABLES` stay whole."""
    tables = {name for name, _ in TABLES}
    inner = {field.key.partition(".")[0] for field in FIELDS if "." in field.key}
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and key not in tables and key in inner:
            yield from _flatten(value, key + ".")
        else:
            yield key, value


def _check(file: _File, field: SettingField, value: object) -> Value:
    hint = "Write text in quotes."
    if field.kind == "yes/no":
        if isinstance(value, bool):
            return value
        hint = "Write true or false."
    elif field.kind == "number":
        if isinstance(value, int) and not isinstance(value, bool) and field.least <= value <= field.most:
            return value
        hint = f"Write a whole number from {field.least} to {field.most}."
    elif field.kind == "texts":
        if isinstance(value, list) and all(isinstance(one, str) and one.strip() and one.isprintable() for one in value):
            return tuple(value)
        hint = "Write a list of texts in quotes."
    elif isinstance(value, str) and (value.strip() or value == field.default) and value.isprintable():
        if not field.choices or value in field.choices:
            return value
        hint = _suggest(value, field.choices)
    raise file.refuse(f"{field.key} is {value!r}.", hint, key=field.key)


def _table(file: _File, key: str, value: object, hint: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise file.refuse(f"{key} is not a table.", hint, key=key)
    return value


def _named(file: _File, key: str, value: object) -> Iterable[NamedEntry]:
    for name, given in _table(file, key, value, f"Write [{key}.NAME].").items():
        try:
            yield entry(key, name, given)
        except NamedError as error:
            raise file.refuse(error.what, error.hint, key=error.key) from None


def _keys(file: _File, value: object) -> tuple[tuple[str, str], ...]:
    keys: list[tuple[str, str]] = []
    for action, key in _dotted(_table(file, "keys", value, 'Write [keys], and below it lines like pin = "P".')):
        if not isinstance(key, str) or not key.strip() or not key.isprintable():
            raise file.refuse(f"keys.{action} is {key!r}.", "Write the key in quotes.", key=f"keys.{action}")
        keys.append((action, key))
    return tuple(keys)


def _dotted(table: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _access(file: _File, value: object) -> tuple[AccessRule, ...]:
    rules: list[AccessRule] = []
    table = _table(file, "access", value, 'Write [access], and below it lines like codex = "ro".')
    for client, given in table.items():
        key = f"access.{client}"
        if not client.strip() or not client.isprintable() or len(client) > _NAME_LIMIT:
            hint = 'Write the name the client gives, such as codex, or "*" for all others.'
            raise file.refuse(f"{client!r} cannot be a client's name.", hint, key=key)
        if not isinstance(given, dict):
            rules.append(AccessRule(client, "*", _word(file, key, given), file.origin(key)))
            continue
        for scope, word in given.items():
            scoped = f"{key}.{scope}"
            if scope not in (*SCOPES, "*"):
                raise file.refuse(f"there is no scope {scope!r}.", _suggest(scope, SCOPES), key=scoped)
            rules.append(AccessRule(client, scope, _word(file, scoped, word), file.origin(scoped)))
    return tuple(rules)


def _word(file: _File, key: str, value: object) -> str:
    known = [word for word, _ in ACCESS]
    if isinstance(value, str) and value in known:
        return value
    hint = f"Write {', '.join(known[:-1])} or {known[-1]}, in quotes."
    raise file.refuse(f"{key} is {value!r}.", _suggest(value, known) if isinstance(value, str) else hint, key=key)


def _roots(file: _File, value: object) -> tuple[RootEntry, ...]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise file.refuse(
            "roots is not an array of tables.", "Write [[roots]], and below it name and dir.", key="roots"
        )
    roots: list[RootEntry] = []
    for number, table in enumerate(value, start=1):
        root = _root(file, table, number)
        if any(root.name == other.name for other in roots):
            what = f"two roots are named {root.name!r}."
            raise file.refuse(what, "Give one of them another name.", key="roots.name", nth=number)
        roots.append(root)
    return tuple(roots)


def _root(file: _File, table: Mapping[str, object], number: int) -> RootEntry:
    known = [name for name, _, _ in ROOT_KEYS]
    texts: dict[str, str] = {}
    for name, value in table.items():
        key = f"roots.{name}"
        if name not in known:
            raise file.refuse(f"a root has no key {name!r}.", _suggest(name, known), key=key, nth=number)
        if not isinstance(value, str) or not value:
            raise file.refuse(f"{key} is {value!r}.", "Write text in quotes.", key=key, nth=number)
        texts[name] = value
    for name, _, needed in ROOT_KEYS:
        if needed and name not in texts:
            what, line = f"this root has no {name!r}.", file.line_of("roots", number)
            raise file.refuse(what, f'Add {name} = "...".', key=f"roots.{name}", line=line)
    folder = expand_user(texts["dir"], file.home)
    if not os.path.isabs(folder):
        what = f"the folder {texts['dir']!r} is not an absolute path."
        hint = "Write an absolute path, or one that starts with ~/."
        raise file.refuse(what, hint, key="roots.dir", nth=number)
    agent, scope = texts.get("agent", "files"), texts.get("scope", "global")
    root = RootEntry(texts["name"], os.path.normpath(folder), agent, scope, file.origin("roots", number))
    problem = root_problem(root)
    if problem:
        raise file.refuse(*problem, key="roots", nth=number)
    return root


def _suggest(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that was probably meant, else list all."""
    names = list(known)
    near = slips(word, names, ".")
    return f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."
