"""The changes of others since the user looked: seen, taken back by hunk or whole, opened, marked, filtered.

The view follows the cursor and the news and never moves either. Nothing is marked as seen without a key here, and every
key that changes something is a step of undo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.timer import Timer

from memtui.diff.hunks import take_back
from memtui.engine.model import Change, Conflict, Done, Saved, Unchanged
from memtui.features.actors import KINDS, who_words
from memtui.features.changes import view_rows
from memtui.features.changes.view_rows import BURST, CHANGE, InboxRows, Item, Loaded, Shown, burst_words, row_runs
from memtui.features.host import WRITE
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.difference import Look
from memtui.ui.draw.pages import Page, PageLine, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.times import Look as Clock
from memtui.ui.draw.words import count_words, partly_done
from memtui.ui.list_view import ListView
from memtui.ui.widgets.prompts import Question
from memtui.ui.widgets.rowlist import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.host import Host
    from memtui.ui.view_screen import Within

COUNT_REST = 0.2
"""Seconds the list rests before the lines of its changes are counted."""
LISTED = 200
"""Changes of a closed burst that are listed beside it."""
MANY = 20
"""Of more memories than this it is said that they are being taken back."""
BESIDE = "inbox-page"
"""The group of jobs that read the change beside the list."""
NEEDS_CHANGE = frozenset(
    {"edit", "edit_outside", "versions", "show_in_tree", "take_back_hunk", "next_hunk", "previous_hunk"}
)
"""Actions that work on the change under the cursor only."""


class Refused(NamedTuple):
    """Somebody wrote the memory again before it could be taken back."""

    change: Change
    drafted: bool
    """What was wanted is a draft now."""


class Rollback:
    """Takes back what others did, only of what was shown, one undo step each.

    Where the memory changed again meanwhile, nothing is written: what was wanted becomes a draft, and the merge
    decides.
    """

    def __init__(self, view: ChangesView) -> None:
        self._view = view

    @property
    def no_hunk(self) -> str:
        """Why there is no hunk to take back; nothing when there is one."""
        shown = self._view.shown
        if shown is None:
            return "This change is still being read." if self._view.item is not None else "There is no change here."
        return "" if shown.hunks else f"{shown.whole} d c takes it back."

    def hunk(self) -> None:
        """Take back the hunk that is shown."""
        view, shown = self._view, self._view.shown
        if shown is None or shown.before is None or shown.after is None:
            return
        change, base = shown.change, shown.after
        wanted = take_back(shown.before, base, shown.hunks[view.hunk])
        left = len(shown.hunks) - 1
        jobs, now = view.jobs, view.host.now()

        def job(engine: Engine) -> Saved | Unchanged | Refused:
            result = engine.save(
                change.address, wanted, expected_sha256=change.after, actor=jobs.actor, news_since=change.before
            )
            if isinstance(result, Conflict):
                return Refused(change, view_rows.draft_for_conflict(engine, change, wanted, base, now))
            return result

        def done(result: Saved | Unchanged | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
                return
            view.rows.let_go([change.address])
            if left and result.sha256 != change.before:
                view.rows.keep(change._replace(after=result.sha256))
            more = f" {count_words(left, 'hunk')} left in it." if left else ""
            view.say(f"Took back one hunk of {change.address}.{more} u brings it back.", "good")
            view.load_and_read()

        jobs.run(job, done, what=f"take back a hunk of {change.address}", lane=WRITE)

    def changes(self, changes: tuple[Change, ...]) -> None:
        """Take back whole changes."""
        view, jobs = self._view, self._view.jobs
        name = str(changes[0].address) if len(changes) == 1 else count_words(len(changes), "memory")
        now = view.host.now()
        if len(changes) > MANY:
            view.say(f"Taking back {name}, one after the other...")

        def job(engine: Engine) -> Done | Refused:
            done = engine.undo.take_back(changes, actor=jobs.actor)
            if not view_rows.changed_meanwhile(done):
                return done
            change = changes[0]
            before = view_rows.version(engine, change, change.before)
            after = view_rows.version(engine, change, change.after)
            if before is None or after is None:
                return Refused(change, drafted=False)
            return Refused(change, view_rows.draft_for_conflict(engine, change, before, after, now))

        def done(result: Done | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
                return
            view.rows.let_go(one.address for one in result.outcomes if one.ok)
            view.rows.marks.clear()
            self._report(result, name)
            view.load_and_read()

        jobs.run(job, done, what=f"take back what others did to {name}", lane=WRITE)

    def _report(self, done: Done, name: str) -> None:
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self._view.say(f"Took back the change of {name}. u brings it back.", "good")
            return
        why = failed[0].error.message if failed[0].error is not None else "it changed again meanwhile"
        count = len(done.outcomes)
        words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
        self._view.say(words, "warning")

    def _refused(self, refused: Refused) -> None:
        """Let the merge decide, or say what to do."""
        view, address = self._view, refused.change.address
        if not refused.drafted:
            view.say(f"{address} changed again meanwhile; nothing was written. R shows what it is now.", "warning")
            view.load()
            return
        view.jobs.refresh_drafts()
        view.host.say(
            f"{address} changed again meanwhile: nothing was written, both texts are here to decide.", "warning"
        )
        view.host.places.edit(address, then="compare")


class ChangesView(ListView[Item]):
    """Changes since you looked."""

    ID = "changes"
    HELP = """Everything others changed since you last looked, newest first, by who did it and when. A group opens and
