"""Opening and leaving memories in the editor, and the drafts in between: what is typed is on disk before it is left.

The half of the flow of editing that ends when a text is open; `editing.py` goes on from there. A draft of this session
comes back by itself, one that outlived a death is asked about, and a draft is only ever dropped into history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from memtui.engine.model import Address, Draft, Snapshot
from memtui.errors import MemtuiError
from memtui.workbench.bridge import READ
from memtui.workbench.edit import intents, jobs
from memtui.workbench.edit.drafts import DraftKeeper, question_for
from memtui.workbench.edit.file_state import FileState
from memtui.workbench.edit.flow_base import EditingBase, Wishes

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.describing import Describing
    from memtui.workbench.edit.editor import MemoryEditor
    from memtui.workbench.merge.flow import ConflictFlow

T = TypeVar("T")

AT_LINE = "line "
"""What a wish to begin at a line starts with."""

DRAFTS = "drafts"
"""The lane drafts are written in: a save that waits for a lock must not hold them up."""


class Opening(EditingBase):
    """Opens memories, keeps drafts."""

    def __init__(self, app: App[Any], bridge: Bridge, editor: MemoryEditor, wishes: Wishes) -> None:
        """Join the parts; `editor` is mounted already."""
        super().__init__(app, bridge, wishes)
        self.editor = editor
        self.keeper = DraftKeeper(bridge.store_draft)
        self.conflict: ConflictFlow | None = None
        """The conflict that is on the screen."""
        self.opened_at = 0
        self.saving = False
        """Whether a write of ours is under way; looks at the disk wait for its end."""
        self.describing: Describing | None = None
        """The form of the front matter that was opened last."""
        self.mine: set[Address] = set()
        """Memories whose drafts were made in this session."""
        self.found: dict[Address, tuple[str, ...]] = {}
        """The unsaved texts that were on disk when their memories were opened, by memory: the user's own too."""
        self._then = ""
        self._warned_of: bytes | None = None
        """The text of which was said that it cannot be edited here once it is saved."""
        self._pending: jobs.Loaded | None = None
        self._after_look: list[tuple[Address, Callable[[], None]]] = []
        """What to go on with once it is known what is on disk, by memory."""

    def run(
        self,
        job: Callable[[Engine], T],
        then: Callable[[T], None] | None = None,
        *,
        what: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        lane: str = READ,
        latest: str | None = None,
        awaited: bool = False,
    ) -> None:
        """Run a job with the engine in a thread; what follows is dropped when the editor is gone by then."""

        def follow(result: T) -> None:
            if then is not None and self.editor.is_attached:
                then(result)

        def refused(error: MemtuiError) -> None:
            if otherwise is not None and self.editor.is_attached:
                otherwise(error)

        no = refused if otherwise else None
        super().run(job, follow, what=what, otherwise=no, lane=lane, latest=latest, awaited=awaited)

    # --- what the rest of the flow does

    def look(self, then: Callable[[], None] | None = None) -> None:
        """Read what is on disk under the open memory's name, and call `then` when that is known."""
        raise NotImplementedError

    def compare_sides(self) -> None:
        """Count what both sides changed, for title and marks."""
        raise NotImplementedError

    def compare_screen(self) -> None:
        """Show both sides and let the user decide."""
        raise NotImplementedError

    def handle(self, event: intents.Intent) -> None:
        """Do what the editor asks for."""
        raise NotImplementedError

    # --- opening and leaving

    @property
    def address(self) -> Address | None:
        """What is open."""
        return self.editor.subject.address if self.editor.subject else None

    def open(self, address: Address, *, then: str = "") -> None:
        """Open a memory; one that does not exist yet opens empty.

        Args:
            address: which.
            then: what to go on with: both sides (`compare`), the form of the front matter (`describe`) or the user's
                own editor (`outside`), its draft brought back first; a place in the text (`line 12`, `line 12:5`, or
                with what was searched for behind it); or nothing.
        """
        self._then = then
        if address == self.address:
            self.editor.text_area.focus()
            self.look(self._go_on)
            return
        self.keep_then(lambda: self._load(address), awaited=True)

    def _load(self, address: Address) -> None:
        if not self.put_away():
            return
        read_only = self._bridge.read_only
        self.run(
            lambda engine: jobs.load(engine, address, read_only=read_only),
            self._loaded,
            what=f"open {address}",
            otherwise=lambda error: self._unreadable(address, error),
            latest="editor-open",
            awaited=True,
        )

    def _unreadable(self, address: Address, error: MemtuiError) -> None:
        """Say in the place of the text why there is none."""
        self._then = ""
        self.editor.open(address, None, refusal=error.message)
        self.editor.text_area.focus()
        self.editor.say(str(error))

    def _loaded(self, loaded: jobs.Loaded) -> None:
        self.saving = False
        self.found.pop(loaded.address, None)
        if loaded.draft is not None:
            decided = () if loaded.conflict is None else (loaded.conflict.yours.decode(errors="replace"),)
            self.found[loaded.address] = (loaded.draft.text, *decided)
        self._show(loaded, loaded.last)
        self._take_note(loaded)
        self.opened_at = self.wishes.clock()
        self.editor.text_area.focus()
        if self.editor.state is FileState.RAW:
            self.editor.say(self.why_read_only())
        if loaded.draft is not None and self._bridge.read_only:
            self._then = ""
            self.editor.say("Your unsaved draft of this memory waits: memtui was started with --read-only.")
        elif loaded.draft is not None:
            self._offer(loaded, loaded.draft)
        else:
            if loaded.gone is not None and self._then == "":
                self.editor.say("It was deleted meanwhile; this is its last text. f8 writes it again, or lets it go.")
            self._go_on()

    def _take_note(self, loaded: jobs.Loaded) -> bool:
        """Tell the editor what is on disk; returns whether both sides have to be compared."""
        gone = loaded.gone
        if gone is None:
            return self.editor.disk_is(loaded.snapshot, who=loaded.who)
        return self.editor.disk_is(None, who=gone.who, moved=gone.moved_to, at=gone.at, why=gone.why)

    def why_read_only(self) -> str:
        """Say why the open memory cannot be edited here, and what can be done."""
        subject = self.editor.subject
        if self.editor.refusal or subject is None:
            return f"Read-only here: {self.editor.refusal}."
        return f"Read-only here: {subject.form.reason}. f4 opens it in your own editor."

    def _go_on(self) -> None:
        """Do what the memory was opened for."""
        then, self._then = self._then, ""
        if then == "compare":
            self.compare_screen()
        elif then == "describe":
            self.handle(intents.DescribeAsked(self.editor))
        elif then == "outside":
            self.handle(intents.ExternalAsked(self.editor))
        elif then.startswith(AT_LINE):
            place, _, words = then.removeprefix(AT_LINE).partition(" ")
            line, _, column = place.partition(":")
            self._show_place(int(line), int(column or 1), words)

    def _show_place(self, line: int, column: int, words: str) -> None:
        """Put the cursor on a place (from 1; 0: the first one that is found), with words ready to be found."""
        area = self.editor.text_area
        if line:
            area.move_cursor(area.clamp_visitable((line - 1, column - 1)), center=True)
        if words:
            self.editor.found_by(words, jump=not line)

    def _show(self, loaded: jobs.Loaded, snapshot: Snapshot | None) -> None:
        self.editor.open(loaded.address, snapshot, limit=loaded.limit, refusal=loaded.refusal, unseen=loaded.unseen)
        self.look_after(stored=loaded.draft)

    def look_after(self, stored: Draft | None = None) -> None:
        """Have what is typed from now on kept as a draft."""
        self.keeper.open(self.editor, lambda: self.editor.draft(self.wishes.clock()), stored=stored)

    def _offer(self, loaded: jobs.Loaded, draft: Draft) -> None:
        """Bring a draft of this session back at once; ask about one that outlived a death or a restart."""
        shown = loaded.last.bytes.decode(errors="replace") if loaded.last else ""
        question = question_for(draft, shown, loaded.snapshot.sha256 if loaded.snapshot else None)
        self._pending = loaded
        if question is None:
            self.drop(draft.address)
            self._go_on()
        elif not self._then and loaded.conflict is not None and loaded.conflict.yours == draft.text.encode():
            self._then = "compare"  # it was left undecided, so it opens where it was left
            self._restore(draft)
        elif self._is_of_this_session(draft) or (self._then and not self._then.startswith(AT_LINE)):
            self._restore(draft)
        else:
            self.editor.ask_about(question, self.when(draft.at))

    def _is_of_this_session(self, draft: Draft) -> bool:
        """Whether the user knows of a draft: they typed it, or an undo brought it back, since the start."""
        return draft.address in self.mine or draft.at >= self._bridge.started

    def answer(self, event: intents.DraftAnswered) -> None:
        """Do what the user wants with a draft that was found."""
        if event.answer == "discard":
            self.look_after()
            self.drop(event.draft.address)
            self.editor.say("The draft was discarded; its text is in the history (H).")
            self.look()
        elif event.answer == "restore":
            self._restore(event.draft)
        else:
            self.leave()

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
        if self._take_note(loaded):
            self.compare_sides()
        self._bridge.store(lambda engine: engine.drafts.take(draft))
        self.mine.add(draft.address)
        self.opened_at = draft.at
        stale = editor.subject.disk_sha256 != editor.subject.base_sha256
        changed = "was deleted" if loaded.gone is not None else "changed"
        then = f"The memory {changed} since: f8 shows both." if stale else "ctrl+s saves it."
        editor.say(f"The draft from {self.when(draft.at)} is back. {then}")
        self.look(self._go_on)

    def leave(self) -> None:
        """Go back to the tree, once what is typed is on disk; keys that follow are for the tree."""
        self.keep_then(self.wishes.left, awaited=True)

    def keep_then(
        self, then: Callable[[], None], otherwise: Callable[[MemtuiError], None] | None = None, *, awaited: bool = False
    ) -> None:
        """Bring what is typed to disk and go on; when that fails, say so and stay, or do what is to be done then."""
        drafts = self.keeper.due()
        self.mine.update(draft.address for _, draft in drafts)
        if not drafts:
            then()
            return

        def store(_engine: object) -> None:
            for owner, draft in drafts:
                self.keeper.write(owner, draft)

        def stored(_: None) -> None:
            self._bridge.refresh_drafts()
            then()

        self.run(
            store, stored, what="keep a draft", otherwise=otherwise or self._not_kept, lane=DRAFTS, awaited=awaited
        )

    def _not_kept(self, error: MemtuiError) -> None:
        self.editor.say(f"Your draft could not be kept, so the text stays open. {error}")

    def put_away(self) -> bool:
        """Empty the pane; what is typed must be on disk, or this does nothing and returns False."""
        if self.editor.subject is None:
            return True
        try:
            self.keeper.flush()
        except MemtuiError as error:
            self._not_kept(error)
            return False
        self._close()
        return True

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
            self.look_after()
            self.drop(old)
            self.write_drafts()
            self.look()

    # --- drafts

    def write_drafts(self) -> None:
        """Bring what is typed to disk, in a thread."""
        for owner, draft in self.keeper.due():
            self.mine.add(draft.address)

            def store(_engine: object, owner: object = owner, draft: Draft = draft) -> None:
                self.keeper.write(owner, draft)

            self.run(store, lambda _: self._bridge.refresh_drafts(), what="keep a draft", lane=DRAFTS)

    def flush(self) -> int:
        """Bring what is typed to disk before this returns, and return how many drafts that were."""
        self.keeper.doubt(self.editor)  # where it was put when it was typed may be damaged by now
        count = self.keeper.flush()
        count += self.describing.flush() if self.describing is not None else 0
        if self.conflict is not None:
            self.conflict.flush()
        return count

    def drop(self, address: Address) -> None:
        """Take a stored draft away, not another window's; its text goes to history when it is nowhere else."""
        self.mine.discard(address)
        own = self.found.get(address, ())

        def drop(engine: Engine) -> None:
            engine.drafts.drop(address, own=own)

        self.run(drop, lambda _: self.dropped(), what="drop a draft", lane=DRAFTS)

    def dropped(self) -> None:
        """A stored draft is gone; what was typed since then needs a new one."""
        self._bridge.refresh_drafts()
        self.write_drafts()

    def settle_drafts(self) -> None:
        """Bring what is typed to disk; when nothing is unsaved any more, take the stored draft away."""
        editor = self.editor
        if editor.dirty:
            self.write_drafts()
        elif editor.subject is not None and self.keeper.has_stored(editor) and not editor.asking:
            self.look_after()
            self.drop(editor.subject.address)
