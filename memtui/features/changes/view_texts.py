"""The text beside a change: heading, difference from the version last seen, and what is left after taking back hunks.

Apart from the rows because it reads two versions of a memory, in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.differences import ByteHunk, hunks, line_counts, take_back, why_not_text
from memtui.engine.model import Change, Draft, is_person
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.actors import by, session_words, who_words
from memtui.features.changes.bursts import since_seen
from memtui.features.changes.view_rows import BACK, rejected_hunks
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, with_word, words_page
from memtui.ui.draw.text import ago, since

if TYPE_CHECKING:
    from memtui.engine import Engine

COUNTED_BYTES = 262_144
"""Largest text whose changed lines are counted for the list."""


class ShownChange(NamedTuple):
    """A change as it is drawn."""

    change: Change
    before: bytes | None
    """The text last seen; None when there was none, or it is no longer kept."""
    after: bytes | None
    hunks: tuple[ByteHunk, ...]
    """The hunks that can be taken back; none where the change is indivisible."""
    page: Page
    starts: tuple[int, ...]
    """Line of the page at which each hunk begins."""
    whole: str = ""


def draw(
    change: Change,
    before: bytes | None,
    after: bytes | None,
    heading: Sequence[str],
    look: DiffStyle,
    out: Iterable[int] = (),
) -> ShownChange:
    """Draw a change between two texts, with sentences above it; `out` are the hunks to be taken back."""
    top = words_page(*heading, style="description", width=look.width)
    whole, rest = _in_one(change, before, after, look)
    if whole:
        return ShownChange(change, before, after, (), (*top, PageLine(()), *rest), (), whole)
    assert before is not None
    assert after is not None
    found, places, starts = compare(before, after, look)
    below = tuple(start + len(top) for start in starts)
    places = with_word(places, (starts[at] for at in out), f" {BACK}")
    return ShownChange(change, before, after, found, (*top, *places), below)


def _in_one(change: Change, before: bytes | None, after: bytes | None, look: DiffStyle) -> tuple[str, Page]:
    """Return why a change has no hunks and what is shown instead; empty where it has."""
    width, plain = look.width, look.plain
    if change.after is None:
        rest = words_page("What it held:", style="heading", width=width) if before is not None else ()
        text = text_page(before, width, plain=plain) if before is not None else _lost(width)
        return "It is deleted as a whole; taking the change back restores it.", (*rest, *text)
    if change.before is None:
        text = text_page(after, width, plain=plain) if after is not None else _lost(width)
        return "It is new as a whole; taking the change back moves it to the trash.", text
    if before is None or after is None:
        return "One of the two texts is not kept any more.", (
            *_lost(width),
            *text_page(after or b"", width, plain=plain),
        )
    if before == after:
        said = "Only the name changed." if change.old_address is not None else "The text is as you last saw it."
        return said, words_page(said, style="name", width=width)
    sides = (("Before", why_not_text(before, SHOWN_BYTES)), ("Now", why_not_text(after, SHOWN_BYTES)))
    said_so = [f"{name}: {why}." for name, why in sides if why]
    if said_so:
        return "It cannot be shown line by line, so it is taken back as a whole.", words_page(*said_so, width=width)
    return "", ()


def _lost(width: int) -> Page:
    return words_page("The text you last saw is not kept any more.", style="problem", width=width)


def heading(change: Change, versions: list[tuple[str, int]], at: int, now: int) -> list[str]:
    """Say who changed what and when, the old name, and who else wrote since the user looked.

    `versions` are writer and time of each version since the one last seen, newest first; `at` is when it was changed.
    """
    word = {"modified": "Changed", "created": "Created", "deleted": "Deleted", "renamed": "Renamed"}[change.kind]
    actor, moment = change.actor, at
    if change.kind == "created" and len(versions) > 1:
        actor, moment = versions[-1]  # who made it, not who wrote it last
    root = change.address.root
    lines = [f"{word} {by(who_words(actor, root))}, {since(moment, now)}."]
    if change.old_address is not None:
        lines.append(f"You last saw it as {change.old_address.path}.")
    if len(versions) > 1:
        told = ", ".join(f"{who_words(actor, root)} {ago(when, now)}" for actor, when in versions[:4])
        more = f" and {len(versions) - 4} more" if len(versions) > 4 else ""
        lines.append(f"{len(versions)} versions since you looked: {told}{more}.")
    return lines


def version(engine: Engine, change: Change, sha256: str | None) -> bytes | None:
    """Read one side of a change; None when there is none, or it is no longer kept."""
    if sha256 is None:
        return None
    for address in (change.address, change.old_address):
        if address is not None:
            try:
                return engine.history.read(address, sha256)
            except (NotFoundError, RefusedError, StorageError):
                continue  # under its other name, or removed by retention, redaction or damage: the page says so
    return _on_disk(engine, change, sha256)


def _on_disk(engine: Engine, change: Change, sha256: str) -> bytes | None:
    """Return the file if it is that version; history may not have it yet."""
    try:
        found = engine.read(change.address)
    except MemtuiError:
        return None
    return found.bytes if found.sha256 == sha256 else None


def show(engine: Engine, change: Change, at: int, now: int, look: DiffStyle) -> ShownChange:
    """Read and draw a change that was made `at` this time."""
    news = since_seen(change, engine.history.of(change.address))
    before, after = version(engine, change, change.before), version(engine, change, change.after)
    told = heading(change, [(one.actor, one.at) for one in news], at, now)
    told += session_words(engine, change.address, change.after)
    out = rejected_hunks(engine.changes.chosen([change]).get(change, "open"))
    shown = draw(change, before, after, told, look, out)
    theirs = next((one.sha256 for one in news if not is_person(one.actor)), None)
    last = version(engine, change, theirs) if theirs != change.after else None
    own = (shown.starts[at] for at in _added_since(last, shown)) if last is not None else ()
    return shown._replace(page=with_word(shown.page, own, " yours"))


def _added_since(text: bytes, shown: ShownChange) -> list[int]:
    """Return the hunks that only add lines, all of which came after the memory had this text."""
    added = [one.after for one in hunks(text, shown.after or b"")] if shown.hunks else []
    return [
        at
        for at, one in enumerate(shown.hunks)
        if one.before[0] == one.before[1] and any(low <= one.after[0] and one.after[1] <= high for low, high in added)
    ]


def remaining(engine: Engine, change: Change, state: str) -> bytes:
    """Return the text left after taking back the hunks that `state` names; ConflictError if a text is not kept."""
    before, after = version(engine, change, change.before), version(engine, change, change.after)
    rejected = rejected_hunks(state)
    if before is None or after is None:
        raise ConflictError(f"A text of {change.address} is not kept any more.", hint="Decide about it as a whole.")
    return take_back(before, after, *(one for at, one in enumerate(hunks(before, after)) if at in rejected))


def count(engine: Engine, changes: Iterable[Change]) -> dict[Change, tuple[int, int]]:
    """Count the lines added and removed by each change; zero for what is no text."""
    found = {}
    for change in changes:
        before, after = version(engine, change, change.before) or b"", version(engine, change, change.after) or b""
        found[change] = line_counts(before, after, COUNTED_BYTES)
    return found


def draft_for_conflict(engine: Engine, change: Change, wanted: bytes, base: bytes, now: int) -> bool:
    """Store a text as a draft of the version that was shown, so that the conflict screen can merge it.

    Returns False when it is no text, or the memory has a draft already.
    """
    try:
        text = wanted.decode()
    except UnicodeDecodeError:
        return False
    if any(draft.address == change.address for draft in engine.drafts.all()):
        return False
    engine.drafts.save(Draft(change.address, change.after, text, (0, 0), now, base))
    return True