closes with `enter`; a checkout, a rewrite of many memories or a renamed folder is one row that opens. The difference is
from the text you last saw. Nothing counts as seen before you press x here, and u takes that back. d h takes back one
hunk, d c the whole change: only if the memory still is as shown, and u brings it back."""
    EMPTY = ("You have seen everything.", "What others change appears here as it happens.")
    rows: InboxRows

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, InboxRows())
        self.host, self.jobs = host, host.jobs
        self.counts: dict[Change, tuple[int, int]] = {}
        """Lines that came and went, as far as they were counted."""
        self.above = 0
        """Changes that came in above the rows in view, and were not scrolled to yet."""
        self.hunk = 0
        """Which place of the change beside the list keys work on."""
        self.by_word = False
        """Compared word by word."""
        self.place = ""
        """The folder or scope this is about."""
        self._drawn: Shown | None = None
        """The change beside the list."""
        self._count_rest: Timer | None = None
        self.rollback = Rollback(self)
        self._does |= {
            "seen": lambda: self._see(self.targets),
            "seen_all": lambda: self._see(self.rows.passing),
            "take_back_hunk": self.rollback.hunk,
            "take_back": lambda: self.rollback.changes(self.targets),
            "open": self._open,
            "edit": self._edit,
            "edit_outside": lambda: host.places.edit(self.here.address, then="outside"),
            "versions": lambda: host.places.history(self.here.address),
            "next_hunk": lambda: self._go_to_hunk(self.hunk + 1),
            "previous_hunk": lambda: self._go_to_hunk(self.hunk - 1),
            "inline_words": self._toggle_words,
            "show_in_tree": lambda: host.places.tree(self.here.address),
            "left": lambda: self._fold(wide=False),
            "right": lambda: self._fold(wide=True),
            "expand_all": self._fold_all,
            "next_folder": lambda: self._jump(1),
            "previous_folder": lambda: self._jump(-1),
        }

    def asks_at_once(self, first: str) -> Line | None:
        """`d` says what it would take back before it does."""
        after = {action.id: key for key, action in self._sequences.choices(first)}
        targets, shown = self.targets, self.shown
        if "take_back" not in after or self.jobs.read_only or not targets:
            return None
        line: Line = [(" takes back ", "strong")]
        if "take_back_hunk" in after and shown is not None and shown.hunks:
            where = f"hunk {self.hunk + 1} of {len(shown.hunks)}" if len(shown.hunks) > 1 else "the only hunk"
            line += [(after["take_back_hunk"], "key"), (f" {where}, ", "name")]
        what = str(targets[0].address) if len(targets) == 1 else count_words(len(targets), "memory")
        return [*line, (after["take_back"], "key"), (f" all of {what}", "name"), ("; any other key cancels", "dim")]

    # What is known

    @property
    def shown(self) -> Shown | None:
        """The change beside the list, if it is the one under the cursor."""
        item, drawn = self.item, self._drawn
        if item is None or item.change is None or drawn is None or item.change.address != drawn.change.address:
            return None
        return drawn

    @property
    def targets(self) -> tuple[Change, ...]:
        """What an operation works on; of the change beside the list, what is shown of it."""
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

    def entered(self, within: Within | None) -> None:
        """Begin anew; `within` narrows it to a folder or scope."""
        rows = self.rows
        rows.let_go()
        rows.marks.clear()
        rows.range = rows.below = self.prompt = None
        self.place = ""
        if within is not None:
            self.place, holds = within
            rows.below = lambda change: holds(change.address)
        self.change(lambda: rows.filter(()))
        self.load(awaited=True)

    def read_rows(self, *, awaited: bool) -> None:
        """Ask what others did."""
        kept = tuple(self.rows.kept)
        self.jobs.run(
            lambda engine: view_rows.load(engine, kept),
            self._take,
            what="read what others changed",
            latest="inbox",
            awaited=awaited,
        )

    def load_and_read(self) -> None:
        """Ask again, and show the change under the cursor as it is then."""
        self._drawn = None
        self.load()

    def _take(self, loaded: Loaded) -> None:
        """Take in what others did; what comes in above the rows in view is counted until it was in view."""
        rows = self.rows
        known, count = {one.address for one in rows.passing}, self.loaded and bool(rows.shown)
        self.loaded = True

        def change() -> None:
            rows.update(loaded)
            rows.open_for(self.shell.row_left(self.ID))

        self.change(change)
        if count:
            over = {one.address for row in rows.shown[: self.list.top] for one in row.changes}
            self.above += len(over - known)
        self._scrolled()
        self.update("#listed-title")
        if self.outdated and self.here.address in rows.kept:
            self._read_again()  # the user's own step: taken back in part, or brought back

    def change(self, change: Callable[[], object]) -> None:
        """Change the rows; from a row in a group that is closed by now, the cursor goes to the group."""
        item = self.item
        super().change(change)
        group = self.rows.group_of(item) if item is not None else -1
        if group >= 0:
            self.list.go(group)

    def _scrolled(self) -> None:
        """What came in above is no news once the first row is in view."""
        if not self.list.top:
            self.above = 0

    # The list

    def draw(self, item: Item, width: int) -> Sequence[Run]:
        """How a row looks."""
        opened = item.kind == BURST and item.burst is not None and self.rows.is_open(item.burst)
        clock = Clock(self.host.now(), self.ascii, self.shell.named)
        mark = "*" if self.rows.marked(item) else " "
        return [(mark, "mark"), *row_runs(item, width - 1, clock, opened=opened, counts=self.counts)]

    def list_words(self) -> tuple[str, Line]:
        """How many changes there are, in how many groups, and which are shown."""
        rows = self.rows
        notes: Line = [(f"{len(rows.passing):,}", "title")]
        if rows.groups and rows.groups != len(rows.passing):
            notes.append((f" in {count_words(rows.groups, 'group')}", "title"))
        if rows.words:
            notes.append((f" of {len(rows.all):,} | /{visible(' '.join(rows.words))}", "agent"))
        if rows.marks:
            notes.append((f" | {len(rows.marks)} marked", "mark"))
        if self.above:
            notes.append((f" | {self.above} new above", "agent"))
        return (f"Changes in {self.place}" if self.place else "Changes since you looked"), notes

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        if not self.place or not self.loaded or self.rows.words:
            return super().empty_lines()
        words = f"  You have seen everything in {visible(self.place)}. "
        return [[(words, "name")], [("  3", "key"), (" shows what changed elsewhere", "name")]]

    def row_moved(self) -> None:
        """A range goes on; the first row may have come into view."""
        super().row_moved()
        self._scrolled()

    def show_row(self) -> None:
        """Show what belongs to the row under the cursor, and count the lines of the rows in view."""
        super().show_row()
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
            lambda engine: view_rows.count(engine, wanted), counted, what="count changed lines", latest="inbox-counts"
        )

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self.change(lambda: self.rows.filter(text.split()))

        def cancelled() -> None:
            self.close_prompt()
            typed("")

        def found(_: str) -> Line:
            return [(f"{self.rows.of_all}  enter keeps  esc clears ", "dim")]

        start = " ".join(self.rows.words)
        self.ask(Question("/", start, lambda _: self.close_prompt(), cancelled, typed, found, over=True))

    # The difference

    def on_resize(self) -> None:
        """Fold the text anew."""
        self.call_after_refresh(self._read_again)

    def read_row(self) -> None:
        """Show what belongs to the row under the cursor; a change that is shown stays as it is."""
        item = self.item
        if item is None or item.change is None:
            self.jobs.drop(BESIDE)
            self._drawn = None
            self.give(self._about(item))
        elif self.shown is None:
            self._read_again()

    def _read_again(self) -> None:
        """Read and draw the change under the cursor as it is now."""
        item = self.item
        if item is None or item.change is None or not self.is_mounted:
            self.read_row()
            return
        change, at, now = item.change, item.at, self.host.now()
        root = self.host.roots.get(change.address.root)
        agent = root.agent if root is not None else ""
        look = Look(self.page.text_width, self.by_word, self.ascii)
        self.jobs.run(
            lambda engine: view_rows.show(engine, change, agent, at, now, look),
            self._give,
            what=f"compare {change.address}",
            latest=BESIDE,
        )

    def _give(self, drawn: Shown) -> None:
        item, same = self.item, self.shown is not None
        if item is None or item.change is None or item.change.address != drawn.change.address:
            return
        self._drawn = drawn
        self.hunk = min(self.hunk, max(len(drawn.hunks) - 1, 0)) if same else 0
        self._point(drawn, keep_place=same)

    def _point(self, drawn: Shown, *, keep_place: bool = True) -> None:
        """Show which place keys work on."""
        page = list(drawn.page)
        if drawn.starts:
            at = drawn.starts[self.hunk]
            text = "".join(words for words, _ in page[at].runs)
            page[at] = PageLine(((">" + text[1:], "title-focus"),), page[at].source)
        self.give(tuple(page), keep_place=keep_place)

    def _go_to_hunk(self, index: int) -> None:
        """Go to a place of the change."""
        shown = self.shown
        if shown is None or not shown.hunks:
            return
        self.hunk = max(0, min(index, len(shown.hunks) - 1))
        self._point(shown)
        start, height = shown.starts[self.hunk], self.page.size.height
        if not self.page.top <= start < self.page.top + height - 3:
            self.page.scroll_to_row(max(start - 1, 0))

    def _about(self, item: Item | None) -> Page:
        """What is said beside a row that is no change."""
        width = self.page.text_width
        if item is None:
            return ()
        if item.vanished is not None:
            root = item.vanished.root
            return words_page(
                f"The folder of {root.id} is not there: {self.host.short(root.path)}",
                f"It held {count_words(item.vanished.memories, 'memory')}. None of them counts as deleted, and every "
                "text is kept in history; when the folder is back, so are they.",
                width=width,
            )
        assert item.burst is not None
        words = f"{who_words(item.burst.actor, item.burst.agent)}: {burst_words(item.burst)}"
        lines = list(words_page(words, "enter opens the group; x and d c work on all of it.", width=width))
        lines.append(PageLine(()))
        for change in item.burst.changes[:LISTED]:
            was = f" (was {change.old_address.path})" if change.old_address is not None else ""
            lines += words_page(f"{KINDS[change.kind]:<7} {change.address}{was}", style="name", width=width)
        if len(item.burst.changes) > LISTED:
            lines += words_page(f"... and {len(item.burst.changes) - LISTED:,} more", width=width)
        return tuple(lines)

    def page_words(self) -> tuple[str, Line]:
        """Which change is shown, and at which of its places keys work."""
        drawn = self._drawn
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

    def off(self, action: Action) -> str:
        """Why an action is off now."""
        item = self.item
        if action.id in NEEDS_CHANGE and (item is None or item.change is None):
            return f"{action.label}: put the cursor on a change first."
        if (action.id in ("seen", "take_back", "mark") and not self.targets) or (action.id == "open" and item is None):
            return "There is no change here."
        if action.id == "seen_all" and not self.rows.passing:
            return "You have seen everything."
        if action.id in ("next_hunk", "previous_hunk") and (self.shown is None or len(self.shown.hunks) < 2):
            return "There is no other hunk."
        if action.id == "take_back_hunk":
            return self.rollback.no_hunk
        if action.id in ("edit", "edit_outside", "show_in_tree"):
            return self._not_there(self.here)
        return ""

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
        elif wide != self.in_page:
            self.other_pane()
        elif not wide and not item.alone:
            self._jump(-1)

    def _fold_all(self) -> None:
        found = [item.burst for item in self.rows.shown if item.kind == BURST and item.burst is not None]
        wide = not all(self.rows.is_open(burst) for burst in found)
        self.change(lambda: self.rows.set_open(found, wide=wide))

    def _jump(self, step: int) -> None:
        items, index = self.rows.shown, self.list.cursor + step
        while 0 <= index < len(items):
            if items[index].kind != CHANGE or items[index].alone:
                self.list.go(index)
                return
            index += step

    def _see(self, changes: tuple[Change, ...]) -> None:
        self.rows.range = None
        self.rows.let_go(change.address for change in changes)

        def seen() -> None:
            self.rows.marks.clear()
            self.load()

        self.host.operations.see(changes, seen)

    def _reload(self) -> None:
        super()._reload()
        self._read_again()

    @on(RowList.Opened)
    def _open(self) -> None:
        """Open a group, or edit the memory."""
        item = self.item
        if item is not None and item.kind == BURST and item.burst is not None:
            self._fold(wide=not self.rows.is_open(item.burst))
        elif item is not None and item.change is not None:
            reason = self._not_there(item.change)
            if reason:
                self.say(reason, "warning")
            else:
                self._edit()

    def _edit(self) -> None:
        """Open the memory at the place that is shown."""
        shown = self.shown
        line = shown.hunks[self.hunk].after[0] + 1 if shown is not None and shown.hunks else 0
        self.host.places.edit(self.here.address, then=f"line {line}" if line else "")
