"""The workbench as views see it: the implementation of `features.host.Host`.

It is apart so that no first frame waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.features.host import ProjectRoots
from memtui.features.typed_address import Target, rename_target
from memtui.workbench.actions import VIEW
from memtui.workbench.undo import LocalStep

if TYPE_CHECKING:
    from memtui.engine.model import Actor, Address, Root
    from memtui.features.health.view import IndexHealth
    from memtui.ui.keys.palette import Command
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


class _Shell:
    """What surrounds a view, and the keys it does not handle."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.table, self.plain, self.views = screen.table, screen.facts.ascii, tuple(VIEW.values())
        self.header, self.named, self.reload = screen.bars.header, screen.forest.names.named, screen.bridge.reload
        self.row_left, self.forget_row = screen.returning.row_in, screen.returning.forget_row
        self.leave, self.show = screen.views.leave, screen.show_view
        self.run, self.help = screen.commands.run, screen.commands.help_on

    @property
    def current(self) -> str:
        return self._screen.views.current

    @property
    def progress(self) -> str:
        return self._screen.chrome.progress

    @property
    def no_writing(self) -> str:
        return self._screen.commands.no_writing

    def counts(self) -> Mapping[str, int]:
        return self._screen.chrome.waiting

    def open_palette(self, commands: list[Command]) -> None:
        palette = self._screen.commands
        palette.open_palette([*commands, *palette.theme_commands()])


class _Places:
    """Where views take the user."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.back, self.lay_over, self._about = screen.views.back, screen.views.over, screen.views.about
        self.reveal, self.reveal_root = screen.memories.reveal, screen.memories.reveal_root
        self.edit_entry, self.describe = screen.host.edit_entry, screen.host.describe

    def tree(self, address: Address, may_show: str = "A or esc") -> bool:
        self.back()
        if self.reveal(address):
            return True
        self._screen.say(f"{address} is not in the tree now; {may_show} may show it.", "warning")
        return False

    def edit(self, address: Address, *, then: str = "") -> None:
        self.back()
        self.reveal(address)
        self._screen.open_editor(address, then=then)

    def resolve(self, near: Address | None) -> None:
        commands = self._screen.commands
        if reason := commands.unavailable(next(one for one in self._screen.table if one.id == "resolve")):
            self._screen.say(reason, "warning")
            return
        self.back()
        if near is not None:
            self.reveal(near)
        commands.run("resolve")

    def open_found(self, address: Address, place: tuple[int, int], words: str) -> None:
        screen = self._screen
        self.back()
        if address not in screen.forest.nodes:
            screen.projects.want([address.root])
        elif not self.reveal(address):
            screen.filtering.clear()
        screen.open_when_there(address, then=f"line {place[0]}:{place[1]} {words}")

    def history(self, address: Address, *, at: str | None = None) -> None:
        self._about("history", address, at)

    def blame(self, address: Address) -> None:
        self._about("blame", address)

    def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        self._screen.call_next(self._screen.host.edit_text, data, name, edited)

    def repoint(self, root: str) -> None:
        self._screen.repointing.start(root)


class _Operations:
    """Operations of the main screen for views; the parts that do them are loaded with it."""

    def __init__(self, screen: BrowserScreen) -> None:
        pinning, accepting, seeing = screen.pinning, screen.accepting, screen.verbs.seeing
        self.pin, self.install_hook, self.lift_line = pinning.set_pinned, pinning.install_hook, pinning.lift_line
        self.accept, self.review = accepting.accept, accepting.review
        self.see, self.seen_with, self._steps = seeing.changes, seeing.steps.mark, seeing.steps
        self.touched = screen.projects.touched

    def undoable(
        self,
        engine: Engine,
        words: str,
        back: Callable[[Engine, Actor], bool],
        again: Callable[[Engine, Actor], object],
        then: Callable[[], object] = tuple,
    ) -> None:
        self._steps.add(engine, LocalStep(words, back, again, then))


class WorkbenchHost:
    """See `features.host.Host`."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.shell, self.places = _Shell(screen), _Places(screen)
        self.jobs, self.settings, self.surroundings = screen.bridge, screen.facts.settings, screen.facts.surroundings
        self.now, self.say, self.show_error = screen.now, screen.say, screen.show_error
        self.shown, self.short = screen.forest.names.shown, screen.side.short

    @cached_property
    def operations(self) -> _Operations:
        return _Operations(self._screen)

    @property
    def roots(self) -> Mapping[str, Root]:
        return self._screen.forest.roots

    @property
    def projects(self) -> ProjectRoots:
        screen = self._screen
        return ProjectRoots(
            own_roots={root.id: root for root in screen.facts.roots},
            scope_names=screen.forest.names.scopes,
            demo=screen.facts.demo,
            more_roots=screen.facts.more_roots,
            unread=frozenset(root.path for root in screen.every_root or ()),
        )

    @property
    def index_health(self) -> IndexHealth:
        return self._screen.checkup

    def has_row(self, address: Address) -> bool:
        return address in self._screen.forest.nodes

    def renamed(self, address: Address) -> Target:
        return rename_target((address,), None)

    def copy(self, text: str, what: str) -> None:
        from memtui.workbench.browse.operations import put_on_clipboard

        put_on_clipboard(self._screen, text, what)
