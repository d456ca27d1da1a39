"""Calls of the memory tool: fields, virtual paths, the two text edits, results, and errors in words.

Models misname fields, leave them out or null, and fill all of them under a strict schema; that is normalized here.
Every failure is a result, never an exception: a model can only recover from what it is told.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.errors import CODES, MemtuiError

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Root

COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
TEXTS = ("path", "file_text", "old_str", "new_str", "insert_text", "old_path", "new_path")
NUMBERS = {"insert_line": 0, "offset": 1, "limit": 1}
"""Integer fields with their minimum."""

REQUIRED = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
OPTIONAL = {"view": ("offset", "limit"), "str_replace": ("new_str",)}
"""Optional fields of each command; all other fields are ignored."""
_EMPTY = {"path": ("",), "old_path": ("",), "new_path": ("",), "insert_line": ("",)} | dict.fromkeys(
    ("offset", "limit"), ("", 0, "0")
)
"""Values that hosts put into unused fields of a strict schema; they count as absent."""

ALIASES = {"content": "file_text", "old_string": "old_str", "new_string": "new_str"}
"""Used when they are strings and our field is not."""
PATH_ALIASES = ("file_path", "filePath")
"""Used when there is no `path` at all."""

_FIELD_HELP = {
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


class Request(NamedTuple):
    """A validated call."""

    command: str
    path: str = ""
    file_text: str = ""
    old_str: str = ""
    new_str: str = ""
    insert_text: str = ""
    old_path: str = ""
    new_path: str = ""
    insert_line: int = 0
    offset: int = 1
    limit: int | None = None


ROOT = "/memories"
SCOPES = ("global", "project", "workspace")
"""In display order."""
CHAT = "channel"
"""The scope of a client restricted to one chat; listed only there."""


class VirtualPath(NamedTuple):
    """A parsed virtual path."""

    given: str
    """As the model wrote it, for messages."""
    scope: str | None
    """None: `/memories` itself."""
    parts: tuple[str, ...] = ()
    """Below the scope; empty for the scope itself."""
    doubt: str = ""
    """Why nothing new may get this path; existing files with it stay reachable."""

    @property
    def path(self) -> str:
        """The path below the scope."""
        return "/".join(self.parts)

    @property
    def canonical(self) -> str:
        """The path as memtui writes it."""
        return "/".join((ROOT, *([self.scope] if self.scope else []), *self.parts))


_MAX_ECHO = 2_048
"""Characters of a name that an answer repeats."""


class Result(NamedTuple):
    """The result of one call."""

    ok: bool
    text: str
    counts: Mapping[str, object] = {}
    """Numbers for `memtui.telemetry`."""


class Refusal(Exception):  # noqa: N818
    """A call that is refused; its text is the answer."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def shown(name: str) -> str:
    """Return a name as an answer repeats it: exact, unless it is very long or has no UTF-8 form."""
    if len(name) > _MAX_ECHO:
        name = name[:_MAX_ECHO] + "…"
    return sendable(name)


def sendable(text: str) -> str:
    """Escape characters that have no UTF-8 form."""
    return text.encode("utf-8", "backslashreplace").decode()


def parse_path(given: str) -> VirtualPath:
    """Parse a virtual path, ignoring surrounding spaces and trailing slashes; raises Refusal."""
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
    problems = [found for found in map(segment_problem, parts) if found[0]]
    doubt = f"{what}: {problems[0][0]}" if problems else ""
    if any(hard for _, hard in problems):
        raise Refusal(doubt)
    return VirtualPath(given, scope, tuple(parts), doubt)


def schema(limits: str = "") -> dict[str, object]:
    """Return the JSON schema of a call: one flat object in which only `command` is required.

    Hosts reject lists of types and null values, so types are plain. `limits` says in words what this client may not do.
    """
    command: dict[str, object] = {"type": "string", "enum": list(COMMANDS)}
    properties: dict[str, object] = {
        "command": command | ({"description": f"view works everywhere. {limits}"} if limits else {})
    }
    for name, words in _FIELD_HELP.items():
        properties[name] = {"type": "integer" if name in NUMBERS else "string", "description": words}
    return {"type": "object", "properties": properties, "required": ["command"]}


