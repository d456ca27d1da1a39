"""Updates of pointers, links and references after memories are renamed or removed, in the same undo step.

The rename or removal is done first and stands even if a reference cannot be updated; the files left with an outdated
reference are named.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import paths
from memtui.engine.frontmatter import BOM
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import (
    TYPES,
    Actor,
    Address,
    Conflict,
    Done,
    FieldEdit,
    Outcome,
    Restoring,
    Root,
    Saved,
    Unchanged,
    Write,
)
from memtui.engine.policy import ARCHIVE
from memtui.errors import MemtuiError, RefusedError
from memtui.pointers.lines import index_of
from memtui.pointers.links import may_link, without_ending
from memtui.pointers.rewrite import Rewritten, bring_back, rewrite

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.look.library import FolderItems as FolderItems


MOST_FILES, MOST_BYTES = 500, 8 * 1024 * 1024
"""Limits on the memories of a root that are searched besides its indexes, nearest first."""
_FEW = 50
"""Number of names up to which a text is searched for them before it is parsed as Markdown."""
_TRIES = 3
_CHANGED = "it was changed meanwhile"
_BREAKS = re.compile(r"[\s_-]+")
"""Separators between the words of a name."""
_NO_TEXT = ("E_NOT_FOUND", "E_ROOT_MISSING", "E_NOT_REGULAR", "E_SYMLINK", "E_TOO_BIG")
"""Error codes that mean there is nothing to read; other errors are reported."""


class OutdatedMemory(NamedTuple):
    """A memory that still has outdated references, or a memory or root that could not be read."""

    address: Address
    """A whole root where the path is empty."""
    links: int
    """0 when it could not be read."""
    why: str


class UpdatedMemory(NamedTuple):
    """A memory whose references were updated."""

    address: Address
    links: int
    name: str = ""
    """The new `name` of its front matter, when that followed the file's name."""


class ReferencePlan(NamedTuple):
    """Reference updates planned before a rename or removal."""

    steps: tuple[Write, ...]
    """For `Engine.together`, to be placed after the renames and removals."""
    carried: tuple[UpdatedMemory, ...]
    left: tuple[OutdatedMemory, ...]
    unread: int = 0

    @property
    def also(self) -> str:
        """Summary of what was updated, for example `2 links updated`; empty for nothing."""
        count, names = sum(one.links for one in self.carried), [one.name for one in self.carried if one.name]
        parts = [f"{count} link{'s' * (count != 1)} updated"] if count else []
        if names:
            parts.append(f"name: is {names[0]} now" if len(names) == 1 else f"{len(names)} fields name: follow")
        return ", ".join(parts)

    @property
    def rest(self) -> str:
        """Summary of what was not updated, in one or two sentences; empty for nothing."""
        words = _left_words(self.left)
        if self.unread:
            many = self.unread > 1
            words.append(
                f"{self.unread:,} more {'memories were' if many else 'memory was'} not searched for links to it."
            )
        return " ".join(words)


class _Task(NamedTuple):
    """The renamed and removed memories of one root, and the memories around them."""

    root: Root
    changed: dict[str, str | None]
    """Old paths to new ones; None for a memory that left the root."""
    present: dict[str, int]
    """Sizes of the memories there are now."""
    olds: dict[str, str]
    """After the renames: new paths to old ones."""
    known: frozenset[str]
    """All paths before the change."""

    def before(self, path: str) -> str:
        return self.olds.get(path, path)

    def to(self, path: str) -> str:
        return self.changed.get(path) or path


def plan(reader: Engine, renames: Iterable[tuple[Address, Address]], removals: Iterable[Address] = ()) -> ReferencePlan:
    """Plan the reference updates of renames and removals before they are done, without writing."""
    steps: list[Write] = []
    carried: list[UpdatedMemory] = []
    left: list[OutdatedMemory] = []
    unread = 0
    for task in _tasks(reader, renames, removals, (), left, after=False):
        chosen, skipped = _chosen(task)
        unread += skipped
        for path in chosen:
            address = Address(task.root.id, task.to(path))
            text = _read(reader, task, path)
            if not isinstance(text, tuple):
                left += text
                continue
            data, sha = text
            found = _rewritten(task, path, data)
            why = _untouchable(task.root, path) if found.carried else ""
            if found.carried and not why:
                steps.append(Write(address, found.data, sha))
                carried.append(UpdatedMemory(address, found.carried))
            left += _left(address, found, why)
    return ReferencePlan(tuple(steps), tuple(carried), tuple(left), unread)


