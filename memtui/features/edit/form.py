"""The front matter of a memory as a form: its fields, what was typed, and the edits that follow.

Shows and writes nothing, so that the screen holds no rule about front matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.disk.paths import Patterns
from memtui.engine.frontmatter import DUPLICATE, EMPTY, NONE, OK, OTHER, Value
from memtui.engine.frontmatter.read import FrontMatter, split
from memtui.engine.model import FieldEdit, Root
from memtui.errors import RefusedError

NAMES = ("name", "description", "type", "tags")
LISTED = 200
"""Characters of a description that an index shows."""
NESTED_IN = "metadata"
"""Field in which some agents nest further ones."""
_AROUND = 3


class FormField(NamedTuple):
    """One field."""

    name: str
    path: tuple[str, ...]
    """Where it stands: on the top level, or inside `metadata`."""
    value: str
    """Its value as it is typed: a list is `a, b, c`."""
    is_list: bool
    there: bool
    refusal: str = ""


class Form(NamedTuple):
    """The front matter of a text."""

    data: bytes
    fields: tuple[FormField, ...]
    others: tuple[tuple[str, str], ...]
    """Names and values of all other fields, which are kept."""
    note: str
    """What the user should know before typing."""
    refusal: str
    code: str
    types: tuple[str, ...]
    """Known types; any text is allowed."""


def form_of(data: bytes, root: Root | None = None, path: str = "") -> Form:
    """Read a text into a form; never raises. `path` is the memory's path in `root`, where that is known."""
    front = split(data, plain=False)
    refusal, code = _refusal(data, front)
    fields = tuple(_field(front.fields, name) for name in NAMES)
    fields = tuple(field if refusal else _checked(data, field) for field in fields)
    types = root.policy.types if root is not None else ()
    note = "" if refusal else _note(front, root, path)
    return Form(data, fields, tuple(_others(front.fields, fields)), note, refusal, code, types)


def _refusal(data: bytes, front: FrontMatter) -> tuple[str, str]:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"The file is not UTF-8 at byte {error.start}.", "E_TEXT"
    if front.status in (OK, EMPTY, NONE, OTHER):
        return "", ""
    problem = front.problem
    code = problem.code if problem is not None and problem.code.startswith("E_") else "E_FRONTMATTER"
    text = problem.text if problem is not None else "The front matter cannot be read."
    if front.status == DUPLICATE:
        text += " Which one is meant cannot be told."
    return text, code


def _note(front: FrontMatter, root: Root | None, path: str) -> str:
    notes = []
    if front.status == NONE:
        notes.append("There is no front matter yet: it will be added above the text.")
    elif front.status == OTHER and front.problem is not None:
        notes.append(f"{front.problem.text} Front matter will be added above it.")
    if root is not None and Patterns(root.policy.whole).match(path):
        notes.append(f"{root.agent} reads this file whole, so front matter in it becomes part of what it is told.")
    if root is not None and Patterns(root.policy.generated).match(path):
        notes.append(f"{root.agent} regenerates this file, so an edit will be overwritten.")
    return " ".join(notes)


def _field(fields: Mapping[str, Value], name: str) -> FormField:
    inner = fields.get(NESTED_IN)
    path: tuple[str, ...] = (name,)
    found = fields.get(name)
    if name not in fields and isinstance(inner, dict) and name in inner:
        path, found = (NESTED_IN, name), inner[name]
    field = FormField(name, path, _words(found or ""), is_list=isinstance(found, list), there=found is not None)
    if isinstance(found, list):
        texts = [item for item in found if isinstance(item, str)]
        if len(texts) < len(found) or name != "tags":
            return field._replace(refusal="It holds more than a list of texts.")
        return field._replace(value=join_list(texts))
    if isinstance(found, dict):
        return field._replace(refusal="It holds further fields.")
    return field._replace(is_list=name == "tags" and not found)


