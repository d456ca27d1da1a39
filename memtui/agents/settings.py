"""Read agents' own settings: small files, treated as data, and believed only where that is harmless.

A repository's setting may leave out a file; it can never add a place that is read. An unreadable file counts as empty,
and the user is told. Values that every command needs are found in the text, because a parser would cost more than the
command. Patterns are matched in bounded time, because a repository may have written them: shell patterns as the agents'
own library (picomatch) reads them, without its rarer syntax, and regular expressions that say no more than those do.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.agent import BY_FOLDER, BY_NAME, Excluded
from memtui.agents.reader import is_within
from memtui.config.smallfile import read_small

if TYPE_CHECKING:
    import re


TEXTS = 50
DEPTH = 500
UNSET = "None of its settings is known here."


class File(NamedTuple):
    """One file of settings."""

    path: str
    values: dict[str, object]
    text: str = ""
    """The text of a file that is not parsed."""
    problem: str = ""
    """Why an existing file is treated as empty: one sentence for people."""


def read_json(path: str, inside: str | None = None) -> File:
    """Read a JSON object, comments allowed; `inside` is the checkout that brought it, which no link may lead out of."""
    data, problem = _read(path, inside)
    found = json_value(data) if data else None
    if data and not isinstance(found, dict):
        problem = f"It is no JSON object. {UNSET}"
    return File(path, found if isinstance(found, dict) else {}, problem=problem)


def read_json5(path: str) -> File:
    """Read an object that may have bare keys and other quotes; only a few texts in it are looked for."""
    file = read_text(path)
    if file.text.strip() and "{" not in file.text:
        return file._replace(text="", problem=f"It is no JSON object. {UNSET}")
    if _is_deep(file.text):
        return file._replace(problem="It is nested too deeply to be read whole. The agent may refuse it.")
    return file


def read_toml(path: str, inside: str | None = None) -> File:
    """Read a TOML file; see `read_json`."""
    data, problem = _read(path, inside)
    if not data:
        return File(path, {}, problem=problem)
    from memtui.config import toml

    try:
        return File(path, toml.loads(data.decode()))
    except UnicodeDecodeError:
        return File(path, {}, problem=f"It is no TOML: it is not UTF-8. {UNSET}")
    except toml.NotTomlError as error:
        return File(path, {}, problem=f"It is no TOML: {error}. {UNSET}")


def read_text(path: str, inside: str | None = None) -> File:
    """Read a file of which only a few lines matter; see `read_json`."""
    data, problem = _read(path, inside)
    return File(path, {}, text=data.decode("utf-8", "replace"), problem=problem)


def below(settings: dict[str, object], key: str) -> dict[str, object]:
    """Return a table inside a table; empty when there is none."""
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def last(files: tuple[File, ...], *keys: str) -> tuple[object, str]:
    """Return the value of the last file that has one, and that file's path; None and an empty path when none has."""
    for file in reversed(files):
        value: object = file.values
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return value, file.path
    return None, ""


def problems(files: tuple[File, ...]) -> tuple[tuple[str, str], ...]:
    """Return the files that are treated as empty, each with the reason."""
    return tuple((file.path, file.problem) for file in files if file.problem)


def texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or the one text."""
    if isinstance(value, str):
        return (value,)
    return tuple(text for text in value[:TEXTS] if isinstance(text, str)) if isinstance(value, list) else ()


def file_names(value: object) -> tuple[str, ...]:
    """Return the texts of a list that are plain file names, without a folder or a pattern."""
    return tuple(
        text for text in texts(value) if is_path(text) and text not in (".", "..") and not set("/\\*") & set(text)
    )


def _is_deep(text: str) -> bool:
    depth = 0
    for sign in text:
        if sign in "[{":
            depth += 1
            if depth > DEPTH:
                return True
        elif sign in "]}":
            depth -= 1
    return False


def _read(path: str, inside: str | None = None) -> tuple[bytes, str]:
    real = os.path.realpath(path)
    if inside is not None and not is_within(real, (os.path.realpath(inside),)):
        return b"", ""  # what leads out of a checkout is told where its folder is
    try:
        data = read_small(real)
    except OSError:
        return b"", f"The system refuses to read it. {UNSET}"
    if data is None:
        return b"", f"It is no regular file, or too large. {UNSET}" if os.path.lexists(real) else ""
    return data, ""


def agent_setting(path: str, *keys: str) -> str | None:
    """Read one text that can be a path from an agent's JSON settings; None when there is none."""
    value = agent_value(path, *keys)
    return value if isinstance(value, str) and is_path(value) else None


