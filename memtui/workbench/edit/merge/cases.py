"""The screen for what cannot be decided line by line: words, what changed, and a few answers of one key each.

A deleted, renamed or unwritable memory gets a question, not a merge, and no answer to it loses a text. The questions
are values, so that every sentence and every answer is tested without a screen.
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
from memtui.workbench.edit import jobs
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.merge import view
from memtui.workbench.edit.merge.session import text_of
from memtui.workbench.edit.merge.view import Parties
from memtui.workbench.edit.screens import DecidingScreen, keys_line

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


class Asked(NamedTuple):
    """An answer that needs a line of text: what it is asked for, what it starts from, who gets it."""

    word: str
    value: str
    then: Callable[[str], None]


Answer = Callable[[], None] | Asked


class Case(NamedTuple):
    """One question."""

    room: str
    """The room of the action table whose keys answer it."""
    title: str
    words: tuple[str, ...]
    """What happened, sentence by sentence; may hold hostile text."""
    answers: Mapping[str, Answer]
    """What each action of the room does."""
    later: Callable[[], None]
    """Come back later."""
    heading: str = ""
    """What the difference below is."""
    before: str = ""
    after: str = ""
    kept: str = "Nothing is lost: every text is kept, whatever you choose."


class CaseScreen(DecidingScreen):
    """Asks one question."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#case-text"

    def __init__(self, case: Case, *, table: Iterable[Action] = ACTIONS) -> None:
        """Take the question; `table` is the actions with the user's own keys."""
        self.ROOMS = (case.room, "everywhere")  # type: ignore[misc]
        self.HELP = f"{' '.join(case.words)}\n\n{case.kept}"  # type: ignore[misc]
        super().__init__(table)
        self.case = case
        self._said = ""
        self._asked: Asked | None = None

    def compose(self) -> ComposeResult:
        """What happened, the difference, the keys."""
        yield Lines(id="case-header", ground="bar")
        yield Lines(id="case-words")
        yield LinesView(id="case-text")
        yield EditorPrompt(id="case-prompt")
        yield Lines(id="case-foot")

    def on_mount(self) -> None:
        """Draw."""
        self.draw()

    def on_resize(self) -> None:
        """Fold at the new width."""
        self.draw()

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return isinstance(self.focused, Input)

    def asks_by_itself(self, after: str) -> bool:
        """It comes up when somebody else did something."""
        del after
        return True

    def come_back_later(self) -> None:
        """Leave it undecided; everything is kept."""
        self.case.later()

    def answer(self, action: Action) -> None:
        """Do what was chosen, or ask for the line it needs."""
        answer = self.case.answers.get(action.id, self.case.later)
        if isinstance(answer, Asked):
            self._asked = answer
            self.query_one(EditorPrompt).ask(answer.word, answer.value)
        else:
            answer()

    def say(self, text: str, level: str = "strong") -> None:
        """Show one line."""
        del level
        self._said = text
        self.draw_foot()

    def draw(self) -> None:
        """Show the question at this width."""
        width = self.size.width
        if not width or not self.is_mounted:
            return
        case = self.case
        self.query_one("#case-header", Lines).set_lines([(f" {visible(case.title)} ", "title-focus")])
        words = [row for sentence in case.words for row in fold(visible(sentence), max(width - 2, 20))]
        said = self.query_one("#case-words", Lines)
        said.set_lines(*([(f" {row}", "strong")] for row in words))
        said.styles.height = max(len(words), 1)
        lines: list[Line] = []
        if case.heading:
            lines = [[], [(f" {case.heading}", "heading")], []]
            lines += view.file_change(case.before, case.after, max(width - 1, 20))
        self.query_one("#case-text", LinesView).show(lines)
        self.draw_foot()

    def draw_foot(self) -> None:
        """Show what is kept, and the keys."""
        if not self.is_mounted:
            return
        actions = (*in_room(self.case.room, actions=self.table), *(one for one in self.table if one.id == "help"))
        shown = [(shown_key(action.keys[0]), action.label) for action in actions]
        shown.insert(len(shown) - 1, shown.pop(next(n for n, (key, _) in enumerate(shown) if key == "esc")))
        keys = keys_line(shown, self.size.width)
        said = visible(self._said or self.case.kept)
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


