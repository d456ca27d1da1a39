"""The time line of one memory: its versions, draft and deletions, drawn as rows and as texts.

Apart from the view so that redacted, binary, huge and lost versions have tests without a screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.differences import why_not_text
from memtui.engine.model import Address, AuditRecord, Draft, Version, is_person
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.actors import by, origin_words, origins, who_words
from memtui.safe_text import one_line, visible
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page
from memtui.ui.draw.text import SHORT, RowStyle, Run, ago, both, fit, full, size_words, stamp

if TYPE_CHECKING:
    from memtui.engine import Engine

VERSION, DRAFT, DISK, GONE = "version", "draft", "disk", "gone"
"""Kinds of rows: a text in history; an unsaved text; a text on disk that is not in history yet; a deletion."""

OPERATIONS = {"created": "created", "modified": "changed", "renamed": "renamed", "restored": "restored"}
WIDE, NARROW = 84, 70
MOST_NAMES = 20
MOST_RECORDS = 1_000


class TimelineEntry(NamedTuple):
    """One row."""

    kind: str
    at: int
    actor: str
    operation: str
    size: int = 0
    change: int | None = None
    sha256: str | None = None
    number: int = 0
    """From 1, the oldest that is kept."""
    note: str = ""
    redacted: bool = False
    current: bool = False
    seen: bool = False
    was: str = ""
    """Of a rename, the name before."""
    who: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Identity across reloads."""
        return self.kind, self.at, self.operation, self.sha256, self.note

    @property
    def aside(self) -> bool:
        """Whether its text was set aside: a draft, a refused text, a late write."""
        return self.kind == DRAFT or bool(self.note)

    @property
    def title(self) -> str:
        """Name in a sentence."""
        return {DRAFT: "your draft", DISK: "the file on disk", GONE: "the deletion"}.get(
            self.kind, f"version {self.number}"
        )


class Timeline(NamedTuple):
    """The past of one memory."""

    address: Address
    entries: tuple[TimelineEntry, ...]
    current: str | None
    """The version on disk; None when there is no file."""
    problem: str = ""
    asked: Address | None = None
    """The name it was asked for, when it has another one now."""


class TimelineSources(NamedTuple):
    """What a time line is made of."""

    versions: Sequence[Version] = ()
    records: Sequence[AuditRecord] = ()
    """Audit records of the memory, newest first."""
    current: str | None = None
    size: int = 0
    modified_at: int = 0
    seen: str | None = None
    asked: tuple[tuple[str, str], ...] = ()
    """Version and who asked for it, where a gateway said so."""
    draft: Draft | None = None


def time_line(address: Address, facts: TimelineSources) -> tuple[TimelineEntry, ...]:
    """Put everything in order, newest first."""
    entries = _versions(facts)
    if facts.current is not None and all(one.sha256 != facts.current for one in entries):
        at, size = facts.modified_at, facts.size
        entries.insert(0, TimelineEntry(DISK, at, "outside", "on disk", size, sha256=facts.current, current=True))
    for record in facts.records:
        deleted = record.before is not None and record.after is None and record.new_address is None
        if deleted and record.address == address and record.state == "done":
            at = next((index for index, one in enumerate(entries) if one.at <= record.at), len(entries))
            entries.insert(at, TimelineEntry(GONE, record.at, record.actor, "deleted", sha256=record.before))
    if facts.draft is not None:
        size = len(facts.draft.text.encode("utf-8", "surrogatepass"))
        change = size - facts.size
        entries.insert(0, TimelineEntry(DRAFT, facts.draft.at, "tui", "draft", size, change, note="not saved yet"))
    asked = dict(facts.asked)
    return tuple(one._replace(who=asked.get(one.sha256 or "") or who_words(one.actor, address.root)) for one in entries)


def _versions(facts: TimelineSources) -> list[TimelineEntry]:
    count = len(facts.versions)
    current = _place(facts.versions, facts.current)
    seen = _place(facts.versions, facts.seen)
    found = []
    for index, version in enumerate(facts.versions):
        before = facts.versions[index + 1] if index + 1 < count else None
        renamed = version.operation == "renamed"  # its note is the name before
        entry = TimelineEntry(
            VERSION,
            version.at,
            version.actor,
            version.operation,
            version.bytes,
            version.bytes - before.bytes if before is not None else None,
            version.sha256,
            count - index,
            "" if renamed else version.note,
            version.redacted,
            index == current,
            index == seen,
            version.note if renamed else "",
        )
        found.append(entry)
    return found


