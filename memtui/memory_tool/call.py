"""A call of the memory tool: its fields, the path it names, and the answer, which is a text that a model reads.

Models get field names wrong, leave fields out or null, and under a strict schema fill in every one of them; it is
settled here, so that no command has to wonder. Every command refuses the same paths in the same words, before the disk
is asked, and no failure leaves the tool as an exception: a model can only recover from what it is told.
"""

from collections.abc import Mapping
from typing import NamedTuple

from memtui.virtual_names import problem

COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
TEXTS = ("path", "file_text", "old_str", "new_str", "insert_text", "old_path", "new_path")
NUMBERS = {"insert_line": 0, "offset": 1, "limit": 1}
"""Fields that are whole numbers, and the least each may be."""

REQUIRED = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
OPTIONAL = {"view": ("offset", "limit"), "str_replace": ("new_str",)}
"""What a command takes besides; every other field counts as absent."""
_EMPTY = {"path": ("",), "old_path": ("",), "new_path": ("",), "insert_line": ("",)} | dict.fromkeys(
    ("offset", "limit"), ("", 0, "0")
)
"""Values with which hosts fill in a field that their schema requires and the model does not: they count as absent."""

ALIASES = {"content": "file_text", "old_string": "old_str", "new_string": "new_str"}
"""Taken when they are a string and the field of ours is none."""
PATH_ALIASES = ("file_path", "filePath")
"""Taken when there is no `path`, not even an empty one."""

_WORDS = {
    "path": "Such as /memories/global/notes.md; /memories lists everything.",
    "file_text": "create: the text",
    "old_str": "str_replace: what must occur once",
    "new_str": "str_replace: what comes in its place",
    "insert_line": "insert: after this line; 0 is the top",
    "insert_text": "insert: the text",
    "old_path": "rename: the file or directory",
    "new_path": "rename: its new path in the same scope, free",
    "offset": "view: first line, from 1",
    "limit": "view: lines; 0 for all",
}

_DIGITS = 40
"""Letters of a number in quotes; a longer one counts nothing that there is."""


class Request(NamedTuple):
    """A call whose fields have their types; what the command needs is there."""

    command: str
    path: str
    file_text: str
    old_str: str
    new_str: str
    insert_text: str
    old_path: str
    new_path: str
    insert_line: int = 0
    offset: int = 1
    limit: int | None = None


ROOT = "/memories"
SCOPES = ("global", "project", "workspace")
"""In the order in which they are always shown."""
CHAT = "channel"
"""The scope of a door that was opened on one chat; shown there only."""


class VirtualPath(NamedTuple):
    """What a virtual path names."""

    given: str
    """The path as it came, for messages."""
    scope: str | None
    """None: `/memories` itself."""
    parts: tuple[str, ...] = ()
    """Below the scope; empty for the scope itself."""
    doubt: str = ""
    """Why nothing may be given this path; what has it already can still be reached, because it is listed."""

    @property
    def path(self) -> str:
        """The path below the scope."""
        return "/".join(self.parts)

    @property
    def canonical(self) -> str:
        """The path as memtui writes it."""
        return "/".join((ROOT, *([self.scope] if self.scope else []), *self.parts))


_SHOWN = 2_048
"""Characters of a name that an answer repeats; nobody needs more to recognise it."""


class Result(NamedTuple):
    """The answer to one call."""

    ok: bool
    text: str
    counts: Mapping[str, object] = {}
    """What `memtui.telemetry` may be told of the call: numbers."""


class Refusal(Exception):  # noqa: N818
    """A call that cannot be done; its text is the answer. Raised and caught inside the tool."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def shown(name: str) -> str:
    """A name as an answer repeats it: exactly, unless it is absurdly long or cannot be sent as UTF-8."""
    if len(name) > _SHOWN:
        name = name[:_SHOWN] + "…"
    return sendable(name)


def sendable(text: str) -> str:
    """Text in which what has no UTF-8 form is spelled out, because no protocol could carry it."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def parse_path(given: str) -> VirtualPath:
    """Read a virtual path.

    Args:
        given: what the model wrote; spaces around it and slashes at its end mean nothing.

    Raises:
        Refusal: it breaks a rule.
    """
    text, what = given.strip().rstrip("/"), f"Invalid memory path '{shown(given)}'"
    if not text.startswith(ROOT):
        raise Refusal(f"{what}: paths must start with /memories/ (e.g. /memories/global/notes.md)")
    rest = text[len(ROOT) :]
    if not rest:
        return VirtualPath(given, None)
    if not rest.startswith("/"):
        raise Refusal(f"{what}: expected /memories/<scope>/...")
    scope, *parts = rest[1:].split("/")
    if scope not in (*SCOPES, CHAT):
        raise Refusal(f"Invalid memory scope '{shown(scope)}': expected one of {', '.join(SCOPES)}")
    problems = [found for found in map(problem, parts) if found[0]]
    doubt = f"{what}: {problems[0][0]}" if problems else ""
    if any(hard for _, hard in problems):
        raise Refusal(doubt)
    return VirtualPath(given, scope, tuple(parts), doubt)


