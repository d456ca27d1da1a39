"""The key queue: each key is delivered when the one before it is done, to the screen that takes keys then.

Textual picks the receiver of a key when it arrives, before the action of the previous key has run: a letter meant for a
form would be a command of the list below. So keys wait here, in order, while one is being handled, while what it opened
is being read, and long enough to tell keys from a paste. Keys for something that did not open are dropped, and the user
is told.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import events
from textual.message_pump import MessagePump
from textual.screen import Screen

from memtui.ui.keys.keyed import KeyedScreen, name_of

if TYPE_CHECKING:
    from textual.app import App

PASTE_KEYS = 6
"""More printable keys than this within `WINDOW` are a paste into a list."""
PASTE_WINDOW = 0.08
"""Seconds."""
KEY_DELAY = 0.025
"""Seconds a key that does something waits for others, to tell it from a paste."""
TYPING_LIMIT = 0.012
"""Seconds; no person types two different keys faster."""
PASTE_QUIET = 0.15
"""Seconds without a key that end a paste."""
REPEAT_WINDOW = 0.15
"""Seconds; a writing key repeated this soon is a key held down."""
LINE_ENDS = frozenset({"enter", "tab", "ctrl+j"})
"""Keys that end lines in pasted text."""

ESCAPE_DELAY = 0.3
"""Seconds escape and ctrl+q wait for their turn; then they run at once, and held keys are dropped."""
BRIEF_HOLD = 0.3
"""Seconds keys wait for the rows after a change: the next key must not meet a row that is gone."""
REMIND_AFTER = 0.6
"""Seconds after which the user is told what held keys wait for."""
HOLD_LIMIT = 10.0
"""Seconds after which a held key is dropped, because nobody expects it any more."""
AFTER_REFUSAL = 0.2
"""Seconds after a refusal that nobody can have read yet: keys were typed for what was to open."""
AFTER_PASTE = 0.15
"""Seconds after a paste in which a terminal may still deliver its rest as keys."""
SAME_BURST = 0.15
"""Seconds within which a key belongs to the dropped key before it."""
KEY_TIMEOUT = 3.0
"""Seconds a key may take; a widget that is busy for longer, or gone, must not block the keyboard."""
UNREAD = "Keys typed before this question was there were ignored."
IGNORED = "The keys that were typed for it were ignored."
PASTED = "That looked like a paste, so it was ignored: this list takes single keys."
ALWAYS = frozenset({"back", "quit_now"})
"""Actions whose keys are never held for long."""

Typed = events.Key | events.Paste


class Verdict(Enum):
    """What happens to the next key of a list."""

    RUN = "run"
    WAIT = "wait"
    """Judge it again when it has waited `HOLD`."""
    PASTE = "paste"
    DROP = "drop"


class PasteWatch:
    """Tells typed keys from pastes that arrive as keys, which must not run commands."""

    def __init__(self) -> None:
        self._given: deque[tuple[float, str]] = deque(maxlen=PASTE_KEYS)

    def judge(
        self, keys: Sequence[tuple[float, str]], now: float, *, moves: bool, writes: bool = False, filters: bool = False
    ) -> Verdict:
        """Judge the first of the waiting printable keys (time in seconds and name, oldest first)."""
        at, key = keys[0]
        before, last = self._given[-1] if self._given else (0.0, "")
        newest = max(time for time, _ in keys if time - at < PASTE_WINDOW)
        near = [name for time, name in (*self._given, *keys) if newest - PASTE_WINDOW < time <= newest]
        if not (filters and at - before >= PASTE_WINDOW) and len(near) > PASTE_KEYS and len(set(near)) > 2:
            self._given.clear()
            return Verdict.PASTE
        repeated = writes and key == last and at - before < REPEAT_WINDOW
        hasty = at - before < TYPING_LIMIT and key != last
        if not repeated and (hasty or not moves) and now - at < KEY_DELAY:
            return Verdict.WAIT
        self._given.append((at, key))
        return Verdict.DROP if repeated else Verdict.RUN


@dataclass(eq=False)
class Hold:
    """Something keys wait for: what an action opens, or the rows after a change."""

    fence: Fence | None
    """None where there are no keys."""
    what: str
    until: float
    """When keys stop waiting (`monotonic`)."""
    brief: bool = True
    """Whether only lists wait for it; text is typed on."""
    optional: bool = True
    """Whether its result is dropped when the user stops it."""
    dropped: bool = False
    """Whether the user stopped it: its result must not appear under later keys."""

    @property
    def waits(self) -> bool:
        return self.fence is not None and self.fence.waits_for(self)

    def end(self) -> None:
        """Release the keys: it has opened, or never will."""
        if self.fence is not None:
            self.fence.ended(self)


class Fence:
    """The queue of keys of an app."""

    def __init__(self, app: App[Any], give: Callable[[Typed], Awaitable[None]]) -> None:
        """Take the app, and what handles a key or paste in the app's own way."""
        self._app = app
        self._give = give
        self._waiting: list[Typed] = []
        self._watch = PasteWatch()
        self._holds: list[Hold] = []
        self._through = 0
        """Number of the key that is passing through the widgets' queues."""
        self._since: float | None = None
        """When the key being handled was delivered; None: none is."""
        self._before: tuple[Screen[Any], object, bool] | None = None
        self._awaited = False
        """Whether something was read for the last key."""
        self._loose = False
        """Whether letters for a text line are being delivered."""
        self._outside = False
        self._why = ""
        """Why the last key was refused, as the user was told."""
        self._said_at = 0.0
        self._ready: Screen[Any] | None = None
        self._readying: Screen[Any] | None = None
        self._quiet_until = self._paste_until = self._burst_until = 0.0
        self._quiet_words = ""
        self._asked: list[Screen[Any]] = []
        self._pasted_keys = False
        self._reminding = False
        self._last_special = ""
        """The last key that is no character."""

    # What waits, and for what

    @property
    def waiting(self) -> tuple[Typed, ...]:
        return tuple(self._waiting)

    @property
    def holding(self) -> bool:
        """Whether keys wait for something being opened or changed."""
        return bool(self._live() or self._reading)

    @property
    def settled(self) -> bool:
        """Whether no key is held or being handled."""
        return not self._waiting and self._since is None and not self.holding

    def hold(self, what: str, seconds: float = HOLD_LIMIT, *, optional: bool = True) -> Hold:
        """Make keys wait until `Hold.end`, or for so many seconds; up to `MOMENT`, for lists only."""
        hold = Hold(self, what, monotonic() + seconds, brief=seconds <= BRIEF_HOLD, optional=optional)
        self._holds.append(hold)
        return hold

    def waits_for(self, hold: Hold) -> bool:
        return hold in self._holds

    def ended(self, hold: Hold) -> None:
        """Release a hold; called by `Hold.end`."""
        if hold in self._holds:
            self._holds.remove(hold)
            self._awaited = self._awaited or not hold.brief
            if self._app.is_running:
                self._fence()
                self._app.call_later(self.go_on)

    def refuse(self, why: str) -> None:
        """Note that the current key does nothing, for a reason the user was told; drop the keys typed after it."""
        self.heard(why)
        self._ignore()

    def heard(self, words: str) -> None:
        """Note a warning: the reason, if what the last key opens does not come."""
        self._why, self._said_at = words, monotonic()

    def goes_outside(self) -> None:
        """Note that the current key hands the terminal to another program, which later keys are for."""
        self._outside = True

    def startle(self) -> None:
        """Drop all earlier keys: a question has come up that nobody has read yet."""
        self._quiet_until = monotonic() + AFTER_REFUSAL
        self._quiet_words = UNREAD
        if self._drop():
            self._quiet_words = ""
            self._say(UNREAD)

    def _live(self) -> list[Hold]:
        """Return the holds still in force; brief ones do not count while text is typed."""
        now = monotonic()
        self._holds = [one for one in self._holds if now < one.until]
        return [one for one in self._holds if not (one.brief and self._is_text)]

    # Coming in

    async def take(self, event: Typed) -> None:
        """Queue a key or paste."""
        now = event.time
        if isinstance(event, events.Key):
            self._last_special = self._last_special if event.is_printable else event.key
            if self._ignored(event, now):
                return
        else:
            self._paste_until = now + AFTER_PASTE
        insort(self._waiting, event, key=attrgetter("time"))
        await self.go_on()

    def _ignored(self, event: events.Key, now: float) -> bool:
        """Whether a key belongs to a paste, or was typed for what was just refused."""
        if now < self._paste_until:
            if not self._pasted_keys:
                self._app.set_timer(AFTER_PASTE, self._tell_of_paste)
            self._pasted_keys = True
            self._paste_until = now + SAME_BURST
            return True
        if now < self._burst_until and (event.is_printable or event.key in LINE_ENDS):
            self._burst_until = now + PASTE_QUIET
            return True
        if now < self._quiet_until and not self._is_always(event):
            self._quiet_until = max(self._quiet_until, now + SAME_BURST)
            if self._quiet_words:
                words, self._quiet_words = self._quiet_words, ""
                self._say(words)
            return True
        return False

    def _tell_of_paste(self) -> None:
        """Say that keys were ignored, unless the paste is still arriving."""
        if monotonic() < self._paste_until:
            self._app.set_timer(AFTER_PASTE, self._tell_of_paste)
        elif self._app.screen_stack:
            self._pasted_keys = False
            self._say("Keys that came with a paste were ignored; type them again if they were yours.")

    def hears_mouse(self, event: events.MouseEvent) -> bool:
        """Whether a click counts: one during a paste may be a part of it."""
        return isinstance(event, events.MouseMove) or event.time >= self._paste_until

    # Giving

    async def go_on(self) -> None:
        """Deliver the next key if it can be; on the app's own task only."""
        while self._app.screen_stack:
            if self._must_wait():
                self._mind()
                return
            if not self._waiting:
                return
            match self._judge(self._waiting[0]):
                case Verdict.WAIT:
                    self._app.set_timer(max(KEY_DELAY - monotonic() + self._waiting[0].time, 0.001), self.go_on)
                    return
                case Verdict.PASTE:
                    self._ignore_paste()
                case Verdict.DROP:
                    self._waiting.pop(0)
                case Verdict.RUN:
                    loose, self._loose = self._loose, self._is_letter(self._waiting[0])
                    if self._loose:
                        await self._give(self._waiting.pop(0))
                        continue
                    self._fence()
                    if not loose:
                        self._before, self._awaited, self._outside, self._why = self._receiver, False, False, ""
                        await self._give(self._waiting.pop(0))
                    return

    def _is_letter(self, event: Typed) -> bool:
        """Whether it is a letter for a screen's own text line, which opens nothing."""
        top = self._keyed
        line = top is not None and top.letters_are_text and not top.typing
        return line and isinstance(event, events.Key) and event.is_printable

    def _judge(self, event: Typed) -> Verdict:
        top = self._keyed
        if top is None or not isinstance(event, events.Key) or not event.is_printable or top.letters_are_text:
            return Verdict.RUN
        keys = [(one.time, name_of(one)) for one in self._waiting if isinstance(one, events.Key) and one.is_printable]
        action = top.sequences.peek(name_of(event))
        return self._watch.judge(
            keys,
            monotonic(),
            moves=action is not None and action.moves,
            writes=action is not None and action.writes,
            filters=action is not None and action.id == "filter",
        )

    def _ignore_paste(self) -> None:
        """Drop a paste that came as keys, with what follows until it is quiet."""
        self._waiting = [
            one
            for one in self._waiting
            if not isinstance(one, events.Key) or not (one.is_printable or one.key in LINE_ENDS)
        ]
        self._burst_until = monotonic() + PASTE_QUIET
        top = self._keyed
        if top is not None:
            top.sequences.cancel()
            top.show_hint(None)
            top.say(PASTED, "warning")

    def _must_wait(self) -> bool:
        if self._since is not None:
            if monotonic() - self._since < KEY_TIMEOUT:
                return True
            self._since = None
        if self._leaves():
            self._stop_holds()
        live = self._live()
        if live:
            if self._waiting and all(one.brief for one in live):
                self._app.set_timer(max(max(one.until for one in live) - monotonic(), 0.01), self.go_on)
            return True
        if self._reading and not self._leaves():
            return True
        screen = self._app.screen
        if screen is not self._ready:
            if screen is not self._readying:
                self._readying = screen
                screen.call_after_refresh(lambda: self._app.call_later(self._is_ready, screen))
            return True
        self._see_what_opened()
        top = self._keyed
        return top is not None and bool(self._waiting) and top.not_yet(self._waiting[0])

    def _see_what_opened(self) -> None:
        """Drop what was typed for something that did not open, or for another program."""
        awaited, self._awaited = self._awaited, False
        outside, self._outside = self._outside, False
        if outside:
            if self._drop():
                self._say(IGNORED)
        elif awaited and self._why and self._receiver == self._before and not self._is_text:
            self._ignore()

    def _leaves(self) -> bool:
        """Whether the next key leaves a view that is not filled yet."""
        top, key = self._keyed, self._waiting[0] if self._waiting else None
        if top is None or top.letters_are_text or len(self._app.screen_stack) < 2 or not isinstance(key, events.Key):
            return False
        return (
            bool(self._holds or self._reading)
            and self._before is not None
            and self._before[0] is not top
            and self._means(key, "quit")
        )

    async def _is_ready(self, screen: Screen[Any]) -> None:
        self._readying = None
        if screen is self._app.screen:
            self._ready = screen
            top = self._keyed
            if top is not None and top.asks_by_itself(self._last_special) and not self._known(top):
                self.startle()
        await self.go_on()

    def _known(self, screen: Screen[Any]) -> bool:
        """Whether a question was already there, below what covered it."""
        known = any(one is screen for one in self._asked)
        self._asked = [screen, *self._asked[:5]]
        return known

    def _ignore(self) -> None:
        """Nothing opened: drop the keys typed for it, and those typed before anybody can have read why."""
        self._quiet_until = self._said_at + AFTER_REFUSAL
        words = f"{self._why.rstrip('.')}. {IGNORED}" if self._why else IGNORED
        self._quiet_words = words
        if self._drop(self._quiet_until):
            self._quiet_words = ""
            self._say(words)

    def _drop(self, until: float = inf) -> int:
        """Drop keys typed until then, except escape and the like; return how many."""
        kept = [
            one for one in self._waiting if one.time >= until or (isinstance(one, events.Key) and self._is_always(one))
        ]
        count = len(self._waiting) - len(kept)
        self._waiting = kept
        return count

    def _fence(self) -> None:
        """Hold later keys until everything a key led to is done."""
        self._through += 1
        self._since = monotonic()
        # Called in front of the key itself; the first hop is behind it in every queue.
        self._app.call_next(self._hop, self._through, 0, [])

    def _hop(self, number: int, round_: int, left: list[MessagePump]) -> None:
        """Pass through the queue of each widget on the way, twice, behind what is there already."""
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
            await self.go_on()

    # Never for ever

    def _mind(self) -> None:
        """See that nothing waits long without a message."""
        if not self._waiting:
            return
        self._remind_later()
        last = self._waiting[-1]
        if isinstance(last, events.Key) and self._is_always(last):
            self._app.set_timer(ESCAPE_DELAY, lambda: self._insist(last))

    async def _remind(self) -> None:
        """Say what keys wait for, drop the oldest, and unblock the queue if a widget is lost."""
        self._reminding = False
        await self.go_on()
        if not self._waiting or not self._app.screen_stack:
            return
        if monotonic() - self._waiting[0].time > HOLD_LIMIT:
            self._say(f"Still {_doing(self._what)}{_with_keys(self._drop())}.")
        elif self._holds or self._reading:
            self._say(f"Your keys wait; esc drops them. memtui is {_doing(self._what)}.")
        self._remind_later()

    def _remind_later(self) -> None:
        if self._waiting and not self._reminding:
            self._reminding = True
            self._app.set_timer(REMIND_AFTER, self._remind)

    async def _insist(self, event: events.Key) -> None:
        """Run escape, or a key that ends the program, that has waited long enough."""
        if not any(one is event for one in self._waiting) or not self._app.screen_stack:
            return
        self._waiting.remove(event)
        what, dropped, held = self._what, self._drop(), bool(self._holds or self._reading)
        pushed = bool(self._reading) or (self._before is not None and self._before[0] is not self._app.screen)
        self._stop_holds()
        self._since = None
        self._through += 1
        self._ready = self._app.screen
        top = self._keyed
        if held and top is not None:
            top.opening_given_up()
        if held and event.key != "ctrl+q" and not self._means(event, "quit_now"):
            self._say(f"Stopped {_doing(what)}{_with_keys(dropped)}.", outlives=pushed)
            held = not pushed
        if not held or event.key == "ctrl+q" or self._means(event, "quit_now"):
            await self._give(event)
        await self.go_on()

    def _stop_holds(self) -> None:
        """Stop waiting, and let nothing that was to open appear later."""
        holds, self._holds, self._awaited = self._holds, [], False
        for hold in holds:
            hold.dropped = hold.optional

    @property
    def _what(self) -> str:
        return self._holds[0].what if self._holds else self._reading or "draw"

    @property
    def _reading(self) -> str:
        top = self._keyed if self._app.screen_stack else None
        return top.reading if top is not None else ""

    # Whom it concerns

    @property
    def _keyed(self) -> KeyedScreen[Any] | None:
        """The screen on top, if it takes keys from the action table."""
        screen = self._app.screen
        return screen if isinstance(screen, KeyedScreen) else None

    @property
    def _is_text(self) -> bool:
        top = self._keyed if self._app.screen_stack else None
        return top is None or top.letters_are_text

    @property
    def _receiver(self) -> tuple[Screen[Any], object, bool]:
        return self._app.screen, self._app.focused, self._is_text

    def _is_always(self, event: events.Key) -> bool:
        return event.key in ("escape", "ctrl+q") or any(self._means(event, id_) for id_ in ALWAYS)

    def _means(self, event: events.Key, id_: str) -> bool:
        top = self._keyed
        return top is not None and any(action.id == id_ and event.key in action.keys for action in top.table)

    def _say(self, words: str, *, outlives: bool = False) -> None:
        """Show a message where the user is, or where it stays when the screen on top closes."""
        for screen in (*(() if outlives else (self._app.screen,)), *self._app.screen_stack[:1]):
            if hasattr(screen, "say"):
                screen.say(words, "warning")
                return


def _doing(what: str) -> str:
    """Turn `open notes/a.md` into `opening notes/a.md`."""
    verb, blank, rest = what.partition(" ")
    return f"{verb.removesuffix('e')}ing{blank}{rest}"


def _with_keys(count: int) -> str:
    return (
        f"; the {f'{count} keys' if count != 1 else 'key'} you typed {'were' if count != 1 else 'was'} ignored"
        if count
        else ""
    )


def fence_of(app: object) -> Fence | None:
    """Return the key queue of an app, if it has one."""
    found = getattr(app, "fence", None)
    return found if isinstance(found, Fence) else None
