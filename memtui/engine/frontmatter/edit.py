"""Editing fields: the bytes of their values or their lines are replaced, everything around them stays.

A YAML dumper would lose comments, order, quotes and line ends, so there is none: each way of writing a value is
spliced in, read back, and kept only when exactly that value changed. What cannot be edited so is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.outline import outline
from memtui.engine.frontmatter.read import BOM, EMPTY, NONE, OK, OTHER, TOO_BIG, FrontMatter, Value
from memtui.engine.frontmatter.spelling import flow_list, key, spellings
from memtui.engine.frontmatter.splices import apply, proposals
from memtui.engine.model import FieldEdit
from memtui.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def set_fields(data: bytes, edits: Iterable[FieldEdit]) -> bytes:
    """Set and remove fields; see `frontmatter.set_fields`."""
    wanted = tuple(edits)
    # What is set comes first: a block whose last field goes is taken away, and would come back in another shape.
    for edit in sorted(wanted, key=lambda edit: edit.value is None):
        data = _set(data, edit)
    return data


def _set(data: bytes, edit: FieldEdit) -> bytes:
    path, value = edit
    if not 1 <= len(path) <= 2:
        raise ValueError(f"a field lies on the first or second level, not {path!r}")
    _require_text(data, [*path, *([value] if isinstance(value, str) else value or ())])
    front = frontmatter.split(data, plain=False)
    if front.status not in (OK, EMPTY, NONE, OTHER):
        raise _refusal(front)
    if _at(front.fields, path) == _plain(value):
        return data
    too_big = False
    for attempt in _attempts(data, front, path, value):
        after = frontmatter.split(attempt, plain=False)
        if _only_that_changed(front, data, after, attempt, edit):
            return attempt
        too_big = too_big or after.status == TOO_BIG
    if too_big:
        raise RefusedError(
            f"With that value the front matter would be larger than {frontmatter.LIMIT:,} bytes.",
            code="E_FRONTMATTER_TOO_BIG",
            hint="Shorten the value, or keep the text in the body.",
            details={"limit": frontmatter.LIMIT},
        )
    raise RefusedError(
        f"The field {'.'.join(path)!r} cannot be {'set' if value is not None else 'removed'} without changing anything "
        "else.",
        code="E_FRONTMATTER",
        hint="Edit the front matter as text.",
    )


def _require_text(data: bytes, words: Iterable[str]) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The file is not UTF-8 at byte {error.start}.",
            code="E_TEXT",
            hint="Open it with an editor that knows its encoding.",
        ) from None
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        raise RefusedError(
            "The value holds half a character (a lone surrogate).", code="E_TEXT", hint="Type it again."
        ) from None


def _refusal(front: FrontMatter) -> RefusedError:
    problem = front.problem
    code = problem.code if problem and problem.code.startswith("E_") else "E_FRONTMATTER"
    return RefusedError(
        problem.text if problem else "The front matter cannot be read.",
        code=code,
        hint="Correct the front matter as text, then set the field.",
    )


# --- what counts as exactly the wanted change


def _plain(value: str | tuple[str, ...] | None) -> Value | None:
    return list(value) if isinstance(value, tuple) else value


def _at(fields: dict[str, Value], path: tuple[str, ...]) -> Value | None:
    found: Value | None = fields.get(path[0])
    if len(path) > 1:
        return found.get(path[1]) if isinstance(found, dict) else None
    return found


def _others(fields: dict[str, Value], path: tuple[str, ...]) -> list[tuple[object, ...]]:
    """Everything but one field, in order; of the field it lies in, what else is there."""
    others: list[tuple[object, ...]] = [(name, kept) for name, kept in fields.items() if name != path[0]]
    outer = fields.get(path[0])
    if len(path) > 1 and isinstance(outer, dict):
        others += [(*path[:1], name, kept) for name, kept in outer.items() if name != path[1]]
    return others


def _only_that_changed(before: FrontMatter, old: bytes, after: FrontMatter, new: bytes, edit: FieldEdit) -> bool:
    path, value = edit
    others = _others(before.fields, path)
    return (
        after.status in ((OK,) if others or value is not None else (NONE, EMPTY))
        and _at(after.fields, path) == _plain(value)
        and (value is not None or len(path) == 1 or path[0] not in after.fields or bool(after.fields[path[0]]))
        and others == _others(after.fields, path)
        and new[after.body :] == old[before.body :]
    )


# --- ways to do it


def _attempts(
    data: bytes, front: FrontMatter, path: tuple[str, ...], value: str | tuple[str, ...] | None
) -> Iterator[bytes]:
    """Every way to write it, the most natural first."""
    newline = _newline(data)
    if front.status in (NONE, OTHER):
        if value is not None:
            yield from _new_blocks(data, path, value, newline)
        return
    text = data[front.start : front.end].decode()
    for proposal in proposals(text, outline(text), path, value, newline):
        block = apply(text, proposal)
        if value is None and not block.strip():
            mark = BOM if data.startswith(BOM) else b""
            yield mark + data[front.body :]
        yield data[: front.start] + block.encode() + data[front.end :]


def _new_blocks(data: bytes, path: tuple[str, ...], value: str | tuple[str, ...], newline: str) -> Iterator[bytes]:
    mark = BOM if data.startswith(BOM) else b""
    above = ["---", *(f"{key(name)}:" for name in path[:-1])]
    lead = "  " * (len(path) - 1) + key(path[-1])
    for written in spellings(value) if isinstance(value, str) else (flow_list(value),):
        block = newline.join((*above, f"{lead}: {written}", "---", ""))
        yield mark + block.encode() + data[len(mark) :]


def _newline(data: bytes) -> str:
    at = data.find(b"\n")
    return "\r\n" if at > 0 and data[at - 1 : at] == b"\r" else "\n"
