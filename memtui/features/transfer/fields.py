"""Maps a memory's front matter to another agent's fields.

The body never changes, and every field is accounted for: what the new agent does not read is kept and named, what it
may not have is removed and named. A block that cannot be read is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter import BOM, DUPLICATE, EMPTY, NONE, OK, Value
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import FieldEdit, Root
from memtui.errors import MemtuiError, RefusedError
from memtui.features.transfer.model import ADDED, KEPT, LOST, MAPPED, SAID, Note, Translation

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
        """Put the type where the target has it, and nowhere else."""
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
