"""What another agent's root makes of a memory: its front matter mapped, and a line in the index there.

The body never changes, and every field is accounted for: what the new agent does not read is kept and named, what it
may not have is removed and named. A block that cannot be read is left alone. Lines removed at the source are in
`pointers.references`; both are written in the same step of undo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter import BOM, DUPLICATE, EMPTY, NONE, OK, Value
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import Address, FieldEdit, Policy, Root
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from memtui.features.transfer.model import ADDED, KEPT, LOST, MAPPED, SAID, IndexChange, Note, Transfer, Translation
from memtui.pointers.lines import (
    Style,
    home_of,
    index_of,
    is_entry,
    is_text,
    measure,
    place_of,
    spans,
    style_of,
    text_of,
    write_entry,
)
from memtui.pointers.links import is_writable, parse_index, written

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory

NAME, DESCRIPTION, TYPE, METADATA = "name", "description", "type", "metadata"
FORBIDDEN, REQUIRED = "forbidden", "required"
_OTHER_NAMES = {NAME: ("title",), DESCRIPTION: ("summary",)}
"""Names that other programs give a field."""
_SHOWN, _DESCRIBED = 60, 150
_SAMPLES = 8


class Hints(NamedTuple):
    """What is known about a memory besides its text."""

    title: str = ""
    hook: str = ""
    nested: bool | None = None
    """Whether memories at the target have their type below `metadata`; None: unknown."""


def takes_none(root: Root, path: str) -> bool:
    """Tell whether a root's agent reads front matter in this file as text."""
    policy = root.policy
    return policy.front_matter == FORBIDDEN or paths.matches(path, policy.whole)


def translate(data: bytes, target: Root, path: str, hints: Hints = Hints()) -> Translation:  # noqa: B008
    """Map a memory to the front matter of another agent; where nothing can or must change, the text stays.

    `path` is its path in `target`.
    """
    title = title_of(target.agent)
    front = frontmatter.split(data)
    if front.status not in (NONE, OK, EMPTY, DUPLICATE):
        text = f"The front matter cannot be read, so it stays as it is: {_problem(front.problem)}"
        return Translation(data, (Note(SAID, text),))
    if takes_none(target, path):
        return _without(data, front, target, path, title)
    work = _Mapping(data, front.fields, target, hints, title)
    try:
        found = work.done()
    except RefusedError as error:
        text = f"The front matter stays as it is: {error.message.rstrip('.')}"
        return Translation(data, (Note(SAID, text),))
    if _body(found.data) == _body(data):
        return found
    return Translation(data, (Note(SAID, "The front matter stays as it is: the text would be read in another way"),))


def _body(data: bytes) -> bytes:
    return data[frontmatter.split(data).body :]


def _problem(problem: object) -> str:
    return getattr(problem, "text", "").rstrip(".") or "it is no list of fields"


def _without(data: bytes, front: frontmatter.FrontMatter, target: Root, path: str, title: str) -> Translation:
    """Remove the front matter; a description becomes a heading, except in a file of entries."""
    if front.status == NONE:
        return Translation(data)
    mark = BOM if data.startswith(BOM) else b""
    body, found = data[front.body :], front.fields.get(DESCRIPTION)
    said = " ".join(found.split()) if isinstance(found, str) and target.policy.format_of(path) is None else ""
    if said and not body.lstrip(b"\r\n# ").startswith(said.encode()):
        end = b"\r\n" if b"\r\n" in data else b"\n"
        blank = b"" if body.startswith((b"\n", b"\r\n")) else end
        body = f"# {said}".encode() + end + blank + body
    notes = [
        Note(MAPPED, f"description: {_shown(value)} (its heading there)")
        if said and field == DESCRIPTION
        else Note(LOST, f"{field}: {_shown(value)} ({title} takes front matter for text)")
        for field, value in front.fields.items()
    ]
    return Translation(mark + body, tuple(notes))


