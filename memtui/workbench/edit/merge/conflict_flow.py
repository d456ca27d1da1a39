"""The flow of one conflict: which screen or question opens, and what each answer does.

BASE, YOURS, AGENT and the result stay readable: their versions are stored before a screen opens, and a draft is only
dropped into history. Decisions are stored after every key. Apart from `edit_flow.py` so that it loads with the first
conflict.
"""

from __future__ import annotations

import time
from copy import deepcopy
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Conflict, MergeOf, OpenConflict, Saved, Snapshot
from memtui.errors import MemtuiError
from memtui.features.actors import UNKNOWN, by, did
from memtui.ui.draw.text import count_words
from memtui.ui.keys.fence import fence_of
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.drafts import close_screen, dismiss_unfilled
from memtui.workbench.edit.edit_flow import EditFlow, ShownConflict
from memtui.workbench.edit.external_editor import edit_text_outside
from memtui.workbench.edit.memory_text import read_form, same_text
from memtui.workbench.edit.merge import questions
from memtui.workbench.edit.merge.conflict_lines import OPENED, Parties
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.merge.decisions import (
    MergeSession,
    ScreenPosition,
    bytes_of,
    decode_decisions,
    encode_decisions,
)
from memtui.workbench.edit.merge.questions import ConflictQuestion, QuestionScreen
from memtui.workbench.edit.open_memory import DiskState, OpenMemory

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine

WRITE_EVERY = 0.25
"""Least seconds between two writes of decisions."""
ROUNDS = 3
"""Third writers after which another name is offered."""


class PreparedConflict(NamedTuple):
    """A conflict that can be shown."""

    session: MergeSession
    spot: ScreenPosition
    other: bool
    """Whether somebody wrote again since it was left."""


def open_conflict(editing: EditFlow, *, alone: bool = False, whose: str = "") -> None:
    """Show both sides of the open memory, or say why there is nothing to decide."""
    editor = editing.editor
    subject = editor.subject
    if subject is None or editing.conflict is not None:
        return
    yours, disk = editor.data, subject.disk.snapshot
    if subject.disk.sha256 == subject.base_sha256:
        before = editor.before_merge
        if before is None or disk is None:
            editor.say("Nobody else saved: there is no other side to compare with.")
            return
        yours, subject = before[0], subject._replace(base=before[1].base, base_sha256=before[1].base_sha256)
        if open_memory.merge(subject.base, yours, disk.bytes)[0] != editor.data:
            editor.say("You changed the merged text since: ctrl+z takes the merge apart, f8 then shows both.")
            return
    elif not editor.dirty and disk is not None:
        editor.say("You changed nothing: what you see is what is on disk.")
        return
    ConflictFlow(editing, subject, yours, alone=alone, whose=whose).open()