def _place(versions: Sequence[Version], sha256: str | None) -> int:
    """Return the newest version with this text that was under the name."""
    places = [index for index, version in enumerate(versions) if version.sha256 == sha256]
    plain = [index for index in places if not versions[index].note or versions[index].operation == "renamed"]
    return (plain or places or [-1])[0]


def before(entries: Sequence[TimelineEntry], index: int) -> TimelineEntry | None:
    """Return the default text to compare a row with: the newest older one that was under the name."""
    older = [one for one in entries[index + 1 :] if one.kind in (VERSION, DISK)]
    if entries[index].kind == DRAFT:
        return next((one for one in older if one.current), None)
    return next((one for one in older if not one.note), older[0] if older else None)


def change_words(change: int | None) -> str:
    """Say a change of size in at most seven cells: `+120 B`, `-2.1 kB`, `=`."""
    if change is None:
        return ""
    if change == 0:
        return "="
    return ("+" if change > 0 else "-") + size_words(abs(change)).replace(" ", "")


def notes(entry: TimelineEntry) -> str:
    """Say what is special about a row, the most important first."""
    words = [word for word, on in (("current", entry.current), ("seen", entry.seen)) if on]
    words += ["redacted"] if entry.redacted else []
    words += [entry.note] if entry.note else []
    words += [f"was {visible(entry.was)}"] if entry.was else []
    return ", ".join(words)


def entry_runs(entry: TimelineEntry, width: int, look: RowStyle, *, marked: bool) -> list[Run]:
    """Draw a row, without the cursor."""
    plain = look.ascii
    mine = is_person(entry.actor)
    wide = width >= WIDE
    when = full(entry.at) if wide else stamp(entry.at, look.now)
    style = {DRAFT: "draft", GONE: "del"}.get(entry.kind, "name" if mine else "agent")
    operation = OPERATIONS.get(entry.operation, entry.operation) if not entry.note or entry.kind == DRAFT else "kept"
    runs: list[Run] = [
        ("*" if marked else " ", "mark"),
        (f"{ago(entry.at, look.now):>4} " if width >= NARROW else "", "dim"),
        (f"{when:>{16 if wide else SHORT}} ", "dim"),
        (fit(entry.who, 14, plain=plain) + " ", style),
        (fit(operation, 8) + " ", style),
    ]
    size = size_words(entry.size) if entry.kind != GONE else ""
    runs.append((f"{size:>7} {change_words(entry.change):>7}  ", "description"))
    if wide and entry.number:
        runs.append((f"{entry.number:>4}  {(entry.sha256 or '')[:8]}  ", "dim"))
    used = sum(len(text) for text, _ in runs)
    said = notes(entry)
    level = "strong" if entry.current or entry.seen else "problem"
    return [*runs, (one_line(said, max(width - used, 1), ascii_tokens=plain), level)]


def heading(entry: TimelineEntry, other: TimelineEntry | None, now: int) -> list[str]:
    """Say above a text what it is, and what it is compared with."""
    who = by(entry.who)
    word = OPERATIONS.get(entry.operation, entry.operation)
    match entry.kind:
        case "draft":
            lines = [f"Your draft, {both(entry.at, now)}: not saved yet. e continues it."]
        case "disk":
            lines = [f"On disk since {both(entry.at, now)}, and not in history yet."]
        case "gone":
            return [f"Deleted {who}, {both(entry.at, now)}.", "r on a version below brings it back."]
        case _:
            lines = [f"Version {entry.number}, {word} {who}, {both(entry.at, now)}."]
    facts = [f"{entry.size:,} bytes"]
    facts += [f"{entry.change:+,} to the one before"] if entry.change else []
    facts += [f"sha-256 {entry.sha256[:12]}"] if entry.sha256 else []
    lines.append(", ".join(facts) + ".")
    if entry.note and entry.kind == VERSION:
        lines.append(f"Kept aside: {entry.note}.")
    if entry.was:
        lines.append(f"Its earlier name was {entry.was}.")
    if other is not None:
        lines.append(f"Compared with {other.title}:")
    return lines


# What the engine is asked, in a thread


