"""The flow of editing: open, draft, guarded save, somebody else's save, leave.

The editor shows and asks, the bridge works; what follows from what is decided here and nowhere else, so that there is
one place to read when the question is whether a text can get lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, Draft, Saved, Snapshot, Unchanged
from memtui.errors import MemtuiError
from memtui.tui import editing_jobs as jobs
from memtui.tui import editor_intents as intents
from memtui.tui.bridge import WRITE
from memtui.tui.drafts import DraftKeeper, question_for
from memtui.tui.editing_base import EditingBase, Wishes
from memtui.tui.file_state import FileState

if TYPE_CHECKING:
    from textual.app import App

    from memtui.tui.bridge import Bridge
    from memtui.tui.editor import MemoryEditor
    from memtui.tui.merge_session import MergeSession
    from memtui.tui.open_memory import Sides

__all__ = ["Editing", "Wishes"]

DRAFTS = "drafts"
"""The lane drafts are written in: a save that waits for a lock must not hold them up."""
LOOK = "editor-look"
"""The group of jobs that look at the open memory again; only the newest counts."""


class Editing(EditingBase):
    """What happens between the editor and the engine; one for the life of the workbench."""

    def __init__(self, app: App[object], bridge: Bridge, editor: MemoryEditor, wishes: Wishes) -> None:
        """Join the parts; `editor` is mounted already."""
        super().__init__(app, bridge, wishes)
        self.editor = editor
        self.keeper = DraftKeeper(bridge.store_draft)
        self.sessions: dict[Address, MergeSession] = {}
        """Decisions of conflicts that were left for later."""
        self.opened_at = 0
        self.saving = False
        """Whether a write of ours is under way; looks at the disk wait for its end."""
        self._mine: set[Address] = set()
        self._then = ""
        self._pending: jobs.Loaded | None = None

    # --- opening and leaving

    @property
    def address(self) -> Address | None:
        """What is open."""
        return self.editor.subject.address if self.editor.subject else None

    def open(self, address: Address, *, then: str = "") -> None:
        """Open a memory; one that does not exist yet opens empty.

        Args:
            address: which.
            then: what to go on with, its draft brought back first: both sides (`compare`), the user's own editor
                (`outside`), or nothing.
        """
        self._then = then
        if address == self.address:
            self.editor.text_area.focus()
            self.look(self._go_on)
            return
        self.put_away()
        read_only = self._bridge.read_only
        self.run(
            lambda engine: jobs.load(engine, address, read_only=read_only),
            self._loaded,
            what=f"open {address}",
            latest="editor-open",
        )

    def _loaded(self, loaded: jobs.Loaded) -> None:
        self.saving = False
        self._show(loaded, loaded.snapshot)
        self.opened_at = self.wishes.clock()
        self.editor.text_area.focus()
        if loaded.draft is not None:
            self._offer(loaded, loaded.draft)
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Do what the memory was opened for."""
        then, self._then = self._then, ""
        if then == "compare":
            self.compare_screen(keep=False)
        elif then == "outside":
            self.handle(intents.ExternalAsked(self.editor))

    def _show(self, loaded: jobs.Loaded, snapshot: Snapshot | None) -> None:
        self.editor.open(loaded.address, snapshot, limit=loaded.limit, refusal=loaded.refusal, unseen=loaded.unseen)
        self._look_after(stored=loaded.draft)

    def _look_after(self, stored: Draft | None = None) -> None:
        """Have what is typed from now on kept as a draft."""
        self.keeper.open(self.editor, lambda: self.editor.draft(self.wishes.clock()), stored=stored)

    def _offer(self, loaded: jobs.Loaded, draft: Draft) -> None:
        """Bring a draft of this session back at once; ask about one that outlived a death or a restart."""
        disk = loaded.snapshot
        question = question_for(
            draft, disk.bytes.decode(errors="replace") if disk else "", disk.sha256 if disk else None
        )
        self._pending = loaded
        if question is None:
            self.drop(draft.address)
            self._go_on()
        elif draft.address in self._mine or self._then:
            self._restore(draft)
        else:
            self.editor.ask_about(question, self.when(draft.at))

    def _answered(self, event: intents.DraftAnswered) -> None:
        if event.answer == "discard":
            self._look_after()
            self.drop(event.draft.address)
            self.editor.say("The draft was discarded; its text is in the history (H).")
        elif event.answer == "restore":
            self._restore(event.draft)
        else:
            self.put_away()
            self.wishes.left()

    def _restore(self, draft: Draft) -> None:
        """Put a draft back as what it was: an edit of the version it started from."""
        loaded, self._pending = self._pending, None
        editor = self.editor
        if editor.subject is None or loaded is None:
            return
        if draft.base_sha256 != editor.subject.base_sha256:
            base = Snapshot(draft.address, loaded.draft_base, draft.base_sha256 or "", draft.at)
            self._show(loaded, base if draft.base_sha256 else None)
        if not editor.put(draft.text.encode()):
            editor.say("The draft cannot be shown as text here; it is kept as it is.")
            return
        editor.text_area.move_cursor(editor.text_area.clamp_visitable(draft.cursor))
        if editor.disk_is(loaded.snapshot, who=loaded.who):
            self._compare()
        self._mine.add(draft.address)
        self.opened_at = draft.at
        stale = editor.subject.disk_sha256 != editor.subject.base_sha256
        then = "The memory changed since: f8 shows both." if stale else "ctrl+s saves it."
        editor.say(f"The draft from {self.when(draft.at)} is back. {then}")
        self._go_on()

    def put_away(self) -> None:
        """Leave what is open: what is typed is on its way to disk, and the pane is empty."""
        if self.editor.subject is None:
            return
        self.write_drafts()
        self._close()

    def abandon(self, words: str) -> None:
        """Close a memory that is gone."""
        self._close()
        self.wishes.left()
        self.tell(words)

    def reopen(self, address: Address) -> None:
        """Go on with another memory; what was open is settled already."""
        self._close()
        self.open(address)

    def _close(self) -> None:
        self.keeper.close(self.editor)
        self.editor.forget()

    def renamed(self, old: Address, new: Address) -> None:
        """Follow a memory to another address; what is typed goes with it."""
        if self.address == old:
            self.editor.renamed(new)
            self._look_after()
            self.drop(old)
            self.write_drafts()
            self.look()

    # --- drafts

    def write_drafts(self) -> None:
        """Bring what is typed to disk, in a thread."""
        for owner, draft in self.keeper.due():
            self._mine.add(draft.address)

            def store(_engine: object, owner: object = owner, draft: Draft = draft) -> None:
                self.keeper.write(owner, draft)

            self.run(store, lambda _: self._bridge.refresh_drafts(), what="keep a draft", lane=DRAFTS)

    def flush(self) -> int:
        """Bring what is typed to disk before this returns, and return how many drafts that were."""
        return self.keeper.flush()

    def drop(self, address: Address) -> None:
        """Take a stored draft away; its text goes to history when it is nowhere else."""
        self._mine.discard(address)

        def drop(engine: jobs.Verbs) -> None:
            engine.drop_draft(address)

        self.run(drop, lambda _: self._bridge.refresh_drafts(), what="drop a draft", lane=DRAFTS)

    def _draft_due(self) -> None:
        editor = self.editor
        if editor.dirty:
            self.write_drafts()
        elif editor.subject is not None and self.keeper.has_stored(editor) and not editor.asking:
            self._look_after()
            self.drop(editor.subject.address)

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

        def seen(found: jobs.Found) -> None:
            if self.address != address or self.saving or self.editor.asking:
                return
            if self.editor.disk_is(found.snapshot, who=found.who, moved=found.moved_to):
                self.write_drafts()  # with the text it started from, which is no longer on disk
                self._compare()
            if then is not None:
                then()

        self.run(lambda engine: jobs.look(engine, address, base), seen, what=f"read {address}", latest=LOOK)

    def _compare(self) -> None:
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
                editor.say("Read-only here, so there is nothing to save. f4 opens it in your editor.")
            case FileState.CLEAN if subject.base_sha256 is not None:
                editor.say("Nothing to save.")
            case FileState.FOLLOW:
                editor.say("Nothing to save: this is what is on disk.")
            case FileState.MERGEABLE:
                self._merge_then_show()
            case FileState.CLEAN | FileState.DRAFT:
                self._write(editor.data, subject.base_sha256)
            case _:
                self.compare_screen(keep=True)

    def _write(self, data: bytes, expected: str | None) -> None:
        address, actor = self.address, self.actor
        assert address is not None
        self.saving = True
        self.run(
            lambda engine: jobs.write(engine, address, data, expected, actor=actor),
            lambda written: self._written(address, written),
            what=f"save {address}",
            otherwise=self._not_saved,
            lane=WRITE,
        )

    def _not_saved(self, error: MemtuiError) -> None:
        self.saving = False
        self.write_drafts()
        self.editor.say(f"Not saved. {error} Your draft is kept.")

    def _written(self, address: Address, written: jobs.Written) -> None:
        self.saving = False
        if isinstance(written.result, Conflict):
            if self.address == address:
                self._lost_the_race(written)
            return
        self._settle_draft(address, written.data, written.result)
        if self.address != address:
            return
        lines = written.data.count(b"\n") + (bool(written.data) and not written.data.endswith(b"\n"))
        self._look_after()
        self.editor.saved(Snapshot(address, written.data, written.result.sha256, self.wishes.clock()))
        size = f"{lines:,} line{'' if lines == 1 else 's'}"
        saved = isinstance(written.result, Saved)
        self.editor.say(f"Saved, {size}. u in the tree takes it back." if saved else "Nothing to save.")
        self.look()

    def _settle_draft(self, address: Address, data: bytes, result: Saved | Unchanged) -> None:
        """The text is in the memory now, so its draft goes without a trace."""
        at = self.wishes.clock()
        self._mine.discard(address)
        self.run(
            lambda engine: jobs.settle_draft(engine, address, result.sha256, data, at),
            lambda _: self._bridge.refresh_drafts(),
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
            self.compare_screen(keep=False)
            return
        base, yours, disk = subject.base, editor.data, subject.disk

        def compared(sides: Sides) -> None:
            editor.compared(sides)
            if editor.state is FileState.MERGEABLE:
                self._merge_then_show()
            else:
                self.compare_screen(keep=False)

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
                self.compare_screen(keep=True)
                return
            self.editor.merged(yours, Snapshot(address, disk, disk_sha256, self.wishes.clock()))
            self.write_drafts()
            if self.wishes.when_mergeable == "save":
                self._write(text, disk_sha256)
                return
            added, removed = jobs.changed_lines(session)
            self.editor.say(
                f"Merged +{added} -{removed} from {self.editor.who}; ctrl+s again writes it, ctrl+z takes it apart."
            )

        self.run(lambda _: jobs.merge(base, yours, disk), merged, what="merge both sides")

    def adopt(self, snapshot: Snapshot, words: str) -> None:
        """Show a text that was just written as what is open now."""
        self._look_after()
        if self.editor.put(snapshot.bytes):
            self.editor.saved(snapshot)
        else:
            self.editor.open(snapshot.address, snapshot, limit=self.editor.text_area.byte_limit)
        self.editor.text_area.focus()
        self.editor.say(words)

    def compare_screen(self, *, keep: bool) -> None:
        """Show both sides and let the user decide; see `conflict_flow.py`."""
        if self.editor.state is FileState.MOVED and self.editor.moved_to is not None and self.address is not None:
            self.renamed(self.address, self.editor.moved_to)
            self.editor.say("You follow the memory to its new name; what you typed came along.")
            return
        from memtui.tui.conflict_flow import start

        start(self, keep=keep)

    # --- intents

    def handle(self, event: intents.Intent) -> None:
        """Do what the editor asks for."""
        event.stop()
        match event:
            case intents.SaveAsked():
                self.save()
            case intents.DraftDue():
                self._draft_due()
            case intents.CompareDue():
                self._compare()
            case intents.DraftAnswered():
                self._answered(event)
            case intents.CompareAsked():
                self.look(lambda: self.compare_screen(keep=False))
            case intents.LeaveAsked():
                self.write_drafts()
                self.wishes.left()
            case intents.RenameAsked():
                if self.address is not None:
                    self.wishes.rename(self.address)
            case _:
                self._handle_more(event)

    def _handle_more(self, event: intents.Intent) -> None:
        from memtui.tui import editing_extras

        match event:
            case intents.ExternalAsked():
                editing_extras.edit_outside(self)
            case intents.DescribeAsked():
                editing_extras.ask_description(self)
            case intents.Described():
                editing_extras.describe(self, event.value)
            case intents.Looked():
                editing_extras.mark_seen(self)
