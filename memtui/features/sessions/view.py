"""The view of agents' sessions: memories opened, loaded and written, and outside sources read before writing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from memtui.agents.table import title_of
from memtui.engine import Engine
from memtui.engine.ledger.touches import SessionTouches
from memtui.engine.model import Address
from memtui.features.host import Host
from memtui.features.sessions.shown import after_words, calls_of, done_words, placed
from memtui.safe_text import visible
from memtui.transcripts.event import LOADED, OPENED, WRITES
from memtui.transcripts.sessions import ASK, OFF
from memtui.ui.action import Action
from memtui.ui.draw.pages import words_page
from memtui.ui.draw.text import Run, both, count_words, fit, stamp
from memtui.ui.list_view import ListRows, ListView

WIDE = 70
"""Cells from which a row shows the session's folder."""
MAX_SESSIONS = 500


class SessionsView(ListView[SessionTouches]):
    """The sessions view."""

    ID: ClassVar[str] = "sessions"
    HELP = """What sessions of agents did to memories, as the agents' own files say, the newest first: how many calls
opened some, how many were loaded and written, and what the session had taken in from outside since the prompt before it
wrote (a web page, an MCP server, a file that is not in its folder). Beside it is each memory; enter goes to what it
wrote in the tree, where B says who wrote each line. They are read where you said yes: memtui sessions on."""
    NO_MATCH = "No session matches"
    QUIET = 0.6

    def __init__(self, host: Host) -> None:
        rows: ListRows[SessionTouches] = ListRows(lambda one: (one.agent, one.session), self._text)
        super().__init__(host.shell, rows)
        self.host = host
        self.does["session_go"] = self._go

    def _read_rows(self, *, awaited: bool) -> None:
        def read(engine: Engine) -> tuple[SessionTouches, ...]:
            return placed(engine, engine.touches.sessions(engine.roots.names(), limit=MAX_SESSIONS))

        self.host.jobs.run(read, self.take, what="list agents' sessions", latest="sessions", awaited=awaited)

    def _text(self, one: SessionTouches) -> str:
        named = " ".join(f"{use.kind} {self.host.shown(use.address)}" for use in one.uses)
        return f"{title_of(one.agent)} {one.session} {one.cwd} {after_words(one)} {named}"

    def _draw_row(self, item: SessionTouches, width: int) -> Sequence[Run]:
        """Draw a row."""
        plain, wide = self.ascii, width >= WIDE
        folder = fit(visible(self.host.short(item.cwd)), 18, plain=plain) + " "
        after = after_words(item)
        counts = ((OPENED, (OPENED,)), (LOADED, (LOADED,)), ("wrote", WRITES))
        said = "  ".join(f"{word} {count}" for word, kinds in counts if (count := calls_of(item, *kinds)))
        lead: list[Run] = [
            (fit(title_of(item.agent), 12, plain=plain) + " ", "agent"),
            (f"{stamp(item.ended, self.host.now()):>12}  ", "dim"),
            *([(folder, "dim")] if wide else []),
        ]
        room = max(width - sum(len(text) for text, _ in lead), 1)
        shown = fit(said, min(len(said) + 2, room), plain=plain)
        left = room - len(shown)
        return [
            *lead,
            (shown, "name"),
            *([(fit(f"after {visible(after)}", left, plain=plain), "warning")] if after else []),
        ]

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Explain why there is none."""
        if not self.loaded or self.rows.words:
            return super()._empty_lines()
        read = self.host.settings.transcripts_read
        if read in (ASK, OFF):
            why = "Nobody was asked yet whether" if read == ASK else "It is switched off that"
            return [
                [(f"  {why} agents' sessions may be read.", "strong")],
                [("  memtui sessions on", "key"), (" asks, and says what is kept.", "name")],
            ]
        return [[("  No session used a memory yet, as far as they were read.", "strong")]]

    def _read_text(self, item: SessionTouches) -> None:
        head = [
            f"{title_of(item.agent)}, session {item.session}",
            f"{both(item.began, self.host.now())}{f', in {self.host.short(item.cwd)}' if item.cwd else ''}",
            f"{count_words(len({use.address for use in item.uses}), 'memory')} used",
        ]
        lines = [*head, "", *done_words(item, self.host.shown)]
        self._show_text(item, words_page(*map(visible, lines), style="name", width=self.page.text_width))

    def _page_words(self) -> tuple[str, list[Run]]:
        return "What it did", []

    def _off(self, action: Action) -> str:
        return "There is no session here." if action.id == "session_go" and self._first is None else ""

    @property
    def _first(self) -> Address | None:
        """The memory to go to: one that it wrote, else one that it read."""
        uses = self.item.uses if self.item is not None else ()
        found = sorted(uses, key=lambda use: use.kind not in WRITES)
        return next((use.address for use in found if self.host.has_row(use.address)), None)

    def _go(self) -> None:
        if (address := self._first) is not None:
            self.host.places.tree(address)
