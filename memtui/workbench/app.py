"""The workbench application: it connects screen, bridge, themes and signal handlers, and works off background tasks.

Only what must happen before the first frame is here, because every import delays the start. When it ends by a fault,
drafts are stored first, and the message shows no memory's text: Textual's own report prints local variables, which hold
the text being edited. The task lanes are watched in a thread of their own, so that a long task hides neither waiting
tasks nor a dream running elsewhere; a task in progress when memtui ends is started again by the next process.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.console import RenderableType
from rich.text import Text
from textual import constants, events, screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from memtui.features.tasks.shown import LaneNews, glance
from memtui.features.tasks.work import workspace_of
from memtui.safe_text import visible
from memtui.ui import process, terminal
from memtui.ui.action import Action
from memtui.ui.draw import paint
from memtui.ui.draw.paint import Paint
from memtui.ui.keys.fence import Fence
from memtui.ui.terminal import TerminalReply, ask
from memtui.ui.textual_private import PrivateApp
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import Scroller, redraw
from memtui.wire.session import Session, acting, other_projects, own_roots, roots_now
from memtui.workbench.actions import ACTIONS
from memtui.workbench.bridge import Bridge, Failed, Finished, note_fault
from memtui.workbench.browse.browser import BrowserScreen
from memtui.workbench.browse.place import read_place
from memtui.workbench.main_screen import NO_PLACE, AppCalls, StartFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memtui.config.settings import Settings
    from memtui.engine.model import Root
    from memtui.errors import MemtuiError
    from memtui.features.host import Host
    from memtui.wire.session import Session
    from memtui.workbench.bridge import Bridge, Engine


R = TypeVar("R")
CALM_FPS = 15
TURN = 0.0005
"""Thread switch interval in seconds: a key waits for it several times before it is handled."""
MOMENT = 20.0
"""Seconds between updates of relative times, whose smallest unit is a minute."""
SETTLED = 1.2
"""Seconds after the first frame when everything was read, and freed memory can be returned."""


def fault_text(error: BaseException, *, kept: str, debug: bool = False) -> Text:
    """Say in a few lines what happened, what is unharmed (`kept`) and what to do; `debug` adds places, never values."""
    lines = [f"E_INTERNAL: memtui stopped because of a fault of its own: {type(error).__name__}: {error}"]
    if debug:
        lines += [line.rstrip("\n") for line in traceback.format_exception(type(error), error, error.__traceback__)]
    lines += [
        f"{kept} No memory was changed by this.",
        "Start memtui again; with MEMTUI_DEBUG=1 it shows where it happened.",
    ]
    return Text("\n".join(visible(line, keep_newlines=True) for line in lines))


class SafeEnd(PrivateApp[R]):
    """An app that stores its drafts before it dies of a fault."""

    show_faults = False
    _kept = "There was nothing unsaved."
    _told = False

    def flush_drafts(self) -> int:
        """Store every draft and return their number; for subclasses."""
        return 0

    def note_fault(self, error: BaseException) -> None:
        """Record where a fault happened; for subclasses."""

    def panic(self, *renderables: RenderableType) -> None:
        """Handle what Textual cannot recover from, such as a lost terminal."""
        self.before_fault()
        super().panic(*renderables)

    def before_fault(self) -> None:
        try:
            if self.flush_drafts():
                self._kept = "Your draft is on disk and will be offered again."
        except Exception as second:  # noqa: BLE001 - the process ends; both faults are said
            self._kept = f"A draft could not be stored ({type(second).__name__}); what was stored before is kept."

    def print_fault(self, error: BaseException) -> None:
        """Print the fault, once."""
        if self._told:
            return
        self._told = True
        self.note_fault(error)
        self.bell()
        self.panic(fault_text(error, kept=self._kept, debug=self.show_faults))


class MemtuiApp(SafeEnd[int]):
    CSS_PATH = "browse/browser.tcss"
    TITLE = "memtui"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, bridge: Bridge, facts: StartFacts) -> None:
        super().__init__()
        self.bridge = bridge
        self.fence = bridge.fence = Fence(self, super().on_event)
        self.plain = facts.ascii
        self.show_faults = facts.settings.debug
        self.animation_level = "none"
        for theme in paint.THEMES:
            self.register_theme(theme)
        name, self._theme_problem = paint.choose(
            paint.at_start(facts.settings, facts.kept_theme),
            no_color=facts.settings.terminal.no_color,
            known=frozenset(self.available_themes),
            light=facts.light,
        )
        self.theme = name
        self._paint: Paint | None = None
        table, key_problems = self._table(facts.settings)
        self._setting_problems = (*facts.settings.removed, *key_problems)
        asked = AppCalls(self._view_host, self._find_hosts, self._do_there)
        self.browser = BrowserScreen(bridge, facts, table, asked)
        self.background: Background | None = None
        """Works off background tasks; None: not in this process."""

    def note_fault(self, error: BaseException) -> None:
        note_fault(self.bridge, error)

    @staticmethod
    def _table(settings: Settings) -> tuple[tuple[Action, ...], tuple[str, ...]]:
        """Return the actions with the user's keys, and what is wrong with those keys."""
        if not settings.keys:
            return ACTIONS, ()
        from memtui.workbench.keys import with_overrides

        return with_overrides(dict(settings.keys), lines=dict(settings.key_lines))

    def _view_host(self) -> Host:
        from memtui.workbench.view_host import WorkbenchHost

        return WorkbenchHost(self.browser)

    def _find_hosts(self) -> None:
        from memtui.workbench.hosts import Hosts

        self.browser.part(Hosts).find()

    def _do_there(self, action: str) -> None:
        from memtui.workbench.hosts import Hosts

        self.browser.part(Hosts).do(action)

    @property
    def paint(self) -> Paint:
        if self._paint is None:
            self._paint = Paint(self.theme_variables, ansi=self.current_theme.ansi, plain=self.plain)
        return self._paint

    def get_default_screen(self) -> BrowserScreen:
        return self.browser

    def on_mount(self) -> None:
        """Draw first; read afterwards."""
        self.bridge.attach(self, self.browser)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.set_interval(MOMENT, self._time_passed)
        process.call_after_stop(partial(asyncio.get_running_loop().call_soon_threadsafe, self.refresh))
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        """Start reading and watching, once the first frame is on its way."""
        process.use_one_heap()
        self.bridge.start()
        if self.background is not None:
            self.background.start()
        self.set_timer(SETTLED, process.trim)
        gc.enable()
        gc.collect()
        gc.freeze()
        self.browser.returning.finish()
        for problem in (self.browser.facts.news, self._theme_problem, *self._setting_problems):
            if problem:
                self.browser.say(problem, "warning")

    def _time_passed(self) -> None:
        for lines in self.screen.query(Lines):
            lines.update()
        for rows in self.screen.query(Scroller):
            rows.repaint()

    def _theme_changed(self, _: Any) -> None:
        self._paint = None
        for shown in {*self.screen_stack, *self.browser.views.opened}:
            redraw(shown)

    def on_finished(self, event: Finished) -> None:
        """Pass a result on, unless the user stopped the job or left."""
        try:
            if event.then is not None and self.screen_stack and not (event.hold is not None and event.hold.dropped):
                event.then(event.result)
        finally:
            if event.hold is not None:
                event.hold.end()
            if self.fence.waiting:
                self.call_later(self.fence.go_on)

    def on_failed(self, event: Failed) -> None:
        """Pass an error on, or show it."""
        try:
            if not self.screen_stack:
                return
            if event.otherwise is None or (event.hold is not None and event.hold.dropped):
                self.browser.show_error(event.what, event.error)
            else:
                event.otherwise(event.error)
        finally:
            if event.hold is not None:
                event.hold.end()

    def on_app_focus(self) -> None:
        """Let the watcher look more often, and once now."""
        self.bridge.focus(focused=True)
        self.browser.side.attend()

    def on_app_blur(self) -> None:
        self.bridge.focus(focused=False)

    def last_words(self) -> None:
        """Store drafts and position before the process ends."""
        self.flush_drafts()
        self.browser.returning.flush()

    def flush_drafts(self) -> int:
        self.browser.bridge.keep_drafts_apart()
        return self.browser.host.flush()

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pastes; pass other events on."""
        if isinstance(event, events.InputEvent) and not isinstance(event, events.MouseMove):
            self.browser.returning.touched(in_tree=self.screen is self.browser)
            if self.screen is not self.browser:
                self.browser.chrome.clear()  # what it said was read on the screen over it
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.fence.take(event)
        elif not isinstance(event, events.MouseEvent) or event.is_forwarded or self.fence.hears_mouse(event):
            await super().on_event(event)

    async def action_quit(self) -> None:
        self.browser.leave()


class PlainBars(ScrollBarRender):
    """ASCII scroll bars of text fields: blocks of colour, without signs for parts of a cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def unseen(session: Session, roots: Iterable[Root]) -> tuple[Root, ...]:
    from memtui.features.memories.unseen import look

    found = look(session.surroundings, roots).folders if not session.options.only_roots else ()
    return tuple(one.root for one in found)