def agent_names(path: str, *keys: str) -> tuple[str, ...]:
    """Read a file name, or a list of them, from an agent's JSON settings; paths that lead out are left out."""
    value = agent_value(path, *keys)
    names: object = [value] if isinstance(value, str) else value
    found = (name.strip() for name in (names if isinstance(names, list) else ()) if isinstance(name, str))
    return tuple(dict.fromkeys(filter(is_name, found)))


def agent_value(path: str, *keys: str) -> object:
    """Read one value from an agent's JSON file; None when it is missing or unreadable."""
    try:
        data = read_small(path)
    except OSError:
        return None
    if data is None or keys[-1].encode() not in data:  # importing json costs more than most commands' work
        return None
    value = json_value(data)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def json_value(data: bytes) -> object:
    """Parse an agent's JSON, in which some agents allow comments; None when it is invalid."""
    import json

    try:
        return json.loads(data)
    except RecursionError:
        return None
    except ValueError:
        if b"/" not in data and b"," not in data:  # neither a comment nor a comma too many
            return None
    from memtui.config import jsonc
    from memtui.errors import UsageError

    try:
        return jsonc.parse(data.decode())
    except (UsageError, UnicodeDecodeError):
        return None


def is_name(text: str) -> bool:
    """Whether a text names a file in a folder or below it, and nothing outside."""
    parts = text.split("/")
    return is_path(text) and "\\" not in text and not {"", ".", ".."}.intersection(parts)


