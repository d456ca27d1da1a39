"""The Health view: findings about texts and indexes, with the fix of each as a diff.

Rows stay in place under the cursor when files change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from textual import on

from memtui.errors import MemtuiError
from memtui.features.health.apply import NOT_LOADED, Chosen, apply, choose, prepare
from memtui.features.health.model import BY_NAME, CUT, ORPHAN, TOGETHER, Stray
from memtui.features.health.view_rows import HealthRow, HealthRows, Reports, many_at_once, page, row_runs
from memtui.features.host import WRITE, Host
from memtui.ui.action import Action
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.text import Line, Run, count_words
from memtui.ui.list_view import ListView
from memtui.ui.widgets.prompts import Question
from memtui.ui.widgets.scroller import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Actor
    from memtui.ui.view_screen import ViewFilter

BESIDE = "health-page"
NO_FINDING = "There is no finding here."
_MUTES = {
    "mute_finding": "mutes {rule} in {name}, until its lines change",
    "mute_memory": "mutes {count} findings of {name}, each until its lines change",
    "mute_kind": "mutes all that {rule} finds in this root",
}


class IndexHealth(Protocol):
    """Findings about indexes, shared by tree, tabs and view."""

    done: bool
    """Whether everything was checked once."""
    looked: int
    """Number of indexes."""
    strays: tuple[Stray, ...]
    """Memories that are not where their project is."""

    @property
    def reports(self) -> Reports:
        """Findings by root."""

    def look_around(self) -> None:
        """Look for moved projects and shared folders, once for the same folders."""


class HealthView(ListView[HealthRow]):
    """Findings about texts and indexes."""

    ID = "health"
    HELP = """Findings in the texts of memories: secrets, hidden text, orders to agents, claims outdated by a commit
