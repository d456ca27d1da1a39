"""What becomes of one line of text that is typed or pasted into; the footer's line and the stock input share it."""

from memtui.safe_text import visible

PASTE = 4_096
"""Characters of a paste that are taken."""


def pasted_line(pasted: str) -> str:
    """Make one line of a paste: line breaks and tabs are spaces, and what cannot be seen is left out."""
    flat = " ".join(line.strip("\t") for line in pasted.strip().splitlines()).replace("\t", " ")
    return "".join(one for one in flat[:PASTE] if visible(one) == one)


def closing(text: str, cursor: int) -> str:
    """Return the end of a name that the cursor stands before at the start: the suffix in `notes|.md`."""
    end = text[cursor:]
    return "" if text[:cursor].endswith(end) else end


def typed_over(text: str, cursor: int, end: str) -> str:
    """Leave out the end of a name behind the cursor once it is typed before it, so that no name becomes `x.md.md`.

    Args:
        text: as it is with what was just typed.
        cursor: where the cursor is in it.
        end: what `closing` said at the start; typed once more, it stays.
    """
    head = text[:cursor]
    return head if end and text[cursor:] == end and head.endswith(end) else text
