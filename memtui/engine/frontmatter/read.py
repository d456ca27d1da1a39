"""Reading front matter, and what a list shows of a text: its description and problems.

Only a block that opens in line 1, closes, and holds fields counts; everything else is body, byte for byte. Plain blocks
are read here without YAML but with YAML's meaning, so that a list of thousands is cheap; all others go through
`guard.py`. A hostile header never reaches a parser that could hang or run it.
"""

from typing import NamedTuple

from memtui.engine.frontmatter import BOM, BROKEN, DUPLICATE, EMPTY, LIMIT, NONE, OK, UNCLOSED, Value
from memtui.engine.model import TYPES, Policy, Problem


class FrontMatter(NamedTuple):
    """The front matter of a file."""

    status: str
    """`none`; `ok`; `duplicate` (a field occurs twice, the last one counts); `empty`; or why it counts as body:
    `unclosed`, `other` (a list or text instead of fields), `broken`, `unsafe`, `too-big`."""
    start: int
    """Offset of the block's first byte; `end` is that of the closing fence; 0 when it is not closed."""
    end: int
    body: int
    """Offset of the first byte that is body; a byte-order mark is never part of it."""
    fields: dict[str, Value]
    """In file order."""
    problem: Problem | None
    """What the user should know about it."""

    def type_at(self, path: str = "") -> str:
        """Return the type a memory names, or else that its path begins with: one of `TYPES`, or empty."""
        meta = self.fields.get("metadata")
        said = [self.fields.get("type"), meta.get("type") if isinstance(meta, dict) else None]
        said += [one for one in TYPES if path.startswith((f"{one}/", f"{one}_"))]
        return next((str(one) for one in said if one in TYPES), "")


class Description(NamedTuple):
    """The part of a memory's front matter that a list shows; every text may be hostile."""

    description: str
    """One line, at most 200 characters and `…`; empty when there is none."""
    name: str
    problem: Problem | None


PRIVATE_DESCRIPTION = "private-about"
"""The problem of a memory whose description is within `<private>`."""
_VISIBLE = bytes(range(0x20, 0x7F)) + b"\n\t"
_FLOW_SIGNS = dict.fromkeys(map(ord, "_./ -"))
_NOT_FIRST = frozenset(" ?:,[]{}#&*!|>'\"%@`")


def split(data: bytes, *, plain: bool = True) -> FrontMatter:
    """Find and read the front matter of a file; never raises. `plain=False` sends even a plain block through YAML."""
    body = len(BOM) if data.startswith(BOM) else 0
    start = _opening(data, body)
    if not start:
        return tuple.__new__(FrontMatter, (NONE, 0, 0, body, {}, None))
    end, after = _closing(data, start)
    if not end:
        text = "The front matter opened in line 1 is never closed by a line ---, so it is read as text."
        return FrontMatter(UNCLOSED, 0, 0, body, {}, Problem("front-matter", text))
    block = data[start:end]
    fields = _plain_fields(block) if plain and len(block) <= LIMIT else None
    if fields:
        # Made without the checks of a call: a first list makes thousands.
        return tuple.__new__(FrontMatter, (OK, start, end, after, fields, None))
    from memtui.engine.frontmatter.guard import read

    status, fields, problem = read(block)
    return FrontMatter(status, start, end, after if status in (OK, DUPLICATE, EMPTY) else body, fields, problem)


def describe(data: bytes) -> Description:
    """Return the description and name of a memory, and the problem with its front matter."""
    problem = None
    start = _opening(data, 0)
    end = _closing(data, start)[0] if start else 0
    fields = _plain_fields(data[start:end]) if 0 < end - start <= LIMIT else None
    if not fields:
        front = read_as_shown(data)
        fields, problem = front.fields, front.problem
    description, name = (_line(fields.get("description")), _line(fields.get("name"))) if fields else ("", "")
    return tuple.__new__(Description, (description, name, problem))


def read_as_shown(data: bytes) -> FrontMatter:
    """Read front matter for display: a block that is no YAML is read line by line, and is not body; never raises."""
    front = split(data)
    if front.status != BROKEN:
        return front
    fields = _as_agents_write(data[front.start : front.end])
    return front._replace(fields=fields, body=_closing(data, front.start)[1])


