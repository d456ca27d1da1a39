"""Who wrote each line: runs of lines with writer, time and how it is known; beside them the session and its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from memtui.config.read import reread
from memtui.engine.ledger.origins import GIT, PROVEN
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.blame.lines import Blamed, BlamedRun, about, blame
from memtui.features.host import Host
from memtui.safe_text import visible
from memtui.transcripts.sessions import consent
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page, PageLine, words_page
from memtui.ui.draw.text import Line, Run, ago, count_words, fit
from memtui.ui.list_view import ListRows, ListView

if TYPE_CHECKING:
    from memtui.engine import Engine

WIDE = 64
UNREAD = "Agents' sessions are not read, so no line can be traced to one; `memtui sessions on` has them read."
SHORT = 8


class BlameView(ListView[BlamedRun]):
    """The view of who wrote each line of one memory."""

    ID: ClassVar[str] = "blame"
    HELP = """Who wrote each line of this memory, and how that is known, best first: proven, memtui wrote it; matched,
a session's own file says it wrote this very text; lines, it says it wrote these lines; near, it wrote the file then and
no more is known; git, a commit names its author; outside; before memtui looked. Beside it are the session, what was
asked (read again from the session and masked, or gone with it) and what it had taken in from outside. Sessions are read
only where you said yes to that: `memtui sessions on`, or `project`. enter opens the memory at the line, H its
versions."""
    EMPTY = ("It is empty.",)
    NO_MATCH = "No line matches"

    def __init__(self, host: Host) -> None:
        rows: ListRows[BlamedRun] = ListRows(lambda run: run.first, self._text)
        super().__init__(host.shell, rows)
        self.host = host
        self.address = Address("", "")
        self.problem = ""
        self.does |= {
            "blame_open": self._open,
            "versions": lambda: host.places.history(self.address),
            "show_in_tree": lambda: host.places.tree(self.address),
            "copy_line": self._copy,
        }

    def _copy(self) -> None:
        lines = self.item.text if self.item is not None else ()
        self.host.copy("\n".join(lines), count_words(len(lines), "line"))

    def about(self, address: Address) -> None:
        """Show another memory."""
        if address != self.address:
            self.address, self.loaded, self._shown = address, False, None
            self.rows.words = ()
            self.list.change_rows(lambda: self.rows.load(()))
            self.page.show(())
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        address = self.address
        self.host.jobs.run(
            lambda engine: blame(engine, address),
            self._taken,
            what=f"say who wrote {address}",
            otherwise=self._refused,
            latest="blame",
            awaited=awaited,
        )

    def _taken(self, found: Blamed) -> None:
        if found.address == self.address:
            self.problem = ""
            self.take(found.runs)

    def _refused(self, error: MemtuiError) -> None:
        self.problem = f"{error.message} {error.hint}".strip()
        self.take(())

    def _text(self, run: BlamedRun) -> str:
        session = run.touch.session if run.touch is not None else ""
        return f"{run.who(self.address.root)} {run.level} {session} {' '.join(run.text)}"

    def _draw_row(self, item: BlamedRun, width: int) -> Sequence[Run]:
        """Draw a row."""
        plain, wide = self.ascii, width >= WIDE
        touch = item.touch
        at = touch.at if touch is not None else item.at
        who = fit(visible(item.who(self.address.root)), 16 if wide else 12, plain=plain)
        lines = f"{item.first}" if item.first == item.last else f"{item.first}-{item.last}"
        session = (
            fit(visible(touch.session[:SHORT]) if touch is not None else item.commit[:SHORT], SHORT, plain=plain) + " "
        )
        first = next((line for line in item.text if line.strip()), "")
        lead: list[Run] = [
            (f"{who} ", "agent" if touch is not None else "name"),
            (f"{ago(at, self.host.now()):>4} ", "dim"),
            *([(session, "dim")] if wide else []),
            (f"{item.level:<8}", "warning" if touch is not None and touch.taint else "description"),
            (f"{lines:>9} ", "dim"),
        ]
        used = sum(len(text) for text, _ in lead)
        return [*lead, (fit(visible(first), max(width - used, 1), plain=plain), "name")]

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Draw an empty list, or why it is empty."""
        if self.loaded and self.problem:
            return [[("  " + visible(self.problem), "problem")]]
        return super()._empty_lines()

    def _list_words(self) -> tuple[str, Line]:
        rows = self.rows
        count = rows.all[-1].last if rows.all else 0
        notes: Line = [(rows.of_all if rows.words else count_words(count, "line"), "title")] if self.loaded else []
        return f"Who wrote {self.host.shown(self.address)}", notes

    def _read_text(self, item: BlamedRun) -> None:
        width, root, place = self.page.text_width, self.address.root, self.host.surroundings

        def page(engine: Engine) -> Page:
            del engine  # what was asked is read from the session's file
            traced = item.touch is not None or item.level in (PROVEN, GIT)
            unread = not traced and place is not None and consent(reread(self.host.settings), place).skipped
            hints = [UNREAD] if unread else []
            known = words_page(*map(visible, about(item, root)), *hints, style="name", width=width)
            numbered = (f"{at:>4}  {visible(line)}" for at, line in enumerate(item.text, item.first))
            return (*known, PageLine(()), *words_page(*numbered, width=width))

        self.host.jobs.run(
            page, lambda found: self._show_text(item, found), what="read what was asked", latest="blame-page"
        )

    def _page_words(self) -> tuple[str, Line]:
        item = self.item
        if item is None:
            return "Lines", []
        return (f"Line {item.first}" if item.first == item.last else f"Lines {item.first} to {item.last}"), []

    def _off(self, action: Action) -> str:
        return "There is no line here." if action.id in ("blame_open", "copy_line") and self.item is None else ""

    def _open(self) -> None:
        item = self.item
        if item is not None:
            self.host.places.edit(self.address, then=f"line {item.first}")
