"""The Hot set view: what an agent would be given now, in order, against its budgets, and what is left out and why.

The cursor follows its memory, so that a pin visibly moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.widget import Widget

from memtui.engine.model import Address
from memtui.features.host import Host
from memtui.features.hot_set import view_rows
from memtui.features.hot_set.model import Context
from memtui.features.hot_set.shares import BY_HOOK, BY_SERVER, NOT_INSTALLED, Door, Given, counted, doors, load
from memtui.features.hot_set.view_rows import HotSetLook, HotSetRow
from memtui.ui.action import Action, shown_keys
from memtui.ui.draw.pages import fitted, words_page
from memtui.ui.draw.text import Line, Run, count_words
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine

GROUP, BESIDE = "hot", "hot-page"
"""Job groups: the shares, and the page of a row."""


class HotSetView(ListView[HotSetRow]):
    """What an agent would be given."""

    ID = "hot"
    QUIET = 0.6
    DEFAULT_CSS = "HotSetView #hot-summary { height: 3; }"
    HELP = """What an agent that starts now is given unasked: files it loads by itself, and from memtui the index of its
memories and the texts of the hot set, pinned ones first, then those used most. Pins among an agent's own memories go to
that agent, through memtui's hook. Below the line is what is pinned or used and not given, with the reason; below that
the other agents. The page shows the exact text, with secrets masked. A running session keeps what it was given at its
start."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(lambda row: row.key))
        self.host, self.jobs = host, host.jobs
        self.shares: tuple[Given, ...] = ()
        self.chosen: tuple[str, str] | None = None
        """Agent and client of the share shown; None: the first that memtui gives something."""
        self.way = ""
        """The way it is shown through; empty: its own."""
        keys = {one.id: shown_keys(one) for one in self.table}
        home = host.surroundings.home if host.surroundings is not None else None
        self.look = HotSetLook(self.ascii, keys["accept_root"], keys["pin"], keys["install_hook"], home or "")
        self.does |= {
            "hot_jump": self._jump,
            "install_hook": lambda: host.operations.install_hook(self.door.agent, self.load),
            "lift_line": lambda: self._at_memory(host.operations.lift_line),
            "pin": self._pin,
            "edit": lambda: self._at_memory(host.places.edit),
            "hot_client": self._next_client,
            "hot_door": self._other_door,
            "accept_root": self._accept,
            "copy_contents": self._copy,
            "versions": lambda: self._at_memory(host.places.history),
            "describe_memory": lambda: self._at_memory(host.places.describe),
            "zoom": lambda: self._read_alone(alone=not self.has_class("-reading")),
        }

    # Parts

    def _body(self) -> Iterable[Widget]:
        yield Lines(self._summary, id="hot-summary")
        yield from super()._body()

    def _off(self, action: Action) -> str:
        row = self.item
        if action.id in ("pin", "edit", "versions", "describe_memory", "lift_line") and (
            row is None or row.memory is None
        ):
            return f"{action.label}: put the cursor on a memory first."
        if action.id == "install_hook" and self.door.way != NOT_INSTALLED:
            return f"{action.label}: it cannot be installed here, or is installed."
        if action.id == "hot_client" and len(self.shares) < 2:
            return "No agent is in use here and none is in the [access] table, so every agent is given the same."
        if action.id == "accept_root" and not self._unreviewed():
            return "No root waits for a review here."
        if action.id == "copy_contents" and (
            row is None or self.given is None or not view_rows.copied(self.given, row)
        ):
            return "Nothing is given for this row."
        return ""

    # What is known

    @property
    def given(self) -> Given | None:
        """The share shown."""
        wanted = next((one for one in self.shares if (one.door.agent, one.door.client) == self.chosen), None)
        return (
            wanted
            or next((one for one in self.shares if one.context is not None and one.door.agent), None)
            or next(iter(self.shares), None)
        )

    @property
    def door(self) -> Door:
        """Whose share is shown."""
        return self.given.door if self.given is not None else Door()

    @property
    def context(self) -> Context | None:
        """What memtui gives."""
        return self.given.context if self.given is not None else None

    def _unreviewed(self) -> str:
        """Return the root the accept key applies to: that of the row, else the only one waiting."""
        found = self.context
        waiting = found.unreviewed if found is not None else ()
        row = self.item
        here = (row.root or (row.memory.row.address.root if row.memory is not None else "")) if row is not None else ""
        return here if here in waiting else waiting[0] if len(waiting) == 1 else ""

    # Coming, and news

    def _read_rows(self, *, awaited: bool) -> None:
        chosen, way, settings, around = self.chosen, self.way, self.host.settings, self.host.surroundings
        roots = tuple(self.host.projects.own_roots.values())

        def job(engine: Engine) -> tuple[Given, ...]:
            found = []
            for door in doors(settings, around, roots):
                through = door._replace(way=way) if way and (door.agent, door.client) == chosen else door
                found.append(counted(load(engine, settings, through, around, roots)))
            return tuple(found)

        self.jobs.run(
            job, self._loaded, what="work out what agents are given", lane=GROUP, latest=GROUP, awaited=awaited
        )

    def _loaded(self, shares: tuple[Given, ...]) -> None:
        if shares == self.shares:
            return
        first, self.loaded = not self.shares, True
        self._take(shares, first=first)

    def _take(self, shares: tuple[Given, ...], *, first: bool) -> None:
        """Show a share; at first the cursor goes to its first memory."""

        def change() -> None:
            self.shares = shares
            named = {one.row.address for each in shares for one in each.left_out}
            named |= {one.row.address for each in shares if each.context is not None for one in each.context.items}
            self.look = self.look._replace(names={address: self.host.shown(address) for address in named})
            given = self.given
            others = [one for one in shares if one is not given] if given is not None else []
            self.rows.load(view_rows.rows_of(given, others) if given is not None else ())

        self.list.change_rows(change)
        at = next((at for at, row in enumerate(self.rows.shown) if row.memory is not None), 0)
        if first and at:
            self.list.go(at)
        self.update("#hot-summary")
        self._rows_changed()

    # Rows

    def _draw_row(self, item: HotSetRow, width: int) -> Sequence[Run]:
        """Draw a row."""
        assert self.given is not None
        return view_rows.row_runs(item, self.given, width, self.look)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Explain an empty list."""
        if self.given is None:
            return [[("  reading...", "dim")]]
        lines = words_page(self.given.off, width=max(self.list.room - 2, 20))
        return [[], *([(" " + "".join(text for text, _ in line.runs), "warning")] for line in lines)]

    def _list_words(self) -> tuple[str, Line]:
        given = self.given
        if given is None:
            return "Hot set", []
        notes: Line = [run for part in view_rows.share_parts(given) for run in ((" | ", "title"), part)]
        return "Hot set", notes[1:]

    def _page_words(self) -> tuple[str, Line]:
        row = self.item
        if row is None:
            return "Text", []
        if row.item is not None:
            notes: Line = (
                [(f"{count_words(row.item.shown.masked, 'secret')} masked", "warning")] if row.item.shown.masked else []
            )
            notes.append((" as it is given" if notes else "as it is given", "title"))
            return view_rows.shown_path(row.item, self.look), notes
        if row.left is not None:
            return view_rows.shown_path(row.left, self.look), [("not given", "warning")]
        if row.other is not None:
            return row.other.door.title, []
        names = {
            view_rows.ALL: "Everything that memtui gives",
            view_rows.ITSELF: f"{self.door.title} by itself",
            view_rows.REST: "Other agents",
        }
        return (names | {view_rows.INDEX: "The index", view_rows.ROOT: row.root}).get(row.kind, "Not given"), []

    def _summary(self, width: int) -> list[Line]:
        given, door = self.given, self.door
        who = f"to {door.title}"
        if not door.agent and not door.client:
            who = "to every other agent" if len(self.shares) > 1 else "to every agent"
        words: Line = [(" Would be given " if self.way else " Given ", "dim"), (who, "strong")]
        if door.way == BY_HOOK:
            words += [(" by memtui's hook", "strong"), (", which takes 10,000 characters", "dim")]
        else:
            words.append((" by the MCP server", "strong"))
        if given is not None and given.hidden:
            words.append((f"; off for it: {', '.join(given.hidden)}", "warning"))
        if given is not None and given.context is None:
            install = [(f" {self.look.install}", "key"), (" installs it.", "dim")] if door.way == NOT_INSTALLED else []
            why: Line = [(f" {given.off}", "dim"), *install]
            lines: list[Line] = [[(" Nothing is given by memtui ", "warning"), (who, "strong")], why, []]
            return [fitted(line, width, plain=self.ascii) for line in lines]
        if given is None or given.context is None:
            return [words, [], []]
        return [fitted(words, width, plain=self.ascii), *view_rows.budget_lines(given.context, width, plain=self.ascii)]

    def read_row(self) -> None:
        """Read the page of the row under the cursor; without rows, say why nothing is given."""
        if self.item is not None or self.given is None:
            super().read_row()
            return
        self.jobs.drop(BESIDE)
        self.page.show(words_page(self.given.off, style="problem", width=self.page.text_width))

    def _read_text(self, item: HotSetRow) -> None:
        width, look, given = self.page.text_width, self.look, self.given
        if given is not None:
            self.jobs.run(
                lambda engine: view_rows.page(engine, given, item, width, look),
                lambda page: self._show_text(item, page),
                what="draw a text",
                latest=BESIDE,
            )

    # What the keys do

    def _pin(self) -> None:
        memory = self.item.memory if self.item is not None else None
        if memory is not None:
            self.host.operations.pin((memory.row.address,), not memory.row.pinned, self.load)

    def _jump(self) -> None:
        row = self.item
        if row is not None and row.kind == view_rows.AGENT and row.other is not None:
            self._show(row.other)
            return
        if row is None or row.kind not in (view_rows.ITEM, view_rows.LEFT, view_rows.ROOT):
            self._other_pane()
            return
        if row.memory is not None:
            self.host.places.tree(row.memory.row.address, "esc")
            return
        self.host.places.back()
        self.host.places.reveal_root(row.root)

    def _at_memory(self, go: Callable[[Address], object]) -> None:
        if self.item is not None and self.item.memory is not None:
            go(self.item.memory.row.address)

    def _next_client(self) -> None:
        if self.given is not None:
            self._show(self.shares[(self.shares.index(self.given) + 1) % len(self.shares)])

    def _show(self, given: Given) -> None:
        turned, self.way, self._shown = bool(self.way), "", None
        self.chosen = given.door.agent, given.door.client
        self._take(self.shares, first=True)
        self.update("#view-footer")
        if turned:
            self.load()

    def _other_door(self) -> None:
        self.chosen = self.door.agent, self.door.client
        self.way, self._shown = BY_SERVER if self.door.way == BY_HOOK else BY_HOOK, None
        self.load()

    def _accept(self) -> None:
        left = self.item.left if self.item is not None else None
        if left is not None and left.reason == "unreviewed":
            self.host.operations.review([(left.row.address, left.row.sha256)], self.load)
        else:
            self.host.operations.accept(self._unreviewed(), self.load)

    def _copy(self) -> None:
        if self.item is not None and self.given is not None:
            self.host.copy(view_rows.copied(self.given, self.item), "what is given")

    @on(RowList.Opened)
    def _clicked_twice(self) -> None:
        self._jump()
