"""Detects a light or dark terminal before Textual takes it, keeping what is typed meanwhile.

It asks for the background colour (OSC 11), then for the terminal's identity (DA1), which every terminal answers, so
that one that does not know the first question costs no wait. Source of both: xterm, ctlseqs.
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
from contextlib import suppress
from typing import NamedTuple

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
