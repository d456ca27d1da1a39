"""The yardstick of the terminal figures: an empty Textual app with as many widgets as the main screen has.

Run as a program of its own, `python empty_app.py [FILE]`: a key draws one line or one pane anew and does nothing else,
`l` loads FILE into a bare text area; `o` does so and shows it for typing, until `escape`. What memtui takes longer is
what it costs itself.
"""

import sys

from textual import constants, events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widgets import Static, TextArea

READY = "all is ready"
"""The last line of its full screen."""


class Empty(App[None]):
    """Twelve widgets and nothing in them."""

    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Static { height: 1; }
    #body { layout: horizontal; height: 1fr; }
    #left { width: 57; }
    #list, #page { height: 1fr; }
    #about { height: 2; }
    #activity { height: 4; }
    """

    def __init__(self, path: str = "") -> None:
        """Start; `path` is what `l` loads."""
        super().__init__()
        self.animation_level = "none"
        self._path = path
        self._line = Static("one line", id="line")
        self._list = Static("", id="list")
        self._page = TextArea("", id="page", soft_wrap=True, compact=True) if path else Static("", id="page")
        self._turn = 0

    def compose(self) -> ComposeResult:
        """Make the same tree as the main screen at 120 x 40."""
        yield Static("", id="header")
        yield Static("", id="tabs")
        with Container(id="body"):
            with Container(id="left"):
                yield self._line
                yield self._list
            with Container(id="right"):
                yield Static("", id="title")
                yield Static("", id="about")
                yield self._page
        yield Static("", id="activity")
        yield Static(READY, id="footer")

    def on_key(self, event: events.Key) -> None:
        """Draw something of the size that the key draws in memtui."""
        self._turn += 1
        if event.key == "down":
            self._line.update(f"line {self._turn}", layout=False)
        elif event.key == "pagedown":
            self._list.update("\n".join(f"row {self._turn * 40 + row}" for row in range(30)), layout=False)
        elif isinstance(self._page, TextArea) and event.key in ("l", "o", "escape"):
            self._show(self._page, event.key)

    def _show(self, area: TextArea, key: str) -> None:
        """Load the text, show it, or put it away."""
        text = ""
        if key != "escape":
            with open(self._path, encoding="utf-8") as file:
                text = f"{self._turn}\n{file.read()}"
        area.load_text(text)
        area.display = key != "escape"
        if key == "o":
            area.focus()
        elif key == "escape":
            self.set_focus(None)


if __name__ == "__main__":
    constants.SMOOTH_SCROLL = False  # type: ignore[misc]
    Empty(*sys.argv[1:]).run()