def _checked(data: bytes, field: FormField) -> FormField:
    """Test a list for what makes it uneditable, such as a comment in it."""
    from memtui.engine.frontmatter.edit import set_fields

    if field.is_list and field.there and not field.refusal:
        try:
            set_fields(data, [FieldEdit(field.path, ())])
        except RefusedError as error:
            return field._replace(refusal=error.message)
    return field


def _others(fields: Mapping[str, Value], shown: Iterable[FormField]) -> Iterable[tuple[str, str]]:
    paths = {field.path for field in shown if field.there}
    for name, value in fields.items():
        if name == NESTED_IN and isinstance(value, dict):
            yield from ((f"{name}.{inner}", _words(one)) for inner, one in value.items() if (name, inner) not in paths)
        elif (name,) not in paths:
            yield name, _words(value)


def _words(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return ", ".join(f"{name}: {_words(one)}" for name, one in value.items())


# --- a list on one line


def join_list(items: Iterable[str]) -> str:
    """Write a list on one line: `a, b, c`; an ambiguous item is quoted."""
    return ", ".join(map(_quoted, items))


def _quoted(item: str) -> str:
    if item and item == item.strip() and "," not in item and item[0] != '"':
        return item
    return '"' + item.replace('"', '""') + '"'


def split_list(text: str) -> tuple[str, ...]:
    """Read a list from one line, without empty unquoted items."""
    items: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ",":
            at += 1
        elif text[at] == '"' and (end := _closing(text, at)):
            items.append(text[at + 1 : end].replace('""', '"'))
            at = end + 1
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            items.append(text[at:end].strip())
            at = end
    return tuple(items)


def _closing(text: str, at: int) -> int:
    """Return where quotes end that are followed by a comma or nothing; else 0."""
    end = at + 1
    while (end := text.find('"', end)) > 0:
        if text[end + 1 : end + 2] == '"':
            end += 2
            continue
        return end if text[end + 1 :].lstrip()[:1] in ("", ",") else 0
    return 0


# --- what follows from what was typed


def edits(form: Form, typed: Mapping[str, str]) -> tuple[FieldEdit, ...]:
    """Return the edits that typed fields make; an emptied field is removed, a missing one stays."""
    found = []
    for field in form.fields:
        text = typed.get(field.name, field.value)
        if text == field.value or field.refusal:
            continue
        if not text.strip():
            if field.there:
                found.append(FieldEdit(field.path, None))
        elif not field.is_list:
            found.append(FieldEdit(field.path, text.strip()))
        elif split_list(text) != split_list(field.value) or not field.there:
            found.append(FieldEdit(field.path, split_list(text)))
    return tuple(found)


def apply_edits(form: Form, typed: Mapping[str, str]) -> bytes:
    """Apply what was typed to the text and change no other byte; raises as `set_fields`."""
    from memtui.engine.frontmatter.edit import set_fields

    return set_fields(form.data, edits(form, typed))


class Rebased(NamedTuple):
    """Typed fields carried over to a newer text."""

    typed: dict[str, str]
    clashes: tuple[str, ...]
    """Fields that both sides changed to different values."""


def rebased(old: Form, typed: Mapping[str, str], new: Form) -> Rebased:
    """Carry typed fields over to a newer text of somebody else; fields only they changed follow theirs."""
    after: dict[str, str] = {}
    clashes = []
    for was, now in zip(old.fields, new.fields, strict=True):
        mine = typed.get(was.name, was.value)
        if mine == was.value or mine == now.value:
            after[was.name] = now.value
            continue
        after[was.name] = mine
        if now.value != was.value:
            clashes.append(was.name)
    return Rebased(after, tuple(clashes))


def preview_parts(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Cut two texts to what a preview shows: the front matter and a few lines below it."""
    first, second = split(before).body, split(after).body
    below = b"".join(after[second : second + 2_000].splitlines(keepends=True)[:_AROUND])
    return before[:first] + below, after[:second] + below
