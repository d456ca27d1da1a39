"""The preview of an import: each memory with what happens to it here, and the difference.

The plan that is shown is the very one that is done. It is apart from the import itself because only the workbench
draws.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.diff.differences import why_not_text
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.bundles import bundle, import_plan, tarball
from memtui.features.bundles.import_plan import (
    CONFLICT,
    DELETED,
    NEW,
    NEWER,
    OLDER,
    SAME,
    STAYS,
    ImportItem,
    ImportPlan,
)
from memtui.features.transfer.model import KEPT, LOST
from memtui.features.transfer.view import index_details, page_lines
from memtui.safe_text import cell_width, visible
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.features.host import Jobs
    from memtui.ui.action import Action


GROUP = "bundle"
INTO = " --into "
"""Option after the file name: the root to import into."""
AS_IS = " --as-is"
"""Option at the end: keep every byte of another agent's memories."""
_FIRST = {CONFLICT: 0, DELETED: 1, STAYS: 2, NEW: 3, NEWER: 4, import_plan.MERGED: 5, OLDER: 6, SAME: 7}
"""Sort order: what needs a person comes first."""
_STYLES = {CONFLICT: "conflict", STAYS: "warning", DELETED: "del", OLDER: "dim", SAME: "dim"}


def path_of(text: str, home: str | None) -> str | None:
    """Return the absolute path that a text means, or None."""
    path = text.strip()
    if home and path.startswith("~/"):
        path = home + path[1:]
    return None if not path or path.endswith("/") else os.path.abspath(path)


def name_of(arrival: ImportItem) -> str:
    """Return where it goes, or where it came from when it goes nowhere."""
    return str(arrival.address or Address(arrival.packed.origin.id, arrival.packed.path))


class ImportScreen(PlanScreen["ImportPlan | None"]):
    """Asks for the file and shows its contents; returns the plan to carry out, or None."""

    HELP = """Type the file of a bundle; enter shows what becomes of each of its memories here, and enter again does it.
Behind the file --into ROOT names the root they go to, and --as-is keeps every byte of what comes from another agent.
New, newer and merged ones are written and deleted ones go to the trash, as one step that u takes back; what is in
conflict waits for your decision, and the first of them opens. Below the list is what becomes of the one under the
cursor. Shift with up and down scrolls it."""

    def __init__(self, table: tuple[Action, ...], jobs: Jobs, home: str | None, *, plain: bool) -> None:
        self.arrivals = PlanList(self._draw_row)
        question = Question("import from", "", self._entered, self.leave, self._typed, self._hint)
        super().__init__(table, self.arrivals, question, plain=plain)
        self._jobs = jobs
        self._home = home
        self.plan: ImportPlan | None = None

    def _draw_row(self, row: ImportItem, room: int) -> Sequence[Run]:
        what = f"{row.what:<9} "
        why = visible(f"  {row.why}") if row.why else ""
        note = both_ends(why, max(room // 2, 16), plain=self._plain)
        name = both_ends(name_of(row), max(room - 2 - len(what) - cell_width(note), 16), plain=self._plain)
        return [(what, _STYLES.get(row.what, "good")), (name, "name"), (note, "description")]

    def _typed(self, text: str) -> None:
        del text
        if self.plan is not None:
            self._show(None)

    def _entered(self, text: str) -> None:
        if self.plan is None:
            self._work_out(text)
        elif self.plan.idle:
            self.prompt.refuse(_nothing(self.plan))
        else:
            self.dismiss(self.plan)

    def _work_out(self, text: str) -> None:
        """Read the file in the background; a result for another line is dropped."""
        as_is = text.rstrip().endswith(AS_IS)
        file, _, into = (text.rstrip().removesuffix(AS_IS) if as_is else text).partition(INTO)
        path = path_of(file, self._home)
        if path is None:
            self.prompt.refuse("Type the name of a file.")
            return
        named = {"": into.strip()} if into.strip() else {}

        def arrived(found: ImportPlan) -> None:
            if self._awaits(text):
                self._show(found)
                if found.idle:
                    self.prompt.refuse(_nothing(found))
                self.draw()

        def refused(error: MemtuiError) -> None:
            if self._awaits(text):
                self.prompt.refuse(f"{error.message} {error.hint}".strip())
                self.draw()

        self._jobs.run(
            lambda engine: import_plan.plan(engine, bundle.read(tarball.read_file(path)), named, as_is=as_is),
            arrived,
            what="read the bundle",
            otherwise=refused,
            latest=GROUP,
        )

    def _awaits(self, text: str) -> bool:
        return self.is_attached and self.prompt.text == text

    def _show(self, found: ImportPlan | None) -> None:
        self.plan = found
        self.prompt.note = []
        rows = found.arrivals if found is not None else ()
        self.arrivals.show(sorted(rows, key=lambda row: _FIRST[row.what]))
        self.arrivals.go(0)
        self._show_detailed(detailed=found is not None)

    def show_details(self) -> None:
        """Show what happens to the memory under the cursor, and what else is written."""
        found, at = self.plan, self.list.cursor
        if found is None or at >= len(self.arrivals.rows):
            self.details.show([], top=0)
            return
        look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain)
        self.details.show(details(self.arrivals.rows[at], look) + index_details(found.indexes, look), top=0)

    def _hint(self, text: str) -> Line:
        del text
        if self.plan is not None and not self.plan.idle:
            return [("enter again imports", "strong")]
        return [(f"enter shows what it brings;{INTO}ROOT names another root", "dim")]

    def _title(self, width: int) -> list[Line]:
        notes: Line = [(self.plan.all_words, "description")] if self.plan is not None else []
        return [bars.title("Import", notes, width, focused=True, plain=self._plain)]


def details(row: ImportItem, look: DiffStyle) -> list[Line]:
    """Draw what happens to one memory: why, its conversion, and the difference."""
    sentences = [(row.why, "warning" if row.what == STAYS else "description")] if row.why else []
    sentences += [(f"{note.kind}: {note.text}", _NOTES.get(note.kind, "good")) for note in row.notes]
    if row.pins:
        sentences.append(("It is pinned then.", "description"))
    if row.what == CONFLICT:
        sentences.append(("It waits for your decision; the text here stays until then.", "description"))
    lines: list[Line] = []
    for text, style in sentences:
        lines += page_lines(words_page(text, style=style, width=look.width))
    if row.address is not None and row.what not in (STAYS, SAME):
        brought = row.packed.data if row.shaped is None else row.shaped
        after = row.data if row.what in import_plan.WRITTEN else brought
        lines += page_lines(_text(row.here, after, look))
    return lines


def _text(here: bytes | None, after: bytes, look: DiffStyle) -> Page:
    if here is None:
        return text_page(after, look.width, plain=look.plain)
    sides = (("Here", why_not_text(here, SHOWN_BYTES)), ("In the bundle", why_not_text(after, SHOWN_BYTES)))
    said = [f"{name}: {why}." for name, why in sides if why]
    return words_page(*said, width=look.width) if said else compare(here, after, look)[1]


_NOTES: Mapping[str, str] = {KEPT: "description", LOST: "warning"}


def _nothing(wanted: ImportPlan) -> str:
    return f"Nothing would be written: {wanted.words}."