def load(engine: Engine, asked: Address) -> Timeline:
    """Load the past of a memory, under the name it has now."""
    address = follow(engine, asked)
    current: str | None = None
    size = at = 0
    problem = ""
    try:
        snapshot = engine.read(address)
        current, size, at = snapshot.sha256, snapshot.size, snapshot.modified_at
    except NotFoundError:
        pass  # deleted: what is left of it is in history
    except MemtuiError as error:
        problem = error.message
    draft = next((one for one in engine.drafts.all() if one.address == address), None)
    root = engine.roots.find(address.root)
    facts = TimelineSources(
        engine.history.of(address),
        engine.history.audit(address=address, limit=MOST_RECORDS),
        current,
        size,
        at,
        engine.changes.seen_version(address),
        tuple((sha, turn.words) for sha, turn in engine.turns.makers(engine.roots.uid(root), address.path).items()),
        draft,
    )
    moved = asked if asked != address else None
    return Timeline(address, time_line(address, facts), current, problem, moved)


def follow(engine: Engine, asked: Address) -> Address:
    """Return the present name of a memory that was renamed."""
    address = asked
    for _ in range(MOST_NAMES):
        if engine.history.of(address):
            return address
        records = engine.history.audit(address=address, limit=MOST_RECORDS)
        after = [one.new_address for one in records if one.address == address and one.state == "done"]
        new = next((one for one in after if one is not None and one != address), None)
        if new is None:
            return asked
        address = new
    return asked


def show(
    engine: Engine,
    past: Timeline,
    entry: TimelineEntry,
    other: TimelineEntry | None,
    now: int,
    look: DiffStyle,
    *,
    whole: bool = False,
) -> tuple[Page, tuple[int, ...]]:
    """Draw a row: its heading, and its difference to `other` or, with `whole`, its text.

    Returns the page, and the lines at which hunks begin.
    """
    whole = whole or other is None or entry.kind == GONE
    wrote = [one for one in engine.history.audit(address=past.address) if one.after and one.after == entry.sha256]
    proposed = origins(engine, wrote).values()
    lines = [
        *heading(entry, None if whole else other, now),
        *(said for some in proposed for said in origin_words(some)),
    ]
    top = words_page(*lines, style="description", width=look.width)
    if entry.kind == GONE:
        return top, ()
    try:
        text = text_of(engine, past.address, entry)
    except MemtuiError as error:
        return (*top, PageLine(()), *_refused(error, look.width)), ()
    if whole or other is None:
        return (*top, PageLine(()), *_text(text, look)), ()
    try:
        beside = text_of(engine, past.address, other)
    except MemtuiError as error:
        return (*top, PageLine(()), *_refused(error, look.width), PageLine(()), *_text(text, look)), ()
    first, second = (beside, text) if is_older(past, other, entry) else (text, beside)
    body, starts = _difference(first, second, look)
    return (*top, *body), tuple(start + len(top) for start in starts)


def is_older(past: Timeline, one: TimelineEntry, other: TimelineEntry) -> bool:
    """Whether the first of two rows is further down the time line."""
    return past.entries.index(one) > past.entries.index(other)


def text_of(engine: Engine, address: Address, entry: TimelineEntry) -> bytes:
    """Read the text of a row; raises the MemtuiError that says why there is none."""
    if entry.kind == DISK:
        return engine.read(address).bytes
    if entry.kind == DRAFT:
        draft = next((one for one in engine.drafts.all() if one.address == address), None)
        if draft is None:
            raise NotFoundError("The draft is not there any more.", hint="It was saved, or dropped.")
        return draft.text.encode("utf-8", "surrogatepass")
    return engine.history.read(address, entry.sha256 or "")


def _refused(error: MemtuiError, width: int) -> Page:
    return words_page(error.message, error.hint, style="problem", width=width)


def _text(data: bytes, look: DiffStyle) -> Page:
    why = why_not_text(data, SHOWN_BYTES)
    if why:
        return words_page(f"It cannot be shown as text: {why}.", "r restores it byte for byte.", width=look.width)
    return text_page(data, look.width, plain=look.plain)


def _difference(first: bytes, second: bytes, look: DiffStyle) -> tuple[Page, tuple[int, ...]]:
    if first == second:
        return (PageLine(()), *words_page("Both have the same text.", style="name", width=look.width)), ()
    sides = (("The older one", why_not_text(first, SHOWN_BYTES)), ("The newer one", why_not_text(second, SHOWN_BYTES)))
    said = [f"{name}: {why}." for name, why in sides if why]
    if said:
        more = "They cannot be compared line by line; r restores a version byte for byte."
        return (PageLine(()), *words_page(*said, more, width=look.width)), ()
    _, page, starts = compare(first, second, look)
    return page, starts