def run_workbench(session: Session, *, demo: bool = False) -> int:
    """Run the workbench until it ends; return the exit status. `demo`: the roots are a throw-away copy."""
    gc.disable()
    sys.setswitchinterval(TURN)
    options = session.options
    if options.calm:
        screen.UPDATE_PERIOD = 1 / CALM_FPS  # type: ignore[misc]
    constants.SMOOTH_SCROLL = False  # type: ignore[misc]
    if options.ascii:
        ScrollBar.renderer = PlainBars
    bridge = Bridge(session.engine, actor=acting(options, "tui"), read_only=options.read_only)
    facts = facts_of(session, bridge, demo=demo)
    answered = ask() if paint.follows_terminal(facts.settings, facts.kept_theme) else TerminalReply()
    app = MemtuiApp(bridge, facts._replace(light=answered.light))
    app.background = Background(session, bridge, app.browser.bars.take_tasks, app.browser.show_error)
    last_words = process.ExitHandlers(app.last_words)
    app.browser.lend_terminal = last_words.lend_terminal
    last_words.install()
    terminal.install(partial(terminal.GuardedParser, answered=answered))
    try:
        app.run(mouse=not options.no_mouse)
    finally:
        bridge.close()
        last_words.uninstall()
        gc.enable()
    return app.return_code or 0


