"""Questions for what is no merge (a memory deleted, renamed or not writable), and the screen that asks them.

No answer loses a text. Questions are values, so that every sentence and answer has tests without a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from memtui.engine.model import Address, Snapshot
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.actors import by, did
from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_key
from memtui.ui.draw.pages import fold
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.lines_view import LinesView
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit import guarded_save
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.memory_text import line_ends
from memtui.workbench.edit.merge import conflict_lines
from memtui.workbench.edit.merge.conflict_lines import Parties
from memtui.workbench.edit.merge.decisions import text_of
from memtui.workbench.edit.screens import OverlayScreen, keys_line

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
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
    heading: str = ""
    before: str = ""
    after: str = ""
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
        self._asked: Asked | None = None

    def compose(self) -> ComposeResult:
        yield Lines(id="case-header", ground="bar")
        yield Lines(id="case-words")
        yield LinesView(id="case-text")
        yield EditorPrompt(id="case-prompt")
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
            self._asked = answer
            self.query_one(EditorPrompt).ask(answer.word, answer.value)
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
        if question.heading:
            lines = [[], [(f" {question.heading}", "heading")], []]
            lines += conflict_lines.file_change(question.before, question.after, max(width - 1, 20))
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

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        asked, self._asked = self._asked, None
        self.query_one("#case-text").focus()
        if asked is not None:
            asked.then(event.value)

    @on(EditorPrompt.Closed)
    def _not_named(self, event: EditorPrompt.Closed) -> None:
        event.stop()
        self.query_one("#case-text").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()


def deleted_by_them(
    parties: Parties,
    texts: tuple[bytes, bytes],
    why: str,
    *,
    keep: Do,
    let_go: Do,
    keep_as: Callable[[str], None],
    later: Do,
) -> ConflictQuestion:
    """Ask about a memory somebody deleted while it was edited; `texts` are BASE and YOURS."""
    reason = f" They said: {why}" if why else ""
    return ConflictQuestion(
        "gone",
        f"DELETED {parties.address}",
        (f"{_did(parties, 'deleted it')} while you had unsaved text in it.{reason}",),
        {"keep_mine": keep, "accept_deletion": let_go, "keep_as": Asked("keep it as", parties.address, keep_as)},
        later,
        "your change against BASE, the text you opened:",
        text_of(texts[0]),
        text_of(texts[1]),
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
        "what they changed in the version you saw:",
        text_of(texts[0]),
        text_of(texts[1]),
        "Nothing was changed. In the trash it can be brought back with u.",
    )


def _did(parties: Parties, verb: str) -> str:
    return did(parties.who, verb, begins=True) + f" ({parties.at})" * bool(parties.at)


def renamed_by_them(
    parties: Parties, new: str, texts: tuple[bytes, bytes], *, follow: Do, keep_name: Do, later: Do
) -> ConflictQuestion:
    """Ask about a memory somebody renamed while it was edited; `texts` are BASE and YOURS."""
    return ConflictQuestion(
        "moved",
        f"RENAMED {parties.address}",
        (
            f"{_did(parties, 'renamed it')} while you had unsaved text in it.",
            f"old name  {parties.address}",
            f"new name  {new}",
        ),
        {"follow_name": follow, "keep_name": keep_name},
        later,
        "your change against BASE, the text you opened:",
        text_of(texts[0]),
        text_of(texts[1]),
    )


def only_line_ends(
    parties: Parties, yours: bytes, theirs: bytes, *, mine: Do, agent: Do, later: Do
) -> ConflictQuestion:
    """Ask about two texts that differ only in line ends or byte-order mark."""
    return ConflictQuestion(
        "line_ends",
        f"ONLY LINE ENDS DIFFER {parties.address}",
        (
            f"{_did(parties, 'saved the same text as you')}, with other line ends or another byte-order mark.",
            f"YOURS  {line_end_words(yours)}",
            f"AGENT  {line_end_words(theirs)}",
        ),
        {"ends_yours": mine, "ends_agent": agent},
        later,
    )


def not_saved(
    address: str,
    error: MemtuiError,
    place: str,
    *,
    again: Do,
    save_as: Callable[[str], None],
    copy: Do,
    later: Do,
) -> ConflictQuestion:
    """Ask what to do with a text that could not be saved; `place` says where it is kept."""
    words = [error.message, *(sentence for sentence in (error.unharmed, error.hint) if sentence), place]
    return ConflictQuestion(
        "unsaved",
        f"NOT SAVED {address}",
        tuple(words),
        {"try_again": again, "save_elsewhere": Asked("save it as", address, save_as), "copy_draft": copy},
        later,
        kept="" if error.code == "E_OFFLINE" else "The memory is as it was.",
    )


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
            guarded_save.version_or_empty(engine, address, seen_sha256),
            now,
            guarded_save.name_of(engine.rows.get(address).actor, address),
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
