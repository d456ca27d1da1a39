"""`config.toml`, read and checked: every complaint names the file, the line, the key and a way out.

Imported only when the file exists, because a TOML parser costs a one-shot command a third of its time.
"""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.config.by_hand import SCOPES, root_problem
from memtui.config.directories import expand_user
from memtui.config.fields import ACCESS, FIELDS, REMOVED, ROOT_KEYS, TABLES, Field
from memtui.config.settings import AccessRule, RootEntry, Value
from memtui.config.smallfile import LIMIT, read_small
from memtui.errors import UsageError

_NAME_LIMIT = 100
"""Characters of a client's name."""


class Chosen(NamedTuple):
    """What the file says."""

    values: tuple[tuple[str, Value, int], ...]
    """Key, value and line (from 1; 0 when the line is not known)."""
    keys: tuple[tuple[str, str], ...]
    roots: tuple[RootEntry, ...]
    access: tuple[AccessRule, ...] = ()
    key_lines: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()


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


def read_config(path: str, home: str | None) -> Chosen:
    """Read the settings file.

    Args:
        path: absolute; the file exists.
        home: the user's home folder, for paths that begin with `~/`.

    Raises:
        UsageError: `E_CONFIG`: it cannot be read, is not TOML, or a key or value is not one memtui knows.
    """
    file = _File(path, _read_text(path), home)
    table = _parse(file)
    values: list[tuple[str, Value, int]] = []
    keys: tuple[tuple[str, str], ...] = ()
    roots: tuple[RootEntry, ...] = ()
    access: tuple[AccessRule, ...] = ()
    removed: list[str] = []
    fields = {field.key: field for field in FIELDS}
    for key, value in _flatten(table):
        if key == "keys":
            keys = _keys(file, value)
        elif key == "roots":
            roots = _roots(file, value)
        elif key == "access":
            access = _access(file, value)
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
    return Chosen(tuple(values), keys, roots, access, lines, tuple(removed))


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


def _check(file: _File, field: Field, value: object) -> Value:
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
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
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
    import difflib

    names = list(known)
    last = {name.rpartition(".")[2]: name for name in names}
    near = difflib.get_close_matches(word, names, 1, 0.6) or [
        last[name] for name in difflib.get_close_matches(word.rpartition(".")[2], last, 1, 0.6)
    ]
    return f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."
