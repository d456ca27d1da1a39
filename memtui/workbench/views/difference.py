"""What one change of somebody else's did, as drawn lines: who and when, then place by place, the words marked.

Pure, and meant to be called in a thread. What cannot be shown line by line is said in words, and every line that is
drawn was made safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtui.diff.hunks import ByteHunk, why_not_text
from memtui.engine.model import Change
from memtui.ui.draw.difference import Look, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page


class Shown(NamedTuple):
    """A change as it is shown."""

    change: Change
    before: bytes | None
    """The text last seen; None when there was none, or when it is not kept any more."""
    after: bytes | None
    hunks: tuple[ByteHunk, ...]
    """The places that can be taken back one by one; none where the change is one thing."""
    page: Page
    starts: tuple[int, ...]
    """The line of the page each place begins at."""
    whole: str = ""
    """Why there are no places, in one sentence."""


def draw(change: Change, before: bytes | None, after: bytes | None, heading: Sequence[str], look: Look) -> Shown:
    """Draw a change.

    Args:
        change: what happened.
        before: the text last seen; None when there is none.
        after: the text it ended in; None when it is deleted.
        heading: sentences above it: who, when, the old name.
        look: how.
    """
    top = words_page(*heading, style="description", width=look.width)
    whole, rest = _in_one(change, before, after, look)
    if whole:
        return Shown(change, before, after, (), (*top, PageLine(()), *rest), (), whole)
    assert before is not None
    assert after is not None
    found, places, starts = compare(before, after, look)
    below = tuple(start + len(top) for start in starts)
    return Shown(change, before, after, found, (*top, *places), below)


def _in_one(change: Change, before: bytes | None, after: bytes | None, look: Look) -> tuple[str, Page]:
    """What is one thing and has no places: why, and what is shown of it."""
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
        said = "Only its name changed." if change.old_address is not None else "The text is as you last saw it."
        return said, words_page(said, style="name", width=width)
    sides = (("Before", why_not_text(before, SHOWN_BYTES)), ("Now", why_not_text(after, SHOWN_BYTES)))
    said_so = [f"{name}: {why}." for name, why in sides if why]
    if said_so:
        return "It cannot be shown line by line, so it is taken back as a whole.", words_page(*said_so, width=width)
    return "", ()


def _lost(width: int) -> Page:
    return words_page("The text you last saw is not kept any more.", style="problem", width=width)