def facts_of(session: Session, bridge: Bridge, *, demo: bool) -> StartFacts:
    surroundings = session.surroundings
    name = surroundings.project or "no project"
    kept, damaged = bridge.place(name)
    place = read_place(kept)
    if session.options.fresh:
        place = NO_PLACE
    if session.options.all_projects:
        place = place._replace(projects=True)
    project = surroundings.project.rpartition("/")[2] or surroundings.project
    return StartFacts(
        settings=session.settings,
        roots=own_roots(session),
        project=project,
        workspace=session.settings.workspace or "",
        ascii=session.options.ascii,
        calm=session.options.calm,
        demo=demo,
        own_roots=lambda: roots_now(session),
        more_roots=lambda: other_projects(session),
        unseen=lambda roots: unseen(session, roots),
        listing=bridge.remembered(),
        place_name=name,
        kept_theme=bridge.place(paint.STORED_AS)[0],
        place=place,
        news="What was kept of the last session cannot be read, so this one starts afresh." if damaged else "",
        surroundings=surroundings,
    )


LOOK_S = 0.5
BEGIN_INTERVAL_S = 60.0
"""Seconds before the first look at scheduled tasks, and between looks."""
READ_FIRST_S, READ_S = 3.0, 60.0
"""Seconds before agents' sessions are first read, where the user allowed it, and between later reads."""
READ_OVER_MS = 600_000
"""Files written this long before the last read are read again: clocks and disks may differ."""
AGAIN_S = 30.0
"""Seconds before a lane is worked again after the ledger failed."""