def is_path(text: str) -> bool:
    """Whether a text can be a path at all: not empty, without NUL, and fit for the file system."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def yaml_setting(text: str, key: str) -> str | None:
    """Find a plain value in the text of a YAML file by its key, which must occur only once; None when there is none."""
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if not colon or name.strip().strip("\"'") != key:
            continue
        value = _plain(value.strip())
        return value if is_path(value) else None
    return None


def _plain(value: str) -> str:
    """Return a value without its quotes, or without the comment behind it."""
    quote = value[:1] if value[:1] in ("'", '"') else ""
    return value[1:].partition(quote)[0] if quote else value.partition(" #")[0].strip()


def yaml_list(text: str, key: str) -> tuple[str, ...]:
    """Find a list of plain values in the text of a YAML file by its key at the left margin."""
    found: list[str] = []
    is_inside = False
    for line in text.splitlines():
        bare = line.strip()
        if is_inside and bare.startswith("- "):
            found.append(_item(bare[2:].strip())[0])
        elif bare and not bare.startswith("#"):
            name, colon, value = line.partition(":")
            is_inside = bool(colon) and name.rstrip() == key
            rest = value.strip().removeprefix("[") if is_inside and value.strip().startswith("[") else ""
            while rest and rest[0] != "]" and len(found) < TEXTS:
                item, rest = _item(rest, ends=",]")
                found.append(item)
                rest = rest.lstrip().removeprefix(",").lstrip()
    return tuple(filter(None, found[:TEXTS]))


def _item(text: str, ends: str = "") -> tuple[str, str]:
    """Return the value that a text begins with, and the rest; only in double quotes is a backslash written twice."""
    text = text.lstrip()
    if text[:1] in ("'", '"'):
        value, _, rest = text[1:].partition(text[0])
        return (value.replace("\\\\", "\\") if text[0] == '"' else value), rest
    end = min((at for at in map(text.find, ends) if at >= 0), default=len(text))
    return _plain(text[:end].strip()), text[end:]


def toml_flags(text: str, *names: str) -> dict[str, bool]:
    """Find plainly written switches in the text of a TOML file, by `table.key`, without parsing it."""
    found: dict[str, bool] = {}
    inside = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("["):
            inside = bare.partition("#")[0].strip("[] ") + "."
        elif bare.partition("#")[0].rstrip().endswith(("true", "false")):
            name, _, value = bare.partition("#")[0].partition("=")
            if inside + name.strip() in names and value.strip() in ("true", "false"):
                found[inside + name.strip()] = value.strip() == "true"
    return found


def quoted_settings(text: str, key: str) -> tuple[str, ...]:
    """Find every quoted value of a key in JSON with comments and bare keys, but for those with escapes."""
    found = []
    position = text.find(key)
    while position >= 0:
        end = position + len(key)
        if not (text[position - 1 : position].isalnum() or text[position - 1 : position] in ("_", "$")):
            rest = text[end : end + 1].replace('"', "").replace("'", "") + text[end + 1 : end + 5_000]
            _, colon, value = rest.partition(":")
            value = value.lstrip()
            if colon and not rest.partition(":")[0].strip() and value[:1] in ('"', "'"):
                inner, quote, _ = value[1:].partition(value[0])
                if quote and "\\" not in inner and is_path(inner):
                    found.append(inner)
        position = text.find(key, end)
    return tuple(found)


def number_setting(text: str, key: str, otherwise: int) -> int:
    """Find a whole number in the text of a YAML file; `otherwise` when there is none."""
    found = yaml_setting(text, key)
    return int(found) if found is not None and found.isascii() and found.isdigit() and len(found) < 10 else otherwise


# --- patterns

LONGEST = 1_024
"""Characters of a pattern; a longer one matches nothing."""
CHOICES = 50
"""Paths that are tried of those that `{a,b}` stands for."""
STEPS = 20_000_000
"""The cost of all comparisons of one look: about the number of characters compared."""
_COMPARING, _READING = 8, 200
"""Steps of one comparison; steps for each character of a new pattern."""


class Matching:
    """Compares many names with many patterns, at a bounded total cost."""

    def __init__(self, steps: int = STEPS) -> None:
        """Begin with a budget of steps; once it is used up, nothing matches any more."""
        self._left = steps
        self._choices: dict[str, tuple[tuple[list[str], ...], bool]] = {}
        self._signs: dict[str, re.Pattern[str] | None] = {}

    @property
    def is_spent(self) -> bool:
        """Whether the steps are used up, so that a `False` means nothing."""
        return self._left <= 0

    def names_path(self, path: str, pattern: str) -> bool:
        """Whether a shell pattern matches a path: `*` stays in a folder, `**/` is any folders, `{a,b}` is either."""
        self._left -= _COMPARING
        if self.is_spent or len(pattern) > LONGEST:
            return False
        if pattern not in self._choices:
            found, is_all = _choices(pattern.replace("\\", "/"))
            self._left -= sum(map(len, found))
            self._choices[pattern] = tuple(one.split("/") for one in found), is_all
        parts = path.split("/")
        return any(self._leads_to(parts, one) for one in self._choices[pattern][0])

    def names(self, name: str, pattern: str) -> bool:
        """Whether a shell pattern matches a name; `*` crosses folders."""
        return bool(name) and self._is_like(name, pattern)

    def limit_of(self, pattern: str) -> str:
        """Explain why a pattern was not compared in full; empty when it was."""
        if len(pattern) > LONGEST:
            return f"it is longer than {LONGEST:,} characters and leaves out nothing"
        return (
            "" if self._choices.get(pattern, ((), True))[1] else f"only {CHOICES} of the paths it stands for are tried"
        )

    def _leads_to(self, parts: list[str], wanted: list[str]) -> bool:
        self._left -= len(wanted)
        if self.is_spent:
            return False
        at = here = 0
        begin, resume = -1, 0
        while at < len(parts):
            if here < len(wanted) and wanted[here] == "**":
                here += 1
                begin, resume = here, at
            elif here < len(wanted) and self._is_like(parts[at], wanted[here]):
                at, here = at + 1, here + 1
            elif begin >= 0 and not self.is_spent:
                resume += 1
                at, here = resume, begin
            else:
                return False
        return all(rest == "**" for rest in wanted[here:])

    def _is_like(self, name: str, wanted: str) -> bool:
        self._left -= _COMPARING
        if name == wanted:
            return True
        if wanted not in self._signs:
            self._signs[wanted] = self._read(wanted)
        signs = self._signs[wanted]
        if signs is None or not name or self.is_spent:
            return False
        self._left -= len(name) + len(wanted)
        return signs.match(name) is not None

    def _read(self, wanted: str) -> "re.Pattern[str] | None":
        """Compile the pattern of one name; None when it stands for itself, or the steps are used up."""
        if not set("*?[").intersection(wanted):
            return None
        self._left -= _READING * len(wanted)
        if self.is_spent:
            return None
        import re  # what matches nothing does without
        from fnmatch import translate

        return re.compile(translate(wanted.replace("[^", "[!")))


class Exclusions:
    """The files that an agent's own settings leave out."""

    def __init__(self, excluded: tuple[Excluded, ...], steps: int = STEPS) -> None:
        """Take the exclusions, in order."""
        self._excluded = excluded
        self._matching = Matching(steps)
        self._uncompared = 0
        self._stopped_at = ""

    def why_not(self, path: str, name: str) -> str:
        """Return why a file is left out, or an empty string; `name` is the agent's name for it, if any."""
        for one in self._excluded:
            if one.by == BY_FOLDER:
                is_meant = is_within(path, (one.pattern,))
            elif one.by == BY_NAME:
                is_meant = self._matching.names(name, one.pattern)
            else:
                is_meant = self._matching.names_path(path, one.pattern)
            if is_meant:
                return one.why
            if self._matching.is_spent and one.by != BY_FOLDER:
                self._stopped_at = self._stopped_at or one.file
                self._uncompared += 1
                return ""
        return ""

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Return the settings files whose exclusions were not followed in full, each with the reason."""
        found = []
        for one in self._excluded:
            limit = self._matching.limit_of(one.pattern) if one.by not in (BY_FOLDER, BY_NAME) else ""
            if limit:
                found.append((one.file, f"Of a pattern that leaves files out: {limit}: {one.pattern[:100]}"))
        if self._uncompared:
            count = f"{self._uncompared:,} file{'s are' if self._uncompared > 1 else ' is'}"
            why = f"What it leaves out takes too long to find: {count} counted that it may leave out."
            found.append((self._stopped_at, why))
        return tuple(dict.fromkeys(found))


def shell_patterns(regex: str) -> tuple[str, ...] | None:
    """Translate a regular expression to shell patterns in which `*` crosses folders; None if it says more."""
    if len(regex) > LONGEST:
        return None
    found: list[str] = []
    current, at = "", 0
    while at < len(regex):
        if regex[at] == "|":
            found.append(current)
            current, at = "", at + 1
        elif (regex[at] == "^" and not current) or (regex[at] == "$" and regex[at + 1 : at + 2] in ("", "|")):
            at += 1
        else:
            atom, at = _atom(regex, at)
            if not atom:
                return None
            current += atom
    return (*found, current)


def _choices(pattern: str) -> tuple[list[str], bool]:
    waiting = [pattern]
    found: list[str] = []
    while waiting and len(found) < CHOICES:
        one = waiting.pop()
        end = one.find("}")
        start = one.rfind("{", 0, end) if end >= 0 else -1
        if start < 0 or "," not in one[start:end]:
            found.append(one)
        else:
            waiting += [one[:start] + choice + one[end + 1 :] for choice in one[start + 1 : end].split(",")]
    return found, not waiting


def _atom(regex: str, at: int) -> tuple[str, int]:
    """Translate the repeated element at an offset; return it (empty: not understood) and the next offset."""
    sign = regex[at]
    if sign == "\\":
        sign = regex[at + 1 : at + 2]
        atom, at = "" if sign.isalnum() or not sign else f"[{sign}]" if sign in "*?[" else sign, at + 2
    elif sign == "[":
        end = regex.find("]", at + 2)
        inner = regex[at + 1 : end] if end >= 0 else "!"
        unclear = inner[0] == "!" or "\\" in inner or "[" in inner
        atom, at = "" if unclear else f"[!{inner[1:]}]" if inner[0] == "^" else f"[{inner}]", end + 1
    else:
        atom, at = "" if sign in "()*+?{}^$" else "?" if sign == "." else sign, at + 1
    repeat = regex[at : at + 1]
    if repeat and repeat in "*+" and atom == "?":
        lazy = regex[at + 1 : at + 2] == "?"
        return "*" if repeat == "*" else "?*", at + 1 + lazy
    return "" if repeat and repeat in "*+?{" else atom, at