def _as_agents_write(block: bytes) -> dict[str, Value]:
    """Read a block that is no YAML line by line: agents write `description: Python: types first` and read it so.

    Only shown, never edited: which bytes are the value is a guess.
    """
    fields: dict[str, Value] = {}
    for line in block.decode("utf-8", "replace").split("\n"):
        key, colon, value = line.rstrip("\r").partition(": ")
        if colon and key in ("name", "title", "description", "type"):
            fields.setdefault(key, value.strip())
    return fields


def plain_scalar(text: str) -> "Value | None":
    """Read the text behind `key: ` as a one-line scalar or list; None when only YAML can tell its meaning."""
    text = text.rstrip(" ")
    first = text[:1]
    if first in ("'", '"') and len(text) > 1 and text[-1] == first:
        return _unquoted(text[1:-1], first)
    if first == "[":
        return _flow_list(text)
    if not first or first in _NOT_FIRST or (first == "-" and not text[1:2].isalnum()):
        return None
    comment = text.find(" #")
    if comment >= 0:
        text = text[:comment].rstrip(" ")
    return None if ": " in text or text[-1] == ":" else text


def _unquoted(text: str, quote: str) -> str | None:
    """Read the text between quotes on one line; None when it holds more than the commonest escapes.

    The text is printable, so control characters can stand for what has been read.
    """
    if quote == "'":
        text = text.replace("''", "\1")
        return None if quote in text else text.replace("\1", quote)
    if "\\" in text:
        text = text.replace("\\\\", "\0").replace('\\"', "\1")
    if quote in text or "\\" in text:
        return None
    return text.replace("\0", "\\").replace("\1", quote)


def _key(line: str) -> tuple[str, str] | None:
    key, colon, rest = line.partition(":")
    if not colon or (rest and rest[0] != " ") or len(key) > 200 or key[:1] == "-" or not key.isascii():
        return None
    return (key, rest.lstrip(" ")) if key.replace("-", "_").isidentifier() else None


def _opening(data: bytes, at: int) -> int:
    """Return the offset behind line 1 when that is exactly `---`, else 0."""
    if data.startswith(b"---\n", at):
        return at + 4
    return at + 5 if data.startswith(b"---\r\n", at) else 0


def _closing(data: bytes, start: int) -> tuple[int, int]:
    """Return the offsets of the closing line and of what follows it; zeros when there is none."""
    at = start - 1
    while (at := data.find(b"\n---", at)) >= 0:
        if data[at + 4 : at + 5] == b"\n":
            return at + 1, at + 5
        line_end = data.find(b"\n", at + 4)
        if line_end < 0:
            line_end = len(data)
        if not data[at + 4 : line_end].strip(b" \t\r"):
            return at + 1, min(line_end + 1, len(data))
        at = line_end
    return 0, 0


