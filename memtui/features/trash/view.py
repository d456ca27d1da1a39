"""The trash: deleted memories with their texts, restored singly or several as one step of undo.

Nothing is deleted for good in the workbench: retention removes old texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from memtui.engine.model import Address, Done, Outcome, Restoring, TrashEntry, is_person
from memtui.errors import MemtuiError
from memtui.features.actors import by, who_words
from memtui.features.host import WRITE, Host
from memtui.pointers import references
from memtui.safe_text import cell_width
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.text import (
    SHORT,
    Line,
    RowStyle,
    Run,
    ago,
    both,
    both_ends,
    count_words,
    fit,
    full,
    partly_done,
    size_words,
    stamp,
)
from memtui.ui.keys.fence import fence_of
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.view_screen import ViewFilter
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from memtui.engine import Engine

TAKEN = ("E_EXISTS", "E_CLASH")
WIDE = 84


class TrashView(ListView[TrashEntry]):
    """The view of deleted memories."""

    ID: ClassVar[str] = "trash"
    HELP = """What was deleted, newest first, with who did it and the text it had. r brings it back under its name (all
marked ones at once, as one step of undo); where another memory has the name by now, it asks for another one. enter only
goes to the text. Nothing is deleted for good here: texts stay for as long as your settings keep versions."""
    NO_MATCH = "Nothing in the trash matches"
    EMPTY = ("The trash is empty.", "What is deleted, by anybody, comes here.")

    def __init__(self, host: Host) -> None:
        super().__init__(
            host.shell, ListRows(key, lambda entry: f"{entry.address} {who_words(entry.actor, entry.address.root)}")
        )
        self.host, self.jobs = host, host.jobs
        self.does |= {
            "restore": self._restore,
            "versions": lambda: host.places.history(self.entry.address),
            "copy_contents": self._copy_text,
            "copy_sha": lambda: host.copy(self.entry.sha256, "the sha-256"),
        }

    def entered(self, within: ViewFilter | None) -> None:
        """Start anew."""
        del within
        self.prompt.close()
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        self.jobs.run(
            lambda engine: engine.undo.trash.entries(taken=True),
            self.take,
            what="read the trash",
            latest="trash",
            awaited=awaited,
        )

    @property
    def entry(self) -> TrashEntry:
        """The entry under the cursor; actions that need one are off without."""
        return self.rows.shown[self.list.cursor]

    def _draw_row(self, item: TrashEntry, width: int) -> Sequence[Run]:
        """Draw a row."""
        look = RowStyle(self.host.now(), self.ascii, self.shell.named)
        return entry_runs(item, width, look, marked=key(item) in self.rows.marks)

    def _read_text(self, item: TrashEntry) -> None:
        width, plain, named, now = self.page.text_width, self.ascii, self.shell.named, self.host.now()
        self.jobs.run(
            lambda engine: show(engine, item, now, width, plain=plain, named=named),
            lambda page: self._show_text(item, page),
            what=f"read {item.address} from the trash",
            latest="trash-page",
        )

    def _page_words(self) -> tuple[str, Line]:
        return ("Text", []) if self.item is None else (str(self.item.address), [("in the trash", "title")])

    def _off(self, action: Action) -> str:
        needs = ("restore", "versions", "copy_contents", "copy_sha", "mark", "range", "read_text")
        if action.id in needs and not self.rows.targets(self.list.cursor):
            return "The trash is empty." if not self.rows.all else "There is no row here."
        if action.id in ("versions", "copy_contents", "copy_sha") and self.item is None:
            return "There is no row here."
        return ""

    # Restoring

    def _restore(self) -> None:
        entries = self.rows.targets(self.list.cursor)
        self.rows.range = None
        if len(entries) == 1 and entries[0].taken:
            self._ask_name(entries[0], "another memory has this name")
        else:
            self._run(tuple(Restoring(entry.address, entry.sha256) for entry in entries), entries)

    def _run(self, asked: tuple[Restoring, ...], entries: tuple[TrashEntry, ...]) -> None:
        """Restore; after a single one, later keys wait for the new rows or a question."""
        bridge = self.jobs
        name = str(asked[0].to or asked[0].address) if len(asked) == 1 else count_words(len(asked), "memory")
        hold = bridge.hold(f"restore {name}") if len(asked) == 1 else None

        def done(result: Done) -> None:
            self._report(result, entries, name, may_ask=hold is None or not hold.dropped)
            self.load(awaited=hold is not None)
            end()

        def failed(error: MemtuiError) -> None:
            self.host.show_error(f"restore {name}", error)
            end()

        def end() -> None:
            if hold is not None:
                hold.end()

        bridge.run(
            lambda engine: references.restore_all(engine, asked, actor=bridge.actor),
            done,
            what=f"restore {name}",
            otherwise=failed,
            lane=WRITE,
        )

    def _report(self, done: Done, entries: tuple[TrashEntry, ...], name: str, *, may_ask: bool) -> None:
        """Say what was restored; ask for another name where one was taken, unless the user went on."""
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self.prompt.close()
            self.rows.marks.clear()
            it = "it" if len(done.outcomes) == 1 else "them"
            also = f", {done.also}" if done.also else ""
            words = f"Restored {name}{also}. u takes {it} back. {done.left}".rstrip()
            self.host.say(words, "warning" if done.left else "good")
            return
        back = {outcome.address for outcome in done.outcomes if outcome.ok}
        self.rows.marks -= {key(entry) for entry in entries if entry.address in back}
        why = self._why(failed[0])
        if len(done.outcomes) == 1 and self.prompt.refuse(why):
            self._startle()
        elif len(done.outcomes) == 1 and may_ask and failed[0].error is not None and failed[0].error.code in TAKEN:
            self._ask_name(entries[0], why)
            self._startle()
        else:
            self.host.say(_failed_words(done, failed, why), "warning")

    def _startle(self) -> None:
        """Drop keys typed before the question: they are no answer."""
        fence = fence_of(self.app)
        if fence is not None:
            fence.startle()

    @staticmethod
    def _why(outcome: Outcome) -> str:
        return outcome.error.message if outcome.error is not None else "it changed in that moment."

    def _ask_name(self, entry: TrashEntry, why: str) -> None:
        roots = self.host.roots
        start = self.host.renamed(free_name(entry.address, self.host.has_row))

        def hint(text: str) -> Line:
            target = start.read(text, roots)
            if target.problem:
                return [(target.problem, "warning")]
            return [(f"{why.rstrip('.')}; enter restores as {target.address}", "dim")]

        def entered(text: str) -> None:
            target = start.read(text, roots)
            if target.problem:
                self.prompt.refuse(target.problem)
                return
            self._run((Restoring(entry.address, entry.sha256, target.address),), (entry,))

        self.prompt.ask(Question("restore as", start.text, entered, self._not_restored, hint=hint, cursor=start.cursor))

    def _not_restored(self) -> None:
        self.prompt.close()
        self.say("Not restored; it stays in the trash.")

    def _copy_text(self) -> None:
        entry = self.entry

        def text(engine: Engine) -> str:
            return engine.history.read(entry.address, entry.sha256).decode("utf-8", "replace")

        self.jobs.run(
            text,
            lambda found: self.host.copy(found, f"the text of {entry.address}"),
            what=f"read {entry.address} from the trash",
        )


def _failed_words(done: Done, failed: Sequence[Outcome], why: str) -> str:
    """Say what was not restored, and what helps."""
    if len(done.outcomes) == 1:
        return f"Not restored: {why}" + (" r asks for another name." if _any_taken(failed) else "")
    count = len(done.outcomes)
    named = " r on each of them asks for another name." if _any_taken(failed) else ""
    return partly_done("restored", count - len(failed), count, str(failed[0].address), why) + named


def _any_taken(failed: Sequence[Outcome]) -> bool:
    return any(outcome.error is not None and outcome.error.code in TAKEN for outcome in failed)


# What is shown


def key(entry: TrashEntry) -> tuple[Address, str]:
    """Return the identity of an entry across reloads."""
    return entry.address, entry.sha256


def writer(entry: TrashEntry) -> str:
    """Name who deleted an entry."""
    return who_words(entry.actor, entry.address.root)


def entry_runs(entry: TrashEntry, width: int, look: RowStyle, *, marked: bool) -> list[Run]:
    """Draw a row, without the cursor."""
    wide = width >= WIDE
    when = full(entry.at) if wide else stamp(entry.at, look.now)
    style = "name" if is_person(entry.actor) else "agent"
    runs: list[Run] = [
        ("*" if marked else " ", "mark"),
        (f"{ago(entry.at, look.now):>4} ", "dim"),
        (f"{when:>{16 if wide else SHORT}} ", "dim"),
        (fit(writer(entry), 14, plain=look.ascii) + " ", style),
        (f"{size_words(entry.bytes):>7}  ", "description"),
    ]
    tail: list[Run] = [("  name taken", "warning")] if entry.taken else []
    room = max(width - sum(cell_width(text) for text, _ in (*runs, *tail)), 8)
    return [*runs, (both_ends(look.named(str(entry.address)), room, plain=look.ascii), "name"), *tail]


def heading(entry: TrashEntry, together: int, now: int) -> list[str]:
    """Say above a text who deleted it and what restoring would do; `together` counts what was deleted with it."""
    lines = [f"Deleted {by(writer(entry))}, {both(entry.at, now)}."]
    if together > 1:
        lines.append(f"One of {count_words(together, 'memory')} that were deleted at once.")
    if entry.taken:
        lines.append("Another memory has this name by now, and it stays: r asks for another name for this one.")
    else:
        lines.append(f"r puts it back under its name, {entry.address}; u takes that back.")
    return lines


def show(
    engine: Engine, entry: TrashEntry, now: int, width: int, *, plain: bool, named: Callable[[str], str] = str
) -> Page:
    """Draw the text of a deleted memory below its heading."""
    deleted = engine.history.operations(entry.txn, entry.txn) if entry.txn else ()
    lines = heading(entry, sum(one.deleted for one in deleted), now)
    top = (*words_page(*map(named, lines), width=width), PageLine(()))
    try:
        data = engine.history.read(entry.address, entry.sha256)
    except MemtuiError as error:
        return (*top, *words_page(error.message, error.hint, style="problem", width=width))
    return (*top, *text_page(data, width, plain=plain))


def free_name(address: Address, is_taken: Callable[[Address], bool]) -> Address:
    """Return a free name beside a taken one: `notes-restored.md`, `notes-restored-2.md`, ..."""
    folder, slash, name = address.path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    for number in range(1, 1_000):
        more = "-restored" if number == 1 else f"-restored-{number}"
        found = Address(address.root, f"{folder}{slash}{stem}{more}{dot}{suffix}")
        if not is_taken(found):
            return found
    return address
