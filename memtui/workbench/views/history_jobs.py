"""What the history of a memory asks the engine: jobs for the bridge, run in a thread, giving values.

Functions of an engine and an address, so that redacted, binary, huge and lost versions are tested without a screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import why_not_text
from memtui.engine.model import Address, AuditRecord
from memtui.errors import MemtuiError, NotFoundError
from memtui.ui.draw.difference import Look, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page
from memtui.workbench.views.history_rows import DISK, DRAFT, GONE, Entry, Facts, Past, heading, time_line

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine

MOST_NAMES = 20
"""So many earlier names are followed."""
MOST_RECORDS = 1_000
"""So many records of one name are looked at."""


def load(engine: Engine, asked: Address) -> Past:
    """Read everything known of a memory's past, under the name it has now."""
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
    facts = Facts(
        engine.history.of(address),
        _records(engine, address),
        current,
        size,
        at,
        engine.changes.seen_version(address),
        draft,
    )
    moved = asked if asked != address else None
    return Past(address, time_line(address, facts), current, problem, moved)


def follow(engine: Engine, asked: Address) -> Address:
    """Find the name a memory has now, when nothing is left under the one that was asked for."""
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


def _records(engine: Engine, address: Address) -> tuple[AuditRecord, ...]:
    """The records of a memory under all its names, newest first."""
    found: list[AuditRecord] = []
    now, before = address, 2**63
    for _ in range(MOST_NAMES):
        records = [one for one in engine.history.audit(address=now, limit=MOST_RECORDS) if one.seq < before]
        renamed = next(
            (one for one in records if one.new_address == now and one.state == "done" and one.address != now), None
        )
        if renamed is None:
            return (*found, *records)
        found += [one for one in records if one.seq >= renamed.seq]
        now, before = renamed.address, renamed.seq
    return tuple(found)


class Drawn(NamedTuple):
    """A row as it is shown."""

    entry: Entry
    page: Page
    starts: tuple[int, ...] = ()


def show(
    engine: Engine, past: Past, entry: Entry, other: Entry | None, now: int, look: Look, *, whole: bool = False
) -> Drawn:
    """Draw a row: what it is, and how it differs from another one, or its whole text.

    Args:
        engine: where the texts are.
        past: the time line.
        entry: the row.
        other: what it is compared with; the older of the two counts as before.
        now: the clock.
        look: how it is drawn.
        whole: the text instead of the difference.
    """
    whole = whole or other is None or entry.kind == GONE
    top = words_page(*heading(entry, None if whole else other, now), style="description", width=look.width)
    if entry.kind == GONE:
        return Drawn(entry, top)
    text = text_of(engine, past.address, entry)
    if isinstance(text, MemtuiError):
        return Drawn(entry, (*top, PageLine(()), *_refused(text, look.width)))
    if whole or other is None:
        return Drawn(entry, (*top, PageLine(()), *_text(text, look)))
    beside = text_of(engine, past.address, other)
    if isinstance(beside, MemtuiError):
        page = (*_refused(beside, look.width), PageLine(()), *_text(text, look))
        return Drawn(entry, (*top, PageLine(()), *page))
    first, second = (beside, text) if is_older(past, other, entry) else (text, beside)
    body, starts = _difference(first, second, look)
    return Drawn(entry, (*top, *body), tuple(start + len(top) for start in starts))


def is_older(past: Past, one: Entry, other: Entry) -> bool:
    """Whether the first of two rows is further down the time line."""
    return past.entries.index(one) > past.entries.index(other)


def text_of(engine: Engine, address: Address, entry: Entry) -> bytes | MemtuiError:
    """The text of a row, or why there is none."""
    try:
        if entry.kind == DISK:
            return engine.read(address).bytes
        if entry.kind == DRAFT:
            draft = next((one for one in engine.drafts.all() if one.address == address), None)
            if draft is None:
                return NotFoundError("The draft is not there any more.", hint="It was saved, or dropped.")
            return draft.text.encode("utf-8", "surrogatepass")
        return engine.history.read(address, entry.sha256 or "")
    except MemtuiError as error:
        return error


def _refused(error: MemtuiError, width: int) -> Page:
    return words_page(error.message, error.hint, style="problem", width=width)


def _text(data: bytes, look: Look) -> Page:
    why = why_not_text(data, SHOWN_BYTES)
    if why:
        return words_page(f"It cannot be shown as text: {why}.", "r restores it byte for byte.", width=look.width)
    return text_page(data, look.width, plain=look.plain)


def _difference(first: bytes, second: bytes, look: Look) -> tuple[Page, tuple[int, ...]]:
    if first == second:
        return (PageLine(()), *words_page("Both have the same text.", style="name", width=look.width)), ()
    sides = (("The older one", why_not_text(first, SHOWN_BYTES)), ("The newer one", why_not_text(second, SHOWN_BYTES)))
    said = [f"{name}: {why}." for name, why in sides if why]
    if said:
        more = "They cannot be compared line by line; r restores a version byte for byte."
        return (PageLine(()), *words_page(*said, more, width=look.width)), ()
    _, page, starts = compare(first, second, look)
    return page, starts