Then = Callable[[], None]


def deleted_by_them(
    parties: Parties,
    texts: tuple[bytes, bytes],
    why: str,
    *,
    keep: Then,
    let_go: Then,
    keep_as: Callable[[str], None],
    later: Then,
) -> Case:
    """They deleted what you edited.

    Args:
        parties: who and where.
        texts: BASE and YOURS.
        why: the reason they gave; empty when there is none.
        keep: write YOURS again.
        let_go: accept the deletion.
        keep_as: keep YOURS under another name.
        later: decide later.
    """
    reason = f" They said: {why}" if why else ""
    return Case(
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


def deleted_by_you(address: str, who: str, texts: tuple[bytes, bytes], *, keep: Then, trash: Then) -> Case:
    """You deleted what they edited; `texts` are the version you saw and theirs."""
    return Case(
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
    parties: Parties, new: str, texts: tuple[bytes, bytes], *, follow: Then, keep_name: Then, later: Then
) -> Case:
    """They renamed what you edited; `texts` are BASE and YOURS."""
    return Case(
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


def only_line_ends(parties: Parties, yours: bytes, theirs: bytes, *, mine: Then, agent: Then, later: Then) -> Case:
    """Both texts are the same but for line ends, or a byte-order mark."""
    return Case(
        "line_ends",
        f"ONLY LINE ENDS DIFFER {parties.address}",
        (
            f"{_did(parties, 'saved the same text as you')}, with other line ends or another byte-order mark.",
            f"YOURS  {line_ends(yours)}",
            f"AGENT  {line_ends(theirs)}",
        ),
        {"ends_yours": mine, "ends_agent": agent},
        later,
    )


def not_saved(
    address: str,
    error: MemtuiError,
    place: str,
    *,
    again: Then,
    save_as: Callable[[str], None],
    copy: Then,
    later: Then,
) -> Case:
    """The disk, the root or a rule said no; `place` says where the text is kept."""
    words = [error.message, *(sentence for sentence in (error.unharmed, error.hint) if sentence), place]
    return Case(
        "unsaved",
        f"NOT SAVED {address}",
        tuple(words),
        {"try_again": again, "save_elsewhere": Asked("save it as", address, save_as), "copy_draft": copy},
        later,
        kept="" if error.code == "E_OFFLINE" else "The memory is as it was.",
    )


def line_ends(data: bytes) -> str:
    """Say which line ends a text has, and whether it begins with a byte-order mark."""
    pairs = data.count(b"\r\n")
    kinds = [
        f"{count:,} {name}"
        for name, count in (
            ("CRLF", pairs),
            ("LF", data.count(b"\n") - pairs),
            ("CR", data.count(b"\r") - pairs),
        )
        if count
    ]
    mark = ", byte-order mark" if data.startswith(b"\xef\xbb\xbf") else ""
    return (", ".join(kinds) or "no line end") + mark


def ask_about_deleted(
    screen: MainScreen, address: Address, seen_sha256: str, trash: Callable[[Address, str], None]
) -> None:
    """Show what somebody changed, and ask whether the memory is still to go.

    Args:
        screen: the main screen.
        address: what was to be deleted.
        seen_sha256: the version that was listed.
        trash: moves exactly this version of it to the trash.
    """

    def look(engine: Engine) -> tuple[bytes, Snapshot, str] | None:
        try:
            now = engine.read(address)
        except NotFoundError:
            return None
        return (
            jobs.version_or_empty(engine, address, seen_sha256),
            now,
            jobs.name_of(engine.rows.get(address).actor, address),
        )

    def ask(found: tuple[bytes, Snapshot, str] | None) -> None:
        screen.bridge.refresh([address])
        if found is None:
            screen.say(f"{address} is gone already.")
            return
        before, now, who = found
        case: CaseScreen

        def keep() -> None:
            case.dismiss(None)
            screen.say(f"{address} stays as it was written {by(who)}.")

        def still() -> None:
            case.dismiss(None)
            trash(address, now.sha256)

        question = deleted_by_you(str(address), who, (before, now.bytes), keep=keep, trash=still)
        case = CaseScreen(question, table=screen.table)
        screen.app.push_screen(case)

    screen.bridge.run(look, ask, what=f"read {address}", awaited=True)
