"""The end of the workbench by a fault of its own: drafts are stored first, and what is printed shows no memory's text.

Textual prints a traceback with local variables, which is the text somebody was editing; and an error's own message can
hold a terminal sequence from a hostile file.
"""

from __future__ import annotations

import traceback
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from memtui.safe_text import visible
from memtui.ui.textual_private import PrivateApp

R = TypeVar("R")


def fault_text(error: BaseException, *, kept: str, debug: bool = False) -> Text:
    """Say in a few lines what happened, what is unharmed and what to do.

    Args:
        error: what was raised.
        kept: what became of the drafts, as a sentence.
        debug: add where it happened (files, lines and source, never values).
    """
    lines = [f"E_INTERNAL: memtui stopped because of a fault of its own: {type(error).__name__}: {error}"]
    if debug:
        lines += [line.rstrip("\n") for line in traceback.format_exception(type(error), error, error.__traceback__)]
    lines += [
        f"{kept} No memory was changed by this.",
        "Start memtui again; with MEMTUI_DEBUG=1 it shows where it happened.",
    ]
    return Text("\n".join(visible(line, keep_newlines=True) for line in lines))


class SafeEnd(PrivateApp[R]):
    """An app that stores its drafts before it dies of a fault."""

    show_faults = False
    """Whether to print where a fault happened."""
    _kept = "There was nothing unsaved."
    _told = False

    @property
    def status(self) -> int:
        """The exit number once it has ended; a fault while it was leaving counts too."""
        return self.return_code or 0

    def flush_drafts(self) -> int:
        """Store every draft before returning; returns how many there were. For subclasses."""
        return 0

    def panic(self, *renderables: RenderableType) -> None:
        """Textual's way out of what it cannot go on from, such as a terminal that is gone."""
        self.before_fault()
        super().panic(*renderables)

    def before_fault(self) -> None:
        """Store the drafts; what becomes of them is said at the end."""
        try:
            if self.flush_drafts():
                self._kept = "Your draft is on disk and will be offered again."
        except Exception as second:  # noqa: BLE001 - the process ends; both faults are said
            self._kept = f"A draft could not be stored ({type(second).__name__}); what was stored before is kept."

    def print_fault(self, error: BaseException) -> None:
        """Say what happened, once."""
        if self._told:
            return
        self._told = True
        self.bell()
        self.panic(fault_text(error, kept=self._kept, debug=self.show_faults))