class ConflictFlow(ShownConflict):
    """Flow of one conflict, from the first screen to the last answer."""

    def __init__(self, editing: EditFlow, of: OpenMemory, yours: bytes, *, alone: bool, whose: str) -> None:
        """`of` has BASE and the text on disk. `alone`: the memory was opened for this, and closes with the conflict.

        `whose` names YOURS where it is a copy kept elsewhere; empty: the user's unsaved draft.
        """
        self._alone, self._whose = alone, whose
        self.editing = editing
        self.address = of.address
        self.of = of._replace(disk=of.disk._replace(who=editing.editor.who))
        self.yours = yours
        self._rounds = 0
        self._before_round: tuple[MergeSession, MergeSession, int] | None = None
        """Decisions before the last third writer, those carried over, and the number of their undo steps."""
        self._screen: ConflictScreen | QuestionScreen | None = None
        self._due = False
        """Whether there are decisions that are not stored yet."""
        self._last_write = 0.0
        self._timer: Timer | None = None

    # --- opening

    def open(self) -> None:
        """Store every text, merge, and show the result."""
        editing, of, yours, disk = self.editing, self.of, self.yours, self._disk
        due, at = editing.drafts.keeper.due(), editing.bridge.now()
        screen: ConflictScreen | None = None
        if disk is not None and (yours == disk or not same_text(yours, disk)):
            editable = all(read_form(data).editable for data in (of.base, yours, disk))
            options = editing.options
            screen = self._screen = ConflictScreen(
                self._parties(), self, advance=options.advance, editable=editable, table=options.table
            )
            editing.conflict = self
            editing.show_screen(screen)

        def merged(engine: Engine) -> PreparedConflict | None:
            editing.drafts.keeper.write(*due)
            return prepare(engine, of, yours, at)

        def failed(error: MemtuiError) -> None:
            if screen is not None and self._screen is screen and screen.is_current:
                dismiss_unfilled(screen, error.message)
            self._screen = editing.conflict = None
            missing = disk is None and error.code == "E_ROOT_MISSING"
            if missing and editing.address == of.address:
                editing.drafts.after_drop()  # tells the tree of the draft
                again = partial(editing.check_disk, editing.save)
                questions.ask_where(editing, of.address, yours, error, again=again)
            elif not missing:
                editing.editor.say(str(error))

        # A question that is asked unasked for is no screen to be filled: keys wait for it.
        awaited = screen is None
        editing.run(merged, self._show, what=f"compare {of.address}", otherwise=failed, lane=DRAFTS, awaited=awaited)

    @property
    def _disk(self) -> bytes | None:
        return self.of.disk.snapshot.bytes if self.of.disk.snapshot is not None else None

    def _show(self, prepared: PreparedConflict | None) -> None:
        editing, screen = self.editing, self._screen
        if editing.address != self.address:
            return
        editing.drafts.after_drop()  # tells the tree of the draft
        disk, yours = self._disk, self.yours
        if disk is None or prepared is None:
            self._ask(self._deleted())
        elif yours != disk and same_text(yours, disk):
            answers = {"ends_yours": lambda: self.write_result(yours), "ends_agent": self._take_theirs}
            self._ask(questions.only_line_ends(self._parties(), yours, disk, answers, self.leave))
        elif isinstance(screen, ConflictScreen) and editing.conflict is self:
            self._rounds = prepared.spot.rounds
            screen.fill(prepared.session, prepared.spot)
            if prepared.other:
                screen.say(self._again_words(screen.session))
            self.decided()

    def _ask(self, case: ConflictQuestion) -> None:
        self._screen = QuestionScreen(case, table=self.editing.options.table)
        self.editing.conflict = self
        self.editing.show_screen(self._screen)

    def _deleted(self) -> ConflictQuestion:
        answers: dict[str, questions.Answer] = {
            "keep_mine": self.keep_mine,
            "accept_deletion": self.accept_deletion,
            "keep_as": questions.Asked("keep it as", str(self.address), self.save_as),
        }
        texts = self.of.base, self.yours
        return questions.deleted_by_them(self._parties(), texts, self.of.disk.why, answers, self.leave)

    def _parties(self) -> Parties:
        when, disk = self.editing.when, self.of.disk
        created = self.of.base_sha256 is None
        return Parties(
            address=str(self.address),
            base="none: both created it" if created else f"{OPENED}{when(self.editing.opened_at)}",
            yours=self._whose or "your unsaved draft",
            who=disk.who,
            at=when(disk.changed_at) if disk.changed_at else "",
            shown=self.editing.editor.named(str(self.address)),
        )

    # --- keeping what was decided

    def _state(self) -> OpenConflict | None:
        screen, disk = self._screen, self._disk
        if not isinstance(screen, ConflictScreen) or screen.reading or disk is None:
            return None
        spot = screen.position._replace(rounds=self._rounds)
        decisions = encode_decisions(screen.session, spot)
        at = self.editing.bridge.now()
        return OpenConflict(self.address, self.of.base_sha256, self.yours, disk, decisions, at)

    def decided(self) -> None:
        """Store the decisions and the position now, or `WRITE_EVERY` after the last time."""
        self._due = True
        if self._timer is None:
            wait = self._last_write + WRITE_EVERY - time.monotonic()
            if wait <= 0:
                self._write_decisions()
            else:
                self._timer = self.editing.app.set_timer(wait, self._write_decisions)

    def _write_decisions(self) -> None:
        state = self._state() if self._due else None
        self._stop_writing()
        self._last_write = time.monotonic()
        if state is not None:
            self.editing.bridge.run(
                lambda engine: engine.drafts.save_conflict(state),
                what="keep your decisions",
                lane=DRAFTS,
                latest="conflict",
            )

    def flush(self) -> None:
        state = self._state() if self._due else None
        if state is not None:
            self.editing.bridge.store_conflict(state)
            self._due = False

    def _stop_writing(self) -> None:
        self._due = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    # --- answers of the conflict screen

    def write_result(self, data: bytes) -> None:
        """Save the result over exactly the version that was shown."""
        address, editing, of = self.address, self.editing, self.of
        log = self._screen.session.log() if isinstance(self._screen, ConflictScreen) else ()
        merge = MergeOf(of.base_sha256, sha256(self.yours).hexdigest(), of.disk.sha256, log)

        def failed(error: MemtuiError) -> None:
            questions.ask_where(
                editing, address, data, error, again=lambda: self.write_result(data), elsewhere=self.save_as
            )

        editing.write(address, data, of.disk.sha256, self._written, failed, merge)

    def _written(self, written: open_memory.SaveResult) -> None:
        if isinstance(written.result, Conflict):
            self._merge_again(written.disk._replace(why=self.of.disk.why))
            return
        editing, address, disk = self.editing, self.address, self.of.disk
        at = f" {editing.when(disk.changed_at)}" if disk.changed_at else ""
        with_whom = f", merged with what was saved {by(disk.who)}{at}" if disk.snapshot is not None else ""
        self._end()
        if editing.address == address:
            snapshot = Snapshot(address, written.data, written.result.sha256, editing.bridge.now())
            wrote = isinstance(written.result, Saved)  # else there is no step, and u would take another one back
            saved = f"Saved{with_whom}. u{'' if self._alone else ' in the tree'} takes it back."
            self._go_on(snapshot, saved if wrote else "Nothing to write: it is what is on disk now.")
        editing.drafts.drop(address)
        editing.check_disk()

    def _go_on(self, snapshot: Snapshot, words: str) -> None:
        """Return to where the conflict was opened, and say this there."""
        if self._alone:
            self.editing.abandon(words)
        else:
            self.editing.show_saved(snapshot, words)

    def _take_theirs(self) -> None:
        address, disk = self.address, self.of.disk.snapshot
        self._end()
        if self.editing.address == address and disk is not None:
            self._go_on(disk, "Kept the text on disk; yours is in the history (H).")
        self.editing.drafts.drop(address)

    def _end(self) -> None:
        self._stop_writing()
        self.editing.conflict = None
        close_screen(self._screen)

    # --- a third writer

    def disk_changed(self, disk: DiskState) -> None:
        if disk.sha256 != self.of.disk.sha256 and not (self._screen is not None and self._screen.reading):
            self._merge_again(disk)

    def _merge_again(self, disk: DiskState) -> None:
        """Take in a third writer's text: what still fits stays decided, the rest is open again."""
        snapshot = disk.snapshot
        who = disk.who or (UNKNOWN if snapshot else self.of.disk.who)
        of = self.of = self.of._replace(disk=disk._replace(who=who, at=self.editing.bridge.now()))
        screen = self._screen
        if snapshot is None or not isinstance(screen, ConflictScreen):
            self._end()
            self._ask_anew(snapshot)
            return
        yours = self.yours

        def again(fresh: MergeSession) -> None:
            if self.of == of and self.editing.conflict is self:
                session = self._carried(screen.session, fresh)
                screen.replace_session(self._parties(), session, self._again_words(session))

        self.editing.run(lambda _: MergeSession.of(of.base, yours, snapshot.bytes), again, what="merge both sides")

    def _ask_anew(self, disk: Snapshot | None) -> None:
        """Ask another question, or none; a key typed for the old one is no answer and no text."""
        fence = fence_of(self.editing.app)
        if disk is None or disk.bytes not in (self.of.base, self.yours):
            if fence is not None:
                fence.startle()
            self.open()
            return
        how = "with your text" if disk.bytes == self.yours else "as you opened it: ctrl+s saves your text"
        words = f"{self.address} is there again, {how}."
        self.editing.editor.say(words)
        if fence is not None:
            fence.refuse(words)
        self.editing.check_disk()

    def _carried(self, session: MergeSession, fresh: MergeSession) -> MergeSession:
        """Carry decisions over; a file read between a writer's two steps costs none."""
        before, after, steps = self._before_round or (session, session, -1)
        if session is after and len(session.undo_steps) + len(session.redo_steps) == steps:
            session = before  # nothing was decided about the text in between, so it never counted
        else:
            self._rounds += 1
        carried = session.carry_over(fresh)
        self._before_round = session, carried, len(carried.undo_steps) + len(carried.redo_steps)
        return carried

    def _again_words(self, session: MergeSession) -> str:
        if self._rounds >= ROUNDS:
            return "It changed again. s keeps your text as a new memory under another name."
        still = f"{count_words(len(session.again), 'place') if session.again else 'nothing'} to decide again"
        kept = f", {count_words(len(session.places), 'decision')} kept" if session.places else ""
        return f"{did(self.of.disk.who, 'wrote again', begins=True)}: {still}{kept}."

    # --- the whole text

    def edit_whole(self) -> None:
        """Open the result with conflict markers in the user's editor; markers left over mean still open."""
        screen = self._screen
        if not isinstance(screen, ConflictScreen):
            return

        def edited(data: bytes) -> None:
            form = read_form(data)
            if form.editable:
                screen.take_edited_text(data.decode())
            else:
                screen.say(f"That text cannot be used: {form.reason}.")

        before = bytes_of(screen.session.with_markers())

        def salvage(data: bytes) -> None:
            state = self._state()
            if state is not None and data != before and read_form(data).editable:
                after = deepcopy(screen.session)
                after.read_back(data.decode())
                decisions = encode_decisions(after, screen.position)
                self.editing.bridge.store_conflict(state._replace(decisions=decisions))

        edit_text_outside(self.editing, before, self.address.name, edited, screen.say, salvage)

    # --- answers of both screens

    def keep_mine(self) -> None:
        """Write YOURS again where the file is gone."""
        self.of = self.of._replace(disk=self.of.disk._replace(snapshot=None))
        self.write_result(self.yours)

    def accept_deletion(self) -> None:
        """Let the memory go; the draft's text goes to history."""
        self._end()
        self.editing.drafts.drop(self.address)
        self.editing.abandon("The deletion stands; your text is in the history (H) and the trash (g t).")

    def save_as(self, path: str) -> None:
        """Keep YOURS as a new memory and continue there; the old name stays as it is on disk."""

        def refused(error: MemtuiError) -> None:
            if self._screen is not None:
                self._screen.say(f"Not written. {error}")

        questions.keep_elsewhere(self.editing, self.address, self.yours, path, self._end, refused)

    def leave(self) -> None:
        """Come back later: decisions and draft are kept, but not a copy that nothing was decided about."""
        screen = self._screen
        decided = isinstance(screen, ConflictScreen) and not screen.reading and bool(screen.session.undo_steps)
        if self._whose and not decided:
            self._end()
            self.editing.drafts.drop(self.address, saved=self.yours.decode(errors="replace"))
            self.editing.abandon("")
            return
        self._write_decisions()
        self._end()
        if self._alone:
            self.editing.leave()
        else:
            self.editing.editor.say("Both texts are kept. f8 returns to the conflict.")


