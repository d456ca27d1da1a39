"""Bundles: putting memories into one, and importing one after showing what becomes of each of its memories.

The plan that is shown is the very one that is done, so nothing can be written that was not seen. An import that leaves
something to decide opens the first conflict; what was written is one step of undo.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from memtui.diff.hunks import why_not_text
from memtui.diff.merge import merged_alone
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.bundles import bundle, bundle_file, carry_out, import_plan
from memtui.features.bundles.carry_out import Imported
from memtui.features.bundles.export import Exported, collect
from memtui.features.bundles.import_plan import CONFLICT, DELETED, NEW, NEWER, OLDER, SAME, STAYS, Arrival, Plan
from memtui.features.transfer.model import KEPT, LOST
from memtui.safe_text import cell_width, visible
from memtui.ui.draw import bars
from memtui.ui.draw.difference import Look, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, text_page, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import both_ends, count_words
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Question
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.copies import index_details

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


class Bundles:
    """Asks for a file, and writes or reads it."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._over = ""
        """The file that a second enter writes over."""

    # Export

    def export(self) -> None:
        """Ask where the marked memories go."""
        self._ask_export(history=False)

    def export_history(self) -> None:
        """Ask where the marked memories go, with every version of theirs."""
        self._ask_export(history=True)

    def _ask_export(self, *, history: bool) -> None:
        from memtui.ui.widgets.prompts import Question

        screen, targets = self._screen, self._screen.memories.targets()
        self._over = ""
        words = f"writes {count_words(len(targets), 'memory')}{' and their history' if history else ''} into it"

        def hint(text: str) -> Line:
            if text == self._over:
                return [("enter again writes over it", "warning")]
            return [(words, "dim")]

        screen.ask(
            Question(
                "export to",
                "~/memories.tar",
                lambda text: self._export(text, targets, history=history),
                screen.close_prompt,
                hint=hint,
            )
        )

    def _export(self, text: str, targets: tuple[Address, ...], *, history: bool) -> None:
        screen, over = self._screen, text == self._over
        path = path_of(text, screen.facts.settings.home)
        if path is None:
            screen.refuse_prompt("Type the name of a file.")
            return

        def written(found: Exported) -> None:
            screen.close_prompt()
            left = f" {found.left[0][0]} is not in it: {found.left[0][1]}" if found.left else ""
            count = count_words(len(found.bundle.memories), "memory")
            screen.say(f"Exported {count} to {text.strip()}.{left}", "warning" if left else "good")

        def refused(error: MemtuiError) -> None:
            if error.code == "E_EXISTS":
                self._over = text
                screen.refuse_prompt("There is a file of this name: enter again writes over it.")
            else:
                self._refused(error)

        def job(engine: Engine) -> Exported:
            if history and not screen.bridge.read_only:
                engine.watch.reconcile()  # what others wrote lately belongs to it
            rows = engine.rows.some(targets)
            found = collect(engine, [rows[one] for one in targets if one in rows], history=history)
            bundle_file.write(path, bundle.write(found.bundle), over=over)
            return found

        screen.bridge.run(job, written, what="export", otherwise=refused, latest=GROUP)

    # Import

    def take(self) -> None:
        """Ask for a bundle, and show what comes of it."""

        def chosen(wanted: Plan | None) -> None:
            if wanted is not None:
                self._take(wanted)

        self._screen.app.push_screen(ImportScreen(self._screen), chosen)

    def _take(self, wanted: Plan) -> None:
        screen, actor, now = self._screen, self._screen.bridge.actor, self._screen.now()

        def taken(done: Imported) -> None:
            screen.bridge.refresh_drafts()
            for one in wanted.arrivals:
                screen.chrome.remember(f"{name_of(one)}: {one.what}{f' ({one.why})' if one.why else ''}")
            said = [f"Imported: {words(wanted)}."]
            if done.done is not None:
                said.append("u takes back what was written.")
            if done.waiting:
                said.append(f"{done.waiting[0]} has a draft of its own, which stays.")
            screen.say(" ".join(said), "warning" if done.waiting or done.conflicts else "good")
            if done.conflicts:
                screen.open_editor(done.conflicts[0], then="compare")

        screen.bridge.run(
            lambda engine: carry_out.apply(engine, wanted, actor=actor, now=now),
            taken,
            what="import",
            otherwise=partial(screen.show_error, "import"),
            lane=WRITE,
        )

    def _refused(self, error: MemtuiError) -> None:
        """Leave the line open, so that the name can be made right."""
        if not self._screen.refuse_prompt(f"{error.message} {error.hint}".strip()):
            self._screen.show_error("do it", error)


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


