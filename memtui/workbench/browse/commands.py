"""The table from actions to the functions that do them, for keys, palette and mouse; and why an action is off now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.widget import Widget

from memtui.engine.model import Address
from memtui.ui.action import Action, in_room, shown_keys
from memtui.ui.draw import paint
from memtui.ui.draw.text import ago
from memtui.ui.keys.keyed import READ_ONLY
from memtui.workbench.actions import BROWSER_ROOMS, VIEW, VIEWS
from memtui.workbench.browse.filter import FilterLine
from memtui.workbench.browse.side import Side
from memtui.workbench.main_screen import CHANGES, INFO, PREVIEW
from memtui.workbench.tree.forest import Effect, next_conflict
from memtui.workbench.tree.nodes import MEMORY, OLD, Node
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.ui.keys.palette import Command
    from memtui.workbench.help import HelpRow, HelpScreen
    from memtui.workbench.main_screen import MainScreen

NEEDS_MEMORY = frozenset(
    {
        "edit",
        "edit_outside",
        "describe_memory",
        "versions",
        "blame",
        "copy_contents",
        "copy_description",
        "copy_sha",
        "lift_line",
    }
)
"""Actions that need a memory under the cursor."""
NEEDS_TARGET = frozenset(
    {"pin", "trash", "archive", "rename", "copy_to", "copy_path", "seen", "export", "export_history"}
)
"""Actions that work on marks, a memory, or a folder."""

NOT_AWAY = (NEEDS_MEMORY | NEEDS_TARGET | {"accept_root", "changes", "entries", "info", "new"}) - {"edit"}
"""Actions that do not work on another machine's memories."""
THERE = frozenset({"new", "pin", "rename", "trash"})
"""Those of them that do for a single memory there."""

ELSEWHERE = {
    "accept_root": "accepting.accept",
    "copy_path": "copying.path",
    "copy_contents": "copying.contents",
    "copy_description": "copying.description",
    "copy_sha": "copying.sha",
    "describe_memory": "host.describe",
    "filter": "filtering.start",
    "only_old": "filtering.old",
    "new": "verbs.new",
    "rename": "verbs.rename",
    "pin": "pinning.pin",
    "install_hook": "pinning.install_hook",
    "lift_line": "pinning.lift_line",
    "trash": "verbs.trash",
    "archive": "verbs.archive",
    "copy_to": "verbs.copy_to",
    "export": "bundling.export",
    "export_history": "bundling.export_history",
    "import": "bundling.take",
    "all_projects": "projects.toggle",
    "repoint": "repointing.start",
    "undo": "verbs.undo",
    "redo": "verbs.redo",
}
"""Actions of other parts of the screen, by part and method; the part is imported when first used."""


