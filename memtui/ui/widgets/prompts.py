"""One line of typed text in place of the footer: new, rename, move, filter; with what enter would do beside it.

Drawn in the existing line, because a stock input moves every pane by a row, which repaints the screen. What is typed or
pasted holds no control characters; the stock input (`safe_input.py`) follows the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from textual.geometry import Offset
from textual.screen import Screen

from memtui.safe_text import cell_width, end_of, one_line, pieces, reach, visible, without_escapes
from memtui.ui.draw.bars import spread
from memtui.ui.draw.text import Line, both_ends

PASTE, PASTED_LINES = 4_096, 65_536
"""Characters taken of a paste: as one line, and where it keeps its lines."""


def pasted_line(pasted: str) -> str:
    """Make one line of a paste: line breaks and tabs become spaces; invisible characters and escapes are dropped."""
    lines = without_escapes(pasted).strip().splitlines()
    flat = " ".join(line.strip("\t") for line in lines).replace("\t", " ")
    return "".join(text for text, hidden in pieces(flat[:PASTE]) if not hidden)


def pasted_lines(pasted: str) -> str:
    """Take a paste with its lines and tabs; invisible characters and escapes are dropped."""
    text = "\n".join(without_escapes(pasted).strip().splitlines())[:PASTED_LINES]
    return "".join(text for text, hidden in pieces(text, keep_newlines=True, keep_tabs=True) if not hidden)


def closing(text: str, cursor: int) -> str:
    """Return the end of a name behind the cursor at the start: the suffix in `notes|.md`."""
    end = text[cursor:]
    return "" if text[:cursor].endswith(end) else end


def typed_over(text: str, cursor: int, end: str) -> str:
    """Drop the end of a name (what `closing` returned) behind the cursor once it is typed before it."""
    head = text[:cursor]
    return head if end and text[cursor:] == end and head.endswith(end) else text


class Question(NamedTuple):
    """A question answered with one line of text."""

    label: str
    value: str
    done: Callable[[str], None]
    cancelled: Callable[[], None] = lambda: None
    changed: Callable[[str], None] = lambda _: None
    hint: Callable[[str], Line] | None = None
    """What enter would do with the text."""
    cursor: int | None = None
    """Where the cursor starts; None: at the end."""
    step: Callable[[int], None] | None = None
    """Called with 1 for down and -1 for up; None: these keys are not for the line."""
    lines: bool = False
    """Whether a paste keeps its lines."""
    over: bool = False
    """Whether the first key replaces the text, as in a selected text."""


def yes_no(words: str, agreed: Callable[[], None], close: Callable[[], None]) -> Question:
    """Ask for a yes: enter alone, `y` or `yes`; any other text, or esc, is a no."""

    def is_yes(text: str) -> bool:
        return text.strip().casefold() in ("", "y", "yes")

    def done(text: str) -> None:
        close()
        if is_yes(text):
            agreed()

    return Question(
        words, "", done, close, hint=lambda text: [(f"enter {'yes' if is_yes(text) else 'no'}  esc no ", "dim")]
    )


NO_QUESTION = Question("", "", lambda _: None)
LIST_KEYS = frozenset({"up", "down", "pageup", "pagedown"})
"""Keys that move in a list while a line is typed below it."""


class Prompt:
    """A line of text: the question it asks now, and what is typed for it."""

    def __init__(self, question: Question | None = None, draw: Callable[..., object] = tuple, *bars: str) -> None:
        """Take what draws the line again, and the names it takes: of the bar of the line, then of the header."""
        self._draw = partial(draw, *bars)
        self._draw_line = partial(draw, *bars[:1])
        self.asks: Callable[[], object] = tuple
        """Called before a question is asked."""
        self._set(question)

    def _set(self, question: Question | None) -> None:
        self.open = question is not None
        """Whether letters go into it."""
        self.question = question = question or NO_QUESTION
        self.text = question.value
        self.cursor = len(question.value) if question.cursor is None else question.cursor
        self._end = closing(question.value, self.cursor)
        self._chosen = question.over and bool(question.value)
        self.note: Line = []

    def ask(self, question: Question) -> None:
        self.asks()
        self._set(question)
        self._draw()

    def close(self) -> None:
        self._set(None)
        self._draw()

    def take(self, key: str, character: str | None) -> bool:
        """Handle a key of its screen; return False when it is for something else, such as the list above."""
        if not self.open or (key in LIST_KEYS and (self.question.step is None or key not in ("up", "down"))):
            return False
        taken = self.feed(key, character)
        self._draw_line()
        return taken or key != "ctrl+q"

    def feed(self, key: str, character: str | None) -> bool:
        """Handle a key; return False when it means nothing in a line of text."""
        question, before = self.question, self.text
        if key == "enter":
            question.done(before)
        elif key == "escape":
            question.cancelled()
        elif key in ("up", "down") and question.step is not None:
            question.step(1 if key == "down" else -1)
        elif character is not None and character.isprintable() and visible(character) == character:
            self._insert(character)
        elif not self._edit(key):
            return False
        if self.text != before and self.question is question:
            self.note = []
            question.changed(self.text)
        return True

    def _edit(self, key: str) -> bool:
        chosen, self._chosen = self._chosen, False
        match key:
            case "left":
                self.cursor = max(self.cursor - 1, 0)
            case "right":
                self.cursor = min(self.cursor + 1, len(self.text))
            case "home" | "ctrl+a":
                self.cursor = 0
            case "end" | "ctrl+e":
                self.cursor = len(self.text)
            case "backspace":
                self._replace(max(self.cursor - 1, 0), self.cursor, "")
            case "delete" | "ctrl+d":
                self._replace(self.cursor, self.cursor + 1, "")
            case "ctrl+u":
                self._replace(0, self.cursor, "")
            case "ctrl+k":
                self._replace(self.cursor, len(self.text), "")
            case "ctrl+w" | "ctrl+backspace" | "alt+backspace":
                self._replace(self._word_start(), self.cursor, "")
            case "ctrl+left" | "alt+b":
                self.cursor = self._word_start()
            case _:
                self._chosen = chosen
                return False
        return True

    def _word_start(self) -> int:
        head = self.text[: self.cursor].rstrip(" /")
        return max(head.rfind(" "), head.rfind("/")) + 1

    def _insert(self, text: str) -> None:
        if self._chosen and text:
            self.text, self.cursor, self._chosen = "", 0, False
        self._replace(self.cursor, self.cursor, text)
        self.text = typed_over(self.text, self.cursor, self._end)

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = start + len(text)

    @property
    def before_end(self) -> str:
        """The typed text, without the end of the name the line began with."""
        head = self.text[: self.cursor]
        return head if self._end and self.text[self.cursor :] == self._end else self.text

    def paste(self, pasted: str) -> None:
        self.note = []
        self._insert((pasted_lines if self.question.lines else pasted_line)(pasted))
        self.question.changed(self.text)
        self._draw_line()

    def refuse(self, text: str) -> bool:
        """Show why the text cannot be used; return False when nothing is asked any more."""
        self.note = [(text, "error")] if self.open else []
        self._draw_line()
        return self.open

    def foot(self, screen: Screen[Any], width: int, *, plain: bool) -> list[Line]:
        """Draw it as the last row of a screen, with the terminal's own cursor in it."""
        line, column = self.line(width, plain=plain)
        screen.app.cursor_position = Offset(column, screen.size.height - 1)
        return [line]

    def line(self, width: int, *, plain: bool = False) -> tuple[Line, int]:
        """Draw it: the line, and the cell of the cursor."""
        label = f" {self.question.label} "
        beside = self.note or (self.question.hint(self.text) if self.question.hint is not None else [])
        # The text has what is said beside it does not need, and never less than half.
        free = width - len(label) - 2 - sum(cell_width(text) for text, _ in beside)
        room = max(min(width - len(label) - 2, max(free, width // 2, 30)), 8)
        first, last = max(self.cursor - reach(room), 0), self.cursor + reach(room)
        signs = {"\n": "/" if plain else "↵"}
        other = "?" if plain else "·"
        drawn = [one if visible(one) == one else signs.get(one, other) for one in self.text[first:last]]
        at = self.cursor - first
        if self._end and drawn[at:] == list(self._end) and self.text[: self.cursor].rpartition("/")[2] == "":
            del drawn[at:]  # a suffix alone is no name, and must not look like one
        before = end_of("".join(drawn[:at]), room - 1)
        under = drawn[at] if at < len(drawn) else " "
        left_over = max(room - cell_width(before) - 1, 0)
        after = one_line("".join(drawn[at + 1 :]), left_over, ascii_tokens=plain, secrets=True)  # typed just now
        ink = "caret" if self._chosen else "strong"
        left: Line = [(label, "key"), (before, ink), (under, "caret"), (after, ink), (" ", "dim")]
        used = sum(cell_width(text) for text, _ in left)
        return spread(left, _cut(beside, width - used - 1, plain=plain), width), len(label) + cell_width(before)


def _cut(line: Line, room: int, *, plain: bool) -> Line:
    """Return as much of a line as fits; cut parts keep their end, where an address has its name."""
    out: Line = []
    for text, style in line:
        if room <= 0:
            break
        out.append((both_ends(text, room, plain=plain), style))
        room -= cell_width(out[-1][0])
    return out
