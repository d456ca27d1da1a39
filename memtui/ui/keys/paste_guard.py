"""Keeps a paste a paste: Textual takes what follows an escape character in one for keys, and a memory may hold them.

The terminal says where a pasted text begins and ends. Between the two nothing is a key, whatever the text holds;
without this, a copied memory could press ctrl+s or ctrl+q where it is pasted. Nor does a byte that is not UTF-8, as a
Latin-1 terminal sends it, end the workbench.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from functools import partial

from textual.message import Message

from memtui.ui.terminal_colour import Answered, Answers
from memtui.ui.textual_private import KeyParser, read_keys_with

START, END = "\x1b[200~", "\x1b[201~"
HARMLESS = "\x1a"
"""Stands for an escape character: a control character too, so it is left out of the text and counted as such."""


class PasteGuard:
    """Follows the input of one terminal, in pieces of any size."""

    def __init__(self) -> None:
        self._inside = False
        self._before = ""
        """The last characters before a paste, which may be the begin of its begin."""
        self._held = ""
        """Characters of a paste that may be the begin of its end."""

    def clean(self, data: str) -> str:
        """Return the input with no escape character inside a paste; what may be a part of its end comes later."""
        data, self._held = self._held + data, ""
        out: list[str] = []
        while data:
            taken, data = self._within(data) if self._inside else self._outside(data)
            out.append(taken)
        return "".join(out)

    def _outside(self, data: str) -> tuple[str, str]:
        seen = self._before + data
        found = seen.find(START)
        if found < 0:
            self._before = seen[1 - len(START) :]
            return data, ""
        self._inside = True
        rest = found + len(START) - len(self._before)
        return data[:rest], data[rest:]

    def _within(self, data: str) -> tuple[str, str]:
        text, end, rest = data.partition(END)
        if end:
            self._inside, self._before = False, ""
        else:
            held = next((size for size in range(len(END) - 1, 0, -1) if text.endswith(END[:size])), 0)
            text, self._held = text[: len(text) - held], text[len(text) - held :]
        return text.replace("\x1b", HARMLESS) + end, rest


class GuardedParser(KeyParser):
    """Textual's reader of the keyboard behind a guard."""

    def __init__(self, debug: bool = False, *, answered: Answered = Answered()) -> None:  # noqa: B008
        """Read from the beginning; `answered` is what the terminal was asked before, and what was typed meanwhile."""
        super().__init__(debug)
        self._guard = PasteGuard()
        self._answers = Answers() if answered.late else None
        self._typed = answered.typed
        self._quiet = False
        """Whether nothing came since the last tick."""

    def feed(self, data: str) -> Iterable[Message]:
        """Read more input; an empty text is its end."""
        typed, self._typed, self._quiet = self._typed, "", False
        more = self._answers.without(data) if self._answers is not None else data
        clean = self._guard.clean(typed + more)
        return super().feed(clean) if clean or not data else ()

    def tick(self) -> Iterable[Message]:
        """Nothing came for a moment: what was held back is what it looks like."""
        held = self._answers.rest() if self._answers is not None and self._quiet else ""
        self._quiet = True
        if self._typed or held:
            yield from self._given(held)
        yield from super().tick()

    def _given(self, held: str) -> Iterable[Message]:
        typed, self._typed = self._typed, ""
        clean = self._guard.clean(typed + held)
        return super().feed(clean) if clean else ()


def forgiving(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return what makes a decoder that gives U+FFFD for bytes it cannot read; Textual's own ends the program at one."""
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def install(parser: Callable[[bool], KeyParser] = GuardedParser) -> None:
    """Make Textual read the terminal through the guard, or another parser, whatever bytes it sends."""
    read_keys_with(parser, forgiving)
