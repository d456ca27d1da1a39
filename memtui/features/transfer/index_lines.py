"""The lines an index gets for memories that come into its root, in its own style.

Lines removed at the source are in `pointers.references`; both are written in the same step of undo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import Address, Policy, Root
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.transfer.model import IndexChange, Transfer
from memtui.pointers.cutline import measure
from memtui.pointers.index import parse
from memtui.pointers.lines import Style, home_of, is_entry, is_text, place_of, spans, style_of, text_of, write_entry
from memtui.pointers.rest import index_of
from memtui.pointers.targets import is_writable, written

if TYPE_CHECKING:
    from memtui.engine import Engine


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
        for pointer in parse(data, here, present):
            if pointer.path in chosen and pointer.path is not None:
                found.setdefault(pointer.path, Mention(pointer.text, pointer.hook))
    return found


def added(
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
    return [change for home in sorted(homes) for change in _one(reader, root, home, homes[home], said, pending)]


def _one(
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
    notes += _below(after, home, root, items)
    if paths.matches(home, root.policy.generated):
        notes.append(f"{title_of(root.agent)} makes this index anew from the memories.")
    known = {pointer.path for pointer in parse(before, home)}
    count = len({pointer.path for pointer in parse(after, home)} - known)
    what = "1 line added" if count == 1 else f"{count:,} lines added"
    return [IndexChange(address, old, after, sha, what, tuple(notes))]


def with_lines(
    data: bytes, home: str, root: Root, items: Sequence[Transfer], said: Mapping[Address, Mention]
) -> tuple[bytes, list[str]]:
    """Add a line for each memory that an index does not name yet; return it and the names that have no link."""
    pointers = parse(data, home, {item.new.path for item in items})
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
        there = {pointer.path for pointer in parse(data[:at] + b"".join([*made, *attempt]) + data[at:], home)}
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


def _below(after: bytes, home: str, root: Root, items: Sequence[Transfer]) -> list[str]:
    """Return notes on new lines that the agent would not load."""
    cut = measure(after, root.policy).cut
    if cut is None:
        return []
    names = {item.new.path: item.new.name for item in items}
    lost = [names[one.path] for one in parse(after, home) if one.path in names and one.line >= cut]
    return [f"{name} is below the cut: {title_of(root.agent)} does not load that line." for name in lost]
