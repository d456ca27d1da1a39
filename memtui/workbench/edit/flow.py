"""The flow of editing: open, draft, guarded save, somebody else's save, leave.

The editor shows and asks, the bridge works; what follows from what is decided here and nowhere else, so that there is
one place to read when the question is whether a text can get lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, MergeOf, OpenConflict, Saved, Snapshot
from memtui.errors import MemtuiError
from memtui.workbench.bridge import WRITE
from memtui.workbench.edit import intents, jobs
from memtui.workbench.edit.file_state import FileState
from memtui.workbench.edit.flow_base import Wishes
from memtui.workbench.edit.opening import DRAFTS, Opening
from memtui.workbench.edit.text_form import read_form

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.edit.open_memory import Sides
    from memtui.workbench.merge.session import MergeSession

__all__ = ["Editing", "Wishes"]

LOOK = "editor-look"
"""The group of jobs that look at the open memory again; only the newest counts."""


class Editing(Opening):
    """What happens between the editor and the engine; one for the life of the workbench."""

    # --- what others do

    def rows_changed(self, addresses: Iterable[Address] | None) -> None:
        """Something happened to these memories (None: to any); look again when the open one is among them."""
        if self.address is not None and (addresses is None or self.address in set(addresses)):
            self.look()

    def look(self, then: Callable[[], None] | None = None) -> None:
        """Read what is on disk under the open memory's name, and call `then` when that is known."""
        subject = self.editor.subject
        if subject is None or self.saving or self.editor.asking:
            return
        address, base = subject.address, subject.base_sha256
        if then is not None:
            self._after_look.append((address, then))

        def seen(found: jobs.Found) -> None:
            if self.address != address or self.saving or self.editor.asking:
                return
            shown = self.editor.subject
            before = shown.disk_sha256 if shown is not None else None
            differs = self.editor.disk_is(
                found.snapshot, who=found.who, moved=found.moved_to, at=found.at, why=found.why
            )
            if self.editor.dirty and before != (found.snapshot.sha256 if found.snapshot else None):
                # Who saved may be another window that stored its own draft over this one, and took it away since.
                self.keeper.doubt(self.editor)
                self.write_drafts()  # with the text it started from, which is no longer on disk
            if differs:
                self.compare_sides()
            elif not self.editor.dirty:
                self.settle_drafts()
            if self.conflict is not None and self.conflict.address == address:
                self.conflict.look(found)
            # Also what an earlier look was to go on with, when this one came before its answer.
            waiting, self._after_look = self._after_look, []
            for wanted, go_on in waiting:
                if wanted == self.address:
                    go_on()

        self.run(
            lambda engine: jobs.look(engine, address, base),
            seen,
            what=f"read {address}",
            latest=LOOK,
            awaited=then is not None,
        )

    def compare_sides(self) -> None:
        """Count what both sides changed, for title and marks."""
        subject = self.editor.subject
        if subject is None or subject.disk is None or subject.disk_sha256 == subject.base_sha256:
            return
        base, yours, disk = subject.base, self.editor.data, subject.disk
        self.run(
            lambda _: jobs.compare(base, yours, disk),
            lambda sides: self.editor.compared(sides) if self.editor.data == yours else None,
            what="compare both sides",
            latest="editor-compare",
        )

    # --- saving

    def save(self) -> None:
        """ctrl+s: save, guarded; or say why there is nothing to save; or show the other side first."""
        editor = self.editor
        subject = editor.subject
        if subject is None or self.saving or editor.asking:
            return
        match editor.state:
            case FileState.RAW:
                editor.say(self.why_read_only())
            case FileState.CLEAN if subject.base_sha256 is not None:
                editor.say("Nothing to save.")
            case FileState.FOLLOW:
                editor.say("Nothing to save: this is what is on disk.")
            case FileState.MERGEABLE:
                self._merge_then_show()
            case FileState.CLEAN | FileState.DRAFT:
                if not self._must_warn():
                    self._write(editor.data, subject.base_sha256, self._merge_of())
            case _:
                self.compare_screen()

    def _must_warn(self) -> bool:
        """Say once, before a text is saved that cannot be edited here afterwards; the next ctrl+s saves it."""
        data = self.editor.data
        reason = read_form(data, limit=self.editor.text_area.byte_limit).reason
        if not reason or self._warned_of == data:
            return False
        self._warned_of = data
        self.editor.say(f"Saved like this it is read-only here: {reason}. ctrl+s again saves it; f4 edits it then.")
        return True

    def _merge_of(self) -> MergeOf | None:
        """What the text on the screen was merged from; None when it is only an edit."""
        before, subject = self.editor.before_merge, self.editor.subject
        if before is None or subject is None:
            return None
        return MergeOf(before[1].base_sha256, sha256(before[0]).hexdigest(), subject.base_sha256)

    def _write(self, data: bytes, expected: str | None, merge: MergeOf | None = None) -> None:
        address, actor = self.address, self.actor
        assert address is not None
        self.saving = True
        self.run(
            lambda engine: jobs.write(engine, address, data, expected, actor=actor, merge=merge),
            lambda written: self._written(address, written),
            what=f"save {address}",
            otherwise=lambda error: self._not_saved(address, data, error),
            lane=WRITE,
        )

    def _not_saved(self, address: Address, data: bytes, error: MemtuiError) -> None:
        self.saving = False
        self.editor.say(f"Not saved. {error}")
        if self.address == address:
            from memtui.workbench.merge.keeping import ask_where

            ask_where(self, address, data, error, again=self.save)

    def _written(self, address: Address, written: jobs.Written) -> None:
        self.saving = False
        if isinstance(written.result, Conflict):
            if self.address == address:
                self._lost_the_race(written)
            return
        self._settle_draft(address, written.data)
        if self.address != address:
            return
        lines = written.data.count(b"\n") + (bool(written.data) and not written.data.endswith(b"\n"))
        self.look_after()
        self.editor.saved(Snapshot(address, written.data, written.result.sha256, self.wishes.clock()))
        size = f"{lines:,} line{'' if lines == 1 else 's'}"
        saved = isinstance(written.result, Saved)
        self.editor.say(f"Saved, {size}. u in the tree takes it back." if saved else "Nothing to save.")
        self.look()

    def _settle_draft(self, address: Address, data: bytes) -> None:
        """The text is in the memory now, so its draft goes without a trace; another window's stays."""
        own = (data.decode(), *self.found.get(address, ()))
        self.mine.discard(address)
        self.run(
            lambda engine: jobs.settle_draft(engine, address, own),
            lambda _: self.dropped(),
            what="drop a draft",
            lane=DRAFTS,
        )

    def _lost_the_race(self, written: jobs.Written) -> None:
        """Somebody saved first: nothing was written, both texts are in history. Merge or ask."""
        editor = self.editor
        self.write_drafts()
        editor.disk_is(written.disk, who=written.who)
        subject = editor.subject
        if subject is None or subject.disk is None:
            self.compare_screen()
            return
        base, yours, disk = subject.base, editor.data, subject.disk

        def compared(sides: Sides) -> None:
            editor.compared(sides)
            if editor.state is FileState.MERGEABLE:
                self._merge_then_show()
            else:
                self.compare_screen()

        self.run(lambda _: jobs.compare(base, yours, disk), compared, what="compare both sides")

    def _merge_then_show(self) -> None:
        """Show the text of both sides; the next ctrl+s writes it, because lines that do not overlap can contradict."""
        subject = self.editor.subject
        assert subject is not None
        if subject.disk is None:
            return
        address, base, yours = subject.address, subject.base, self.editor.data
        disk, disk_sha256 = subject.disk, subject.disk_sha256 or ""

        def merged(found: tuple[bytes | None, MergeSession]) -> None:
            text, session = found
            if self.address != address or self.editor.data != yours:
                return
            if text is None or not self.editor.put(text):
                self.compare_screen()
                return
            self.editor.merged(yours, Snapshot(address, disk, disk_sha256, self.wishes.clock()))
            self.write_drafts()
            if self.wishes.when_mergeable == "save":
                self._write(text, disk_sha256, self._merge_of())
                return
            added, removed = jobs.changed_lines(session)
            self.editor.say(
                f"Merged +{added} -{removed} from {self.editor.who}; ctrl+s again writes it, ctrl+z takes it apart."
            )

        of = OpenConflict(address, subject.base_sha256, yours, disk, "", self.wishes.clock())

        def merge(engine: Engine) -> tuple[bytes | None, MergeSession]:
            engine.drafts.save_conflict(of)  # both texts are in history before one text takes their place
            return jobs.merge(base, yours, disk)

        self.run(merge, merged, what="merge both sides", lane=DRAFTS)

    def adopt(self, snapshot: Snapshot, words: str) -> None:
        """Show a text that was just written as what is open now."""
        self.look_after()
        yours = self.editor.data if self.editor.dirty else None
        if self.editor.put(snapshot.bytes):
            if yours is not None:
                self.editor.merged(yours, snapshot)
            self.editor.saved(snapshot)
        else:
            self.editor.open(snapshot.address, snapshot, limit=self.editor.text_area.byte_limit)
        self.editor.text_area.focus()
        self.editor.say(words)

    def compare_screen(self) -> None:
        """Show both sides and let the user decide; see `merge/flow.py`."""
        if self.editor.state is FileState.MOVED and self.editor.moved_to is not None:
            from memtui.workbench.merge.moved import ask_about_name

            ask_about_name(self, self.editor.moved_to)
            return
        from memtui.workbench.merge.flow import start

        start(self)

    def describe(self) -> None:
        """f9: show the front matter of the text as a form."""
        editor = self.editor
        if editor.subject is None or editor.asking or self.saving:
            return
        if editor.refusal or not editor.subject.form.editable:
            editor.say(self.why_read_only())
            return
        from memtui.workbench.edit.describing import InEditor

        self.describing = InEditor(self, editor.subject.address)

    # --- intents

    def handle(self, event: intents.Intent) -> None:
        """Do what the editor asks for."""
        event.stop()
        match event:
            case intents.SaveAsked():
                self.save()
            case intents.DraftDue():
                self.settle_drafts()
            case intents.CompareDue():
                self.compare_sides()
            case intents.DraftAnswered():
                self.answer(event)
            case intents.CompareAsked():
                self.look(self.compare_screen)
            case intents.LeaveAsked():
                self.leave()
            case _:
                self._handle_more(event)

    def _handle_more(self, event: intents.Intent) -> None:
        from memtui.workbench.edit import extras as editing_extras

        match event:
            case intents.ExternalAsked():
                editing_extras.edit_outside(self)
            case intents.RenameAsked():
                editing_extras.ask_name(self)
            case intents.Renamed():
                editing_extras.rename(self, event.value)
            case intents.DescribeAsked():
                self.describe()
            case intents.Looked():
                editing_extras.mark_seen(self)