class Commands:
    """Runs the actions of the main screen."""

    def __init__(self, screen: MainScreen, leave: Callable[[], None], when_drafts_are_read: Callable[[], None]) -> None:
        """`leave` ends the workbench; `when_drafts_are_read` waits for the drafts."""
        self._screen, self._side, self._views = screen, screen.part(Side), screen.part(Views)
        self._when_drafts_are_read = when_drafts_are_read
        self._on_top: HelpScreen | None = None
        tree = screen.memories
        self.does: dict[str, Callable[[], object]] = {
            "help": self._help,
            "messages": self._messages,
            "palette": self._palette,
            "back": self._back,
            "quit": self._quit,
            "quit_now": leave,
            "next_pane": lambda: self._pane(1),
            "previous_pane": lambda: self._pane(-1),
            "left": tree.left,
            "right": tree.right,
            "next_folder": lambda: self._group(1),
            "previous_folder": lambda: self._group(-1),
            "expand_all": tree.toggle_all,
            "mark": tree.toggle_mark,
            "range": tree.toggle_range,
            "range_down": lambda: tree.extend(1),
            "range_up": lambda: tree.extend(-1),
            "mark_all": tree.mark_shown,
            "group": self._group_by,
            "instructions": self._instructions,
            "reload": self._reload,
            "open": self._open,
            "edit": self._edit,
            "edit_outside": partial(self._edit, "outside"),
            "resolve": self._resolve,
            "changes": self._changes,
            "seen": self._seen,
            "entries": partial(self._about, "entries"),
            "blame": partial(self._about, "blame"),
            "versions": partial(self._about, "history"),
            "remember": partial(self._views.ask, "remember"),
            "info": self._info,
            "strip": self._strip,
            "page_next": lambda: self._side.finding.step(1),
            "page_previous": lambda: self._side.finding.step(-1),
            "preview_down": lambda: self._side.scroll(3),
            "preview_up": lambda: self._side.scroll(-3),
            "reveal": self._reveal,
            "zoom": self._zoom,
            "search_all": self._search_all,
            "trash_view": partial(screen.show_view, "trash"),
            "themes": lambda: self.open_palette(self.theme_commands(), beside=f"Theme: {screen.app.theme}"),
        }
        for view in VIEWS:
            self.does[view.action] = partial(screen.show_view, view.id)
        for sort in ("name", "uses", "age", "size", "edited"):
            self.does[f"sort_{sort}"] = partial(self._sort, sort)
        for only in ("unseen", "pinned", "conflicts"):
            self.does[f"only_{only}"] = partial(self._only, only)
        for move in ("down", "up", "top", "bottom", "half_down", "half_up", "page_down", "page_up"):
            self.does[move] = partial(self._move, move)

    def run(self, id_: str) -> None:
        if id_ in THERE and self._host(self._screen.memories.current):
            self._screen.do_there(id_)
        elif id_ in ELSEWHERE:
            attrgetter(ELSEWHERE[id_])(self._screen)()
        else:
            self.does[id_]()

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.does) | frozenset(ELSEWHERE)

    @property
    def no_writing(self) -> str:
        bridge = self._screen.bridge
        if bridge.read_only:
            return READ_ONLY
        return f"{underway}. Keys that change memories wait for its end." if (underway := bridge.underway) else ""

    def unavailable(self, action: Action) -> str:
        screen = self._screen
        if action.writes and (reason := self.no_writing):
            return reason
        if action.id == "resolve" and screen.bridge.read_only:
            return READ_ONLY
        node = screen.memories.current
        if action.id == "resolve":
            return "" if screen.forest.top.signs.conflict or not screen.drafts_read else "There is no conflict."
        host = self._host(node)
        away = NOT_AWAY - THERE if node is not None and node.kind == MEMORY else NOT_AWAY
        if host and action.id in away:
            return f"{action.label}: {host} is another machine; memtui --on={host} does that there."
        if action.id in NEEDS_MEMORY and (node is None or node.kind != MEMORY):
            return f"{action.label}: put the cursor on a memory first."
        if action.id == "entries" and node is not None:
            return self._no_entries(node)
        if action.id in NEEDS_TARGET and not screen.memories.has_targets:
            return f"{action.label}: there is no memory here."
        if action.id in ("page_next", "page_previous") and not self._side.finds:
            return "Nothing is being searched for in this text; / in the text starts a search."
        if action.id == "archive" and node is not None and node.root in screen.forest.others:
            return "archive: start memtui in that project to archive what it has."
        if action.id == "edit_outside" and screen.facts.settings.terminal.web:
            return "A browser cannot lend its screen to another program: e edits here."
        if action.id == "all_projects" and screen.facts.demo:
            return "The demo has only one project."
        return ""

    def _host(self, node: Node | None) -> str:
        root = self._screen.forest.root(node.root) if node is not None else None
        return root.host if root is not None else ""

    def _no_entries(self, node: Node) -> str:
        root = self._screen.forest.root(node.root)
        if node.memory is None or root is None or root.policy.format_of(node.memory.address.path) is None:
            return "This is one memory, not a file of many entries; enter opens it."
        return ""

    # Moving

    def _move(self, what: str) -> None:
        screen = self._screen
        focused = screen.focused
        text = screen.info_view if focused is screen.info_view else screen.page_view
        (text if focused is text else screen.memories).advance(what)

    def _group(self, step: int) -> None:
        """Go to the next or previous folder, or paragraph of the focused text."""
        screen = self._screen
        if screen.focused in (screen.page_view, screen.info_view):
            view = screen.info_view if screen.focused is screen.info_view else screen.page_view
            view.jump_paragraph(step)
        else:
            screen.memories.jump_group(step)

    def _pane(self, step: int) -> None:
        screen = self._screen
        if screen.panes.one_column:
            self._close_over() if screen.panes.over else self._show_over()
            return
        panes = [pane for pane in (screen.memories, screen.page_view, screen.info_view) if pane.is_on_screen]
        if screen.focused in panes:
            panes[(panes.index(screen.focused) + step) % len(panes)].focus()
        else:
            screen.memories.focus()

    def _show_over(self) -> None:
        self._screen.panes.rearrange(over=self._screen.panes.one_column)
        self._screen.page_view.focus()

    def _close_over(self) -> None:
        self._screen.panes.rearrange(over=False)
        self._screen.memories.focus()

    def _zoom(self) -> None:
        screen = self._screen
        if screen.panes.one_column:
            self._pane(1)
        elif screen.panes.zoomed:
            screen.panes.rearrange(zoom="")
        else:
            screen.panes.rearrange(zoom="left" if screen.focused is screen.memories else "right")

    def _reveal(self) -> None:
        if self._screen.panes.layout.detail:  # the few lines below the tree are always masked
            self._pane(1)
        self._screen.say(self._screen.page_view.turn_masks())

    def _back(self) -> None:
        """Close what was opened last or undo what was chosen last; never quits."""
        screen = self._screen
        if self._side.finds:
            self._side.finding.clear()
        elif screen.panes.over:
            self._close_over()
        elif screen.focused is not screen.memories and not screen.panes.zoomed:
            screen.memories.focus()
        elif self._side.mode != PREVIEW:
            self._side.show_mode(PREVIEW)
        elif screen.memories.marks or screen.memories.range_start is not None:
            screen.memories.set_marks(set())
        elif screen.forest.filter.active:
            screen.part(FilterLine).leave()
        elif screen.panes.zoomed:
            screen.panes.rearrange(zoom="")

    def _quit(self) -> None:
        screen = self._screen
        if screen.panes.over or self._side.mode != PREVIEW:
            self._side.mode = PREVIEW
            self._back()
            self._side.read()
        else:
            self.does["quit_now"]()

    # What is shown

    def _sort(self, sort: str) -> None:
        self._screen.forest.sort_by(sort)
        self._changed()

    def _only(self, only: str) -> None:
        self._screen.part(FilterLine).remember()
        self._screen.forest.filter.toggle(only)
        self._changed()

    def _seen(self) -> None:
        from memtui.workbench.browse.operations import MemoryOperations

        screen, targets = self._screen, self._screen.memories.targets()
        if OLD in screen.forest.filter.only:
            screen.part(FilterLine).keep(targets)
        else:
            screen.part(MemoryOperations).mark_seen(targets)

    def _changed(self) -> None:
        self._screen.memories.apply(Effect(rebuilt=True, touched=frozenset()), by_user=True)
        self._screen.chrome.update()

    def _reload(self) -> None:
        from memtui.workbench.browse.projects import Projects

        self._screen.say("Reading every folder again.")
        self._screen.bridge.reload()
        self._screen.part(Projects).find(again=True)
        self._screen.find_hosts()

    def _group_by(self) -> None:
        forest = self._screen.forest
        forest.group_by_agent(by_agent=not forest.by_agent)
        self._changed()
        self._screen.say("Grouped by agent; again groups by scope." if forest.by_agent else "Grouped by scope.")

    def _instructions(self) -> None:
        forest = self._screen.forest
        forest.show_instructions(wanted=not forest.instructions)
        self._changed()
        words = "The files people write for agents are shown." if forest.instructions else "Instruction files put away."
        self._screen.say(words)

    def _strip(self) -> None:
        panes = self._screen.panes
        panes.strip_wanted = not panes.strip_wanted
        panes.rearrange()
        shown = "is shown" if panes.strip_wanted else "is hidden; 5 shows all of it"
        self._screen.say(f"The newest activity {shown}.")

    def _info(self) -> None:
        screen = self._screen
        if screen.panes.wide:
            screen.panes.info_wanted = not screen.panes.info_wanted
            screen.panes.rearrange()
            return
        if self._side.mode == INFO:
            self._side.show_mode(PREVIEW)
            if screen.panes.one_column:
                self._close_over()
            return
        self._side.show_mode(INFO)
        if screen.panes.one_column:
            self._show_over()

    def _changes(self) -> None:
        screen = self._screen
        node = screen.memories.current
        if node is None:
            return
        if node.kind != MEMORY:
            self._views.show("changes", node)
            return
        if self._side.mode == CHANGES:
            self._side.show_mode(PREVIEW)
            return
        self._side.show_mode(CHANGES)
        if screen.panes.one_column:
            self._show_over()

    def _about(self, view: str) -> None:
        if (address := self._current()) is not None:
            self._views.about(view, address)

    def _search_all(self) -> None:
        """Open the search view with its line focused."""
        self._screen.show_view("search")
        if (search := self._views.made("search")) is not None:
            search.does["search_all"]()

    # Opening

    def _current(self) -> Address | None:
        node = self._screen.memories.current
        return node.memory.address if node is not None and node.memory is not None else None

    def _open(self) -> None:
        if self._current() is None:
            self._screen.memories.toggle()
        else:
            self._edit()

    def _edit(self, then: str = "") -> None:
        if (address := self._current()) is not None:
            self._screen.open_editor(address, then=then)

    def _resolve(self) -> None:
        screen = self._screen
        if not screen.drafts_read:
            self._when_drafts_are_read()
            return
        node = next_conflict(screen.forest, screen.memories.cursor)
        if node is None or node.memory is None:
            return
        address = node.memory.address
        if not screen.memories.reveal(address):
            screen.part(FilterLine).clear()
            screen.memories.reveal(address)
        screen.open_editor(address, then="compare")

    # Lists on top

    def _help(self) -> None:
        screen = self._screen
        rooms = ("editor", "everywhere") if screen.typing else ("memory", "view", "list", "everywhere")
        panes = screen.focused.ancestors_with_self if screen.focused is not None else ()
        words = next((pane.HELP for pane in panes if isinstance(pane, Widget) and pane.HELP), "")
        self._show_help(words, rooms, ())

    def help_on(self, pane: str, actions: Iterable[Action]) -> None:
        """Show the keys of a view, then all others."""
        self._show_help(pane, ("views", "everywhere"), actions)

    def _show_help(self, pane: str, rooms: tuple[str, ...], own: Iterable[Action]) -> None:
        from memtui.workbench.help import help_rows

        typing = getattr(self._screen.app.screen, "letters_are_text", False)
        self._put_on_top("Help", help_rows(self._screen.table, pane, rooms, own), typing=typing)

    def _messages(self) -> None:
        """Show the messages so far, newest first."""
        from memtui.workbench.help import AGO, HelpRow

        now = self._screen.now()
        said = [HelpRow(f"{ago(at, now):>4}", text, room=AGO) for at, text in reversed(self._screen.chrome.said)]
        self._put_on_top("Messages", tuple(said) or (HelpRow("", "Nothing yet."),))

    def _put_on_top(self, title: str, rows: tuple[HelpRow, ...], *, typing: bool = False) -> None:
        """Show a list on top, unless one is open: a key pressed twice before it is drawn opens one list."""
        from memtui.workbench.help import HelpScreen

        screen = self._screen
        if self._on_top is None:
            self._on_top = HelpScreen(
                rows, screen.table, title=title, typing=typing, plain=screen.facts.ascii, switch=screen.show_view
            )
            screen.app.push_screen(self._on_top, lambda _: setattr(self, "_on_top", None))

    # Palette

    def _palette(self) -> None:
        self.open_palette(self.palette_commands())

    def open_palette(self, commands: list[Command], *, beside: str = "") -> None:
        """Open the palette, and run the chosen command."""
        from memtui.ui.keys.palette import Palette

        def chosen(command: Command | None) -> None:
            if command is None:
                return
            if command.off:
                self._screen.say(command.off, "warning")
            else:
                command.run()

        app = self._screen.app
        app.push_screen(Palette(commands, partial(setattr, app, "theme", app.theme), beside=beside), chosen)

    def palette_commands(self) -> list[Command]:
        """Return every action as a command, then the themes."""
        from memtui.ui.keys.palette import as_commands

        screen = self._screen
        here = sorted(in_room(*BROWSER_ROOMS, actions=screen.table), key=_palette_rank)
        known = [action for action in here if action.id in self.ids]
        return [*as_commands(known, screen.attempt, self.unavailable), *self._elsewhere(), *self.theme_commands()]

    def _elsewhere(self) -> Iterator[Command]:
        """Yield what only other views can do; choosing it opens that view."""
        from memtui.ui.keys.palette import Command

        screen = self._screen
        known = {action.id: action for action in screen.table}
        told = set(self.ids)
        for view in VIEW.values():
            for action in (known[id_] for id_ in view.own if view.key and id_ not in told):
                told.add(action.id)
                words, keys = f"{view.name}: {action.help.rstrip('.')}", f"{view.key}, {shown_keys(action)}"
                yield Command(words, keys, partial(screen.show_view, view.id), name=action.label)

    def theme_commands(self) -> list[Command]:
        from memtui.ui.keys.palette import Command

        app = self._screen.app
        names = sorted(app.available_themes, key=lambda name: (not name.startswith("memtui"), name))
        show = partial(setattr, app, "theme")
        return [
            Command(f"Theme: {name}", "", partial(self._choose_theme, name), preview=partial(show, name))
            for name in names
        ]

    def _choose_theme(self, name: str) -> None:
        screen = self._screen
        screen.app.theme = name
        if screen.bridge.read_only:
            screen.say(f"Theme {name}, until memtui ends: --read-only keeps nothing.")
            return
        value = paint.stored_choice(name, screen.facts.settings)
        screen.bridge.run(
            lambda engine: engine.places.keep(paint.STORED_AS, value),
            lambda _: screen.say(f"Theme {name}, at the next start too."),
            what="keep the theme for the next start",
            lane="place",
        )


def _palette_rank(action: Action) -> tuple[bool, bool]:
    """Sort key: actions that work everywhere come late, movement last."""
    return action.moves, action.room == "everywhere"
