"""Questions for what is no merge (a memory deleted, renamed or not writable), and the screen that asks them.

No answer loses a text: one that could not be saved is kept as a draft, and can be saved elsewhere. Questions are
values, so that every sentence and answer has tests without a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.widgets import Input

from memtui.engine.model import Address, Snapshot
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.actors import by, did
from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_key
from memtui.ui.draw.pages import fold
from memtui.ui.draw.text import Line
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import LinesView
from memtui.workbench.actions import ACTIONS
from memtui.workbench.bridge import DRAFTS, WRITE
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.drafts import OverlayScreen, close_screen, keys_line
from memtui.workbench.edit.memory_text import line_ends
from memtui.workbench.edit.merge import conflict_lines
from memtui.workbench.edit.merge.conflict_lines import Parties
from memtui.workbench.edit.merge.decisions import text_of

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.edit.edit_flow import EditFlow
    from memtui.workbench.main_screen import MainScreen


class Asked(NamedTuple):
    """An answer that needs a line of text: its label, the first value, and who gets it."""

    word: str
    value: str
    then: Callable[[str], None]


Do = Callable[[], None]
Answer = Do | Asked


class ConflictQuestion(NamedTuple):
    """One question."""

    room: str
    title: str
    words: tuple[str, ...]
    """Sentences about what happened; may hold hostile text."""
    answers: Mapping[str, Answer]
    later: Do
    change: tuple[str, bytes, bytes] | None = None
    """A heading, and the two texts whose difference is shown below it."""
    kept: str = "Nothing is lost: every text is kept, whatever you choose."


class QuestionScreen(OverlayScreen):
    """Screen for one question."""

    CSS_PATH = "conflict_screen.tcss"
    AUTO_FOCUS = "#case-text"

    def __init__(self, question: ConflictQuestion, *, table: Iterable[Action] = ACTIONS) -> None:
        self.ROOMS = (question.room, "everywhere")  # type: ignore[misc]
        self.HELP = f"{' '.join(question.words)}\n\n{question.kept}"  # type: ignore[misc]
        super().__init__(table)
        self.question = question
        self._said = ""

    def compose(self) -> ComposeResult:
        yield Lines(id="case-header", ground="bar")
        yield Lines(id="case-words")
        yield LinesView(id="case-text")
        yield EditorPrompt(lambda: self.query_one("#case-text").focus(), id="case-prompt")
        yield Lines(id="case-foot")

    def on_mount(self) -> None:
        self.draw()

    on_resize = on_mount

    @property
    def typing(self) -> bool:
        return isinstance(self.focused, Input)

    def asks_by_itself(self, after: str) -> bool:
        """It comes up because of what somebody else did."""
        del after
        return True

    def come_back_later(self) -> None:
        self.question.later()

    def answer(self, action: Action) -> None:
        answer = self.question.answers.get(action.id, self.question.later)
        if isinstance(answer, Asked):
            self.query_one(EditorPrompt).ask(*answer)
        else:
            answer()

    def say(self, text: str, level: str = "strong") -> None:
        del level
        self._said = text
        self.draw_foot()

    def draw(self) -> None:
        width = self.size.width
        if not width or not self.is_mounted:
            return
        question = self.question
        self.query_one("#case-header", Lines).set_lines([(f" {visible(question.title)} ", "title-focus")])
        words = [row for sentence in question.words for row in fold(visible(sentence), max(width - 2, 20))]
        said = self.query_one("#case-words", Lines)
        said.set_lines(*([(f" {row}", "strong")] for row in words))
        said.styles.height = max(len(words), 1)
        lines: list[Line] = []
        if question.change is not None:
            heading, before, after = question.change
            lines = [[], [(f" {heading}", "heading")], []]
            lines += conflict_lines.file_change(text_of(before), text_of(after), max(width - 1, 20))
        self.query_one("#case-text", LinesView).show(lines)
        self.draw_foot()

    def draw_foot(self) -> None:
        if not self.is_mounted:
            return
        actions = (*in_room(self.question.room, actions=self.table), *(one for one in self.table if one.id == "help"))
        shown = [(shown_key(action.keys[0]), action.label) for action in actions]
        shown.insert(len(shown) - 1, shown.pop(next(n for n, (key, _) in enumerate(shown) if key == "esc")))
        keys = keys_line(shown, self.size.width)
        said = visible(self._said or self.question.kept)
        self.query_one("#case-foot", Lines).set_lines([(f" {said}", "strong")], self.hint or keys)


CHANGE = "your change against BASE, the text you opened:"


def deleted_by_them(
    parties: Parties, texts: tuple[bytes, bytes], why: str, answers: Mapping[str, Answer], later: Do
) -> ConflictQuestion:
    """Ask about a memory somebody deleted while it was edited; `texts` are BASE and YOURS."""
    reason = f" They said: {why}" if why else ""
    return ConflictQuestion(
        "gone",
        f"DELETED {parties.address}",
        (f"{_did(parties, 'deleted it')} while you had unsaved text in it.{reason}",),
        answers,
        later,
        (CHANGE, *texts),
        "Nothing is lost: BASE and your text are kept, whatever you choose.",
    )


def deleted_by_you(address: str, who: str, texts: tuple[bytes, bytes], *, keep: Do, trash: Do) -> ConflictQuestion:
    """Ask about a deletion of a memory somebody changed since; `texts` are the version seen and theirs."""
    return ConflictQuestion(
        "deleted",
        f"NOT DELETED {address}",
        (f"{did(who, 'changed it', begins=True)} since it was listed, so it was not moved to the trash.",),
        {"keep_theirs": keep, "trash_theirs": trash},
        keep,
        ("what they changed in the version you saw:", *texts),
        "Nothing was changed. In the trash it can be brought back with u.",
    )


def _did(parties: Parties, verb: str) -> str:
    return did(parties.who, verb, begins=True) + f" ({parties.at})" * bool(parties.at)


def renamed_by_them(
    parties: Parties, new: str, texts: tuple[bytes, bytes], answers: Mapping[str, Answer], later: Do
) -> ConflictQuestion:
    """Ask about a memory somebody renamed while it was edited; `texts` are BASE and YOURS."""
    words = (
        f"{_did(parties, 'renamed it')} while you had unsaved text in it.",
        f"old name  {parties.address}",
        f"new name  {new}",
    )
    return ConflictQuestion("moved", f"RENAMED {parties.address}", words, answers, later, (CHANGE, *texts))


def only_line_ends(
    parties: Parties, yours: bytes, theirs: bytes, answers: Mapping[str, Answer], later: Do
) -> ConflictQuestion:
    """Ask about two texts that differ only in line ends or byte-order mark."""
    words = (
        f"{_did(parties, 'saved the same text as you')}, with other line ends or another byte-order mark.",
        f"YOURS  {line_end_words(yours)}",
        f"AGENT  {line_end_words(theirs)}",
    )
    return ConflictQuestion("line_ends", f"ONLY LINE ENDS DIFFER {parties.address}", words, answers, later)


def not_saved(
    address: str, error: MemtuiError, place: str, answers: Mapping[str, Answer], later: Do
) -> ConflictQuestion:
    """Ask what to do with a text that could not be saved; `place` says where it is kept."""
    words = (*filter(None, (error.message, error.unharmed, error.hint)), place)
    kept = "" if error.code == "E_OFFLINE" else "The memory is as it was."
    return ConflictQuestion("unsaved", f"NOT SAVED {address}", words, answers, later, kept=kept)


def line_end_words(data: bytes) -> str:
    mark = ", byte-order mark" if data.startswith(b"\xef\xbb\xbf") else ""
    return (", ".join(line_ends(data.decode("latin-1")).values()) or "no line end") + mark


def ask_about_deleted(
    screen: MainScreen, address: Address, seen_sha256: str, trash: Callable[[Address, str], None]
) -> None:
    """Show what somebody changed in a memory that was to be deleted, and ask again.

    `trash` moves exactly the version it is given to the trash.
    """

    def look(engine: Engine) -> tuple[bytes, Snapshot, str] | None:
        try:
            now = engine.read(address)
        except NotFoundError:
            return None
        return (
            open_memory.version_or_empty(engine, address, seen_sha256),
            now,
            open_memory.name_of(engine.rows.get(address).actor, address),
        )

    def ask(found: tuple[bytes, Snapshot, str] | None) -> None:
        screen.bridge.refresh([address])
        if found is None:
            screen.say(f"{address} is gone already.")
            return
        before, now, who = found
        asking: QuestionScreen

        def keep() -> None:
            asking.dismiss(None)
            screen.say(f"{address} stays as it was written {by(who)}.")

        def still() -> None:
            asking.dismiss(None)
            trash(address, now.sha256)

        question = deleted_by_you(str(address), who, (before, now.bytes), keep=keep, trash=still)
        asking = QuestionScreen(question, table=screen.table)
        screen.app.push_screen(asking)

    screen.bridge.run(look, ask, what=f"read {address}", awaited=True)


def ask_where(
    editing: EditFlow,
    address: Address,
    data: bytes,
    error: MemtuiError,
    *,
    again: Callable[[], None],
    elsewhere: Callable[[str], None] | None = None,
) -> None:
    """Keep a text that could not be saved, and ask what to do with it.

    `again` tries again; `elsewhere` saves under another name, by default as `keep_elsewhere` does.
    """
    screen: QuestionScreen

    def close() -> None:
        close_screen(screen)

    def try_again() -> None:
        close()
        again()

    def copy_text() -> None:
        _copy_text(editing, data.decode(errors="replace"), screen.say)

    def save_as(path: str) -> None:
        if elsewhere is not None:
            close()
            elsewhere(path)
        else:
            keep_elsewhere(editing, address, data, path, close, lambda why: screen.say(f"Not written. {why}"))

    def show(kept: bool) -> None:
        nonlocal screen
        folder = editing.options.settings.state_dir
        place = f"Your text is kept as a draft in {folder}, and is offered when you open the memory again."
        if not kept:
            place = "Your text could not be kept as a draft either: copy it, or save it elsewhere, before you leave."
        answers: dict[str, Answer] = {
            "try_again": try_again,
            "save_elsewhere": Asked("save it as", str(address), save_as),
            "copy_draft": copy_text,
        }
        question = not_saved(str(address), error, place, answers, close)
        screen = QuestionScreen(question, table=editing.options.table)
        editing.app.push_screen(screen)

    _keep(editing, show)


def _copy_text(editing: EditFlow, text: str, say: Callable[[str], None]) -> None:
    from memtui.ui.terminal import copy

    terminal = editing.options.settings.terminal
    escaped: list[str] = []

    def copied(route: str) -> None:
        for through_terminal in escaped:
            editing.app.copy_to_clipboard(through_terminal)
        say(f"Copied your text ({route}).")

    def failed(error: MemtuiError) -> None:
        say(str(error))

    editing.run(lambda _: copy(text, terminal, escaped.append), copied, what="copy your text", otherwise=failed)


def _keep(editing: EditFlow, then: Callable[[bool], None]) -> None:
    """Store the draft again, also beside the ledger, and tell `then` whether it is stored."""
    editing.drafts.keeper.invalidate(editing.editor)
    due = editing.drafts.keeper.due()

    def keep(engine: Engine) -> bool:
        editing.drafts.keeper.write(*due)
        return engine.drafts.keep_apart()

    def kept(complete: bool) -> None:
        editing.bridge.refresh_drafts()
        then(complete)

    editing.run(keep, kept, what="keep a draft", otherwise=lambda _: kept(complete=False), lane=DRAFTS)


def keep_elsewhere(
    editing: EditFlow,
    old: Address,
    data: bytes,
    path: str,
    close: Callable[[], None],
    refused: Callable[[MemtuiError], None],
) -> None:
    """Keep a text as a new memory and continue there; the memory it was meant for stays as it is on disk.

    `path` is an address, or a name in the same root; `close` dismisses the screens that asked.
    """
    actor, subject = editing.bridge.actor, editing.editor.subject
    was_there = subject is not None and subject.base_sha256 is not None

    def create(engine: Engine) -> Address:
        new = engine.roots.resolve(path) if "/" in path else Address(old.root, path)
        if was_there and new.root == old.root:
            open_memory.refuse_missing_folder(engine, old)
        engine.memories.create(new, data, actor=actor)
        return new

    def created(new: Address) -> None:
        close()
        editing.drafts.drop(old)
        editing.abandon(go_to=new)

    editing.run(create, created, what=f"create {path}", otherwise=refused, lane=WRITE)