class ImportScreen(PlanScreen["Plan | None"]):
    """The file, and what is in it; gives the plan that is to be done, or nothing."""

    HELP = """Type the file of a bundle; enter shows what becomes of each of its memories here, and enter again does it.
Behind the file --into ROOT names the root they go to, and --as-is keeps every byte of what comes from another agent.
New, newer and merged ones are written and deleted ones go to the trash, as one step that u takes back; what is in
conflict waits for your decision, and the first of them opens. Below the list is what becomes of the one under the
cursor. Shift with up and down scrolls it."""

    def __init__(self, browser: BrowserScreen, typed: str = "") -> None:
        """Take the main screen, and what was typed already."""
        self.arrivals = PlanList(self._draw_row)
        question = Question("import from", typed, self._entered, self.leave, self._typed, self._hint)
        super().__init__(browser.table, self.arrivals, question, plain=browser.facts.ascii)
        self._browser = browser
        self.plan: Plan | None = None
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
        path = path_of(file, self._browser.facts.settings.home)
        if path is None:
            self.prompt.refuse("Type the name of a file.")
            return
        named = {"": into.strip()} if into.strip() else {}

        def arrived(found: Plan) -> None:
            if self._awaits(text):
                self._show(found)
                if found.idle:
                    self.prompt.refuse(_nothing(found))
                self.draw()

        def refused(error: MemtuiError) -> None:
            if self._awaits(text):
                self.prompt.refuse(f"{error.message} {error.hint}".strip())
                self.draw()

        self._browser.bridge.run(
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

    def _show(self, found: Plan | None) -> None:
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
        look = Look(max(self.app.size.width - 2, 20), plain=self._plain)
        self.details.show(details(self.arrivals.rows[at], look) + index_details(found.indexes, look), top=0)

    def _hint(self, text: str) -> Line:
        del text
        if self.plan is not None and not self.plan.idle:
            return [("enter again imports", "strong")]
        return [(f"enter shows what it brings;{INTO}ROOT names another root", "dim")]

    def _title(self, width: int) -> list[Line]:
        notes: Line = [(words(self.plan), "description")] if self.plan is not None else []
        return [bars.title("Import", notes, width, focused=True, plain=self._plain)]


def details(row: Arrival, look: Look) -> list[Line]:
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


def _text(here: bytes | None, after: bytes, look: Look) -> Page:
    """The text that is not here yet, or how the bundle's differs from the one that is."""
    if here is None:
        return text_page(after, look.width, plain=look.plain)
    sides = (("Here", why_not_text(here, SHOWN_BYTES)), ("In the bundle", why_not_text(after, SHOWN_BYTES)))
    said = [f"{name}: {why}." for name, why in sides if why]
    return words_page(*said, width=look.width) if said else compare(here, after, look)[1]


_NOTES: Mapping[str, str] = {KEPT: "description", LOST: "warning"}


def words(wanted: Plan) -> str:
    """What comes of an import, for people: how many of which, and what is done for another agent."""
    return f"{wanted.words}; {wanted.also}" if wanted.also else wanted.words


def _nothing(wanted: Plan) -> str:
    return f"Nothing would be written: {wanted.words}."
