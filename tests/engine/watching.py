"""A watch in a test: what it says is remembered, and waited for without sleeping."""

import threading
import time
from collections.abc import Callable

from memtui.engine.model import Change, Changes, Health
from memtui.engine.part import Pace
from memtui.engine.watch.hints import Opener, Watchfiles
from memtui.engine.watch.watch import Watch
from tests.engine.reading_world import ReadingWorld

LIMIT = 100.0
"""Seconds after which a test gives up waiting."""


class Listener:
    """Remembers what a watch says, and waits for what it should say."""

    def __init__(self) -> None:
        self.news = threading.Condition()
        self.all: list[Changes] = []
        self.health: list[Health] = []

    def on_changes(self, changes: Changes) -> None:
        with self.news:
            self.all.append(changes)
            self.news.notify_all()

    def on_health(self, health: Health) -> None:
        with self.news:
            self.health.append(health)
            self.news.notify_all()

    @property
    def changes(self) -> list[Change]:
        return [change for changes in self.all for change in changes.changes]

    def kinds(self, path: str) -> list[str]:
        return [change.kind for change in self.changes if change.address.path == path]

    def touched(self, path: str) -> bool:
        """Whether a row was to be drawn again, or changed."""
        return any(address.path == path for changes in self.all for address in changes.touched)

    def wait(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until something is so; what changes without being told is looked at several times a second."""
        end = time.monotonic() + LIMIT
        with self.news:
            while not condition():
                assert time.monotonic() < end, (what, self.health, self.all[-3:])
                self.news.wait(0.1)


class Watching:
    """A world, a watch on it, and what it said."""

    def __init__(self, world: ReadingWorld, source: Opener = Watchfiles, pace: Pace | None = None) -> None:
        self.world = world
        self.heard = Listener()
        self.watch = Watch(
            world.reconciler,
            str(world.state),
            self.heard.on_changes,
            self.heard.on_health,
            pace=pace or Pace(),
            source=source,
        )

    def idle(self) -> None:
        """Wait until what is on disk now has been looked at: a file made now has been told."""
        name = f"idle-{time.monotonic_ns()}.md"
        self.world.write(name, name)
        self.heard.wait(lambda: self.heard.kinds(name), name)
        self.heard.all.clear()
