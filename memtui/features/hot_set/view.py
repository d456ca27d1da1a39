"""The hot set: what an agent would be given now, in order, against its budgets, with what just fails to fit and why.

It shows what `features/hot_set/` chose, and changes nothing but pins. The cursor stays with its memory, so that a pin
can be seen to move it, and an agent's reads and writes rank anew only after a quiet moment.
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
from memtui.features.hot_set.view_rows import (
    ALL,
    INDEX,
    ITEM,
    LEFT,
    ROOT,
    Door,
    Given,
    Look,
    Row,
    budget_lines,
    row_runs,
    rows_of,
)
from memtui.ui.action import Action, shown_keys
from memtui.ui.draw.highlight import fitted
from memtui.ui.draw.pages import words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import count_words
from memtui.ui.list_view import ListView
from memtui.ui.rows import ListRows
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.rowlist import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine

GROUP, BESIDE = "hot", "hot-page"
"""Groups of jobs: the set, and the text of the row under the cursor."""


class HotSetView(ListView[Row]):
    """What an agent would be given."""

    ID = "hot"
    QUIET = 0.6
    DEFAULT_CSS = "HotSetView #hot-summary { height: 3; }"
    HELP = """What an agent that connects now would be given without asking: the index of its memories and the texts of
the hot set, pinned ones first, then those used most. Below the line is what just fails to fit, with the reason. Beside
the list is the very text, with secrets masked. A session that runs keeps what it was given at its start."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(lambda row: row.key))
        self.host, self.jobs = host, host.jobs
        self.given: Given | None = None
        """What was worked out last."""
        self.door = Door()
        self.clients = ("", *view_rows.clients(self.host.settings))
        keys = {one.id: shown_keys(one) for one in self.table}
        self.look = Look(self.ascii, keys["accept_root"], keys["pin"])
        self._does |= {
            "hot_jump": self._jump,
            "pin": self._pin,
            "edit": lambda: self._at_memory(host.places.edit),
            "hot_client": self._next_client,
            "hot_door": self._other_door,
            "accept_root": self._accept,
            "copy_contents": self._copy,
            "versions": lambda: self._at_memory(host.places.history),
            "describe_memory": lambda: self._at_memory(host.places.describe),
            "zoom": lambda: self.read_alone(alone=not self.has_class("-reading")),
        }

    # Parts

    def body(self) -> Iterable[Widget]:
        """The budgets, then the list and the text."""
        yield Lines(self._summary, id="hot-summary")
        yield from super().body()

    def off(self, action: Action) -> str:
        """Say why an action is off."""
        row = self.item
        if action.id in ("pin", "edit", "versions", "describe_memory") and (row is None or row.memory is None):
            return f"{action.label}: put the cursor on a memory first."
        if action.id == "hot_client" and len(self.clients) == 1:
            return "No client has an entry in the [access] table, so every agent is given the same."
        if action.id == "accept_root" and not self._unreviewed():
            return "No root waits for a review here."
        if action.id == "copy_contents" and (
            row is None or self.given is None or not view_rows.copied(self.given, row)
        ):
            return "Nothing is given for this row."
        return ""

    # What is known

    @property
    def context(self) -> Context | None:
        """What is given."""
        return self.given.context if self.given is not None else None

    def _unreviewed(self) -> str:
        """The root that the accept key means: that of the row, else the only one there is."""
        found = self.context
        waiting = found.unreviewed if found is not None else ()
        row = self.item
        here = (row.root or (row.memory.address.root if row.memory is not None else "")) if row is not None else ""
        return here if here in waiting else waiting[0] if len(waiting) == 1 else ""

    # Coming, and news

    def read_rows(self, *, awaited: bool) -> None:
        """Work out what is given now."""
        door, settings = self.door, self.host.settings

        def job(engine: Engine, stop: Callable[[], bool], tell: Callable[[Given], None]) -> Given:
            del tell
            return view_rows.load(engine, settings, door, stop)

        self.jobs.stream(job, self._loaded, what="work out what agents are given", group=GROUP, awaited=awaited)

    def _loaded(self, given: Given) -> None:
        if given == self.given:
            return
        first, self.loaded = self.given is None, True

        def change() -> None:
            self.given = given
            self.rows.load(rows_of(given.context) if given.context is not None else ())

        back = self.list.change_rows(change)
        if first and not back and len(self.rows.shown) > 2:
            self.list.go(1)
        self.update("#hot-summary")
        self.rows_changed()

    # Rows

    def draw(self, item: Row, width: int) -> Sequence[Run]:
        """How a row looks."""
        assert self.context is not None
        return row_runs(item, self.context, width, self.look)

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is said where nothing is given."""
        if self.given is None:
            return [[("  reading...", "dim")]]
        lines = words_page(self.given.off, width=max(self.list.room - 2, 20))
        return [[], *([(" " + "".join(text for text, _ in line.runs), "warning")] for line in lines)]

    def list_words(self) -> tuple[str, Line]:
        """The title of the list."""
        found = self.context
        if found is None:
            return "Hot set", []
        notes: Line = [(f"{len(found.items)} given", "title")]
        if found.left_out:
            notes.append((f" | {len(found.left_out):,} not", "warning"))
        return "Hot set", notes

    def page_words(self) -> tuple[str, Line]:
        """The title of the text."""
        row = self.item
        if row is None:
            return "Text", []
        if row.item is not None:
            notes: Line = [(f"{count_words(row.item.masked, 'secret')} masked", "warning")] if row.item.masked else []
            return row.item.path, [*notes, (" as it is given" if notes else "as it is given", "title")]
        if row.left is not None:
            return row.left.path, [("not given", "warning")]
        return {ALL: "Everything that is given", INDEX: "The index", ROOT: row.root}.get(row.kind, "Not given"), []

    def _summary(self, width: int) -> list[Line]:
        given = self.given
        who = f"to {self.door.client}" if self.door.client else "to every agent"
        if len(self.clients) > 1 and not self.door.client:
            who += " without an entry in [access]"
        words: Line = [(" Given ", "dim"), (who, "strong")]
        if self.door.hook:
            words += [(" by a hook", "strong"), (", which takes 10,000 characters", "dim")]
        else:
            words.append((" by the MCP server", "strong"))
        if given is not None and given.hidden:
            words.append((f"; off for it: {', '.join(given.hidden)}", "warning"))
        if given is not None and given.context is None:
            return [[(" Nothing is given: ", "warning"), (who, "strong")], [], []]
        if given is None or given.context is None:
            return [words, [], []]
        return [fitted(words, width, plain=self.ascii), *budget_lines(given.context, width, plain=self.ascii)]

    def read_row(self) -> None:
        """Read the text of the row under the cursor; without rows, say why nothing is given."""
        if self.item is not None or self.given is None:
            super().read_row()
            return
        self.jobs.drop(BESIDE)
        self.give(words_page(self.given.off, style="problem", width=self.page.text_width))

    def read_text(self, item: Row) -> None:
        """Read the text of a row."""
        width, look, given = self.page.text_width, self.look, self.given
        if given is not None:
            self.jobs.run(
                lambda engine: view_rows.page(engine, given, item, width, look),
                lambda page: self.show_text(item, page),
                what="draw a text",
                latest=BESIDE,
            )

    # What the keys do

    def _pin(self) -> None:
        memory = self.item.memory if self.item is not None else None
        if memory is not None:
            self.host.operations.pin((memory.address,), not memory.pinned, self.load)

    def _jump(self) -> None:
        row = self.item
        if row is None or row.kind not in (ITEM, LEFT, ROOT):
            self.other_pane()
            return
        if row.memory is not None:
            self.host.places.tree(row.memory.address, "esc")
            return
        self.host.places.back()
        self.host.places.reveal_root(row.root)

    def _at_memory(self, go: Callable[[Address], object]) -> None:
        if self.item is not None and self.item.memory is not None:
            go(self.item.memory.address)

    def _next_client(self) -> None:
        at = (self.clients.index(self.door.client) + 1) % len(self.clients)
        self._through(self.door._replace(client=self.clients[at]))

    def _other_door(self) -> None:
        self._through(self.door._replace(hook=not self.door.hook))

    def _through(self, door: Door) -> None:
        self.door, self._shown = door, None
        self.update("#hot-summary", "#view-footer")
        self.load()

    def _accept(self) -> None:
        left = self.item.left if self.item is not None else None
        if left is not None and left.reason == "unreviewed":
            self.host.operations.review([(left.address, left.sha256)], self.load)
        else:
            self.host.operations.accept(self._unreviewed(), self.load)

    def _copy(self) -> None:
        if self.item is not None and self.given is not None:
            self.host.copy(view_rows.copied(self.given, self.item), "what is given")

    @on(RowList.Opened)
    def _clicked_twice(self) -> None:
        self._jump()