class _Mapping:
    def __init__(self, data: bytes, fields: Mapping[str, Value], target: Root, hints: Hints, title: str) -> None:
        self.data, self.fields, self.target, self.hints, self.title = data, fields, target, hints, title
        self.policy = target.policy
        self.required = self.policy.front_matter == REQUIRED
        self.edits: list[FieldEdit] = []
        self.notes: list[Note] = []

    def done(self) -> Translation:
        if self.required or self.fields:
            for field in self.policy.fields:
                if field != TYPE:
                    self._text(field)
        if self.policy.types and (TYPE in self.policy.fields or self._type()):
            self._map_type()
        self._others()
        if self.policy.only_fields:
            return self._alone()
        data = set_fields(self.data, self.edits) if self.edits else self.data
        return Translation(data, tuple(self.notes))

    def _text(self, field: str) -> None:
        value = self.fields.get(field)
        if isinstance(value, str) and value.strip():
            return
        for other in _OTHER_NAMES.get(field, ()):
            found = self.fields.get(other)
            if isinstance(found, str) and found.strip():
                self._set((field,), " ".join(found.split()), MAPPED, f"{field}: {_shown(found)} (from {other})")
                return
        made, where = self._made(field)
        if made:
            self._set((field,), made, ADDED, f"{field}: {_shown(made)} (from {where})")
        elif self.required:
            self.notes.append(Note(SAID, f"{self.title} wants {field}, and nothing here says what it could be"))

    def _made(self, field: str) -> tuple[str, str]:
        """Return a value for a missing field and its source; empty when it would have to be invented."""
        if field == DESCRIPTION and self.hints.hook:
            return self.hints.hook, "the index"
        if field == NAME and self.hints.title:
            return self.hints.title, "the index"
        if not self.required:
            return "", ""
        line = _first_line(self.data)
        return (line, "its first line") if line and field in (NAME, DESCRIPTION) else ("", "")

    def _set(self, path: tuple[str, ...], value: str | None, kind: str = "", text: str = "") -> None:
        self.edits.append(FieldEdit(path, value))
        if text:
            self.notes.append(Note(kind, text))

    def _type(self) -> str:
        top = self.fields.get(TYPE)
        return top.strip() if isinstance(top, str) and top.strip() else self._inner_type()

    def _inner_type(self) -> str:
        inner = self.fields.get(METADATA)
        found = inner.get(TYPE) if isinstance(inner, dict) else None
        return found.strip() if isinstance(found, str) else ""

    def _map_type(self) -> None:
        value, types = self._type(), self.policy.types
        if not value and not self.required:
            return
        wanted = next((one for one in types if one == value.casefold()), "")
        if not wanted and not self.required:
            self.notes.append(Note(KEPT, f"type: {_shown(value)}, which {self.title} does not know"))
            wanted = value
        elif not wanted:
            wanted = "user" if self.target.scope == "global" and "user" in types else "project"
            wanted = wanted if wanted in types else types[0]
            why = f"{self.title} does not know {_shown(value)}" if value else f"{self.title} wants one"
            self.notes.append(Note(ADDED, f"type: {wanted} ({why})"))
        elif wanted != value:
            self.notes.append(Note(MAPPED, f"type: {wanted} (was {_shown(value)})"))
        self._place_type(wanted, nested=False if self.required else self.hints.nested)

    def _place_type(self, value: str, *, nested: bool | None) -> None:
        top = self.fields.get(TYPE)
        inner = self._inner_type()
        if nested is None:
            nested = bool(inner) and not top
        path = (METADATA, TYPE) if nested else (TYPE,)
        held = self.fields.get(METADATA)
        if nested and held is not None and not isinstance(held, dict):
            path, nested = (TYPE,), False  # its metadata is something else, and stays
        now = inner if nested else top
        if now != value:
            self._set(path, value)
        if nested and top:
            self._set((TYPE,), None, MAPPED, f"metadata.type: {_shown(value)} (was type)")
        elif not nested and inner:
            self._set((METADATA, TYPE), None, MAPPED, f"type: {_shown(value)} (was metadata.type)")

    def _others(self) -> None:
        if not self.policy.fields:
            return
        read = {*self.policy.fields, *([METADATA] if set(_keys(self.fields.get(METADATA))) <= {TYPE} else [])}
        others = [(field, value) for field, value in self.fields.items() if field not in read]
        if self.policy.only_fields:
            others = [(field, value) for field, value in self.fields.items() if field not in self.policy.fields]
            self.notes += [
                Note(LOST, f"{field}: {_shown(value)} ({self.title} takes no such field)") for field, value in others
            ]
        elif others:
            names = ", ".join(_shown(field) for field, _ in others)
            self.notes.append(Note(KEPT, f"{names}, which {self.title} does not read"))

    def _alone(self) -> Translation:
        values: dict[str, str] = {}
        for field in self.policy.fields:
            value = self.fields.get(field)
            if isinstance(value, str) and value:
                values[field] = value
        values |= {
            edit.path[0]: edit.value for edit in self.edits if len(edit.path) == 1 and isinstance(edit.value, str)
        }
        kept = {field: values[field] for field in self.policy.fields if field in values}
        if dict(self.fields) == kept:
            return Translation(self.data, tuple(self.notes))
        front = frontmatter.split(self.data)
        mark = BOM if self.data.startswith(BOM) else b""
        bare = mark + self.data[front.body :]
        if frontmatter.split(bare).status != NONE:
            raise RefusedError("its text begins with what looks like front matter", code="E_FRONTMATTER")
        edits = [FieldEdit((field,), value) for field, value in kept.items()]
        return Translation(set_fields(bare, edits), tuple(self.notes))


