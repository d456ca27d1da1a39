"""What a hit shows beside the list: its memory, or the version it is in, with every place marked.

Functions for the bridge, run in a thread: reading and folding never happen on the event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Hit
from memtui.errors import MemtuiError
from memtui.matching import Query
from memtui.ui.draw.marking import by_line
from memtui.ui.draw.pages import SHOWN_BYTES, Page, text_page, words_page

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine


class Beside(NamedTuple):
    """A page, and where in it to look."""

    hit: Hit
    page: Page
    lines: tuple[int, ...] = ()
    """The lines of the text, from 1, that hold what was looked for."""


def beside(engine: Engine, hit: Hit, query: Query, width: int, *, plain: bool = False) -> Beside:
    """Read what a hit is in, and draw it.

    Args:
        engine: reads.
        hit: the hit.
        query: what was looked for.
        width: cells there are.
        plain: show hidden characters in ASCII.
    """
    address = hit.memory.address
    try:
        data = (
            engine.history.read(address, hit.version.sha256) if hit.version is not None else engine.read(address).bytes
        )
    except MemtuiError as error:
        return Beside(hit, words_page(error.message, error.hint, style="problem", width=width))
    if len(data) > SHOWN_BYTES:
        return Beside(hit, text_page(data, width, plain=plain))
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    places = by_line(text, query.spans(text))
    return Beside(hit, text_page(data, width, plain=plain, places=places), tuple(sorted(places)))
