"""The form of a memory's front matter as values: which fields there are, what was typed, which edits follow from it.

Nothing is shown or written here. It exists so that the screen holds no rule about front matter, and so that what a
typed line of tags means is said once.
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
"""The fields of the form, in its order."""
LISTED = 200
"""Characters of a description that an index shows."""
HOLDER = "metadata"
"""The field in which some agents write further ones."""
_AROUND = 3
"""Lines of the body that a preview shows below the block."""


class FormField(NamedTuple):
    """One field of the form."""

    name: str
    path: tuple[str, ...]
    """Where it stands, or will: on the top level, or inside `metadata`."""
    value: str
    """What is there now, as it is typed: a list is `a, b, c`."""
    is_list: bool
    there: bool
    refusal: str = ""
    """Why it cannot be edited here; empty when it can."""


class Form(NamedTuple):
    """What the front matter of a text says."""

    data: bytes
    fields: tuple[FormField, ...]
    others: tuple[tuple[str, str], ...]
    """Names and values of everything else, which is kept as it is."""
    note: str
    """What the user should know before typing: that a block will be added, or that the agent reads the file whole."""
    refusal: str
    """Why nothing can be edited here; empty when it can."""
    code: str
    """Of the refusal."""
    types: tuple[str, ...]
    """Types that are known here; any text is allowed."""

    def field(self, name: str) -> FormField:
        """One of its fields."""
        return self.fields[NAMES.index(name)]


def form_of(data: bytes, root: Root | None = None, path: str = "") -> Form:
    """Read a text into a form; never raises.

    Args:
        data: the whole text.
        root: where the memory lies; None when that is not known.
        path: its path there.
    """
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
    inner = fields.get(HOLDER)
    path: tuple[str, ...] = (name,)
    found = fields.get(name)
    if name not in fields and isinstance(inner, dict) and name in inner:
        path, found = (HOLDER, name), inner[name]
    there = found is not None
    if isinstance(found, list):
        texts = [one for one in found if isinstance(one, str)]
        if len(texts) < len(found) or name != "tags":
            return FormField(name, path, _words(found), True, there, "It holds more than a list of texts.")  # noqa: FBT003
        return FormField(name, path, joined(texts), True, there)  # noqa: FBT003
    if isinstance(found, dict):
        return FormField(name, path, _words(found), False, there, "It holds further fields.")  # noqa: FBT003
    return FormField(name, path, found or "", name == "tags" and not found, there)


def _checked(data: bytes, field: FormField) -> FormField:
    """Say of a list at once why it cannot be changed, such as a comment in it."""
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
        if name == HOLDER and isinstance(value, dict):
            yield from ((f"{name}.{inner}", _words(one)) for inner, one in value.items() if (name, inner) not in paths)
        elif (name,) not in paths:
            yield name, _words(value)


def _words(value: Value) -> str:
    """A value of any kind on one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return ", ".join(f"{name}: {_words(one)}" for name, one in value.items())


# --- a list on one line


def joined(items: Iterable[str]) -> str:
    """Write a list on one line: `a, b, c`; an item that would be taken for something else gets quotes."""
    return ", ".join(map(_quoted, items))


def _quoted(item: str) -> str:
    if item and item == item.strip() and "," not in item and item[0] != '"':
        return item
    return '"' + item.replace('"', '""') + '"'


def parted(text: str) -> tuple[str, ...]:
    """Read a list from one line; empty items that are not in quotes are no items."""
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
    """Where quotes end that are followed by a comma or nothing; 0 when they do not."""
    end = at + 1
    while (end := text.find('"', end)) > 0:
        if text[end + 1 : end + 2] == '"':
            end += 2
            continue
        return end if text[end + 1 :].lstrip()[:1] in ("", ",") else 0
    return 0


# --- what follows from what was typed


def edits(form: Form, typed: Mapping[str, str]) -> tuple[FieldEdit, ...]:
    """Say which fields change; a field that is emptied goes.

    Args:
        form: what is there.
        typed: name to what is typed in it; a field that is not named stays.
    """
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
        elif parted(text) != parted(field.value) or not field.there:
            found.append(FieldEdit(field.path, parted(text)))
    return tuple(found)


def applied(form: Form, typed: Mapping[str, str]) -> bytes:
    """Make the text with what was typed; every other byte is as it was.

    Raises:
        RefusedError: as `frontmatter.edit.set_fields`.
    """
    from memtui.engine.frontmatter.edit import set_fields

    return set_fields(form.data, edits(form, typed))


class Rebased(NamedTuple):
    """What was typed, on another text."""

    typed: dict[str, str]
    clashes: tuple[str, ...]
    """Fields that both changed, to different values."""


def rebased(old: Form, typed: Mapping[str, str], new: Form) -> Rebased:
    """Take what was typed over to a text somebody else wrote meanwhile: fields only they changed follow theirs."""
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


def heads(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Cut two texts that differ in front matter only to what a preview shows: the block and a little below it."""
    first, second = split(before).body, split(after).body
    below = b"".join(after[second : second + 2_000].splitlines(keepends=True)[:_AROUND])
    return before[:first] + below, after[:second] + below