def _keys(value: Value | None) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, dict) else ("",) if value else ()


def _first_line(data: bytes) -> str:
    body = _body(data)[:4_096].decode("utf-8", "replace")
    for line in body.splitlines():
        words = " ".join(line.strip().lstrip("#>-*+ ").split())
        if any(character.isalnum() for character in words):
            words = "".join(character for character in words if character.isprintable())
            return words if len(words) <= _DESCRIBED else words[: _DESCRIBED - 1].rstrip() + "…"
    return ""


def _shown(value: Value) -> str:
    if isinstance(value, list):
        text = ", ".join(map(_shown, value))
    elif isinstance(value, dict):
        text = ", ".join(f"{key}={_shown(inner)}" for key, inner in value.items())
    else:
        text = " ".join(value.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def nests_type(reader: Engine, rows: Iterable[Memory]) -> bool | None:
    """Tell whether the newest memories have their type below `metadata`; None: unknown."""
    for row in sorted(rows, key=lambda row: -row.modified_at)[:_SAMPLES]:
        try:
            found = nesting(reader.read_bytes(row.address))
        except MemtuiError:
            continue  # what cannot be read is no example
        if found is not None:
            return found
    return None


def nesting(data: bytes) -> bool | None:
    """Tell whether a memory has its type below `metadata`; None: it has none."""
    fields = frontmatter.split(data).fields
    inner = fields.get(METADATA)
    if isinstance(inner, dict) and TYPE in inner:
        return True
    return False if TYPE in fields else None


LINKS = "links"
_BREAKS = re.compile(r"[\u2028\u2029]")


class Mention(NamedTuple):
    """A memory's title and description in an index."""

    title: str = ""
    hook: str = ""


def mentions(
    text: Callable[[str], bytes], policy: Policy, wanted: Sequence[str], present: Mapping[str, object]
) -> dict[str, Mention]:
    """Return what the indexes of a root, read by `text`, and their continuation files say of some memories."""
    if policy.index_format != LINKS or policy.index_file is None:
        return {}
    found: dict[str, Mention] = {}
    chosen = frozenset(wanted)
    homes = {home_of(policy.index_file, path, present) for path in wanted} - {""}
    for here in (*homes, *sorted(path for path in present if index_of(path) in homes)):
        try:
            data = text(here)
        except MemtuiError:
            continue  # an index that is not there, or cannot be read, says nothing
        for pointer in parse_index(data, here, present):
            if pointer.path in chosen and pointer.path is not None:
                found.setdefault(pointer.path, Mention(pointer.text, pointer.hook))
    return found


def lines_added(
    reader: Engine,
    root: Root,
    items: Sequence[Transfer],
    said: Mapping[Address, Mention],
    present: Mapping[str, object],
    pending: Mapping[Address, IndexChange],
) -> list[IndexChange]:
    """Return the changes of a root's indexes for new memories.

    `said` is what the source's index says, by old address; lines are added to `pending` changes where there are some.
    """
    policy = root.policy
    if policy.index_format != LINKS or policy.index_file is None:
        return []
    homes: dict[str, list[Transfer]] = {}
    for item in items:
        if not policy.is_index(item.new.path):
            homes.setdefault(home_of(policy.index_file, item.new.path, present), []).append(item)
    homes.pop("", None)
    return [change for home in sorted(homes) for change in _changed(reader, root, home, homes[home], said, pending)]


def _changed(
    reader: Engine,
    root: Root,
    home: str,
    items: Sequence[Transfer],
    said: Mapping[Address, Mention],
    pending: Mapping[Address, IndexChange],
) -> list[IndexChange]:
    address = Address(root.id, home)
    written_along = pending.get(address)
    if written_along is not None:
        old, before, sha, _, earlier = written_along[1:]
    else:
        earlier = ()
        try:
            old = before = reader.read(address).bytes
            sha = sha256(old).hexdigest()
        except NotFoundError:
            old, before, sha = b"", b"", None
        except MemtuiError as error:
            return [IndexChange(address, b"", b"", None, "", (f"The index gets no line: {error.message}",))]
    if not is_text(before):
        notes = [*earlier, "The index gets no line: it is not UTF-8 text."]
        return [IndexChange(address, old, before, sha, "", tuple(notes))]
    after, unwritten = with_lines(before, home, root, items, said)
    notes = [*earlier, *(f"{name} gets no line: its name cannot be written there." for name in unwritten)]
    limit = root.policy.write_bytes
    if len(after) > limit:
        notes.append(f"It would be over {limit:,} bytes, so it gets no line.")
        after = before
    if after == before:
        return [IndexChange(address, old, before, sha, "", tuple(notes))] if notes else []
    notes += _below_cut(after, home, root, items)
    if paths.matches(home, root.policy.generated):
        notes.append(f"{title_of(root.agent)} makes this index anew from the memories.")
    known = {pointer.path for pointer in parse_index(before, home)}
    count = len({pointer.path for pointer in parse_index(after, home)} - known)
    what = "1 line added" if count == 1 else f"{count:,} lines added"
    return [IndexChange(address, old, after, sha, what, tuple(notes))]


def with_lines(
    data: bytes, home: str, root: Root, items: Sequence[Transfer], said: Mapping[Address, Mention]
) -> tuple[bytes, list[str]]:
    """Add a line for each memory that an index does not name yet; return it and the names that have no link."""
    pointers = parse_index(data, home, {item.new.path for item in items})
    known = {pointer.path for pointer in pointers}
    lines = spans(data)
    entries = [
        number
        for number in dict.fromkeys(pointer.line for pointer in pointers)
        if is_entry(text_of(data, lines[number]))
    ]
    style = style_of(data, lines, entries)
    at, lead, tail = place_of(data, lines, entries, style.end)
    made: list[bytes] = []
    unwritten: list[str] = []
    # All are read back at once, and only where one of them is not as meant the halves by themselves: reading the whole
    # index for each line would take the square of the time.
    batches = [[item for item in items if item.new.path not in known]]
    while batches:
        batch = batches.pop()
        fresh = [
            _line(item, home, root, style, said.get(item.old, Mention()), len(made) + number)
            for number, item in enumerate(batch)
        ]
        attempt = [lead + line + tail for line in fresh]
        there = {pointer.path for pointer in parse_index(data[:at] + b"".join([*made, *attempt]) + data[at:], home)}
        if all(fresh) and there.issuperset(item.new.path for item in batch):
            made += attempt
        elif len(batch) == 1:
            unwritten.append(batch[0].new.name)
        else:
            half = len(batch) // 2
            batches += [batch[half:], batch[:half]]
    return data[:at] + b"".join(made) + data[at:], unwritten


def _line(item: Transfer, home: str, root: Root, style: Style, said: Mention, step: int) -> bytes:
    target = written(item.new.path, home, "")
    if target is None or _BREAKS.search(item.new.path) or not is_writable(item.new.path):
        return b""
    described = frontmatter.describe(item.after)
    hook = said.hook or described.description
    line = write_entry(style, target, item.new.name, hook, limit=root.policy.pointer_chars, step=step)
    return line.encode()


def _below_cut(after: bytes, home: str, root: Root, items: Sequence[Transfer]) -> list[str]:
    """Return notes on new lines that the agent would not load."""
    cut = measure(after, root.policy).cut
    if cut is None:
        return []
    names = {item.new.path: item.new.name for item in items}
    lost = [names[one.path] for one in parse_index(after, home) if one.path in names and one.line >= cut]
    return [f"{name} is below the cut: {title_of(root.agent)} does not load that line." for name in lost]
