"""The workbench as views know it: one class for all that a view of a feature may ask for.

It is apart so that no first frame waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.features.host import Destinations, Host, Operations, ProjectRoots
from memtui.features.typed_address import Target, rename_target
from memtui.ui.keys.keyed import READ_ONLY
from memtui.ui.view_screen import Shell, ViewScreen
from memtui.workbench.actions import VIEW
from memtui.workbench.undo import Step

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine.model import Actor, Address, Change, Root
    from memtui.errors import MemtuiError
    from memtui.features.health.view import IndexHealth
    from memtui.ui.action import Action, View
    from memtui.ui.draw.spans import Line
    from memtui.ui.keys.palette import Command
    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.browse.browser import BrowserScreen


class _Shell(Shell):
    """What is drawn around a view, and the keys it does not know."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    @property
    def table(self) -> tuple[Action, ...]:
        return self._screen.table

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(VIEW.values())

    @property
    def plain(self) -> bool:
        return self._screen.facts.ascii

    @property
    def current(self) -> str:
        return self._screen.views.current

    @property
    def progress(self) -> str:
        return self._screen.chrome.progress

    @property
    def no_writing(self) -> str:
        bridge = self._screen.bridge
        if bridge.read_only:
            return READ_ONLY
        return f"{underway}. Keys that change memories wait for its end." if (underway := bridge.underway) else ""

    def header(self, width: int) -> list[Line]:
        return self._screen.bars.header(width)

    def counts(self) -> Mapping[str, int]:
        return self._screen.chrome.waiting

    def named(self, text: str) -> str:
        return self._screen.forest.named(text)

    def row_left(self, view: str) -> str:
        return self._screen.returning.row_in(view)

    def forget_row(self) -> None:
        self._screen.returning.forget_row()

    def leave(self, view: ViewScreen) -> None:
        self._screen.views.leave(view)

    def show(self, view: str) -> None:
        self._screen.views.show(view)

    def reload(self) -> None:
        self._screen.bridge.reload()

    def run(self, action: str) -> None:
        self._screen.commands.run(action)

    def open_palette(self, commands: list[Command]) -> None:
        palette = self._screen.commands
        palette.open_palette([*commands, *palette.theme_commands()])

    def help(self, text: str, actions: Iterable[Action]) -> None:
        self._screen.commands.help_on(text, actions)


class _Places(Destinations):
    """Where views take the user."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def back(self) -> None:
        self._screen.views.back()

    def reveal(self, address: Address) -> bool:
        return self._screen.memories.reveal(address)

    def reveal_root(self, root: str) -> bool:
        return self._screen.memories.reveal_root(root)

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
        self._screen.views.about("history", address, at)

    def blame(self, address: Address) -> None:
        self._screen.views.about("blame", address)

    def lay_over(self, view: str) -> None:
        self._screen.views.over(view)

    def edit_entry(self, address: Address, entry: Any) -> None:
        self._screen.host.edit_entry(address, entry)

    def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        self._screen.call_next(self._screen.host.edit_text, data, name, edited)

    def describe(self, address: Address) -> None:
        self._screen.host.describe(address)

    def repoint(self, root: str) -> None:
        self._screen.repointing.start(root)


class _Operations(Operations):
    """What the main screen does for views."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def pin(self, addresses: tuple[Address, ...], pinned: bool, then: Callable[[], None]) -> None:
        self._screen.pinning.set_pinned(addresses, pinned, then)

    def install_hook(self, agent: str, then: Callable[[], None]) -> None:
        self._screen.pinning.install_hook(agent, then)

    def lift_line(self, address: Address) -> None:
        self._screen.pinning.lift_line(address)

    def see(self, changes: Iterable[Change], then: Callable[[], None]) -> None:
        self._screen.verbs.seeing.changes(changes, then)

    def review(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        self._screen.accepting.review(versions, then)

    def seen_with(self, engine: Engine, changes: Iterable[Change], rejected: Iterable[str], *, joined: bool) -> None:
        self._screen.verbs.seeing.steps.mark(engine, changes, rejected, joined=joined)

    def undoable(
        self,
        engine: Engine,
        words: str,
        back: Callable[[Engine, Actor], bool],
        again: Callable[[Engine, Actor], object],
        then: Callable[[], object] = tuple,
    ) -> None:
        self._screen.verbs.seeing.steps.add(engine, Step(words, back, again, then))

    def accept(self, root: str, then: Callable[[], None]) -> None:
        self._screen.accepting.accept(root, then)

    def touched(self, addresses: Iterable[Address]) -> None:
        self._screen.projects.touched(addresses)


class _Projects(ProjectRoots):
    """What is known of this project and of others."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    @property
    def own_roots(self) -> Mapping[str, Root]:
        return {root.id: root for root in self._screen.facts.roots}

    @property
    def scope_names(self) -> Mapping[str, str]:
        return self._screen.forest.names

    @property
    def demo(self) -> bool:
        return self._screen.facts.demo

    @property
    def more_roots(self) -> Callable[[], tuple[Root, ...]]:
        return self._screen.facts.more_roots

    @property
    def unread(self) -> frozenset[str]:
        return frozenset(root.path for root in self._screen.every_root or ())


class WorkbenchHost(Host):
    """The workbench, to its views."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._shell, self._places = _Shell(screen), _Places(screen)
        self._operations, self._projects = _Operations(screen), _Projects(screen)

    @property
    def shell(self) -> Shell:
        return self._shell

    @property
    def jobs(self) -> Bridge:
        return self._screen.bridge

    @property
    def places(self) -> Destinations:
        return self._places

    @property
    def operations(self) -> Operations:
        return self._operations

    @property
    def settings(self) -> Settings:
        return self._screen.facts.settings

    @property
    def surroundings(self) -> Surroundings | None:
        return self._screen.facts.surroundings

    @property
    def roots(self) -> Mapping[str, Root]:
        return self._screen.forest.roots

    @property
    def projects(self) -> ProjectRoots:
        return self._projects

    @property
    def index_health(self) -> IndexHealth:
        return self._screen.checkup

    def now(self) -> int:
        return self._screen.now()

    def has_row(self, address: Address) -> bool:
        return address in self._screen.forest.nodes

    def shown(self, address: Address) -> str:
        return self._screen.forest.shown(address)

    def short(self, path: str) -> str:
        return self._screen.side.short(path)

    def renamed(self, address: Address) -> Target:
        return rename_target((address,), None)

    def say(self, text: str, level: str = "name") -> None:
        self._screen.say(text, level)

    def show_error(self, what: str, error: MemtuiError) -> None:
        self._screen.show_error(what, error)

    def copy(self, text: str, what: str) -> None:
        from memtui.workbench.browse.operations import put_on_clipboard

        put_on_clipboard(self._screen, text, what)