def update(engine: Engine, done: Done, *, actor: Actor, folders: Iterable[tuple[Address, Address]] = ()) -> Done:
    """Update all references to memories renamed or trashed, in the undo step of `done`; fill in `also` and `left`."""
    good = [outcome for outcome in done.outcomes if outcome.ok]
    renames = [(one.address, one.new_address) for one in good if one.new_address is not None]
    removals = [one.address for one in good if one.new_address is None]
    carried: list[UpdatedMemory] = []
    left: list[OutdatedMemory] = []
    unread = 0
    for task in _tasks(engine, renames, removals, folders, left, after=True):
        chosen, skipped = _chosen(task)
        unread += skipped
        for path in chosen:
            followed, rest = _update_in(engine, task, path, done, actor)
            carried += followed
            left += rest
    what = ReferencePlan((), tuple(carried), tuple(left), unread)
    return done._replace(also=what.also, left=" ".join(part for part in (done.left, what.rest) if part))


def rename(
    engine: Engine,
    pairs: Sequence[tuple[Address, Address]],
    *,
    actor: Actor,
    folders: Iterable[tuple[Address, Address]] = (),
) -> Done:
    """Rename memories or one folder of them and update all references; raises when a single rename fails."""
    done = rename_alone(engine, pairs, actor=actor)
    memories = {outcome.address for outcome in done.outcomes}
    whole = (*folders, *(pair for pair in pairs if pair[0] not in memories))
    return update(engine, done, actor=actor, folders=whole)


def rename_alone(engine: Engine, pairs: Sequence[tuple[Address, Address]], *, actor: Actor) -> Done:
    """Rename memories or one folder of them without updating references."""
    if len(pairs) == 1:
        return engine.memories.rename(*pairs[0], actor=actor)
    return engine.memories.move(pairs, actor=actor)


def trash(
    engine: Engine, addresses: Iterable[Address], *, actor: Actor, expected: Mapping[Address, str | None] | None = None
) -> Done:
    """Move memories to the trash and remove their index entries."""
    return update(engine, engine.memories.delete(addresses, actor=actor, expected=expected), actor=actor)


def archive(engine: Engine, addresses: Iterable[Address], *, actor: Actor) -> Done:
    """Move memories to `archive/` of memtui's own root and remove their index entries.

    Those that are not global go to the workspace's root, which no checkout holds: tidying up never publishes a note.
    """
    pairs = []
    for address in addresses:
        root = engine.roots.find(address.root)
        home = engine.roots.find("memtui:global" if root.scope == "global" else "memtui:workspace")
        below = address.path if root.id == home.id else f"{root.agent}/{address.path}"
        pairs.append((address, Address(home.id, f"{ARCHIVE}{below}")))
    return rename(engine, pairs, actor=actor)


def _update_in(
    engine: Engine, task: _Task, path: str, done: Done, actor: Actor
) -> tuple[list[UpdatedMemory], list[OutdatedMemory]]:
    """Rewrite one memory from its current text; return what was updated in it and what is left."""
    address = Address(task.root.id, path)
    found, why = Rewritten(b""), ""
    for _ in range(_TRIES):
        text = _read(engine, task, path)
        if not isinstance(text, tuple):
            return [], text
        data, sha = text
        found = _rewritten(task, task.before(path), data)
        after, name = renamed(found.data, task.before(path), path)
        if not found.carried and not name:
            return [], _left(address, found, "")
        why = _joined(engine, task.root, Write(address, after, sha), done, actor)
        if not why:
            return [UpdatedMemory(address, found.carried, name)], _left(address, found, "")
        if why != _CHANGED:
            break
    return [], _left(address, found, why)


def _joined(engine: Engine, root: Root, step: Write, done: Done, actor: Actor) -> str:
    """Write in the undo step of `done`; return why not, empty when it was written."""
    why = _untouchable(root, step.address.path)
    if why:
        return why
    try:
        written = engine.together.do((step,), actor=actor, label=done.label, joins=done.txn)
    except MemtuiError as error:
        return _reason(error)
    return _CHANGED if isinstance(written.outcomes[0].result, Conflict) else ""


def renamed(data: bytes, old: str, new: str) -> tuple[bytes, str]:
    """Let `name` in front matter follow the file's name where it says the same words, keeping their spelling.

    Returns the text and the new name, which is empty where the name says something else or cannot be edited.
    """
    if old.rpartition("/")[2] == new.rpartition("/")[2] or not data.startswith((b"---", BOM)):
        return data, ""
    found = frontmatter.split(data).fields.get("name")
    before, after = (posixpath.splitext(path.rpartition("/")[2])[0] for path in (old, new))
    if not isinstance(found, str) or not found:
        return data, ""
    was, now, said = (_BREAKS.split(text) for text in (before.casefold(), after, found.casefold()))
    if was[0] in TYPES and said == was[1:]:
        was, now = was[1:], now[1:] if now[0] in TYPES and now[1:] else now
    if said != was:
        return data, ""
    sign = _BREAKS.search(found)
    text = after if found == before else (sign[0] if sign else " " if found[:1].isupper() else "-").join(now)
    text = text[:1].upper() + text[1:] if found[:1].isupper() else text
    try:
        return set_fields(data, [FieldEdit(("name",), text)]), text
    except RefusedError:
        return data, ""  # its lines are written in a way that cannot be changed without changing more


