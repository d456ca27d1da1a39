"""Review: proposals and the changes of others since the user looked, decided, seen or taken back.

News never moves the cursor. Nothing is marked as seen without a key, and every key that changes something is a step of
undo.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.timer import Timer

from memtui.engine.model import Change
from memtui.features.actors import KINDS
from memtui.features.changes import view_rows, view_texts
from memtui.features.changes.view_decisions import Decisions, Rollback
from memtui.features.changes.view_rows import BURST, HEAD, ReviewData, ReviewItem, ReviewRows
from memtui.features.changes.view_texts import ShownChange, ShownProposal
from memtui.features.proposals.value import main_target
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import Page, PageLine, words_page
from memtui.ui.draw.text import Line, RowStyle, Run, ago, count_words
from memtui.ui.list_view import ListView
from memtui.ui.widgets.scroller import RowList

if TYPE_CHECKING:
    from memtui.features.host import Host
    from memtui.ui.view_screen import ViewFilter

COUNT_REST = 0.2
LISTED = 200
"""Most changes of a closed burst listed beside it."""
BESIDE = "inbox-page"
NEEDS_CHANGE = frozenset({"edit", "edit_outside", "versions", "blame", "show_in_tree", "take_back_hunk"})
"""Actions that work only on the change under the cursor."""
DECIDES = ("accept", "reject", "put_off", "carry_out", "next_undecided", "previous_undecided")


class ChangesView(ListView[ReviewItem]):
    """The view of everything that waits for the user."""

    ID = "changes"
    HELP = """What is proposed stands first: a accepts it, r rejects it, s puts it off. In the text beside the list a