def prepare(engine: Engine, of: OpenMemory, yours: bytes, at: int) -> PreparedConflict | None:
    """Store the texts of a conflict, merge them, and restore earlier decisions; `at` is now in milliseconds.

    Return None if the memory was deleted; raise `E_ROOT_MISSING` if its whole folder is gone.
    """
    if of.disk.snapshot is None:
        if of.base_sha256 is not None:
            open_memory.refuse_missing_folder(engine, of.address)
        return None
    disk = of.disk.snapshot.bytes
    session = MergeSession.of(of.base, yours, disk)
    spot, other = ScreenPosition(), False
    before = open_memory.conflict_or_none(engine, of.address)
    if before is not None and before.base_sha256 == of.base_sha256:
        stored = decode_decisions(before.decisions, MergeSession.of(of.base, before.yours, before.theirs))
        if stored is not None and (before.yours, before.theirs) == (yours, disk):
            session, spot = stored
        elif stored is not None:
            other = before.theirs != disk
            spot = stored[1]._replace(place=-1, editing=None, rounds=stored[1].rounds + other)
            session = stored[0].carry_over(session)
            if not other:
                session.again = frozenset()
    decisions = encode_decisions(session, spot)
    engine.drafts.save_conflict(OpenConflict(of.address, of.base_sha256, yours, disk, decisions, at))
    return PreparedConflict(session, spot, other)