def schema(limits: str = "") -> dict[str, object]:
    """The JSON schema of a call: one flat object in which every field but `command` may be missing.

    Its types are plain, because hosts refuse a request whose schema has a list of types, or `null` among its values.

    Args:
        limits: what this client may not do, in words; empty when it may do everything.
    """
    command: dict[str, object] = {"type": "string", "enum": list(COMMANDS)}
    properties: dict[str, object] = {
        "command": command | ({"description": f"view works everywhere. {limits}"} if limits else {})
    }
    for name, words in _WORDS.items():
        properties[name] = {"type": "integer" if name in NUMBERS else "string", "description": words}
    return {"type": "object", "properties": properties, "required": ["command"]}


def normalised(given: Mapping[str, object]) -> dict[str, object]:
    """The fields of the command under our names; what is null, empty or of no use to it is left out."""
    found = dict(given)
    command = found.get("command")
    for alias in PATH_ALIASES:
        if alias in found and "path" not in found:
            found["path"] = found[alias]
    for alias, name in ALIASES.items():
        if isinstance(found.get(alias), str) and not isinstance(found.get(name), str):
            found[name] = found[alias]
    if command == "insert" and not isinstance(found.get("insert_text"), str):
        found["insert_text"] = found.get("new_str")
    if command == "rename" and found.get("old_path") in (None, ""):
        found["old_path"] = found.get("path")
    if command == "view" and found.get("view_range") is not None:
        found |= _window(found)
    if not isinstance(command, str) or command not in COMMANDS:
        raise Refusal(f"Invalid arguments: 'command' must be one of {', '.join(COMMANDS)}")
    return {
        name: found[name]
        for name in ("command", *REQUIRED[command], *OPTIONAL.get(command, ()))
        if found.get(name) is not None and found[name] not in _EMPTY.get(name, ())
    }


def read_request(given: Mapping[str, object]) -> Request:
    """Check a call.

    Raises:
        Refusal: no such command, a value of the wrong type, or something the command needs is missing.
    """
    fields = normalised(given)
    command = str(fields.pop("command"))
    texts = {name: value for name, value in fields.items() if isinstance(value, str) and name in TEXTS}
    numbers = {name: _number(name, fields[name]) for name in NUMBERS if name in fields}
    wrong = next((name for name in fields if name not in texts and name not in numbers), None)
    if wrong is not None:
        raise Refusal(f"Invalid arguments: '{wrong}' must be a string")
    if not all(name in fields for name in REQUIRED[command]):
        raise Refusal(f"{command} requires {_listed(REQUIRED[command])}")
    return Request(
        command,
        path=texts.get("path", ""),
        file_text=texts.get("file_text", ""),
        old_str=texts.get("old_str", ""),
        new_str=texts.get("new_str", ""),
        insert_text=texts.get("insert_text", ""),
        old_path=texts.get("old_path", ""),
        new_path=texts.get("new_path", ""),
        insert_line=numbers.get("insert_line", 0),
        offset=numbers.get("offset", 1),
        limit=numbers.get("limit"),
    )


def whole_number(given: object) -> int | None:
    """The whole number that a model meant, which may come as 2.0 or in quotes; None when it is none."""
    if isinstance(given, str) and len(given) < _DIGITS and given.strip().removeprefix("-").isdecimal():
        return int(given)
    if isinstance(given, float) and given.is_integer():
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _number(name: str, given: object) -> int:
    value = whole_number(given)
    if value is None:
        raise Refusal(f"Invalid arguments: '{name}' must be a whole number")
    if value < NUMBERS[name]:
        if name == "insert_line":
            raise Refusal(f"insert_line must not be negative (got {_short(value)}); 0 inserts at the top")
        raise Refusal(f"{name} must be positive (got {_short(value)})")
    return value


def _short(number: int) -> str:
    """A number in an answer; one of thousands of digits says nothing."""
    return str(number) if abs(number) < 10**20 else "a number that is far too large"


def _window(fields: Mapping[str, object]) -> dict[str, object]:
    """`offset` and `limit` for a `view_range` of other hosts: first and last line, -1 for the end."""
    given = fields["view_range"]
    ends = (
        [n for n in given if isinstance(n, int) and not isinstance(n, bool)] if isinstance(given, list | tuple) else []
    )
    if not isinstance(given, list | tuple) or len(given) != 2 or len(ends) != 2:
        raise Refusal("Invalid arguments: 'view_range' must be two whole numbers, the first and the last line")
    first, last = max(1, ends[0]), ends[1]
    if last != -1 and last < first:
        raise Refusal(
            f"view_range [{_short(ends[0])}, {_short(last)}] is empty; the last line must not be before the first"
        )
    window: dict[str, object] = {"offset": first}
    if last != -1:
        window["limit"] = last - first + 1
    return window


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
