"""What is being opened: as long as something is, the keys that follow wait for it.

Values and no widget, so that whoever opens something in a thread can say so without knowing who holds the keys. Without
it a letter meant for a form would be a command of the list the form was opened from.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Opening:
    """Something that was asked for and is not there yet."""

    def __init__(self, owner: Openings, what: str, until: float | None, *, stays: bool) -> None:
        self._owner = owner
        self.what = what
        """For people: `open notes/a.md`."""
        self.until = until
        """When keys are waited with no longer; None: as long as it takes."""
        self.stays = stays
        """Whether it comes up even when the user did not want to wait for it: it takes no key by surprise."""
        self.given_up = False
        """Whether the user went on without it: it must not come up under later keys."""

    def end(self, *, failed: bool = False) -> None:
        """It is there; or, when that failed, it will never be, and what was typed for it goes too."""
        self._owner.ended(self, failed=failed)


class Openings:
    """Everything that is being opened."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._open: list[Opening] = []
        self._clock = clock
        self.failed = False
        """Whether one of them failed since somebody asked."""
        self.changed: Callable[[], None] = lambda: None
        """Called when something is there, or will never be; on the event loop."""

    def begin(self, what: str, *, at_most: float | None = None, stays: bool = False) -> Opening:
        """Begin to open something; keys wait from now on.

        Args:
            what: for people (`open notes/a.md`).
            at_most: seconds after which keys no longer wait for it; None: until it ends or is given up.
            stays: it comes up also after it was given up.
        """
        opening = Opening(self, what, None if at_most is None else self._clock() + at_most, stays=stays)
        self._open.append(opening)
        return opening

    def ended(self, opening: Opening, *, failed: bool) -> None:
        """One has ended."""
        if opening in self._open:
            self._open.remove(opening)
            self.failed = self.failed or failed
            self.changed()

    def take_failed(self) -> bool:
        """Whether one failed since the last time."""
        failed, self.failed = self.failed, False
        return failed

    @property
    def waited_for(self) -> tuple[Opening, ...]:
        """What keys wait for now."""
        now = self._clock()
        return tuple(one for one in self._open if one.until is None or now < one.until)

    def give_up(self) -> None:
        """Wait for none of them any more, and let none of them come up later."""
        given_up, self._open = self._open, []
        for opening in given_up:
            opening.given_up = not opening.stays
