"""A stock text input that draws and takes no control characters; for screens that are not the main one."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from memtui.safe_text import visible
from memtui.ui.textual_private import DrawnInput
from memtui.ui.widgets.prompts import pasted_line, typed_over


class SafeInput(DrawnInput, Input):
    """An input that is safe with hostile text."""

    closing = ""
    """The end of a name that is typed over; see `typed_over`."""

    def on_mount(self) -> None:
        """Hold the cursor still: an idle screen sends nothing."""
        self.cursor_blink = False

    def drawn(self) -> str:
        """The value with a dot for each character that cannot be drawn."""
        return "".join(one if visible(one) == one else "·" for one in self.value)

    def insert_text_at_cursor(self, text: str) -> None:
        """Take what was typed."""
        super().insert_text_at_cursor(text)
        self.value = typed_over(self.value, self.cursor_position, self.closing)

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste as one line, without what cannot be seen."""
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(pasted_line(event.text))