def _tasks(
    reader: Engine,
    renames: Iterable[tuple[Address, Address]],
    removals: Iterable[Address],
    folders: Iterable[tuple[Address, Address]],
    left: list[OutdatedMemory],
    *,
    after: bool,
) -> list[_Task]:
    changed: dict[str, dict[str, str | None]] = {}
    for old, new in renames:
        changed.setdefault(old.root, {})[old.path] = new.path if new.root == old.root else None
    for old in removals:
        changed.setdefault(old.root, {})[old.path] = None
    for old, new in folders:
        if old.root == new.root and old.root in changed:
            changed[old.root][old.path + "/"] = new.path + "/"
    found = []
    for root_id, one in changed.items():
        root = reader.roots.find(root_id)
        try:
            items = reader.folders.items(root.id, depth=paths.MAX_COMPONENTS, sizes=True).items
        except MemtuiError as error:
            left += _unread(Address(root.id, ""), error)
            continue
        gone = () if after else {path for path, new in one.items() if new is None}
        present = {
            item.path: item.bytes for item in items if item.kind == "memory" and item.shown and item.path not in gone
        }
        olds = {new: old for old, new in one.items() if new is not None} if after else {}
        known = frozenset(olds.get(path, path) for path in present) | one.keys()
        found.append(_Task(root, one, present, olds, known))
    return found


def _chosen(task: _Task) -> tuple[list[str], int]:
    """Return the memories to search, indexes and near ones first, and the number left out."""
    folders = {path.rpartition("/")[0] for path in task.changed}
    moved = task.olds.keys() | task.changed.keys()

    def order(path: str) -> tuple[bool, bool, bool, str]:
        index = is_index(task.root, path)
        return not index, path not in moved, path.rpartition("/")[0] not in folders, path

    chosen: list[str] = []
    room = MOST_BYTES
    for path in sorted(task.present, key=order):
        first = is_index(task.root, path) or path in moved
        if not first and (len(chosen) >= MOST_FILES or task.present[path] > room):
            continue
        room -= task.present[path]
        chosen.append(path)
    return chosen, len(task.present) - len(chosen)


def is_index(root: Root, path: str) -> bool:
    """Return whether a memory is an index of links as the root's layout has them, or the overflow file of one."""
    policy = root.policy
    name = (policy.index_file or "").rpartition("/")[2]
    return policy.index_format == "links" and bool(name) and (index_of(path) or path).rpartition("/")[2] == name


def _read(reader: Engine, task: _Task, path: str) -> tuple[bytes, str] | list[OutdatedMemory]:
    address = Address(task.root.id, path)
    old = task.before(path)
    try:
        data = reader.read_bytes(address)
        stays = task.to(old) == old
        if (stays or renamed(data, old, path)[0] == data) and not may_link(data):
            return []
        if stays and not _may_name(data, task.changed):
            return []
        snapshot = reader.read(address)
    except MemtuiError as error:
        return _unread(address, error)
    return snapshot.bytes, snapshot.sha256


def _unread(address: Address, error: MemtuiError) -> list[OutdatedMemory]:
    return [] if error.code in _NO_TEXT else [OutdatedMemory(address, 0, _reason(error))]


def _reason(error: MemtuiError) -> str:
    return f"{error.code}: {error.message.rstrip('.')}"


def _rewritten(task: _Task, path: str, data: bytes) -> Rewritten:
    to = task.to(path)
    names = "global/" if task.root.agent == "serena" and task.root.scope == "global" else ""
    return rewrite(data, path, task.changed, to=to, index=is_index(task.root, path), known=task.known, names=names)


def _may_name(data: bytes, changed: Mapping[str, str | None]) -> bool:
    if len(changed) > _FEW or b"%" in data or b"\\" in data:
        return True
    names = (without_ending(path.rstrip("/").rpartition("/")[2]) for path in changed)
    return any(name.encode("utf-8", "surrogateescape") in data for name in names)


def _untouchable(root: Root, path: str) -> str:
    if paths.matches(path, root.policy.generated):
        return f"{root.agent} generates it"
    if paths.matches(path, root.policy.protected):
        return f"{root.agent} protects it"
    return ""