def _plain_fields(block: bytes) -> dict[str, Value] | None:
    """Read a block of one-line fields, with at most one level of fields or list items below each; None: ask YAML."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.replace("\n", "").isprintable():
        return None
    fields: dict[str, Value] = {}
    below: list[str] = []
    key = ""  # The last field, while nothing is written behind it.
    for line in text.split("\n"):
        if not line or line[0] in " #-":
            content = line.lstrip(" ")
            if not content or content[0] == "#":
                continue
            if len(content) != len(line) or content.startswith("- "):
                below.append(line)
                continue
        entry = _key(line)
        if entry is None or entry[0] in fields or (below and not _nest(fields, key, below)):
            return None
        below = []
        key, rest = entry
        if not rest or rest[0] == "#":
            fields[key] = ""
            continue
        value = plain_scalar(rest)
        if value is None:
            return None
        fields[key] = value
        key = ""
    return None if below and not _nest(fields, key, below) else fields


def _nest(fields: dict[str, Value], key: str, lines: list[str]) -> bool:
    """Put the lines below an open field into it; False when they are anything but a flat list or flat fields."""
    if not key:
        return False
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    items: list[Value] = []
    inner: dict[str, Value] = {}
    is_list = lines[0].startswith("- ", indent)
    for line in lines:
        content = line.lstrip(" ")
        if len(line) - len(content) != indent:
            return False
        if is_list:
            value = plain_scalar(content[2:].lstrip(" ")) if content.startswith("- ") else None
            if value is None:
                return False
            items.append(value)
            continue
        entry = _key(content)
        if entry is None or entry[0] in inner:
            return False
        value = plain_scalar(entry[1]) if entry[1] and entry[1][0] != "#" else ""
        if value is None:
            return False
        inner[entry[0]] = value
    fields[key] = items if is_list else inner
    return True


def _flow_list(text: str) -> "Value | None":
    if text[-1] != "]" or "#" in text:
        return None
    inner = text[1:-1].strip(" ")
    items: list[Value] = []
    for part in inner.split(",") if inner else ():
        item = part.strip(" ")
        quote = item[:1]
        if quote in ("'", '"') and len(item) > 1 and item[-1] == quote:
            item = item[1:-1]
            if quote in item or "\\" in item:
                return None
        elif not (quote.isalnum() or quote == "_") or not item.translate(_FLOW_SIGNS).isalnum():
            return None
        items.append(item)
    return items


def _line(value: "Value | None") -> str:
    if not value or not isinstance(value, str):
        return ""
    plain = "  " not in value and value.isprintable() and value[0] != " " and value[-1] != " "
    text = value if plain else " ".join(value.split())
    if len(text) <= 200:
        return text
    from memtui.mask import secrets

    # Nobody would know half a secret as one any more, nor one without the words behind it that tell what it is.
    cut = (one.start for one in secrets(text[:1_000]) if one.start < 200 <= one.end + 40)
    return text[: next(cut, 200)] + "…"


class RowText(NamedTuple):
    """The part of a text that a row shows."""

    description: str
    problems: tuple[Problem, ...]


def judge(data: bytes, policy: Policy, path: str = "") -> RowText:
    """Return the description and the problems of a whole file at a path below its root."""
    found = describe(data)
    problems = _text_problems(data)
    if found.problem is not None:
        problems.append(found.problem)
    if policy.shown_bytes is not None and len(data) > policy.shown_bytes:
        text = f"It has {len(data):,} bytes; the agent reads up to {policy.shown_bytes:,}."
        problems.append(Problem("over-agent-limit", text))
    if policy.shown_chars:
        problems += _too_long(data, policy, path)
    if b"<" in data or not data.isascii():
        problems += _marked(data.decode("utf-8", "replace"), found.description)
    if b"<<<<<<<" in data and _has_conflict(data):
        problems.append(Problem("conflict-markers", "A merge by git left conflict markers in it."))
    return tuple.__new__(RowText, (found.description, tuple(problems)))


def _marked(text: str, description: str) -> list[Problem]:
    from memtui.markers import cut  # most texts hold no sign that could begin a tag

    found = cut(text)
    if found.no_memory:
        return [Problem("no-memory", "It is marked with <no-memory>, so agents are not given it unasked.")]
    problems = []
    # Tags on the lines around it are no part of the description itself.
    if found.spans and description and describe(found.text.encode()).description != cut(description).text:
        problems.append(Problem(PRIVATE_DESCRIPTION, "Its description is private, so agents are not given it."))
    if found.open is not None:
        line = text.count("\n", 0, found.open) + 1
        said = f"The <private> in line {line:,} has no end: all behind it is private."
        problems.append(Problem("open-private", said))
    return problems


def _too_long(data: bytes, policy: Policy, path: str) -> list[Problem]:
    limit = policy.limit_of(path)
    if limit is None or len(data) <= limit:
        return []
    # The agents that count characters take blanks off both ends first.
    count = len(data.decode(errors="replace").strip())
    if count <= limit:
        return []
    return [Problem("over-agent-limit", f"It has {count:,} characters; the agent's limit is {limit:,}.")]


def _text_problems(data: bytes) -> list[Problem]:
    if not data.translate(None, _VISIBLE):
        return []
    found = []
    if (position := data.find(0)) >= 0:
        found.append(Problem("E_TEXT", f"It holds a NUL at byte {position:,}, so it is not edited as text."))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [Problem("E_TEXT", f"It is not UTF-8 at byte {error.start:,}, so it is not edited as text.")]
    from memtui.safe_text import has_hidden

    if has_hidden(text.removeprefix("\ufeff")):
        found.append(Problem("hidden-characters", "It holds characters that cannot be seen; they are shown as tokens."))
    return found


def _has_conflict(data: bytes) -> bool:
    position = 0
    lined = b"\n" + data
    for marker in (b"\n<<<<<<< ", b"\n=======", b"\n>>>>>>> "):
        position = lined.find(marker, position)
        if position < 0:
            return False
    return True