and r decide about one hunk; where one of a change is rejected, the rest counts as accepted. Below is everything others
changed since you last looked, newest first, by who did it and when: a leaves a change as it is, r has it taken back.
Nothing of this happens before ctrl+s carries it out as one step of undo; the same key again takes a decision away. A
group opens and closes with `enter`; a checkout, a rewrite of many memories or a renamed folder is one row that opens.
The difference is from the text you last saw. At once x says that you have seen a change, d h takes back one hunk of it
and d c all of it, if the memory still is as shown; u brings back each. Of a proposal e edits the text, and in the text
beside it enter goes through what shows it. `/rejected` shows what you rejected, and r opens it again; `/waiting` shows
what you did not decide, and `/tainted` what a session wrote after it took in something from outside."""
    EMPTY = ("You have seen everything.", "What others change or propose appears here as it happens.")
    rows: ReviewRows

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ReviewRows())
        self.host, self.jobs = host, host.jobs
        self.counts: dict[Change, tuple[int, int]] = {}
        self._above: set[Hashable] = set()
        """Keys of rows that came in above those in view, until they were scrolled to."""
        self._decision = ("", "")
        """Words and level of the last decision, said once the rows are loaded again."""
        self.hunk = 0
        """Index of the place beside the list that keys work on."""
        self.by_word = False
        self.place = ""
        self._drawn: ShownChange | None = None
        self.settled = False
        """Whether rows were shown since the view opened: news then leaves the cursor alone."""
        self.proposed: ShownProposal | None = None
        self._count_rest: Timer | None = None
        self.rollback = Rollback(self)
        self.decisions = Decisions(self)
        self.does |= {
            "accept": self.decisions.accept,
            "reject": self.decisions.reject,
            "put_off": self.decisions.later,
            "carry_out": self.decisions.carry_out,
            "next_undecided": lambda: self.decisions.jump(1),
            "previous_undecided": lambda: self.decisions.jump(-1),
            "seen": lambda: self.see(self.targets),
            "seen_all": lambda: self.see(self.rows.matching),
            "take_back_hunk": self.rollback.hunk,
            "take_back": lambda: self.rollback.changes(self.targets),
            "open": self._open,
            "edit": self._edit,
            "edit_outside": lambda: host.places.edit(self.here.address, then="outside"),
            "versions": lambda: host.places.history(self.here.address),
            "blame": lambda: host.places.blame(self.here.address),
            "next_hunk": lambda: self._go_to_hunk(self.hunk + 1),
            "previous_hunk": lambda: self._go_to_hunk(self.hunk - 1),
            "inline_words": self._toggle_words,
            "show_in_tree": lambda: host.places.tree(self.here.address),
            "resolve": lambda: host.places.resolve(
                self.item.change.address if self.item and self.item.change else None
            ),
            "left": lambda: self._fold(wide=False),
            "right": lambda: self._fold(wide=True),
            "expand_all": self._fold_all,
            "next_folder": lambda: self._jump_to(1, ReviewItem.heads),
            "previous_folder": lambda: self._jump_to(-1, ReviewItem.heads),
        }

    def _asks_at_once(self, first: str) -> Line | None:
        after = {action.id: key for key, action in self.sequences.choices(first)}
        targets, shown = self.targets, self.shown
        if "take_back" not in after or self.jobs.read_only or not targets:
            return None
        line: Line = [(" Take back: ", "strong")]
        if "take_back_hunk" in after and shown is not None and shown.hunks:
            which = f" ({self.hunk + 1} of {len(shown.hunks)})" if len(shown.hunks) > 1 else ""
            line += [(after["take_back_hunk"], "key"), (f" this hunk{which}, ", "name")]
        what = str(targets[0].address) if len(targets) == 1 else count_words(len(targets), "memory")
        return [
            *line,
            (after["take_back"], "key"),
            (" all of ", "name"),
            (what, "strong"),
            ("; any other key cancels", "dim"),
        ]

    # What is known

    @property
    def shown(self) -> ShownChange | None:
        """The change beside the list, if it is the one under the cursor."""
        item, drawn = self.item, self._drawn
        if item is None or item.change is None or drawn is None or item.change.address != drawn.change.address:
            return None
        return drawn

    @property
    def place_in_text(self) -> tuple[str | Change, int, int] | None:
        """Change or proposal id, step and hunk, while the cursor is in a text of several hunks."""
        shown, found = self.shown, self.proposed
        if self._in_page and shown is not None and len(shown.hunks) > 1:
            return shown.change, 0, self.hunk
        if not self._in_page or found is None or len(found.places) < 2:
            return None
        return (found.view.proposal.id, *found.places[self.hunk])

    @property
    def targets(self) -> tuple[Change, ...]:
        """The changes an operation works on; of the one beside the list, what is shown of it."""
        shown = self.shown.change if self.shown is not None else None
        found = self.rows.chosen(self.list.cursor)
        return tuple(shown if shown is not None and one.address == shown.address else one for one in found)

    @property
    def here(self) -> Change:
        """The change under the cursor; actions that need one are off without."""
        item = self.item
        assert item is not None
        assert item.change is not None
        return item.change

    @property
    def outdated(self) -> bool:
        """Whether the memory beside the list changed again since it was shown."""
        return self.shown is not None and self.here != self.shown.change

    def entered(self, within: ViewFilter | None) -> None:
        """Start anew; `within` restricts the view to a folder or scope."""
        rows = self.rows
        rows.release()
        rows.marks.clear()
        rows.range = rows.below = None
        self.prompt.close()
        self.settled = bool(self.shell.row_left(self.ID))
        self.place = ""
        if within is not None:
            self.place, holds = within
            rows.below = lambda change: holds(change.address)
        self.change(lambda: rows.filter(()))
        self.load(awaited=True)

    def _read_rows(self, *, awaited: bool) -> None:
        kept, settings = tuple(self.rows.kept), self.host.settings
        self.jobs.run(
            lambda engine: view_rows.load(engine, kept, settings),
            self._take,
            what="read what others changed",
            latest="inbox",
            awaited=awaited,
        )

    def load_and_read(self) -> None:
        """Load the rows and the text beside them again."""
        self._drawn = self.proposed = None
        self.load()

    def read_again_after(self, words: str, level: str, *, go_on: bool) -> None:
        """Load again after a decision, say it, and go on to the next undecided row, or stay at the hunk."""
        self._decision = (words, level)
        if go_on:
            self.decisions.jump(1, around=False)
            self.load_and_read()
        else:
            self.load()
            self._read_again()

    def _take(self, loaded: ReviewData) -> None:
        rows = self.rows
        known, count = rows.all_keys, self.loaded and bool(rows.shown)
        self.loaded, was = True, self._listed

        def change() -> None:
            rows.update(loaded)
            rows.open_for(self.shell.row_left(self.ID))

        self.change(change)
        if not self.settled and rows.proposals:
            self.list.go(0)
            self.decisions.jump(1)
        self.settled = self.settled or bool(rows.shown)
        if count:
            self._above |= view_rows.keys_of(rows.shown[: self.list.top]) - known
        self._above &= rows.all_keys
        (words, level), self._decision = self._decision, ("", "")
        if words:
            self.host.say(f"{words} {self.decisions.how_to_go_on}".rstrip(), level)
        self._scrolled()
        self.update("#listed-title")
        if self._listed != was or (self.outdated and self.here.address in rows.kept):
            self._read_again()  # the user's own step: taken back in part, or brought back; or somebody's vote

    @property
    def _listed(self) -> tuple[object, ...]:
        """What the rows say of the proposal that is shown."""
        id_ = self.proposed.view.proposal.id if self.proposed is not None else ""
        return self.rows.votes.get(id_), *(one for one in self.rows.proposals if one.id == id_)

    def change(self, change: Callable[[], object]) -> None:
        """Change the rows; the cursor goes from a row in a closed burst to the burst."""
        item = self.item
        super().change(change)
        group = self.rows.group_of(item) if item is not None else -1
        if group >= 0:
            self.list.go(group)

    # The list

    def _draw_row(self, item: ReviewItem, width: int) -> Sequence[Run]:
        opened = item.kind == BURST and item.burst is not None and self.rows.is_open(item.burst)
        clock = RowStyle(self.host.now(), self.ascii, self.shell.named)
        if item.kind == HEAD:
            states = [one.state for one in self.rows.proposals]
            said = view_texts.decision_words(states) if item.alone else self._change_words()
            return [("Proposed: " if item.alone else "Changed: ", "heading"), (said, "dim")]
        mark = "*" if self.rows.marked(item) else " "
        if item.proposal is not None:
            return [(mark, "mark"), *view_texts.proposal_runs(item.proposal, self.rows.votes, width - 1, clock)]
        return [
            (mark, "mark"),
            *view_rows.row_runs(
                item,
                width - 1,
                clock,
                opened=opened,
                counts=self.counts,
                sign=self.rows.sign(item),
                taint=self.rows.taint(item),
            ),
        ]

    def _list_words(self) -> tuple[str, Line]:
        rows = self.rows
        notes: Line = [(f"{len(rows.matching):,}", "title")]
        if rows.groups and rows.groups != len(rows.matching):
            notes.append((f" in {count_words(rows.groups, 'group')}", "title"))
        if rows.words:
            notes.append((f" of {len(rows.all):,} | /{visible(' '.join(rows.words))}", "agent"))
        if rows.marks:
            notes.append((f" | {len(rows.marks)} marked", "mark"))
        if self._above:
            notes.append((f" | {len(self._above)} new above", "agent"))
        if rows.words and not self.place:
            return "Review", notes
        if rows.proposals:
            notes[0] = (f"oldest {ago(rows.proposals[0].at, self.host.now())}", "title")
            return "Review", notes
        if any(self.rows.decision(one) != "open" for one in rows.matching):
            return "Review", [(self._change_words(), "title")]
        return (f"Changes in {self.place}" if self.place else "Changes since you looked"), notes

    def _change_words(self) -> str:
        """Say how many changes wait and are decided: `4 to decide, 2 accepted, ctrl+s`."""
        return view_texts.decision_words([*map(self.rows.decision, self.rows.matching)], view_rows.BACK)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        if not self.place or not self.loaded or self.rows.words:
            return super()._empty_lines()
        return [
            [(f"  You have seen everything in {visible(self.place)}. ", "name")],
            [("  3", "key"), (" shows what changed elsewhere", "name")],
        ]

    def _scrolled(self) -> None:
        """Rows above are no news once the first row is in view."""
        if not self.list.top:
            self._above.clear()

    def _row_moved(self) -> None:
        super()._row_moved()
        self._scrolled()

    def _show_row(self) -> None:
        """Show the text of the row, and count the lines of the rows in view after a rest."""
        super()._show_row()
        if self._count_rest is not None:
            self._count_rest.stop()
        self._count_rest = self.set_timer(COUNT_REST, self._count) if self.is_mounted else None

    def _count(self) -> None:
        rows = self.rows.shown[self.list.top : self.list.top + self.list.size.height]
        wanted = [row.change for row in rows if row.change is not None and row.change not in self.counts]
        if not wanted:
            return

        def counted(found: dict[Change, tuple[int, int]]) -> None:
            self.counts.update(found)
            self.list.repaint()

        self.jobs.run(
            lambda engine: view_texts.count(engine, wanted), counted, what="count changed lines", latest="inbox-counts"
        )

    # The difference

    def on_resize(self) -> None:
        """Draw the text at the new width."""
        self.call_after_refresh(self._read_again)

    def read_row(self) -> None:
        """Show the text of the row under the cursor, unless it is shown already."""
        item = self.item
        if item is not None and item.proposal is not None:
            if self.proposed is None or self.proposed.view.proposal.id != item.proposal.id:
                self._read_again()
            return
        self.proposed = None
        if item is None or item.change is None:
            self.jobs.drop(BESIDE)
            self._drawn = None
            self.page.show(self._about(item))
        elif self.shown is None:
            self._read_again()

    def _read_again(self) -> None:
        item = self.item
        if item is not None and item.proposal is not None and self.is_mounted:
            self._read_proposal(item.proposal.id)
            return
        if item is None or item.change is None or not self.is_mounted:
            self.read_row()
            return
        change, at, now = item.change, item.at, self.host.now()
        look = DiffStyle(self.page.text_width, self.by_word, self.ascii)
        self.jobs.run(
            lambda engine: view_texts.show(engine, change, at, now, look),
            self._give,
            what=f"compare {change.address}",
            latest=BESIDE,
        )

    def _read_proposal(self, number: str) -> None:
        now, look = self.host.now(), DiffStyle(self.page.text_width, self.by_word, self.ascii, self.shell.named)
        votes = self.rows.votes.get(number)

        def give(found: ShownProposal) -> None:
            item = self.item
            if item is None or item.proposal is None or item.proposal.id != number:
                return
            same = self.proposed is not None and self.proposed.view.proposal.id == number
            self._drawn, self.proposed = None, found
            if self.rows.votes.get(number) != votes:
                self._read_proposal(number)  # somebody voted while it was read
            self.hunk = min(self.hunk, max(len(found.starts) - 1, 0)) if same else 0
            self._point(found.page, found.starts, keep_place=same)

        self.jobs.run(
            lambda engine: view_texts.show_proposal(engine, number, now, look, votes),
            give,
            what=f"read proposal {number}",
            latest=BESIDE,
        )

    def _give(self, drawn: ShownChange) -> None:
        item, same = self.item, self.shown is not None
        if item is None or item.change is None or item.change.address != drawn.change.address:
            return
        self._drawn = drawn
        self.hunk = min(self.hunk, max(len(drawn.hunks) - 1, 0)) if same else 0
        self._point(drawn.page, drawn.starts, keep_place=same)

    def _point(self, drawn: Page, starts: Sequence[int], *, keep_place: bool = True) -> None:
        page = list(drawn)
        if starts:
            at = starts[self.hunk]
            text = "".join(words for words, _ in page[at].runs)
            page[at] = PageLine(((">" + text[1:], "title-focus"),), page[at].source)
        self.page.show(tuple(page), keep_place=keep_place)
        if starts and not keep_place and (height := self.page.size.height):
            # Nobody is to decide about a line that was below the fold.
            later = enumerate(drawn[starts[0] + 1 :], starts[0] + 1)
            changed = (at for at, line in later if any(style in ("add", "del") for _, style in line.runs))
            self.page.scroll_to_row(next(changed, starts[0]) + 2 - height)

    def _go_to_hunk(self, index: int) -> None:
        shown = self.shown or self.proposed
        if shown is None or not shown.starts:
            return
        self.hunk = max(0, min(index, len(shown.starts) - 1))
        self._point(shown.page, shown.starts)
        start, height = shown.starts[self.hunk], self.page.size.height
        if not self.page.top <= start < self.page.top + height - 3:
            self.page.scroll_to_row(max(start - 1, 0))

    def _about(self, item: ReviewItem | None) -> Page:
        width = self.page.text_width
        if item is None:
            return ()
        if item.kind == HEAD:
            return words_page("a accepts, r rejects, s puts off; ctrl+s carries out what is decided.", width=width)
        if item.note is not None:
            return words_page(*item.note.about, width=width)
        assert item.burst is not None
        words = f"{item.burst.who}: {view_rows.burst_words(item.burst)}"
        lines = list(words_page(words, "enter opens the group; x and d c work on all of it.", width=width))
        lines.append(PageLine(()))
        for change in item.burst.changes[:LISTED]:
            was = f" (was {change.old_address.path})" if change.old_address is not None else ""
            lines += words_page(f"{KINDS[change.kind]:<7} {change.address}{was}", style="name", width=width)
        if len(item.burst.changes) > LISTED:
            lines += words_page(f"... and {len(item.burst.changes) - LISTED:,} more", width=width)
        return tuple(lines)

    def _page_words(self) -> tuple[str, Line]:
        drawn, proposed = self._drawn, self.proposed
        if proposed is not None:
            places = len(proposed.starts)
            one = proposed.view.proposal
            return f"{one.kind} {main_target(one)}", ([(f"{self.hunk + 1} of {places}", "title")] if places > 1 else [])
        if drawn is None:
            return "What changed", []
        notes: Line = [(f"{self.hunk + 1} of {len(drawn.hunks)}", "title")] if len(drawn.hunks) > 1 else []
        if self.outdated:
            notes = [("changed again, R shows it", "warning")]
        return str(drawn.change.address), notes

    def _toggle_words(self) -> None:
        self.by_word = not self.by_word
        self.say("Compared word by word: [-went-] {+came+}." if self.by_word else "Compared line by line.")
        self._read_again()

    # Keys

    def _off(self, action: Action) -> str:
        item = self.item
        if action.id in DECIDES or (action.id == "edit" and item is not None and item.proposal is not None):
            outdated = (
                action.id in ("accept", "reject") and item is not None and item.change is not None and self.outdated
            )
            return "It changed again meanwhile; R shows it." if outdated else self.decisions.why_not(action.id)
        if action.id in NEEDS_CHANGE and (item is None or item.change is None):
            return f"{action.label}: put the cursor on a change first."
        nothing = item is None or item.kind == HEAD or (item.note is not None and not item.note.waits)
        if (action.id in ("seen", "take_back", "mark") and not self.targets) or (action.id == "open" and nothing):
            return "There is no change here."
        if action.id == "seen_all" and not self.rows.matching:
            return "You have seen everything."
        beside = self.shown or self.proposed
        if action.id in ("next_hunk", "previous_hunk") and (beside is None or len(beside.starts) < 2):
            return "There is no other hunk."
        if action.id == "take_back_hunk":
            return self.rollback.no_hunk
        if action.id in ("edit", "edit_outside", "show_in_tree"):
            return self._not_there(self.here)
        return ""

    def _label(self, action: Action) -> str:
        item = self.item
        if action.id != "open" or item is None or item.change is not None:
            return super()._label(action)
        if item.proposal is not None:
            return "source" if self._in_page else "text"
        if item.burst is not None:
            return "close" if self.rows.is_open(item.burst) else "open"
        return "review" if item.note is not None and item.note.waits else "open"

    def _not_there(self, change: Change) -> str:
        return f"{change.address} is deleted; d c restores it." if change.after is None else ""

    def _fold(self, *, wide: bool) -> None:
        item = self.item
        if item is None or item.burst is None:
            return
        burst = item.burst
        if item.kind == BURST and self.rows.is_open(burst) != wide:
            self.change(lambda: self.rows.set_open((burst,), wide=wide))
        elif wide and item.kind == BURST:
            self.list.move(1)
        elif wide != self._in_page:
            self._other_pane()
        elif not wide and not item.alone:
            self._jump_to(-1, ReviewItem.heads)

    def _fold_all(self) -> None:
        found = [item.burst for item in self.rows.shown if item.kind == BURST and item.burst is not None]
        wide = not all(self.rows.is_open(burst) for burst in found)
        self.change(lambda: self.rows.set_open(found, wide=wide))

    def perform(self, action: Action) -> None:
        """Run an action; warn a user who leaves decisions behind."""
        super().perform(action)
        if not self.is_current and action.id in ("back", "quit") and (left := self.decisions.left):
            self.host.say(left, "warning")

    def see(self, changes: tuple[Change, ...]) -> None:
        """Mark changes as seen."""
        self.rows.range = None
        self.rows.release(change.address for change in changes)

        def seen() -> None:
            self.rows.marks.clear()
            self.load()

        self.host.operations.see(changes, seen)

    def _reload(self) -> None:
        super()._reload()
        self._read_again()

    @on(RowList.Opened)
    def _open(self) -> None:
        item = self.item
        if item is not None and item.kind == BURST and item.burst is not None:
            self._fold(wide=not self.rows.is_open(item.burst))
        elif item is not None and item.note is not None and item.note.waits:
            self.host.operations.accept(item.note.root.id, self.load)
        elif item is not None and item.proposal is not None:
            (self.decisions.show_evidence if self._in_page else self._other_pane)()
        elif item is not None and item.change is not None:
            if reason := self._not_there(item.change):
                self.say(reason, "warning")
            else:
                self._edit()

    def _edit(self) -> None:
        if self.item is not None and self.item.proposal is not None:
            self.decisions.edit()
            return
        shown = self.shown
        at = f"line {shown.hunks[self.hunk].after[0] + 1}" if shown is not None and shown.hunks else ""
        self.host.places.edit(self.here.address, then=at)