(from 24 hours after it), doubles. E after a rule is serious, W deserves a look. Below, problems of the indexes that
agents load: lines for missing memories, memories without a line, lines twice or too long, links out of the folder, and
the cut line, below which nothing is loaded. f marks what d f can fix, ? what it can offer; the page beside the list
shows what would be written. D fixes all of a kind or of a root, after saying what; x mutes. u takes each of these
back."""

    NO_MATCH = "No finding matches"
    rows: HealthRows

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, HealthRows())
        self.host, self.jobs = host, host.jobs
        self.known: IndexHealth = host.index_health
        self._asked: HealthRow | None = None
        """The root that a pending key sequence is about."""
        self._mine = False
        """Whether the next change of rows is the user's own."""
        self.does |= {
            "health_open": self._open,
            "edit": self._edit,
            "fix_finding": self._fix_one,
            "fix_kind": lambda: self._fix_many(self._kinds()),
            "fix_root": lambda: self._fix_many(TOGETHER),
            "mute_finding": lambda: self._mute("mute_finding"),
            "mute_memory": lambda: self._mute("mute_memory"),
            "mute_kind": lambda: self._mute("mute_kind"),
            "next_folder": lambda: self._jump_to(1, lambda row: row.heads),
            "previous_folder": lambda: self._jump_to(-1, lambda row: row.heads),
            "repoint": self._repoint,
        }

    # What is known

    @property
    def row(self) -> HealthRow | None:
        """The row under the cursor."""
        return super().item

    @property
    def item(self) -> HealthRow | None:
        """The row whose text is shown: during a key sequence for a whole root, that root."""
        return self._asked or super().item

    def entered(self, within: ViewFilter | None) -> None:
        """Refresh, and keep the cursor where it was left."""
        del within
        self.prompt.close()
        if self.rows.has_over:
            self.list.change_rows(lambda: self.rows.drop_over(-1))
        self.known.look_around()
        self.load()

    def on_mount(self) -> None:
        """Load the findings."""
        self.load()

    def _news(self) -> None:
        self.known.look_around()
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        del awaited
        stay = None if self._mine else self.row
        if self._mine and self.rows.reports != self.known.reports:
            self._mine = False
        first = not self.loaded and self.known.done
        self.loaded = self.loaded or self.known.done

        def change() -> None:
            self.rows.strays = self.known.strays
            self.rows.name_of = self.host.shown
            self.rows.update(self.known.reports, self.host.roots, stay)

        untouched = self.list.cursor == 0
        back = self.list.change_rows(change)
        self._rows_changed()
        if first and untouched and not back and len(self.rows.shown) > 1:
            self.list.scroll_to_row(0)
            cuts = (at for at, row in enumerate(self.rows.shown) if row.finding is not None and row.finding.kind == CUT)
            self.list.go(next(cuts, 1))  # what is not loaded is lost to the agent, whatever else the index says

    def _row_moved(self) -> None:
        if self.rows.has_over:
            here = self.list.cursor
            self.list.change_rows(lambda: self.rows.drop_over(here))

    # The list

    def _draw_row(self, item: HealthRow, width: int) -> Sequence[Run]:
        return row_runs(item, self.rows, width, plain=self.ascii)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        if not self.loaded:
            return [[("  looking...", "dim")]]
        if self.rows.words:
            return super()._empty_lines()
        looked = self.known.looked
        if not looked:
            return [[("  No agent keeps an index here.", "strong")]]
        if looked == 1:
            return [[("  The index is sound.", "strong")], [("  It is looked at again whenever it changes.", "name")]]
        words = f"  All {looked:,} indexes are sound."
        return [[(words, "strong")], [("  They are looked at again whenever they change.", "name")]]

    def _list_words(self) -> tuple[str, Line]:
        notes: Line = [(self.rows.counts, "title")] if self.loaded else []
        if self.rows.words:
            notes.append((f" | /{' '.join(self.rows.words)}", "agent"))
        return "Health", notes

    # The text

    def _read_text(self, item: HealthRow) -> None:
        look, reports = DiffStyle(self.page.text_width, plain=self.ascii), self.rows.reports.get(item.root, ())
        name = self.rows.name_of(item.finding.address) if item.finding is not None else ""

        self.jobs.run(
            lambda engine: page(engine, item, reports, look, name),
            lambda drawn: self._show_text(item, drawn),
            what="draw a finding",
            latest=BESIDE,
        )

    def _page_words(self) -> tuple[str, Line]:
        row = self.item
        if row is None:
            return "Fix", []
        if row.stray is not None:
            return "Project", [(row.stray.kind, "title")]
        if row.finding is None or row.report is None:
            return self.rows.label(row.root), []
        return ("Fix" if row.finding.fix is not None and not row.over else "Finding"), [(row.finding.kind, "title")]

    # Keys

    def _off(self, action: Action) -> str:
        row = self.row
        if action.id == "repoint" and (row is None or row.stray is None or row.stray.kind != ORPHAN):
            return "re-point: put the cursor on a project that is gone first."
        if action.id in ("health_open", "edit", "fix_finding", "fix_kind", "fix_root") and row is None:
            return NO_FINDING
        if action.id in _MUTES and (row is None or row.finding is None or row.finding.hazard is None or row.over):
            return "Only findings in texts can be muted."
        if row is None:
            return ""
        if action.id in ("fix_finding", "fix_kind", "fix_root") and row.stray is not None:
            return "g p moves its memories; enter goes to the folder."
        if action.id == "fix_finding":
            if row.finding is None:
                return "Put the cursor on a finding; D r fixes all of this root."
            if row.over:
                return "It is no longer so."
            return "" if row.finding.fix is not None else f"It cannot be fixed here. {row.finding.why}".strip()
        if action.id == "fix_kind" and not self.rows.fixable(row.root, self._kinds()):
            return "There is nothing of this kind that can be fixed at once."
        if action.id == "fix_root" and not self.rows.fixable(row.root, TOGETHER):
            below = [some.finding for some in self.rows.all if some.root == row.root and some.finding is not None]
            one = any(finding.fix is not None for finding in below)
            return "These change words: one at a time with d f." if one else "There is nothing in this root to fix."
        if action.id == "edit" and (row.report is None or row.report.sha256 is None):
            return "There is no index to edit." if row.report is not None else "Put the cursor on a finding first."
        return ""

    def _kinds(self) -> tuple[str, ...]:
        finding = self.row.finding if self.row is not None else None
        if finding is None or not (finding.kind in BY_NAME or (finding.hazard and many_at_once(finding.kind))):
            return ()
        return (finding.kind,)

    def _asks_at_once(self, first: str) -> Line | None:
        after = {action.id: key for key, action in self.sequences.choices(first)}
        row = self.row
        if row is None or row.stray is not None or self.jobs.read_only:
            return None
        line: Line = []
        if "fix_finding" in after and row.finding is not None and row.finding.fix is not None and not row.over:
            line += [(after["fix_finding"], "key"), (f" {row.finding.path}: {row.finding.fix.label}", "name")]
        kinds = self._kinds()
        for id_, wanted, words in (
            ("fix_kind", kinds, "".join(kinds)),
            ("fix_root", TOGETHER, "in this root"),
        ):
            found = self.rows.fixable(row.root, wanted) if id_ in after else ()
            if found:
                line += [
                    (", " if line else "", "name"),
                    (after[id_], "key"),
                    (f" fixes {len(found):,} {words}", "name"),
                ]
        if not line:
            return None
        return [(" ", "dim"), *line, ("; any other key cancels", "dim")]

    def show_hint(self, line: Line | None) -> None:
        """Show the possible next keys, and for a whole root everything they would change."""
        super().show_hint(line)
        after = {action.id for _, action in self.sequences.choices(self.sequences.pending)} if line else set()
        row = self.row
        asked = None
        if row is not None and "fix_root" in after:
            finding = row.finding if self._kinds() and not row.over else None
            asked = HealthRow(("root", row.root, *self._kinds()), row.root, finding=finding)
        if asked != self._asked:
            self._asked = asked
            self.read_row()

    # Elsewhere

    @on(RowList.Opened)
    def _open(self) -> None:
        row = self.row
        if row is None:
            return
        if row.stray is not None:
            self._leave_to_root(row.stray.root)
        elif row.finding is not None and row.finding.memory is not None:
            self.host.places.tree(row.finding.memory, "esc")
        elif row.report is not None and row.report.sha256 is not None:
            self.host.places.tree(row.report.address, "esc")
        else:
            self._other_pane()

    def _edit(self) -> None:
        row = self.row
        if row is None or row.report is None:
            return
        line = row.finding.line if row.finding is not None else None
        self.host.places.edit(row.report.address, then=f"line {line}" if line else "")

    def _repoint(self) -> None:
        row = self.row
        if row is not None and row.stray is not None:
            self._leave_to_root(row.stray.root)
            self.host.places.repoint(row.stray.root)

    def _leave_to_root(self, root_id: str) -> None:
        self.host.places.back()
        if not self.host.places.reveal_root(root_id):
            self.host.say("It is not in the tree now; A shows the other projects.", "warning")

    # Muting

    def _mute(self, id_: str) -> None:
        finding = self.row.finding if self.row is not None else None
        if finding is None:
            return
        address, rule = finding.address, finding.kind
        chosen = [(address, rule, finding.id)]
        if id_ == "mute_memory":
            found = [one for some in self.known.reports.values() for report in some for one in report.findings]
            chosen = [(address, one.kind, one.id) for one in found if one.id and one.address == address]

        def again() -> None:
            self._mine = True
            self.jobs.refresh([address])

        def done(_: None) -> None:
            self.host.say("Muted; u takes it back. memtui check --muted lists it, --unmute ID ends it.", "good")
            again()

        def why(reason: str) -> None:
            if not reason.strip():
                self.prompt.close()
                self.say("Not muted: a mute needs a reason.")
                return
            self.prompt.close()

            def job(engine: Engine) -> None:
                root, mutes = address._replace(path=""), engine.changes.mutes
                wanted = chosen if id_ != "mute_kind" else [(root, rule, mutes.name(root, rule))]
                names = [name for *_, name in wanted if name not in mutes.all()]

                def mute(engine: Engine, _: Actor) -> None:
                    engine.changes.mutes.mute(wanted, reason=reason)

                def back(engine: Engine, _: Actor) -> bool:
                    there = engine.changes.mutes.all().keys() & names
                    for name in there:
                        engine.changes.mutes.unmute(name)
                    return bool(there)

                mutes.mute(wanted, reason=reason)
                self.host.operations.undoable(engine, f"{count_words(len(wanted), 'mute')}", back, mute, again)

            self.jobs.run(job, done, what=f"mute {rule}", lane=WRITE)

        hint: Line = [(_MUTES[id_].format(rule=rule, count=len(chosen), name=address.name), "dim")]
        self.prompt.ask(Question("why is it no harm", "", why, self.prompt.close, hint=lambda _: hint))

    # Fixing

    def _fix_one(self) -> None:
        row = self.row
        if row is not None and row.report is not None and row.finding is not None:
            self._run((Chosen(row.report, (row.finding,)),), row.finding.path, row.finding.path)

    def _fix_many(self, kinds: tuple[str, ...]) -> None:
        row = self.row
        if row is not None:
            chosen, name = choose(self.rows.reports.get(row.root, ()), kinds), self.rows.label(row.root)
            count = sum(len(one.findings) for one in chosen)
            self._run(chosen, f"{count_words(count, 'finding')} of {name}", name)

    def _run(self, chosen: Sequence[Chosen], what: str, name: str) -> None:
        jobs = self.jobs

        def job(engine: Engine) -> list[str]:
            previews = prepare(engine, chosen)
            apply(engine, previews, actor=jobs.actor)
            return [note for one in previews for note in one.notes if note.startswith(NOT_LOADED)]

        def done(notes: list[str]) -> None:
            self._mine = True
            self.host.say(" ".join((f"Fixed {what}.", *notes, "u takes it back.")), "good")

        def failed(error: MemtuiError) -> None:
            self.say(f"{error.message} {error.unharmed} {error.hint}".strip(), "warning")
            jobs.refresh([one.report.address for one in chosen])

        jobs.run(job, done, what=f"fix {name}", otherwise=failed, lane=WRITE)
