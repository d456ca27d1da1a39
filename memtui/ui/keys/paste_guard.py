"""Keeps a paste a paste: Textual reads what follows an escape character in pasted text as keys.

The terminal marks where a pasted text begins and ends. Between the two nothing is a key; without this, a copied memory
could press ctrl+s or ctrl+q where it is pasted. A byte that is not UTF-8, as a Latin-1 terminal sends it, does not end
the workbench either.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from functools import partial

from textual.message import Message

from memtui.ui.terminal_colour import ReplyFilter, TerminalReply
from memtui.ui.textual_private import KeyParser, read_keys_with

START, END = "\x1b[200~", "\x1b[201~"
HARMLESS = "\x1a"
"""Replaces an escape character: a control character too, so it is left out of the text and counted as such."""


class PasteGuard:
    """Filters the input of one terminal, in chunks of any size."""

    def __init__(self) -> None:
        self._inside = False
        self._before = ""
        self._held = ""
        """Characters of a paste that may be the beginning of its end mark."""

    def clean(self, data: str) -> str:
        """Return the input without escape characters inside a paste; a possible end mark is held back."""
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
    """Textual's terminal parser behind a `PasteGuard`."""

    def __init__(self, debug: bool = False, *, answered: TerminalReply = TerminalReply()) -> None:  # noqa: B008
        """`answered`: what the terminal was asked before, and what was typed meanwhile."""
        super().__init__(debug)
        self._guard = PasteGuard()
        self._answers = ReplyFilter() if answered.late else None
        self._typed = answered.typed
        self._quiet = False
        """Whether no input came since the last tick."""

    def feed(self, data: str) -> Iterable[Message]:
        """Parse more input; an empty text is its end."""
        typed, self._typed, self._quiet = self._typed, "", False
        more = self._answers.without(data) if self._answers is not None else data
        clean = self._guard.clean(typed + more)
        return super().feed(clean) if clean or not data else ()

    def tick(self) -> Iterable[Message]:
        """Parse held-back input as it is, because nothing came for a moment."""
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
    """Return a decoder factory that gives U+FFFD for undecodable bytes; Textual's own would end the program."""
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def install(parser: Callable[[bool], KeyParser] = GuardedParser) -> None:
    """Make Textual read the terminal through this parser and a forgiving decoder."""
    read_keys_with(parser, forgiving)