def normalised(given: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of the command under our names, without empty and unused ones."""
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
    """Validate a call; raises Refusal for an unknown command, a wrong type or a missing field."""
    fields = normalised(given)
    command = str(fields.pop("command"))
    texts = {name: value for name, value in fields.items() if isinstance(value, str) and name in TEXTS}
    numbers = {name: _number(name, fields[name]) for name in NUMBERS if name in fields}
    wrong = next((name for name in fields if name not in texts and name not in numbers), None)
    if wrong is not None:
        raise Refusal(f"Invalid arguments: '{wrong}' must be a string")
    if not all(name in fields for name in REQUIRED[command]):
        raise Refusal(f"{command} requires {_listed(REQUIRED[command])}")
    values: dict[str, Any] = {**texts, **numbers}
    return Request(command, **values)


def whole_number(given: object) -> int | None:
    """Return the integer a model meant, also as 2.0 or in quotes; None for anything else."""
    if isinstance(given, str) and len(given) < 40 and given.strip().removeprefix("-").isdecimal():
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
    return str(number) if abs(number) < 10**20 else "a number that is far too large"


def _window(fields: Mapping[str, object]) -> dict[str, object]:
    """Convert a `view_range` of other hosts into `offset` and `limit`; -1 is the end."""
    given = fields["view_range"]
    if not isinstance(given, list | tuple) or [type(end) for end in given] != [int, int]:
        raise Refusal("Invalid arguments: 'view_range' must be two whole numbers, the first and the last line")
    first, last = max(1, given[0]), given[1]
    if last != -1 and last < first:
        raise Refusal(
            f"view_range [{_short(given[0])}, {_short(last)}] is empty; the last line must not be before the first"
        )
    window: dict[str, object] = {"offset": first}
    if last != -1:
        window["limit"] = last - first + 1
    return window


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


# --- the two edits: what is not replaced stays as it is, byte for byte, and nothing is decoded and encoded again

BOM = b"\xef\xbb\xbf"
_LISTED = 20
"""Line numbers in an answer."""


class Matches(NamedTuple):
    """Occurrences of a text."""

    times: int
    """Overlapping occurrences count, because replacing one would be a guess."""
    lines: tuple[int, ...]
    """Lines of the first occurrences, from 1."""


class NotText(ValueError):  # noqa: N818
    """The bytes are not UTF-8 text, or hold a NUL; they must not be rewritten."""


class NotUnique(Exception):  # noqa: N818
    """The text to replace does not occur exactly once."""

    def __init__(self, matches: Matches) -> None:
        super().__init__(matches.times)
        self.matches = matches


class SecretTouched(Exception):  # noqa: N818
    """The edit would change a secret that its writer sees only as a mask."""


class NoSuchLine(Exception):  # noqa: N818
    """There is no line of this number."""

    def __init__(self, last: int) -> None:
        super().__init__(last)
        self.last = last


def is_text(data: bytes) -> bool:
    """Return whether bytes are editable text: UTF-8 without NUL."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def find(data: bytes, text: bytes) -> Matches:
    """Find every occurrence of a non-empty text, overlapping ones included."""
    count, lines, at = 0, dict[int, None](), data.find(text)
    line, counted = 1, 0
    while at >= 0:
        count += 1
        if len(lines) < _LISTED:
            line += data.count(b"\n", counted, at)
            counted = at
            lines[line] = None
        at = data.find(text, at + 1)
    return Matches(count, tuple(lines))


def str_replace(data: bytes, old: str, new: str) -> bytes:
    """Replace the single occurrence of a text.

    In a file with CR LF line ends, text with bare LF matches too, and the new lines end in CR LF.
    Raises NotText; NotUnique; UnicodeEncodeError: a text has no UTF-8 form.
    """
    if not is_text(data):
        raise NotText
    wanted, put = old.encode(), new.encode()
    matches = find(data, wanted)
    if has_crlf(data):
        put = _crlf(put)
        if not matches.times and b"\n" in wanted and b"\r" not in wanted:
            wanted = _crlf(wanted)
            matches = find(data, wanted)
    if matches.times != 1:
        raise NotUnique(matches)
    before, _, after = data.partition(wanted)
    return before + put + after


def insert(data: bytes, line: int, text: str) -> tuple[bytes, int]:
    """Insert lines after a line as `view` numbers them (0: the top); return the content and the number of new lines.

    CR LF line ends are kept and a byte-order mark stays first; one final newline of the text is dropped.
    Raises NotText; NoSuchLine; UnicodeEncodeError: the text has no UTF-8 form.
    """
    if not is_text(data):
        raise NotText
    new = text.encode()
    mark, body = (BOM, data[len(BOM) :]) if data.startswith(BOM) else (b"", data)
    lines = body.split(b"\n")
    last = len(lines) if body else 0
    if not 0 <= line <= last:
        raise NoSuchLine(last)
    added = new.removesuffix(b"\n").split(b"\n") if new else []
    if added and has_crlf(data):
        added = [one.removesuffix(b"\r") + b"\r" for one in added]
        if line == len(lines):  # the last line has no end yet, and the new last one gets none
            lines[-1] += b"\r"
            added[-1] = added[-1][:-1]
    lines[line:line] = added
    return mark + b"\n".join(lines), len(added)


def check_masks(before: bytes, after: bytes, old: str = "") -> None:
    """Require that an edit by a writer who sees masked secrets keeps them whole or removes them whole.

    `before` equals `after` where nothing was found to replace; `old` is what was searched for. Raises SecretTouched.
    """
    from memtui import mask  # few who read calls edit anything

    found = mask.secrets(text := before.decode(errors="surrogateescape"))
    if not found:
        return
    new = after.decode(errors="surrogateescape")
    if before == after:
        if mask.BEGIN in old and old in mask.shown(text):
            raise SecretTouched
        return
    least = min(len(text), len(new))
    start = next((at for at in range(least) if text[at] != new[at]), least)
    tail = next((at for at in range(least - start) if text[-1 - at] != new[-1 - at]), least - start)
    end, written = len(text) - tail, new[start : len(new) - tail]
    for one in found:
        whole = start <= one.start and one.end <= end
        touched = one.start < end and start < one.end
        if (touched and not whole) or (whole and mask.BEGIN in written):
            raise SecretTouched
    still, shift = mask.secrets(new), len(new) - len(text)
    for one in found:
        moved = 0 if one.end <= start else shift
        here = any(each.start <= one.start + moved and one.end + moved <= each.end for each in still)
        if not here and not (start <= one.start and one.end <= end):
            raise SecretTouched  # its mask would fall off, because what told it a secret is gone


def has_crlf(data: bytes) -> bool:
    """Return whether every line end is CR LF, and there is one."""
    ends = data.count(b"\n")
    return ends > 0 and data.count(b"\r\n") == ends


def _crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


_COMMON_SIGNS = str.maketrans("-_. ", "aaaa")
_ENCODED = ("%2e", "%2f", "%5c")
_MARKUP = frozenset('<>"')
"""Characters that a list for an agent escapes, so that the listed name is no longer the real one."""


def segment_problem(part: str) -> tuple[str, bool]:
    """Return why a path segment is refused (empty: it is not), and whether even where something has that name."""
    if ".." not in part and part[:1] != "." and part.translate(_COMMON_SIGNS).isalnum():
        return "", False  # as most names are; no rule below says anything about letters and digits
    found = [(reason, hard) for wrong, reason, hard in _rules(part) if wrong]
    return (found[0][0], any(hard for _, hard in found)) if found else ("", False)


def _rules(part: str) -> tuple[tuple[bool, str, bool], ...]:
    return (
        (part in ("", "."), "empty or '.' path segments are not allowed", True),
        (".." in part, "path traversal ('..') is not allowed", part.strip(". ") == ""),
        ("~" in part, "'~' is not allowed in memory paths", False),
        ("\\" in part, "backslashes are not allowed (use '/')", True),
        (any(c in part.lower() for c in _ENCODED), "URL-encoded traversal sequences are not allowed", False),
        (any(c < " " or c == "\x7f" for c in part), "control characters are not allowed", True),
        (any(c in part for c in '<>"'), "'<', '>' and '\"' are not allowed in memory paths", False),
        (part[:1] == ".", "names that begin with '.' are hidden, and hidden files are not memories", True),
        (any("\ud800" <= c <= "\udfff" for c in part), "it holds a character that has no UTF-8 form", True),
    )


def reachable(part: str) -> bool:
    """Return whether a name on disk can be written as a segment of a virtual path."""
    return not segment_problem(part)[1] and part == part.strip()


def reachable_path(path: str) -> bool:
    """Return whether a path below a root can be written as a virtual path that names the same file."""
    return all(map(reachable, path.split("/")))


def listable(path: str) -> bool:
    """Return whether a path below a root stays the same in a list where markup is escaped."""
    return _MARKUP.isdisjoint(path) and reachable_path(path)


# --- rights of a client in each scope, and errors in words; they name virtual paths only, as no other may reach a model


class Rights(NamedTuple):
    """Readable and writable scopes, in the order agents see them."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """One sentence; empty when every readable scope is writable."""
        if not self.writable:
            return "You may only read memories, not change them."
        if self.writable == self.readable:
            return ""
        others = [scope for scope in self.readable if scope not in self.writable]
        return f"You may write in {places(self.writable)}; {places(others)} you may only read."


MAX_BYTES = 102_400
MAX_FILES = 1_000

ESCAPES = "Path escapes the memory root (symlinks are not allowed to point outside)"
NAME_CODES = ("E_NAME", "E_NAME_TOO_LONG", "E_PATH_TOO_LONG", "E_PATH_TOO_DEEP", "E_RESERVED")
"""Codes of refusals that concern the name alone."""
FAILED = "Memory operation failed: "
MISSING = "No memory file or directory at {path}"
NO_FILE = "No memory file at {path}"
IS_DIRECTORY = "{path} is a directory, not a file"
NO_MEMORIES = "{path} holds no memories, only hidden or other files, which are left alone; use another path"
NOT_TEXT = "{path} is not a UTF-8 text file; cannot edit it"
UNSTEADY = f"{FAILED}another program keeps changing {{path}}; view it, then try again"
TOO_BIG_TO_KEEP = "{path} is too large to be kept in history, so it is not deleted here; ask the user to"
OVER_CAP = (
    f"{{path}} exceeds the {MAX_BYTES}-byte memory file cap"
    " (likely edited outside memtui, bypassing write caps); shrink or delete it"
)


def about(template: str, place: VirtualPath) -> str:
    """Fill the path of a call into a message."""
    return template.format(path=shown(place.given))


def read_only(scope: str, writable: tuple[str, ...]) -> str:
    """Write why a client may not change a scope, and which scopes it may change."""
    instead = f" You may write in {places(writable)}." if writable else ""
    return f"The {scope} memory scope is read-only for this agent; only 'view' is allowed.{instead}"


def taken(place: VirtualPath, *, directory: bool) -> str:
    """Write that `create` may not use a name."""
    kind = "directory" if directory else "file"
    return f"A {kind} already exists at {shown(place.given)}. To overwrite a file, delete it first, then create it."


def failed(error: MemtuiError, place: VirtualPath, writable: tuple[str, ...]) -> str:
    """Write an error of the engine for a model; its own words only where they hold no path but the given one."""
    path = shown(place.given)
    match error.code:
        case "E_ACCESS" | "E_READ_ONLY":
            return read_only(place.scope or "global", writable)
        case "E_SYMLINK" | "E_OTHER_DEVICE":
            return ESCAPES
        case "E_TOO_MANY":
            return f"The {place.scope} memory scope is full ({MAX_FILES} files); delete unused files first"
        case "E_TOO_BIG":
            return about(OVER_CAP, place)
        case "E_NOT_FOUND" | "E_ROOT_MISSING":
            return about(MISSING, place)
        case "E_NOT_REGULAR":
            return f"{path} is neither a file nor a directory; use another path"
        case "E_CLASH":
            return (
                f"A name that differs from {path} only by upper and lower case or in its Unicode form exists already;"
                " use that name or another"
            )
        case "E_PROTECTED":
            return f"{path} is protected: only the user changes it"
        case "E_HARDLINK":
            return f"{path} has a second name elsewhere and cannot be changed here; create a new file instead"
        case "E_TEXT":
            return f"{FAILED}the text or the name holds a character that has no UTF-8 form; remove it"
        case "E_LOCKED":
            return f"{FAILED}another program is writing to this scope; try again in a moment"
        case code if code in NAME_CODES:
            return f"Invalid memory path '{path}': {_reason(error)}"
    return f"{FAILED}{CODES[error.code]}. Nothing was lost; try again, or tell the user"


def _reason(error: MemtuiError) -> str:
    _, colon, reason = error.message.rpartition(" is refused: ")
    return shown(reason.removesuffix(".")) if colon else CODES[error.code]


def rights(engine: "Engine") -> Rights:
    """Return the rights of an engine's client."""
    return Rights(_scopes(engine.roots.all()), _scopes(engine.roots.changeable()))


def _scopes(roots: "Iterable[Root]") -> tuple[str, ...]:
    names = {name for root in roots for name in (root.id, *root.aliases)}
    return tuple(scope for scope in (*SCOPES, CHAT) if f"memtui:{scope}" in names)


def places(scopes: tuple[str, ...] | list[str]) -> str:
    """Name scopes by their paths: `/memories/global and /memories/workspace`."""
    named = [f"{ROOT}/{scope}" for scope in scopes]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