class Background:
    """Watches the lanes and works off tasks."""

    def __init__(
        self,
        session: Session,
        bridge: Bridge,
        tell: Callable[[LaneNews], None],
        fail: Callable[[str, MemtuiError], None],
    ) -> None:
        """`tell` takes news, `fail` the failed action and its error."""
        self._session = session
        self._bridge = bridge
        self._tell = tell
        self._fail = fail
        self._lane = workspace_of(session.surroundings)
        self._pause = threading.Event()
        self._working = False
        self._not_before = 0.0
        self._begin_at = time.monotonic() + BEGIN_INTERVAL_S
        self._read_at = time.monotonic() + READ_FIRST_S
        self._read_upto = 0

    def start(self) -> None:
        self._bridge.stream(self._follow, self._take, what="look at the tasks", group="tasks-look")

    def _follow(self, engine: Engine, stop: Callable[[], bool], tell: Callable[[LaneNews], None]) -> LaneNews:
        from memtui.features.proposals import staged  # in this thread: no start waits for it
        from memtui.features.proposals.apply import to_decide

        seen = LaneNews(0)
        counter: tuple[object, ...] | None = None
        votes = 0
        while not stop():
            now = glance(engine.tasks, self._lane.id, None if counter is None else seen)
            known, counter = counter, (engine.proposals.counter(), staged.signs(engine))
            count, voted = (seen.proposed, votes) if known == counter else (to_decide(engine), engine.votes.count())
            now = now._replace(proposed=count, changed=now.changed or (count, voted) != (seen.proposed, votes))
            votes = voted
            if now.changed or now.due or now.dreaming is not seen.dreaming or self._is_time():
                tell(now)
            seen = now
            self._pause.wait(LOOK_S)
        return seen

    def _is_time(self) -> bool:
        return time.monotonic() >= min(self._begin_at, self._read_at)

    def _take(self, now: LaneNews) -> None:
        self._tell(now)
        if time.monotonic() >= self._read_at:
            self._read_at = time.monotonic() + READ_S
            if not self._bridge.read_only:
                what = "read what agents' sessions did"
                self._bridge.run(
                    self._read, self._was_read, what=what, otherwise=partial(self._fail, what), lane="sessions"
                )
        if time.monotonic() >= self._begin_at:
            self._begin_at = time.monotonic() + BEGIN_INTERVAL_S
            if not self._bridge.read_only:
                self._bridge.run(self._begin, what="begin what is due", otherwise=self._failed, lane="tasks")
        if now.due and not self._working and not self._bridge.read_only and time.monotonic() >= self._not_before:
            self._working = True
            self._bridge.run(
                self._work, self._worked, what="work in the background", otherwise=self._failed, lane="tasks"
            )

    def _work(self, engine: Engine) -> int:
        from memtui.features.tasks.lanes import work_off  # most sessions have nothing to work off

        del engine  # it is the session's
        return work_off(self._session, workspace=self._lane, stop=lambda: self._bridge.closed)

    def _read(self, engine: Engine) -> int:
        from memtui.config.read import reread
        from memtui.features.sessions.read_touches import read_touches

        begun, session = engine.touches.clock(), self._session
        place, settings = session.surroundings, reread(session.settings)
        came = read_touches(engine, settings, place, since=self._read_upto, stop=lambda: self._bridge.closed)
        return self._read_upto if came.stopped or came.denied else begun - READ_OVER_MS

    def _was_read(self, upto: int) -> None:
        self._read_upto = upto

    def _begin(self, engine: Engine) -> None:
        from memtui.features.tasks.lanes import begin_due

        del engine  # it is the session's
        begin_due(self._session)

    def _worked(self, count: int) -> None:
        del count
        self._working = False

    def _failed(self, error: MemtuiError) -> None:
        self._working, self._not_before = False, time.monotonic() + AGAIN_S
        self._fail("work in the background", error)
