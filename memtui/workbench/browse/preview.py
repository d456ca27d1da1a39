"""Jobs that read and fold what is shown of one memory; they run in a thread and return values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import short_path
from memtui.engine.model import BROUGHT, LOCAL, REVIEWED, Address, Memory, Snapshot
from memtui.errors import NotFoundError, RefusedError
from memtui.features.actors import by, who_words
from memtui.matching import Literal
from memtui.ui.draw.pages import SHOWN_BYTES, Page, by_line, fields_page, text_page, words_page
from memtui.ui.draw.text import since, size_words
from memtui.workbench.tree.nodes import badges_of

if TYPE_CHECKING:
    from memtui.features.entries.model import Fullness
    from memtui.workbench.bridge import Engine
    from memtui.workbench.tree.nodes import Signs


class MemoryPage(NamedTuple):
    """A memory as shown."""

    address: Address
    sha256: str | None
    page: Page
    first_change: int | None = None
    places: tuple[int, ...] = ()
    held: Fullness | None = None
    """Entry count and fill level; None: it is one memory."""
    actor: str = ""
    """Who wrote it; empty while unknown."""


def preview(
    engine: Engine, memory: Memory, width: int, *, plain: bool = False, held: Literal | None = None
) -> MemoryPage:
    """Read a memory and draw it, with an `A` beside lines changed since the user looked; `held` is highlighted."""
    address = memory.address
    there = engine.roots.elsewhere.get(address.root)
    if there is not None:
        kept, said = there.kept(address), f"Its text is on {there.root.host}."
        if kept is None or kept.sha256 != memory.sha256:
            return MemoryPage(address, None, words_page(said, "enter reads and edits it here.", width=width))
        return MemoryPage(address, kept.sha256, text_page(kept.bytes, width, plain=plain))
    try:
        snapshot = engine.read(address)
    except NotFoundError:
        said = "It is not on disk." if memory.missing else "It was there a moment ago, and is gone now."
        return MemoryPage(address, None, words_page(said, "H shows its versions and can restore one.", width=width))
    except RefusedError as error:
        return MemoryPage(address, None, words_page(error.message, error.hint, style="problem", width=width))
    changed: frozenset[int] = frozenset()
    if memory.unseen:
        from memtui.diff.differences import changed_lines  # no first frame loads what compares texts

        before = _seen(engine, address)
        changed = changed_lines(before, snapshot.bytes, SHOWN_BYTES) if before is not None else frozenset()
    first = min(changed, default=None)
    if held is None or len(snapshot.bytes) > SHOWN_BYTES:
        page = text_page(snapshot.bytes, width, changed=changed, plain=plain)
        return MemoryPage(
            address, snapshot.sha256, page, first, (), held_in(engine, address, snapshot.bytes), _actor(engine, memory)
        )
    text = snapshot.bytes.decode("utf-8", "replace").removeprefix("\ufeff")
    spans = by_line(text, held.spans(text))
    page = text_page(snapshot.bytes, width, changed=changed, plain=plain, places=spans)
    places = tuple(line for line, some in spans.items() for _ in some)
    held_now = held_in(engine, address, snapshot.bytes)
    return MemoryPage(address, snapshot.sha256, page, first, places, held_now, _actor(engine, memory))


def _actor(engine: Engine, memory: Memory) -> str:
    """Return who wrote the current text; after an undo the row still names the writer of the undone change."""
    last = None if memory.unseen else next(iter(engine.history.of(memory.address)), None)
    return last.actor if last is not None and last.sha256 == memory.sha256 else memory.actor


def held_in(engine: Engine, address: Address, data: bytes) -> Fullness | None:
    """Count the entries, and the characters where the agent has a limit; None when it is one memory."""
    policy = engine.roots.find(address.root).policy
    kind, limit = policy.format_of(address.path), policy.limit_of(address.path)
    if kind is None:
        return None
    from memtui.features.entries.formats import FORMATS
    from memtui.features.entries.model import parse, usage

    return usage(parse(data, kind), limit) if kind in FORMATS else None


def _seen(engine: Engine, address: Address) -> bytes | None:
    sha256 = engine.changes.seen_version(address)
    if sha256 is None:
        return None
    try:
        return engine.history.read(address, sha256)
    except (NotFoundError, RefusedError):
        return None


class Difference(NamedTuple):
    """What changed since the user looked."""

    address: Address
    page: Page
    title: str
    sha256: str | None
    before: bytes | None


def since_seen(
    engine: Engine, memory: Memory, width: int, *, plain: bool = False, shown: Difference | None = None
) -> Difference:
    """Compare a memory with what the user saw last; while shown, with the same text as before."""
    from memtui.diff.differences import line_counts
    from memtui.ui.draw.difference import DiffStyle, difference

    address = memory.address
    before = shown.before if shown is not None and shown.address == address else _seen(engine, address)
    try:
        snapshot: Snapshot | None = engine.read(address)
    except NotFoundError:
        snapshot = None
    after = snapshot.bytes if snapshot is not None else None
    added, removed = line_counts(before or b"", after or b"", SHOWN_BYTES)
    title = f"+{added} -{removed} since you last looked" if before != after else "nothing new"
    if before is None:
        title = "new to you"
        page = text_page(after or b"", width, plain=plain)
    else:
        page = difference(before, after, DiffStyle(width, plain=plain))
    return Difference(address, page, title, snapshot.sha256 if snapshot is not None else None, before)


REVIEW = {
    LOCAL: "written here, so agents are given it",
    REVIEWED: "reviewed as it is, so agents are given it",
    BROUGHT: "waits: agents are given its path only until g a reviews exactly this version",
}
"""What agents are given of a version in a checkout."""


def info(engine: Engine, memory: Memory, signs: Signs, width: int, *, now: int, home: str | None) -> Page:
    """Draw everything known about a memory; `home` is written `~`."""
    from memtui.features.sessions.shown import counts_words  # no first frame loads what reads sessions

    root = engine.roots.find(memory.address.root)
    counts = engine.touches.counts(engine.roots.uid(root), memory.address.path)
    state = [badge.means for badge in badges_of(signs)]
    used = f"{memory.uses}x, last {since(memory.last_used_at, now)}" if memory.last_used_at else "never"
    limit = root.policy.write_bytes
    fields = [
        ("path", memory.address.path),
        ("root", f"{root.id} ({root.label})" if root.label else root.id),
        ("file", short_path(engine.roots.file_path(memory.address), home)),
        ("scope", memory.scope),
        ("agent", memory.agent),
        ("says", memory.description or "no description"),
        ("state", ", ".join(state) or "no marks"),
        ("used", used),
        ("size", f"{size_words(memory.bytes)} of {size_words(limit)}" if limit else size_words(memory.bytes)),
        ("changed", f"{since(memory.modified_at, now)}, {by(who_words(_actor(engine, memory), memory.address.root))}"),
        ("versions", f"{memory.version} kept" if memory.version else "none kept yet"),
        ("sha-256", memory.sha256 or "could not be read"),
    ]
    if counts.sessions:
        fields.append(("sessions", counts_words(counts)))
    if memory.trust:
        fields.append(("review", REVIEW[memory.trust]))
    held = _held(engine, memory)
    if held is not None:
        over = f": {held.over:,} over what the agent takes" if held.over else ""
        fields.append(("entries", f"{held.words}{over}; E lists them"))
    if root.note:
        fields.append(("note", root.note))
    if memory.problems:
        fields += [("Problems", ""), *((problem.code, problem.text) for problem in memory.problems)]
    return fields_page(fields, width)


def _held(engine: Engine, memory: Memory) -> Fullness | None:
    if engine.roots.find(memory.address.root).policy.format_of(memory.address.path) is None:
        return None
    try:
        return held_in(engine, memory.address, engine.read(memory.address).bytes)
    except (NotFoundError, RefusedError):
        return None