def ask_renamed(editing: EditFlow, new: Address) -> None:
    """Ask whether to follow the open memory to its new name; an unedited one is followed at once."""
    editor = editing.editor
    subject, old = editor.subject, editing.address
    if subject is None or old is None:
        return
    if not editor.dirty:
        editing.renamed(old, new)
        editor.say("The memory is open under its new name.")
        return
    data = editor.data
    screen: QuestionScreen

    def follow() -> None:
        close_screen(screen)
        if editing.address == old:
            editing.renamed(old, new)
            editor.say("The memory is open under its new name, with what you typed.")

    def keep_name() -> None:
        editing.write(old, data, None, written, failed)

    def written(done: open_memory.SaveResult) -> None:
        close_screen(screen)
        if editing.address != old:
            return
        if isinstance(done.result, Conflict):
            editing.check_disk(editing.compare_screen)  # somebody took the old name meanwhile
            return
        snapshot = Snapshot(old, data, done.result.sha256, editing.bridge.now())
        editing.show_saved(snapshot, "Saved under the old name; the renamed memory is as they left it.")
        editing.drafts.drop(old)

    def failed(error: MemtuiError) -> None:
        questions.ask_where(editing, old, data, error, again=keep_name)

    at = subject.disk.changed_at
    parties = Parties(str(old), "", "", editor.who, editing.when(at) if at else "")
    answers = {"follow_name": follow, "keep_name": keep_name}
    question = questions.renamed_by_them(parties, str(new), (subject.base, data), answers, lambda: close_screen(screen))
    screen = QuestionScreen(question, table=editing.options.table)
    editing.show_screen(screen)
