"""Keys in the order they were typed, each for what is on the screen when it is its turn; the one place that holds keys.

A key that opens something holds those that follow it until what it opened takes keys. When nothing opens they are
dropped and that is said: a letter meant for a form, an editor or a line must never be a command of what lies below.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Awaitable, Callable
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events
from textual.message_pump import MessagePump
from textual.screen import Screen

from memtui.ui.action import OUTSIDE
from memtui.ui.keys.openings import Openings

if TYPE_CHECKING:
    from textual.app import App

    from memtui.ui.action import Action
    from memtui.ui.keys.keyed import KeyedScreen

GRACE = 0.3
"""Seconds that escape and ctrl+q wait for their turn; then they are done at once, and what was held is dropped."""
TELL = 0.6
"""Seconds after which a user whose keys are held is told what they wait for."""
OLDEST = 10.0
"""Seconds; a key that waited longer is dropped, because nobody expects it any more."""
AFTER_REFUSAL = 0.2
"""Seconds after a refusal that nobody can have read it in: keys were typed for what was to open."""
AFTER_PASTE = 0.15
"""Seconds after a paste in which a terminal may still deliver a rest of it as keys."""
BETWEEN = 0.15
"""Seconds between two keys of which the second belongs to the first, when that was dropped."""
STUCK = 3.0
"""Seconds for a key to get through; a widget that is busy for longer, or went away, must not block the keyboard."""
UNREAD = "Keys typed before this question was there were ignored."
ALWAYS = frozenset({"back", "quit_now"})
"""Actions whose keys are never held for long."""

Typed = events.Key | events.Paste


class Expected(NamedTuple):
    """What the keys after an action are for."""

    action: Action
    kind: str
    """That of `Action.opens`."""
    screen: Screen[Any]
    """Where it was asked for."""
    said: object
    """What had been said last before."""


class TypeAhead:
    """Gives keys on, one after the other."""

    def __init__(
        self,
        app: App[Any],
        openings: Openings,
        give: Callable[[Typed], Awaitable[None]],
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Join the parts.

        Args:
            app: whose keys these are.
            openings: what is being opened in threads.
            give: does what the app does with a key or a paste.
            clock: seconds, as the times of events.
        """
        self._app = app
        self._openings = openings
        self._give = give
        self._clock = clock
        openings.changed = self._opened
        self._waiting: list[Typed] = []
        """In the order they were typed."""
        self._loose: list[Typed] = []
        """Given to a screen that gives back what it must not take."""
        self._through = 0
        """Counts the keys that are to get through all widgets before the next one."""
        self._since: float | None = None
        """When the one that is on its way began; None: none is."""
        self._expected: Expected | None = None
        self._ready: Screen[Any] | None = None
        """The screen that was seen to be drawn and ready."""
        self._readying: Screen[Any] | None = None
        self._quiet_until = self._paste_until = 0.0
        self._quiet_words = ""
        self._asked: list[Screen[Any]] = []
        """The last screens that ask something."""
        self._pasted_keys = False
        self._reminding = False
        self._last_special = ""
        """The last key that is no character."""

    # What waits

    @property
    def waiting(self) -> tuple[Typed, ...]:
        """What is held now."""
        return tuple(self._waiting)

    @property
    def opening(self) -> bool:
        """Whether something is being opened, so that no key is for what is on the screen."""
        return self._expected is not None or bool(self._openings.waited_for)

    async def take(self, event: Typed) -> None:
        """Take what was typed or pasted just now."""
        now = event.time
        if isinstance(event, events.Key):
            self._last_special = self._last_special if event.is_printable else event.key
            if now < self._paste_until:
                if not self._pasted_keys:
                    self._app.set_timer(AFTER_PASTE, self._tell_of_paste)
                self._pasted_keys = True
                self._paste_until = now + BETWEEN
                return
            if now < self._quiet_until and not self._is_always(event):
                self._quiet_until = max(self._quiet_until, now + BETWEEN)
                if self._quiet_words:
                    words, self._quiet_words = self._quiet_words, ""
                    self._say(words)
                return
        else:
            self._paste_until = now + AFTER_PASTE
        insort(self._waiting, event, key=attrgetter("time"))
        await self.go_on()

    def _tell_of_paste(self) -> None:
        """Say that keys were ignored; a paste may have a word of its own before that."""
        if self._clock() < self._paste_until:
            self._app.set_timer(AFTER_PASTE, self._tell_of_paste)
        elif self._app.screen_stack:
            self._pasted_keys = False
            self._say("Keys that came with a paste were ignored; type them again if they were yours.")

    def hears_mouse(self, event: events.MouseEvent) -> bool:
        """Whether a click counts: one in the same breath as a paste may be a part of it."""
        return isinstance(event, events.MouseMove) or event.time >= self._paste_until

    def give_back(self, given: list[events.Key]) -> None:
        """Take keys back from a screen that they were not for: they are for what opens, or has opened, over it."""
        for event in given:
            again = events.Key(event.key, event.character)
            again.time = event.time
            insort(self._waiting, again, key=attrgetter("time"))
        self._app.call_later(self.go_on)

    def passed(self, event: events.Key) -> bool:
        """Whether a key was given to a list that has become a text since: it is to be given back."""
        return any(one is event for one in self._loose)

    # What opens

    def expect(self, action: Action, kind: str, screen: Screen[Any]) -> None:
        """From now on keys are for what this action opens."""
        self._expected = Expected(action, kind, screen, self._last_said())
        self._fence()
        self._app.set_timer(STUCK, self.go_on)

    def startle(self) -> None:
        """A question has come up that nobody has read: no key that was typed before is an answer to it."""
        self._expected = None
        self._quiet_until = self._clock() + AFTER_REFUSAL
        self._quiet_words = UNREAD
        if self._drop():
            self._quiet_words = ""
            self._say(UNREAD)

    def _opened(self) -> None:
        """Something that keys waited for is there, or will never be."""
        if not self._openings.waited_for:
            self._fence()

    def _holds(self) -> bool:
        """Whether keys have to wait now."""
        if self._since is not None:
            if self._clock() - self._since < STUCK:
                return True
            self._since = None
        if self._leaves():
            self._openings.give_up()
        waited_for = self._openings.waited_for
        if waited_for:
            until = [one.until for one in waited_for if one.until is not None]
            if self._waiting and len(until) == len(waited_for):
                self._app.set_timer(max(max(until) - self._clock(), 0.01), self.go_on)
            return True
        screen = self._app.screen
        if screen is not self._ready:
            if screen is not self._readying:
                self._readying = screen
                screen.call_after_refresh(lambda: self._app.call_later(self._is_ready, screen))
            return True
        expected, self._expected = self._expected, None
        failed = self._openings.take_failed()
        if expected is not None and (failed or not self._is_there(expected)):
            self._refused(expected)
        elif failed:
            self._refused(None)
        top = self._keyed
        return top is not None and bool(self._waiting) and top.not_yet(self._waiting[0])

    def _leaves(self) -> bool:
        """Whether the next key leaves a view that is waited for only to be filled."""
        top, awaited, key = self._keyed, self._openings.waited_for, self._waiting[0] if self._waiting else None
        if top is None or top.typing or len(self._app.screen_stack) < 2 or not isinstance(key, events.Key):
            return False
        return bool(awaited) and all(one.stays for one in awaited) and self._means(key, "quit")

    async def _is_ready(self, screen: Screen[Any]) -> None:
        """A screen is drawn."""
        self._readying = None
        if screen is self._app.screen:
            self._ready = screen
            top = self._keyed
            if top is not None and top.asks_by_itself(self._last_special) and not self._known(top):
                self.startle()
        await self.go_on()

    def _known(self, screen: Screen[Any]) -> bool:
        """Whether a question was there before, below what lay over it."""
        known = any(one is screen for one in self._asked)
        self._asked = [screen, *self._asked[:5]]
        return known

    def _is_there(self, expected: Expected) -> bool:
        """Whether what is on the screen now is what was to open."""
        top = self._keyed
        if top is None:
            return self._app.screen is not expected.screen
        return top.has_opened(expected.action, expected.kind, expected.screen)

    def _refused(self, expected: Expected | None) -> None:
        """Nothing opened: drop what was typed for it, with what follows in the same breath."""
        if expected is None or expected.kind != OUTSIDE:
            self._quiet_until = self._clock() + AFTER_REFUSAL
        said, dropped = self._last_said(), self._drop()
        why = said[1] if said is not None and (expected is None or said is not expected.said) else ""
        words = "The keys that were typed for it were ignored."
        words = f"{why.rstrip('.')}. {words}" if why else words
        self._quiet_words = "" if dropped else words
        if dropped:
            self._say(words)

    def _drop(self) -> int:
        """Forget what waits; returns how much that was. Escape and the like stay."""
        kept: list[Typed] = [one for one in self._waiting if isinstance(one, events.Key) and self._is_always(one)]
        count = len(self._waiting) - len(kept)
        self._waiting = kept
        return count

    # Giving

    async def go_on(self) -> None:
        """Give what can be given; on the app's own task only."""
        while self._waiting and self._app.screen_stack:
            if self._holds():
                self._mind()
                return
            if not self._waiting:
                return
            top, pasted = self._keyed, isinstance(self._waiting[0], events.Paste)
            if top is None or top.typing or top.one_by_one or pasted:
                if pasted and top is not None and not self._loose and top.release():
                    continue  # keys before a paste are keys
                self._fence()
                if not self._loose:
                    await self._give(self._waiting.pop(0))
                return
            event = self._waiting.pop(0)
            self._loose = [*self._loose[-20:], event]
            await self._give(event)
        if self._app.screen_stack:
            self._holds()

    def _fence(self) -> None:
        """Hold the rest until everything on the way of a key, and what that led to, is done."""
        self._through += 1
        self._since = self._clock()
        # Called in front of the key itself; the first hop is behind it in every queue.
        self._app.call_next(self._hop, self._through, 0, [])

    def _hop(self, number: int, round_: int, left: list[MessagePump]) -> None:
        """Go through the queue of each widget on the way, twice, behind what is there already."""
        if number != self._through:
            return
        while True:
            if not left:
                if round_ == 2:
                    self._app.call_later(self._got_through, number)
                    return
                round_ += 1
                if not self._app.screen_stack:
                    return
                left = [*(self._app.focused or self._app.screen).ancestors_with_self]
            pump = left.pop(0)
            if pump.is_running and pump.call_later(self._hop, number, round_, left):
                return

    async def _got_through(self, number: int) -> None:
        if number == self._through:
            self._since = None
            self._loose = []
            await self.go_on()

    # Never for ever

    def _mind(self) -> None:
        """See to it that nothing waits for long without a word."""
        self._remind_later()
        last = self._waiting[-1]
        if isinstance(last, events.Key) and self._is_always(last):
            self._app.set_timer(GRACE, lambda: self._insist(last))

    async def _remind(self) -> None:
        """Tell what keys wait for, drop the oldest, and see that a lost widget does not block the rest."""
        self._reminding = False
        await self.go_on()
        if not self._waiting or not self._app.screen_stack:
            return
        oldest = self._waiting[0].time
        if self._clock() - oldest > OLDEST:
            self._drop()
            self._say(f"Your keys waited too long and were dropped. memtui still tries to {self._what()}.")
        elif self._openings.waited_for:
            self._say(f"Your keys wait; esc drops them. memtui tries to {self._what()}.")
        self._remind_later()

    def _remind_later(self) -> None:
        if self._waiting and not self._reminding:
            self._reminding = True
            self._app.set_timer(TELL, self._remind)

    async def _insist(self, event: events.Key) -> None:
        """Escape, or a key that ends the program, has waited long enough."""
        if not any(one is event for one in self._waiting) or not self._app.screen_stack:
            return
        self._waiting.remove(event)
        what, dropped = self._what(), self._drop()
        was_opening = self.opening
        self._openings.give_up()
        self._expected, self._since = None, None
        self._through += 1
        self._ready = self._app.screen
        top = self._keyed
        if top is not None and was_opening:
            top.opening_given_up()
        if event.key != "ctrl+q" and not self._means(event, "quit_now") and was_opening:
            keys = f" {dropped} {'key' if dropped == 1 else 'keys'} typed meanwhile went with it." if dropped else ""
            self._say(f"Gave up to {what}.{keys}")
        else:
            await self._give(event)
        await self.go_on()

    def _what(self) -> str:
        found = [one.what for one in self._openings.waited_for]
        return found[0] if found else self._expected.action.help.rstrip(".") if self._expected else "draw"

    # Whom it concerns

    @property
    def _keyed(self) -> KeyedScreen[Any] | None:
        """The screen on top, when it takes keys from the action table."""
        from memtui.ui.keys.keyed import KeyedScreen

        screen = self._app.screen
        return screen if isinstance(screen, KeyedScreen) else None

    def _is_always(self, event: events.Key) -> bool:
        return event.key in ("escape", "ctrl+q") or any(self._means(event, id_) for id_ in ALWAYS)

    def _means(self, event: events.Key, id_: str) -> bool:
        top = self._keyed
        return top is not None and any(action.id == id_ and event.key in action.keys for action in top.table)

    def _say(self, words: str) -> None:
        for screen in (self._app.screen, *self._app.screen_stack[:1]):
            if hasattr(screen, "say"):
                screen.say(words, "warning")
                return

    def _last_said(self) -> tuple[int, str] | None:
        browser = self._app.screen_stack[0] if self._app.screen_stack else None
        chrome = getattr(browser, "chrome", None)
        return chrome.said[-1] if chrome is not None and chrome.said else None


def typeahead_of(app: object) -> TypeAhead | None:
    """What holds the keys of an app; None where nothing does."""
    found = getattr(app, "ahead", None)
    return found if isinstance(found, TypeAhead) else None
