"""Tells keys from pastes: a text that lands in a list by mistake must run no command.

Terminals that do not mark pastes deliver one as a burst of keys. Moving about runs at once; any other key waits the
blink of an eye, so that when a burst shows itself nothing of it has been done.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

MOST = 6
"""More printable keys than this within `WINDOW` are a paste."""
WINDOW = 0.08
"""Seconds."""
HOLD = 0.025
"""Seconds a key that does something waits for company."""
CLOSE = 0.012
"""Seconds; no person types two different keys faster."""
QUIET = 0.15
"""Seconds without a key that end a paste."""
REPEAT = 0.15
"""Seconds; a writing key that comes again this soon is a key held down."""


class Verdict(Enum):
    """What becomes of a key."""

    RUN = "run"
    """Do it now."""
    HOLD = "hold"
    """Ask `due` a little later."""
    BURST = "burst"
    """A paste was recognised with this key: say so."""
    DROP = "drop"
    """Part of a paste, or a key held down."""


class KeyGate:
    """Remembers the last keys."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, str]] = deque(maxlen=MOST + 1)
        self._held: list[tuple[float, str]] = []
        self._released: tuple[tuple[float, str], ...] = ()
        self._quiet_from = 0.0
        self._text = False
        """The keys that come now are text for a line that the first of them opened."""

    def feed(self, key: str, now: float, *, moves: bool, writes: bool = False, filters: bool = False) -> Verdict:
        """Judge a printable key.

        Args:
            key: its character.
            now: when it was pressed, in seconds.
            moves: it only moves about.
            writes: it changes something, so a repeat by a key held down is dropped.
            filters: it opens the line that filters; a paste that begins so is text for that line.
        """
        if now < self._quiet_from:
            self._quiet_from = now + QUIET
            return Verdict.DROP
        previous = self._recent[-1] if self._recent else (0.0, "")
        if (now, key) not in self._released:  # a key that was held for what opens comes again, and is no second one
            self._recent.append((now, key))
        burst = [name for time, name in self._recent if now - time < WINDOW]
        if len(burst) == 1:
            self._text = filters
        if len(burst) > MOST and len(set(burst)) > 2 and not self._text:
            self._held.clear()
            self._recent.clear()
            self._quiet_from = now + QUIET
            return Verdict.BURST
        if writes and key == previous[1] and now - previous[0] < REPEAT:
            return Verdict.DROP
        hasty = now - previous[0] < CLOSE and key != previous[1]
        if self._held or not moves or hasty:
            self._held.append((now, key))
            return Verdict.HOLD
        return Verdict.RUN

    def pasting(self, now: float) -> bool:
        """Whether a paste is still coming in: what arrives now is part of it.

        Args:
            now: when a key that is no character was pressed, in seconds.
        """
        self._text = False  # what follows the end of a line is no text for it
        if now >= self._quiet_from:
            return False
        self._quiet_from = now + QUIET
        return True

    def due(self) -> tuple[str, ...]:
        """Take the keys that were held and turned out to be keys."""
        if self._held:
            self._released, self._held = tuple(self._held), []
            return tuple(key for _, key in self._released)
        return ()
