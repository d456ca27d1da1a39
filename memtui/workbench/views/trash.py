"""The trash: what was deleted, by whom and when, with its text; bringing it back, several at once as one undo step.

Nothing is deleted for good here or anywhere in the workbench: retention removes texts in its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from memtui.engine.model import Address, Done, Outcome, Restoring, TrashEntry
from memtui.errors import MemtuiError
from memtui.pointers import restore
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.times import Look
from memtui.ui.draw.words import count_words
from memtui.ui.keys.fence import fence_of
from memtui.ui.widgets.prompts import Question
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.new_memory import rename_target
from memtui.workbench.browse.operations import put_on_clipboard
from memtui.workbench.views.listed import ListedScreen
from memtui.workbench.views.trash_rows import Bin, entry_runs, free_name, heading, key, wanted

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.tree.nodes import Node

TAKEN = ("E_EXISTS", "E_CLASH")
"""Errors that another name helps against."""


def show(
    engine: Engine, entry: TrashEntry, now: int, width: int, *, plain: bool, named: Callable[[str], str] = str
) -> Page:
    """Draw what was in a deleted memory; see `heading`; called in a thread."""
    deleted = engine.history.operations(entry.txn, entry.txn) if entry.txn else ()
    lines = heading(entry, sum(one.deleted for one in deleted), now)
    top = (*words_page(*map(named, lines), width=width), PageLine(()))
    try:
        data = engine.history.read(entry.address, entry.sha256)
    except MemtuiError as error:
        return (*top, *words_page(error.message, error.hint, style="problem", width=width))
    return (*top, *text_page(data, width, plain=plain))


class TrashScreen(ListedScreen):
    """What was deleted."""

    ID: ClassVar[str] = "trash"
    HELP = """What was deleted, newest first, with who did it and the text it had. r brings it back under its name (all
marked ones at once, as one step of undo); where another memory has the name by now, it asks for another one. enter only
goes to the text. Nothing is deleted for good here: texts stay for as long as your settings keep versions."""

    def __init__(self, browser: BrowserScreen) -> None:
        super().__init__(browser)
        self.bin = Bin()
        self.loaded = False
        self._range: tuple[int, frozenset[tuple[Address, str]]] | None = None
        self._shown: Hashable = None
        self._does |= {
            "read_text": self.other_pane,
            "restore": self._restore,
            "versions": lambda: browser.views.history(self.entry.address),
            "copy_contents": self._copy_text,
            "copy_sha": lambda: put_on_clipboard(browser, self.entry.sha256, "the sha-256"),
            "mark": self._mark,
            "range": self._toggle_range,
            "range_down": lambda: self._extend(1),
            "range_up": lambda: self._extend(-1),
            "mark_all": lambda: self._marking(self.bin.mark_all),
            "filter": self._filter,
        }

    # What is known

    def entered(self, node: Node | None) -> None:
        """Begin anew."""
        del node
        self.prompt = None
        self.load()

    def news(self) -> None:
        """Take in what happened."""
        if self.browser.views.current == self.ID:
            self.load()

    def load(self, *, awaited: bool = False) -> None:
        """Ask what was deleted; see `Bridge.run` for `awaited`."""

        def loaded(entries: tuple[TrashEntry, ...]) -> None:
            self.loaded = True
            self._change(lambda: self.bin.load(entries))

        self.bridge.run(
            lambda engine: engine.trash.entries(taken=True),
            loaded,
            what="read the trash",
            latest="trash",
            awaited=awaited or not self.loaded,
        )

    def _change(self, change: Callable[[], object]) -> None:
        self.list.change_rows(change)
        self.rows_changed()

    @property
    def entry(self) -> TrashEntry:
        """The entry under the cursor; actions that need one are off without."""
        return self.bin.shown[self.list.cursor]

    @property
    def has_entry(self) -> bool:
        """Whether there is one."""
        return self.list.cursor < len(self.bin.shown)

    # The list

    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.bin.shown)

    def row_key(self, index: int) -> Hashable:
        """What a row is."""
        return key(self.bin.shown[index])

    def draw_row(self, index: int, width: int) -> Sequence[Run]:
        """How a row looks."""
        entry = self.bin.shown[index]
        look = Look(self.browser.now(), self.ascii, self.browser.forest.named)
        return entry_runs(entry, width, look, marked=key(entry) in self.bin.marks)

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        if not self.loaded:
            return [[("  reading...", "dim")]]
        if self.bin.words:
            return [[("  Nothing in the trash has these words; ", "name"), ("esc", "key"), (" shows all", "name")]]
        return [[("  The trash is empty.", "strong")], [("  What is deleted, by anybody, comes here.", "name")]]

    def list_words(self) -> tuple[str, Line]:
        """How many there are."""
        shown, total = len(self.bin.shown), len(self.bin.all)
        notes: Line = [(f"{shown:,} of {total:,}" if self.bin.words else f"{total:,}", "title")]
        if self.bin.words:
            notes.append((f" | /{' '.join(self.bin.words)}", "agent"))
        if self.bin.marks:
            notes.append((f" | {len(self.bin.marks)} marked", "mark"))
        return "Trash", notes

    # The text

    def read_row(self) -> None:
        """Read what was in the memory under the cursor."""
        if not self.has_entry or not self.is_mounted:
            self.give(())
            return
        entry, width, plain, named = self.entry, self.width, self.ascii, self.browser.forest.named
        now = self.browser.now()

        def give(page: Page) -> None:
            if self.has_entry and key(self.entry) == key(entry):
                same, self._shown = self._shown == key(entry), key(entry)
                self.give(page, keep_place=same)

        self.bridge.run(
            lambda engine: show(engine, entry, now, width, plain=plain, named=named),
            give,
            what=f"read {entry.address} from the trash",
            latest="trash-page",
        )

    def page_words(self) -> tuple[str, Line]:
        """Whose text it is."""
        return (str(self.entry.address), [("in the trash", "title")]) if self.has_entry else ("Text", [])

    # Keys

    def off(self, action: Action) -> str:
        """Why an action is off now."""
        needs = ("restore", "versions", "copy_contents", "copy_sha", "mark", "range", "read_text")
        if action.id in needs and not self.bin.targets(self.list.cursor):
            return "The trash is empty." if not self.bin.all else "There is no row here."
        if action.id in ("versions", "copy_contents", "copy_sha") and not self.has_entry:
            return "There is no row here."
        return ""

    def row_moved(self) -> None:
        """Mark on the way while a range is open."""
        if self._range is not None:
            start, base = self._range
            self._marking(lambda: self.bin.mark_range(start, self.list.cursor, base))

    def step_back(self) -> bool:
        """From the text to the list, then without filter, then without marks."""
        if super().step_back():
            return True
        if self.bin.words:
            self._change(lambda: self.bin.filter(()))
        elif self.bin.marks or self._range is not None:
            self._range = None
            self._marking(self.bin.marks.clear)
        else:
            return False
        return True

    def _marking(self, change: Callable[[], object]) -> None:
        change()
        self.list.repaint()
        self.update("#listed-title", "#view-footer")

    def _mark(self) -> None:
        self._marking(lambda: self.bin.toggle(self.list.cursor))
        self.list.move(1)

    def _toggle_range(self) -> None:
        if self._range is not None:
            self._range = None
            return
        self._range = (self.list.cursor, frozenset(self.bin.marks))
        self.row_moved()

    def _extend(self, by: int) -> None:
        first = self.list.cursor
        self.list.move(by)
        self._marking(lambda: self.bin.mark_range(first, self.list.cursor, frozenset(self.bin.marks)))

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self._change(lambda: self.bin.filter(tuple(text.casefold().split())))
            if self.prompt is not None:
                self.prompt.note = [(f"{len(self.bin.shown):,} of {len(self.bin.all):,}", "dim")]

        def cancelled() -> None:
            self.close_prompt()
            self._change(lambda: self.bin.filter(()))

        start = " ".join(self.bin.words)
        self.ask(Question("/", start, lambda _: self.close_prompt(), cancelled, changed=typed, over=True))

    # Restoring

    def _restore(self) -> None:
        entries = self.bin.targets(self.list.cursor)
        self._range = None
        if len(entries) == 1 and entries[0].taken:
            self._ask_name(entries[0], "another memory has this name")
        else:
            self._run(wanted(entries), entries)

    def _run(self, asked: tuple[Restoring, ...], entries: tuple[TrashEntry, ...]) -> None:
        """Bring back; keys that follow wait for what comes of one memory: other rows, or a question."""
        bridge = self.bridge
        name = str(asked[0].to or asked[0].address) if len(asked) == 1 else count_words(len(asked), "memory")
        hold = bridge.hold(f"restore {name}") if len(asked) == 1 else None

        def done(result: Done) -> None:
            self._report(result, entries, name, may_ask=hold is None or not hold.dropped)
            self.load(awaited=hold is not None)
            end()

        def failed(error: MemtuiError) -> None:
            self.browser.show_error(f"restore {name}", error)
            end()

        def end() -> None:
            if hold is not None:
                hold.end()

        bridge.run(
            lambda engine: restore.restore_all(engine, asked, actor=bridge.actor),
            done,
            what=f"restore {name}",
            otherwise=failed,
            lane=WRITE,
        )

    def _report(self, done: Done, entries: tuple[TrashEntry, ...], name: str, *, may_ask: bool) -> None:
        """Say what came back; where one name was taken, ask for another one, unless the user went on meanwhile."""
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self.close_prompt()
            self.bin.marks.clear()
            it = "it" if len(done.outcomes) == 1 else "them"
            also = f", {done.also}" if done.also else ""
            words = f"Restored {name}{also}. u takes {it} back. {done.left}".rstrip()
            self.browser.say(words, "warning" if done.left else "good")
            return
        gone = {outcome.address for outcome in done.outcomes if outcome.ok}
        self.bin.marks = {mark for mark in self.bin.marks if mark[0] not in gone}
        why = self._why(failed[0])
        if len(done.outcomes) == 1 and self.prompt is not None:
            self.prompt.refuse(why)
            self.update("#view-footer")
            self._startle()
        elif len(done.outcomes) == 1 and may_ask and failed[0].error is not None and failed[0].error.code in TAKEN:
            self._ask_name(entries[0], why)
            self._startle()
        else:
            self.browser.say(_failed_words(done, failed, why), "warning")

    def _startle(self) -> None:
        """No key typed before what is asked now is an answer to it."""
        fence = fence_of(self.app)
        if fence is not None:
            fence.startle()

    @staticmethod
    def _why(outcome: Outcome) -> str:
        return outcome.error.message if outcome.error is not None else "it changed in that moment."

    def _ask_name(self, entry: TrashEntry, why: str) -> None:
        """Ask for another name, offering a free one."""
        roots, nodes = self.browser.forest.roots, self.browser.forest.nodes
        offered = free_name(entry.address, lambda address: address in nodes)
        start = rename_target((offered,), None)

        def hint(text: str) -> Line:
            target = start.read(text, roots)
            if target.problem:
                return [(target.problem, "warning")]
            return [(f"{why.rstrip('.')}; enter restores as {target.address}", "dim")]

        def entered(text: str) -> None:
            target = start.read(text, roots)
            if target.problem:
                if self.prompt is not None:
                    self.prompt.refuse(target.problem)
                return
            self._run((Restoring(entry.address, entry.sha256, target.address),), (entry,))

        self.ask(Question("restore as", start.text, entered, self._not_restored, hint=hint, cursor=start.cursor))

    def _not_restored(self) -> None:
        self.close_prompt()
        self.say("Not restored; it stays in the trash.")

    def _copy_text(self) -> None:
        entry = self.entry

        def text(engine: Engine) -> str:
            return engine.history.read(entry.address, entry.sha256).decode("utf-8", "replace")

        self.bridge.run(
            text,
            lambda found: put_on_clipboard(self.browser, found, f"the text of {entry.address}"),
            what=f"read {entry.address} from the trash",
        )


def _failed_words(done: Done, failed: Sequence[Outcome], why: str) -> str:
    """Say what did not come back, and what helps."""
    if len(done.outcomes) == 1:
        return f"Not restored: {why}" + (" r asks for another name." if _any_taken(failed) else "")
    good = len(done.outcomes) - len(failed)
    named = " r on each of them asks for another name." if _any_taken(failed) else ""
    return f"done {good}, failed {len(failed)}: {failed[0].address}: {why}{named}"


def _any_taken(failed: Sequence[Outcome]) -> bool:
    return any(outcome.error is not None and outcome.error.code in TAKEN for outcome in failed)
