"""The terminal: whether it is light or dark, pastes of which nothing becomes a key, and copying by way of it.

Its colour is asked for before Textual takes it, keeping what is typed meanwhile: first the background (OSC 11), then
its identity (DA1), which every terminal answers, so that one that does not know the first question costs no wait.
Textual reads what follows an escape character in pasted text as keys; without the guard here, a copied memory could
press ctrl+s where it is pasted. An escape that copies has no reply, so the message names the route.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from textual.message import Message

from memtui.config.settings import Terminal
from memtui.errors import RefusedError
from memtui.ui.textual_private import KeyParser, read_keys_with

ASK = b"\x1b]11;?\x1b\\\x1b[c"
REPLY_SECONDS = 0.1
"""Seconds a terminal has to answer; after that it is not asked again."""
_COLOUR = re.compile(
    r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)"
)
_NAME = re.compile(r"\x1b\[\?[0-9;]*c")
_BEGUN = re.compile(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]*\x1b?)?)?)?|\[(?:\?[0-9;]*)?)\Z")
"""The beginning of an answer, except a lone escape, which is a key."""


class TerminalReply(NamedTuple):
    """What the terminal answered."""

    light: bool | None = None
    """Whether the background is light; None: the terminal did not say."""
    typed: str = ""
    """Keys typed meanwhile."""
    late: bool = False
    """Whether answers may still arrive."""


def ask(seconds: float = REPLY_SECONDS) -> TerminalReply:
    """Ask the terminal for its background; asks nothing without one or in a background job."""
    try:
        source, target = sys.__stdin__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
        if not (os.isatty(source) and os.isatty(target)) or os.tcgetpgrp(source) != os.getpgrp():
            return TerminalReply()
        before = termios.tcgetattr(source)
        quiet = [*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]
        quiet[0] = before[0] & ~(termios.ICRNL | termios.IXON)  # as Textual reads: enter and ctrl+s stay what they are
        termios.tcsetattr(source, termios.TCSANOW, quiet)
    except (OSError, ValueError, AttributeError, termios.error):
        return TerminalReply()  # no terminal to ask
    try:
        os.write(target, ASK)
        return _heard(source, time.monotonic() + seconds)
    except OSError:
        return TerminalReply()  # it is gone; whoever needs it next says so
    finally:
        with suppress(termios.error):
            termios.tcsetattr(source, termios.TCSANOW, before)


def _heard(source: int, end: float) -> TerminalReply:
    data = b""
    while True:
        text = data.decode("utf-8", "replace")
        if _NAME.search(text):
            break
        left = end - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            break
        more = os.read(source, 4096)
        if not more:
            break
        data += more
    late = ReplyFilter()
    typed = late.without(text) + late.rest()
    return TerminalReply(late.light, typed, late.waiting)


class ReplyFilter:
    """Removes the answers from terminal input, in chunks of any size."""

    def __init__(self) -> None:
        self.light: bool | None = None
        self.waiting = True
        """Whether the last answer is still to come."""
        self._held = ""

    def without(self, text: str) -> str:
        """Return a chunk without answers; the possible beginning of one is held back."""
        text, self._held = self._held + text, ""
        if not self.waiting:
            return text
        if found := _COLOUR.search(text):
            self.light = _is_light(*found.groups())
            text = text[: found.start()] + text[found.end() :]
        if found := _NAME.search(text):
            self.waiting = False
            return text[: found.start()] + text[found.end() :]
        begun = _BEGUN.search(text)
        if begun is None:
            return text
        self._held = begun[0]
        return text[: begun.start()]

    def rest(self) -> str:
        """Return what was held back, because it is no answer after all."""
        held, self._held = self._held, ""
        return held


def _is_light(*parts: str) -> bool:
    """Whether black is easier to read on a colour than white, by the weights of ITU-R BT.709."""
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in parts)
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)


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


ESCAPE_BYTES = 70_000
"""Terminals silently drop longer texts."""

SECONDS = 3.0

NATIVE = (
    ("pbcopy", ()),
    ("wl-copy", ()),
    ("xclip", ("-selection", "clipboard", "-in")),
    ("xsel", ("--clipboard", "--input")),
)
"""Clipboard programs, in the order in which they are tried."""


def copy(text: str, terminal: Terminal, escape: Callable[[str], None]) -> str:
    """Copy `text` and return the route used; `escape` makes the terminal copy it (OSC 52).

    Raises:
        RefusedError: `E_TOO_BIG`, when the text does not fit the only route available.
    """
    data = text.encode("utf-8", "surrogateescape")
    local = not (terminal.remote or terminal.web) and (terminal.display or sys.platform == "darwin")
    for name, arguments in NATIVE if local else ():
        if _piped(name, arguments, data):
            return name
    if terminal.tmux and not terminal.web and _piped("tmux", ("load-buffer", "-w", "-"), data):
        return "tmux"
    if len(data) > ESCAPE_BYTES:
        raise RefusedError(
            f"{len(data):,} bytes are too many for the terminal's clipboard.",
            code="E_TOO_BIG",
            hint="Copy the path (y p) and use the file.",
        )
    escape(data.decode("utf-8", "replace"))
    return "browser" if terminal.web else "terminal"


def _piped(name: str, arguments: tuple[str, ...], data: bytes) -> bool:
    try:
        done = subprocess.run(
            [name, *arguments],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
