"""What is read and written for the list of entries: jobs for the bridge, run in a thread, giving values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, Saved, Unchanged
from memtui.errors import MemtuiError
from memtui.features.entries import guarded
from memtui.features.entries.entry_names import exact
from memtui.features.entries.fullness import usage
from memtui.features.entries.model import Entry
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.workbench.bridge import Bridge
from memtui.workbench.views.entries_rows import Held, heading

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine


def load(engine: Engine, address: Address) -> Held | str:
    """Read a memory and take it apart; why not, when it cannot be."""
    try:
        file, snapshot = guarded.read_file(engine, address)
        limit = engine.roots.find(address.root).policy.limit_of(address.path)
    except MemtuiError as error:
        return f"{error.message} {error.hint}".strip()
    return Held(snapshot, file, usage(file, limit))


def page(held: Held, entry: Entry, width: int, *, plain: bool) -> Page:
    """Draw an entry: what it is, and its text with the line numbers of its own."""
    said = words_page(*heading(held, entry), width=width)
    notes = words_page(*held.file.notes, style="warning", width=width)
    return (*said, *notes, PageLine(()), *text_page(held.file.text(entry), width, plain=plain))


def remove(engine: Engine, bridge: Bridge, address: Address, entry: Entry) -> Saved | Unchanged | Conflict:
    """Take out exactly this entry, wherever it stands by now."""
    return guarded.remove(engine, address, exact(entry), actor=bridge.actor)
