"""The user's position between runs: stored seconds after a key, restored at the next start without ever failing it.

Only this file writes it, and only what differs, so that an idle workbench writes nothing and a killed one loses a
moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.model import Address
from memtui.safe_text import visible
from memtui.workbench.actions import VIEWS
from memtui.workbench.browse.side import Side
from memtui.workbench.edit.host import EditorHost
from memtui.workbench.main_screen import CHANGES, INFO, MAIN, NO_PLACE, PREVIEW, SavedPlace
from memtui.workbench.tree.nodes import MEMORY, SORTS, Key
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


REST = 2.0
"""Seconds between a key and storing the position."""
MOST_FOLDS = 5_000
MOST_ROW = 1 << 30
MOST_NAME = 5_000
"""Maximum length of a stored row name."""
LANE = "place"
ONLY = ("conflicts", "pinned", "unseen")


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "view": (MAIN, *(view.id for view in VIEWS)),
    "sort": SORTS,
    "mode": (PREVIEW, CHANGES, INFO),
    "focus": ("tree", "page", "info"),
    "zoom": ("", "left", "right"),
}
"""Valid values of stored texts; the first is the default."""


def read_place(value: object) -> SavedPlace:
    """Parse a stored place; invalid parts are ignored."""
    stored = value if isinstance(value, dict) else {}
    return SavedPlace(
        **{name: _parsed(name, default, stored.get(name)) for name, default in NO_PLACE._asdict().items()}
    )


def _parsed(name: str, default: object, found: object) -> Any:
    """Return a stored value if it is valid, else the default."""
    if name == "row":
        return found[:MOST_NAME] if isinstance(found, str) else ""
    if name == "words":
        return found if isinstance(found, str) and visible(found) == found and len(found) < 1_000 else ""
    if name == "only":
        return frozenset(one for one in ONLY if isinstance(found, list) and one in found)
    if isinstance(default, frozenset):
        rows = found[:MOST_FOLDS] if isinstance(found, list) else []
        return frozenset(key for one in rows if (key := _key(one)))
    if isinstance(default, tuple):
        return _key(found)
    if isinstance(default, str):
        return found if found in _KNOWN[name] else default
    if isinstance(default, bool) or not isinstance(found, int):
        return found if isinstance(found, bool) and isinstance(default, bool) else default
    return found if not isinstance(found, bool) and 0 <= found < MOST_ROW else 0


def _key(value: object) -> Key:
    if isinstance(value, list) and 1 < len(value) <= 3 and all(isinstance(one, str) and one for one in value):
        return tuple(value)
    return ()


def as_json(place: SavedPlace) -> dict[str, object]:
    """Return the JSON form, from which `read_place` makes the same place."""
    return {
        **place._asdict(),
        "opened": sorted(place.opened)[:MOST_FOLDS],
        "closed": sorted(place.closed)[:MOST_FOLDS],
        "only": sorted(place.only),
    }


class PlaceKeeper:
    """Stores and restores the position of one screen."""

    def __init__(self, screen: MainScreen) -> None:
        """Take the screen, whose facts have the place and the name it is stored under; without a name nothing is
        stored."""
        self._screen, self._name = screen, screen.facts.place_name
        self._place = place = screen.facts.place
        screen.keep_place = self.changed
        self._kept = place
        self._timer: Timer | None = None
        self._more = False
        self._awaited: Key = place.cursor
        self._row = place.row

    # Coming back

    def prepare(self) -> None:
        """Restore what decides which panes and rows there are, before anything is drawn."""
        screen, place = self._screen, self._place
        screen.panes.zoomed, screen.panes.info_wanted = place.zoom, place.info
        screen.panes.strip_wanted = place.strip
        forest = screen.forest
        forest.sort, forest.reverse, forest.filter.only = place.sort, place.reverse, place.only
        forest.by_agent, forest.instructions = place.by_agent, place.instructions
        forest.filter.set_words(place.words)
        forest.folds.remember(place.opened, place.closed)

    def arrive(self) -> None:
        """Restore cursor, scroll and focus with the first rows."""
        self.find_row()
        if self._place.focus == "page" and self._screen.panes.layout.right:
            self._screen.page_view.focus()
        elif self._place.focus == "info" and self._screen.panes.layout.info:
            self._screen.info_view.focus()
        if self._place.page and self._place.cursor[:1] == (MEMORY,):
            self._screen.part(Side).start_at = (Address(*self._place.cursor[1:]), self._place.page)

    def find_row(self) -> None:
        """Put the cursor where it was, unless it is there or the user moved on."""
        tree = self._screen.memories
        if self._awaited and tree.return_to(self._awaited, self._place.above):
            self._awaited = ()

    def row_in(self, view: str) -> str:
        """Return the row of a view that is still looked for; empty once the user did anything."""
        return self._row if view == self._place.view else ""

    def forget_row(self) -> None:
        """Stop looking for the row."""
        self._row = ""

    def finish(self) -> None:
        """Restore what is slower, after the first frame."""
        screen, place = self._screen, self._place
        from memtui.workbench.browse.projects import Projects

        screen.all_projects = place.projects and not screen.facts.demo
        screen.part(Projects).find()
        if screen.facts.settings.entries("hosts"):
            screen.find_hosts()
        if place.mode != PREVIEW and not place.editing:
            screen.part(Side).show_mode(place.mode)
        if place.editing[:1] == (MEMORY,) and len(place.editing) == 3:
            screen.open_when_there(Address(*place.editing[1:]))
        elif place.view != MAIN:
            screen.show_view(place.view)

    # Keeping

    def touched(self, *, in_tree: bool) -> None:
        """Note a key or click; `in_tree`: on the main screen, so that its row is no longer looked for."""
        self._screen.memories.started = True
        if in_tree:
            self._awaited = ()
        self.forget_row()
        self.changed()

    def changed(self) -> None:
        self._more = self._timer is not None
        if self._timer is None and self._name and not self._screen.bridge.read_only:
            self._timer = self._screen.app.set_timer(REST, self._keep)  # a covered screen would be drawn again

    def _keep(self) -> None:
        self._timer = None
        if self._more:
            self.changed()  # what the last key does may not be done yet
        place = self.now()
        if place == self._kept:
            return
        self._kept = place
        job = self._job(place)
        self._screen.bridge.run(job, what="keep the place for the next start", lane=LANE)

    def flush(self) -> None:
        """Store the position before returning, at the end of the program."""
        if self._timer is not None:
            self._timer.stop()  # else it would keep what is left when the views are closed
            self._timer = None
        if self._name and not self._screen.bridge.read_only and (place := self.now()) != self._kept:
            self._kept = place
            self._screen.bridge.store(self._job(place))

    def _job(self, place: SavedPlace) -> Callable[[Engine], object]:
        name, value = self._name, as_json(place)
        return lambda engine: engine.places.keep(name, value)

    def now(self) -> SavedPlace:
        from memtui.ui.list_view import ListView

        screen = self._screen
        forest, tree, node = screen.forest, screen.memories, screen.memories.current
        focus = {id(screen.page_view): "page", id(screen.info_view): "info"}.get(id(screen.focused), "tree")
        address = screen.part(EditorHost).wanted if screen.editing else None
        views = screen.made(Views)
        view = views.current if views is not None else MAIN
        opened, closed = forest.folds.chosen
        made = views.made(view) if views is not None else None
        return SavedPlace(
            view if any(view == each.id for each in VIEWS) else MAIN,
            made.list.row_now[:MOST_NAME] if isinstance(made, ListView) else "",
            node.key if node is not None else (),
            max(tree.cursor - tree.top, 0),
            opened,
            closed,
            " ".join(forest.filter.words),
            forest.filter.only,
            forest.sort,
            forest.reverse,
            forest.by_agent,
            forest.instructions,
            screen.part(Side).mode,
            screen.page_view.top if screen.part(Side).mode == PREVIEW else 0,
            focus,
            screen.panes.zoomed,
            screen.panes.info_wanted,
            screen.panes.strip_wanted,
            screen.all_projects,
            (MEMORY, *address) if address is not None else (),
        )
