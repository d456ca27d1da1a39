"""A stock text input that draws and takes no control characters; for screens other than the main one."""

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
        self.cursor_blink = False

    def drawn(self) -> str:
        return "".join(one if visible(one) == one else "·" for one in self.value)

    def insert_text_at_cursor(self, text: str) -> None:
        super().insert_text_at_cursor(text)
        self.value = typed_over(self.value, self.cursor_position, self.closing)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(pasted_line(event.text))
