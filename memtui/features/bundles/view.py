"""What a bundle brings, before anything of it is written: each memory with what becomes of it here, and the difference.

The plan that is shown is the very one that is done, so nothing can be written that was not seen. It is apart from
the import itself because only the workbench draws.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.diff.hunks import why_not_text
from memtui.diff.merge import merged_alone
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.bundles import bundle, bundle_file, import_plan
from memtui.features.bundles.import_plan import CONFLICT, DELETED, NEW, NEWER, OLDER, SAME, STAYS, Arrival, ImportPlan
from memtui.features.transfer.model import KEPT, LOST
from memtui.features.transfer.view import index_details
from memtui.safe_text import cell_width, visible
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, text_page, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import both_ends
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.features.host import Jobs
    from memtui.ui.action import Action


GROUP = "bundle"
INTO = " --into "
"""What may stand behind the file, before a root."""
AS_IS = " --as-is"
"""What may stand at the end, to keep every byte of what comes from another agent."""
_FIRST = {CONFLICT: 0, DELETED: 1, STAYS: 2, NEW: 3, NEWER: 4, import_plan.MERGED: 5, OLDER: 6, SAME: 7}
"""What needs a person comes first, what nothing happens to last."""
_STYLES = {CONFLICT: "conflict", STAYS: "warning", DELETED: "del", OLDER: "dim", SAME: "dim"}


def path_of(text: str, home: str | None) -> str | None:
    """The file that a text means, as an absolute path; None when it is none."""
    path = text.strip()
    if home and path.startswith("~/"):
        path = home + path[1:]
    return None if not path or path.endswith("/") else os.path.abspath(path)


def name_of(arrival: Arrival) -> str:
    """Where it goes, or where it came from when it goes nowhere."""
    return str(arrival.address or Address(arrival.packed.origin.id, arrival.packed.path))


class ImportScreen(PlanScreen["ImportPlan | None"]):
    """The file, and what is in it; gives the plan that is to be done, or nothing."""

    HELP = """Type the file of a bundle; enter shows what becomes of each of its memories here, and enter again does it.
Behind the file --into ROOT names the root they go to, and --as-is keeps every byte of what comes from another agent.
New, newer and merged ones are written and deleted ones go to the trash, as one step that u takes back; what is in
conflict waits for your decision, and the first of them opens. Below the list is what becomes of the one under the
cursor. Shift with up and down scrolls it."""

    def __init__(self, table: tuple[Action, ...], jobs: Jobs, home: str | None, *, plain: bool) -> None:
        """Take the actions, what reads the file, the user's home folder, and whether only ASCII is drawn."""
        self.arrivals = PlanList(self._draw_row)
        question = Question("import from", "", self._entered, self.leave, self._typed, self._hint)
        super().__init__(table, self.arrivals, question, plain=plain)
        self._jobs = jobs
        self._home = home
        self.plan: ImportPlan | None = None
        """What becomes of what is in the file, as the line stands; None while that is not known."""

    def _draw_row(self, row: Arrival, room: int) -> Sequence[Run]:
        """Draw one: what becomes of it, where, and why."""
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
        """Read the file in the background; what arrives late for another line is dropped."""
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
            lambda engine: import_plan.plan(
                engine, bundle.read(bundle_file.read(path)), named, merged_alone, as_is=as_is
            ),
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
        self.show_detailed(detailed=found is not None)

    def show_details(self) -> None:
        """Show what becomes of the memory under the cursor, and what is written besides."""
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


def details(row: Arrival, look: DiffStyle) -> list[Line]:
    """Draw what becomes of one memory: why, what is mapped for another agent, and the difference."""
    sentences: list[tuple[str, str]] = [(row.why, "warning" if row.what == STAYS else "description")]
    sentences += [(f"{note.kind}: {note.text}", _NOTES.get(note.kind, "good")) for note in row.notes]
    if row.pins:
        sentences.append(("It is pinned then.", "description"))
    if row.what == CONFLICT:
        sentences.append(("It waits for your decision; the text here stays until then.", "description"))
    lines: list[Line] = [
        list(part.runs) for text, style in sentences if text for part in words_page(text, style=style, width=look.width)
    ]
    if row.address is not None and row.what not in (STAYS, SAME):
        brought = row.packed.data if row.shaped is None else row.shaped
        after = row.data if row.what in import_plan.WRITTEN else brought
        lines += [list(line.runs) for line in _text(row.here, after, look)]
    return lines


def _text(here: bytes | None, after: bytes, look: DiffStyle) -> Page:
    """The text that is not here yet, or how the bundle's differs from the one that is."""
    if here is None:
        return text_page(after, look.width, plain=look.plain)
    sides = (("Here", why_not_text(here, SHOWN_BYTES)), ("In the bundle", why_not_text(after, SHOWN_BYTES)))
    said = [f"{name}: {why}." for name, why in sides if why]
    return words_page(*said, width=look.width) if said else compare(here, after, look)[1]


_NOTES: Mapping[str, str] = {KEPT: "description", LOST: "warning"}


def _nothing(wanted: ImportPlan) -> str:
    return f"Nothing would be written: {wanted.words}."