def _left(address: Address, found: Rewritten, why: str) -> list[OutdatedMemory]:
    left = []
    if why:
        left.append(OutdatedMemory(address, found.carried, why))
    if found.left:
        left.append(OutdatedMemory(address, len(found.left), "in its text, which is yours to change"))
    return left


def _left_words(left: tuple[OutdatedMemory, ...]) -> list[str]:
    naming, unread = [one for one in left if one.links], [one for one in left if not one.links]
    sentences = (("Still named in", naming), ("Not searched for links to it:", unread))
    return [f"{start} {_names(some)}." for start, some in sentences if some]


def _names(left: list[OutdatedMemory]) -> str:
    shown = [f"{one.address.path or one.address.root} ({one.why})" for one in left[:3]]
    return ", ".join(shown) + (f" and {len(left) - 3} more" if len(left) > 3 else "")


# --- what is restored

_RECORDS = 1_000
"""Number of last records of a deletion to search; those of indexes follow those of memories."""


class Restored(NamedTuple):
    """A restored memory and the outcome for its index entries."""

    result: Saved | Unchanged | Conflict
    also: str = ""
    left: str = ""


class _Lost(NamedTuple):
    """A version of an index that still had the entries."""

    home: Address
    seq: int
    sha: str


def restore(engine: Engine, address: Address, *, version: str | None, actor: Actor) -> Restored:
    """Restore a deleted memory with its index entries, or write an old version under its name."""
    gone = next((entry for entry in engine.undo.trash.entries(taken=False) if entry.address == address), None)
    result = engine.memories.restore(address, version=version, actor=actor)
    if gone is None or not isinstance(result, Saved) or result.before is not None:
        return Restored(result)
    done = Done(result.txn, "restore", (Outcome(address, result),), f"restore {address}")
    done = _entries(engine, done, {address: gone.txn}, actor)
    return Restored(result, done.also, done.left)


def restore_all(engine: Engine, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
    """Restore deleted memories with their index entries, as one undo step; see `Done.also` and `Done.left`."""
    chosen = tuple(wanted)
    deleted = {(entry.address, entry.sha256): entry.txn for entry in engine.undo.trash.entries(taken=True)}
    txns = {one.address: deleted.get((one.address, one.sha256), "") for one in chosen}
    return _entries(engine, engine.undo.trash.restore(chosen, actor=actor), txns, actor)


def _entries(engine: Engine, done: Done, txns: Mapping[Address, str], actor: Actor) -> Done:
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in done.outcomes:
        new = outcome.new_address or outcome.address
        txn = txns[outcome.address]
        if isinstance(outcome.result, Saved) and txn and new.root == outcome.address.root:
            groups.setdefault((txn, new.root), {})[outcome.address.path] = new.path
    named = 0
    left: list[str] = []
    for (txn, root), back in groups.items():
        for lost in _lost(engine, txn, root):
            count, why = _put_back(engine, lost, back, done, actor)
            named += count
            if why:
                left.append(f"{_lines(back, count)} in {lost.home.path} did not come back: {why}.")
    also = f"{named} pointer{'s' * (named != 1)} brought back" if named else ""
    return done._replace(also=also, left=" ".join(part for part in (done.left, *left) if part))


def _lost(engine: Engine, txn: str, root_id: str) -> list[_Lost]:
    root = engine.roots.find(root_id)
    return [
        _Lost(record.address, record.seq, record.before)
        for record in engine.history.audit(txn=txn, limit=_RECORDS)
        if record.state == "done"
        and record.address.root == root.id
        and record.new_address is None
        and record.before is not None
        and record.after is not None
        and is_index(root, record.address.path)
    ]


def _put_back(engine: Engine, lost: _Lost, back: Mapping[str, str], done: Done, actor: Actor) -> tuple[int, str]:
    """Rewrite one index from its current text; return how many memories it names again, and why not the others."""
    root = engine.roots.find(lost.home.root)
    try:
        before = engine.history.read_audited(lost.seq, lost.sha)
    except MemtuiError as error:
        return 0, _reason(error)
    why = ""
    for _ in range(_TRIES):
        try:
            now = engine.read(lost.home)
        except MemtuiError as error:
            return 0, "" if error.code in _NO_TEXT else _reason(error)
        found = bring_back(before, now.bytes, lost.home.path, back)
        rest = "it also named other memories, or stands in a comment now" if found.left else ""
        if not found.named:
            return 0, rest
        why = _joined(engine, root, Write(lost.home, found.data, now.sha256), done, actor)
        if not why:
            return found.named, rest
        if why != _CHANGED:
            break
    return 0, why


def _lines(back: Mapping[str, str], count: int) -> str:
    if len(back) == 1:
        return f"The line for {next(iter(back.values()))}"
    return f"{'Some of the' if count else 'The'} lines for {len(back)} memories"
