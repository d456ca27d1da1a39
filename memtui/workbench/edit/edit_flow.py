"""The flow of editing one memory: open, offer a stored draft, save guarded, follow other writers, leave.

What happens to a text is decided here and in `merge/conflict_flow.py` only; the editor shows, the bridge works.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memtui.config.settings import Settings
from memtui.engine.model import Address, Conflict, Draft, MergeOf, OpenConflict, Root, Saved, Snapshot
from memtui.errors import MemtuiError
from memtui.features.actors import by
from memtui.features.feature import load
from memtui.ui.action import Action
from memtui.ui.draw.text import count_words
from memtui.workbench.actions import ACTIONS
from memtui.workbench.bridge import DRAFTS, READ, WRITE
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.drafts import DraftFlow, EditorDrafts
from memtui.workbench.edit.open_memory import Comparison, DiskState, FileState, draft_words

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.editor import MemoryEditor
    from memtui.workbench.edit.merge.decisions import MergeSession

T = TypeVar("T")

LATEST_CHECK = "editor-look"
"""Group of the jobs that read the open memory from disk; only the newest counts."""
AT_LINE = "line "
"""Prefix of an `open(then=...)` that names a place in the text."""


class EditorOptions(NamedTuple):
    """Settings of the editor, and what the main screen does for it."""

    left: Callable[[str], None]
    """Return to the tree and say these words there."""
    roots: Callable[[], Mapping[str, Root]]
    settings: Settings
    table: Sequence[Action] = ACTIONS
    lend: Callable[[str], None] = lambda _: None
    """Called with the name of the program that gets the terminal, and with nothing when it is back."""
    advance: float | None = 0.4
    """Seconds from a decided conflict to the next one; None: never by itself."""


OVER = {
    "compare": "memtui.workbench.edit.merge.conflict_flow:open_conflict",
    "ask_renamed": "memtui.workbench.edit.merge.conflict_flow:ask_renamed",
    "describe": "memtui.workbench.edit.form_screen:describe",
    "edit_outside": "memtui.workbench.edit.external_editor:edit_outside",
    "save_failed": "memtui.workbench.edit.merge.questions:ask_where",
}
"""Functions that open something over the text; loaded with their first use, they know this module."""


class ShownConflict:
    """The conflict on the screen, as the edit flow sees it."""

    address: Address

    def flush(self) -> None:
        """Store the decisions before this returns."""
        raise NotImplementedError

    def disk_changed(self, disk: DiskState) -> None:
        raise NotImplementedError


class EditFlow:
    """Controller between the editor and the engine; one for the life of the workbench."""

    def __init__(self, app: App[Any], bridge: Bridge, editor: MemoryEditor, options: EditorOptions) -> None:
        self.app, self.bridge, self.editor, self.options = app, bridge, editor, options
        self.drafts = EditorDrafts(bridge, editor, self.run)
        self.conflict: ShownConflict | None = None
        self.opened_at = 0
        self.saving = False
        """Whether our own write is under way; reading the disk waits for its end."""
        self.describing: DraftFlow[Any] | None = None
        self._shown: Screen[None] | None = None
        self._then = ""
        self._pending: open_memory.LoadedMemory | None = None
        self._after_check: list[tuple[Address, Callable[[], None]]] = []
        """Callbacks for when the disk has been read, with the memory they are for."""

    def run(
        self,
        job: Callable[[Engine], T],
        then: Callable[[T], None] | None = None,
        *,
        otherwise: Callable[[MemtuiError], None] | None = None,
        **options: Any,
    ) -> None:
        """Run a job as `Bridge.run` does; the callbacks are dropped once the editor is gone."""

        def if_open(callback: Callable[[Any], None] | None) -> Callable[[Any], None] | None:
            return callback and (lambda value: callback(value) if self.editor.is_attached else None)

        self.bridge.run(job, if_open(then), otherwise=if_open(otherwise), **options)

    def _show_over(self, what: str, *given: Any, **options: Any) -> None:
        """Call a function of `OVER`."""
        load(OVER[what])(self, *given, **options)

    def show_screen(self, screen: Screen[None]) -> None:
        """Push a screen unless the one before it is still there: a key pressed twice asks once."""
        if self._shown not in self.app.screen_stack:
            self._shown = screen
            self.app.push_screen(screen)

    def when(self, at: int) -> str:
        """Say a moment (milliseconds) in words: the time of day, with the date when it was another day."""
        then, today = time.localtime(at / 1000), time.localtime(self.bridge.now() / 1000)
        return time.strftime("%H:%M" if then[:3] == today[:3] else "%Y-%m-%d %H:%M", then)

    # --- opening and leaving

    @property
    def address(self) -> Address | None:
        return self.editor.subject.address if self.editor.subject else None

    def open(self, address: Address, *, then: str = "") -> None:
        """Open a memory; one that does not exist yet opens empty.

        `then` says what to go on with, a stored draft restored first: both sides (`compare`, or `compare the proposal`
        where the draft is one), the front matter (`describe`), the user's own editor (`outside`), a place (`line 12`,
        `line 12:5`, searched words behind it), or nothing.
        """
        self._then = then
        if address == self.address:
            self.editor.text_area.focus()
            self.check_disk(self._go_on)
            return
        self.drafts.store_then(lambda: self._load(address), awaited=True)

    def _load(self, address: Address) -> None:
        if not self.put_away():
            return
        read_only = self.bridge.read_only
        self.run(
            lambda engine: open_memory.load(engine, address, read_only=read_only),
            self._loaded,
            what=f"open {address}",
            otherwise=lambda error: self._unreadable(address, error),
            lane=open_memory.lane_of(address, READ),
            latest="editor-open",
            awaited=True,
        )

    def _unreadable(self, address: Address, error: MemtuiError) -> None:
        self._then = ""
        self.editor.open(address, None, refusal=error.message)
        self.editor.text_area.focus()
        self.editor.say(str(error))

    def _loaded(self, loaded: open_memory.LoadedMemory) -> None:
        self.saving = False
        self.drafts.found.pop(loaded.address, None)
        if loaded.draft is not None:
            decided = () if loaded.conflict is None else (loaded.conflict.yours.decode(errors="replace"),)
            self.drafts.found[loaded.address] = (loaded.draft.text, *decided)
        self._show(loaded, loaded.last)
        self.editor.set_disk(loaded.disk)
        self.opened_at = self.bridge.now()
        self.editor.text_area.focus()
        if self.editor.state is FileState.RAW:
            self.editor.say(self.why_read_only())
        if loaded.draft is not None and self.bridge.read_only:
            self._then = ""
            self.editor.say("Your unsaved draft of this memory waits: memtui was started with --read-only.")
        elif loaded.draft is not None:
            self._offer(loaded, loaded.draft)
        else:
            if loaded.deleted and self._then == "":
                self.editor.say("It was deleted; this is its last text. f8 restores it or accepts the deletion.")
            self._go_on()

    def why_read_only(self) -> str:
        """Say why the open memory cannot be edited here, and what else can be done."""
        subject = self.editor.subject
        if self.editor.refusal or subject is None:
            return f"Read-only here: {self.editor.refusal}."
        return f"Read-only here: {subject.form.reason}. f4 opens it in your own editor."

    def _go_on(self) -> None:
        then, self._then = self._then, ""
        if then.startswith("compare"):
            self.compare_screen(alone=True, whose=then.removeprefix("compare").strip())
        elif then == "describe":
            self.describe(alone=True)
        elif then == "outside":
            self._show_over("edit_outside", alone=True)
        elif then.startswith(AT_LINE):
            place, _, words = then.removeprefix(AT_LINE).partition(" ")
            line, _, column = place.partition(":")
            self._show_place(int(line), int(column or 1), words)

    def _show_place(self, line: int, column: int, words: str) -> None:
        """Put the cursor on a place (from 1; line 0: the first match of `words`), with `words` ready to be found."""
        area = self.editor.text_area
        if line:
            area.move_cursor(area.clamp_visitable((line - 1, column - 1)), center=True)
        if words:
            self.editor.show_matches(words, jump=not line)

    def _show(self, loaded: open_memory.LoadedMemory, snapshot: Snapshot | None) -> None:
        self.editor.open(loaded.address, snapshot, limit=loaded.limit, refusal=loaded.refusal, unseen=loaded.unseen)
        self.drafts.track(stored=loaded.draft)

    def _offer(self, loaded: open_memory.LoadedMemory, draft: Draft) -> None:
        """Restore a draft of this session at once; ask about one that outlived a restart."""
        shown = loaded.last.bytes.decode(errors="replace") if loaded.last else ""
        question = draft_words(draft, shown, loaded.disk.sha256, self.when(draft.at))
        self._pending = loaded
        if not question:
            self.drafts.drop(draft.address)
            self._go_on()
        elif not self._then and loaded.conflict is not None and loaded.conflict.yours == draft.text.encode():
            self._then = "compare"  # it was left undecided, so it opens where it was left
            self._restore(draft)
        elif self._is_of_this_session(draft) or (self._then and not self._then.startswith(AT_LINE)):
            self._restore(draft)
        else:
            self.editor.ask_about(draft, question)

    def _is_of_this_session(self, draft: Draft) -> bool:
        """Whether the user knows of a draft: it was typed, or an undo brought it back, since the start."""
        return draft.address in self.drafts.mine or draft.at >= self.bridge.started

    def answer(self, draft: Draft, answer: str) -> None:
        if answer == "discard":
            self.drafts.track()
            self.drafts.drop(draft.address)
            self.editor.say("The draft was discarded; its text is in the history (H).")
            self.check_disk()
        elif answer == "restore":
            self._restore(draft)
        else:
            self.leave()

    def _restore(self, draft: Draft) -> None:
        """Put a draft back as an edit of the version it started from."""
        loaded, self._pending = self._pending, None
        editor = self.editor
        if editor.subject is None or loaded is None:
            return
        if draft.base_sha256 != editor.subject.base_sha256:
            base = Snapshot(draft.address, loaded.draft_base, draft.base_sha256 or "", draft.at)
            self._show(loaded, base if draft.base_sha256 else None)
        if not editor.replace_text(draft.text.encode()):
            editor.say("The draft cannot be shown as text here; it is kept as it is.")
            return
        editor.text_area.move_cursor(editor.text_area.clamp_visitable(draft.cursor))
        if editor.set_disk(loaded.disk):
            self.compare_sides()
        self.bridge.store(lambda engine: engine.drafts.take(draft))
        self.drafts.mine.add(draft.address)
        self.opened_at = draft.at
        stale = editor.subject.disk.sha256 != editor.subject.base_sha256
        changed = "was deleted" if loaded.deleted else "changed"
        then = f"The memory {changed} since: f8 shows both." if stale else "ctrl+s saves it."
        editor.say(f"The draft from {self.when(draft.at)} is back. {then}")
        self.check_disk(self._go_on)

    def leave(self, words: str = "") -> None:
        """Store what is typed, then return to the tree and say `words`; the keys that follow are for the tree."""
        self.drafts.store_then(lambda: self.options.left(words), awaited=True)

    def put_away(self) -> bool:
        """Empty the pane; do nothing and return False when the draft cannot be stored."""
        if self.editor.subject is None:
            return True
        try:
            self.drafts.keeper.flush()
        except MemtuiError as error:
            self.drafts.not_kept(error)
            return False
        self._close()
        return True

    def abandon(self, words: str = "", *, go_to: Address | None = None) -> None:
        """Close a memory whose text needs no draft, and say `words` in the tree, or open another memory."""
        self._close()
        if go_to is None:
            self.options.left(words)
        else:
            self.open(go_to)

    def _close(self) -> None:
        self.drafts.keeper.close(self.editor)
        self.editor.clear()

    def renamed(self, old: Address, new: Address) -> None:
        """Follow a memory to another address, together with its draft."""
        if self.address == old:
            self.editor.renamed(new)
            self.drafts.track()
            self.drafts.drop(old)
            self.drafts.write()
            self.check_disk()

    def flush(self) -> int:
        """Store what is typed before this returns; return the number of drafts written."""
        count = self.drafts.flush() + (self.describing.flush() if self.describing is not None else 0)
        if self.conflict is not None:
            self.conflict.flush()
        return count

    # --- what others do

    def rows_changed(self, addresses: Iterable[Address] | None) -> None:
        """Read the open memory again when it is among these (None: all)."""
        if self.address is not None and (addresses is None or self.address in set(addresses)):
            self.check_disk()

    def check_disk(self, then: Callable[[], None] | None = None) -> None:
        """Read what is on disk under the open memory's name, then call `then`."""
        subject = self.editor.subject
        if subject is None or self.saving or self.editor.asking:
            return
        address, base = subject.address, subject.base_sha256
        if then is not None:
            self._after_check.append((address, then))

        def seen(disk: DiskState) -> None:
            if self.address != address or self.saving or self.editor.asking:
                return
            shown = self.editor.subject
            before = shown.disk.sha256 if shown is not None else None
            differs = self.editor.set_disk(disk)
            if self.editor.dirty and before != disk.sha256:
                # Another window may have stored its own draft over this one, saved, and dropped it.
                self.drafts.keeper.invalidate(self.editor)
                self.drafts.write()  # with the text it started from, which is no longer on disk
            if differs:
                self.compare_sides()
            elif not self.editor.dirty:
                self.drafts.settle()
            if self.conflict is not None and self.conflict.address == address:
                self.conflict.disk_changed(disk)
            # Also the callbacks of earlier looks, which this newer one replaced.
            waiting, self._after_check = self._after_check, []
            for of, go_on in waiting:
                if of == self.address:
                    go_on()

        self.run(
            lambda engine: open_memory.read_disk(engine, address, base),
            seen,
            what=f"read {address}",
            latest=LATEST_CHECK,
            awaited=then is not None,
        )

    def compare_sides(self) -> None:
        subject = self.editor.subject
        if subject is None or subject.disk.snapshot is None or subject.disk.sha256 == subject.base_sha256:
            return
        base, yours, disk = subject.base, self.editor.data, subject.disk.snapshot.bytes
        self.run(
            lambda _: open_memory.compare(base, yours, disk),
            lambda compared: self.editor.set_comparison(compared) if self.editor.data == yours else None,
            what="compare both sides",
            latest="editor-compare",
        )

    # --- saving

    def save(self, then: Callable[[], None] | None = None) -> None:
        """Save guarded and call `then`; or say why there is nothing to save; or show the other side first."""
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
                self._write(editor.data, subject.base_sha256, self._merge_of(), then)
            case _:
                self.compare_screen()

    def _merge_of(self) -> MergeOf | None:
        """The versions the text was merged from; None when it is only an edit."""
        before, subject = self.editor.before_merge, self.editor.subject
        if before is None or subject is None:
            return None
        return MergeOf(before[1].base_sha256, sha256(before[0]).hexdigest(), subject.base_sha256)

    def write(
        self,
        address: Address,
        data: bytes,
        expected: str | None,
        written: Callable[[open_memory.SaveResult], None],
        failed: Callable[[MemtuiError], None],
        merge: MergeOf | None = None,
    ) -> None:
        """Save only over the `expected` version, then call `written` or `failed`; reading the disk waits until then."""
        actor = self.bridge.actor

        def ended(result: open_memory.SaveResult) -> None:
            self.saving = False
            written(result)

        def refused(error: MemtuiError) -> None:
            self.saving = False
            failed(error)

        self.saving = True
        self.run(
            lambda engine: open_memory.write(engine, address, data, expected, actor=actor, merge=merge),
            ended,
            what=f"save {address}",
            otherwise=refused,
            lane=open_memory.lane_of(address, WRITE),
        )

    def _write(
        self, data: bytes, expected: str | None, merge: MergeOf | None, then: Callable[[], None] | None = None
    ) -> None:
        address = self.address
        assert address is not None

        def failed(error: MemtuiError) -> None:
            self.editor.say(f"Not saved. {error}")
            if self.address == address:
                self._show_over("save_failed", address, data, error, again=self.save)

        self.write(address, data, expected, lambda written: self._written(address, written, then), failed, merge)

    def _written(self, address: Address, written: open_memory.SaveResult, then: Callable[[], None] | None) -> None:
        if isinstance(written.result, Conflict):
            if self.address == address:
                self._lost_the_race(written)
            return
        self.drafts.drop(address, saved=written.data.decode())
        if self.address != address:
            return
        lines = written.data.count(b"\n") + (bool(written.data) and not written.data.endswith(b"\n"))
        self.drafts.track()
        self.editor.saved(Snapshot(address, written.data, written.result.sha256, self.bridge.now()))
        saved = f"Saved, {count_words(lines, 'line')}. {written.warning or 'u in the tree takes it back.'}"
        self.editor.say(saved if isinstance(written.result, Saved) else "Nothing to save.")
        self.check_disk(then)

    def _lost_the_race(self, written: open_memory.SaveResult) -> None:
        """Handle a save that found a newer version: nothing was written; merge or ask."""
        editor = self.editor
        self.drafts.write()
        editor.set_disk(written.disk)
        subject = editor.subject
        if subject is None or subject.disk.snapshot is None:
            self.compare_screen()
            return
        base, yours, disk = subject.base, editor.data, subject.disk.snapshot.bytes

        def compared(comparison: Comparison) -> None:
            editor.set_comparison(comparison)
            if editor.state is FileState.MERGEABLE:
                self._merge_then_show()
            else:
                self.compare_screen()

        self.run(lambda _: open_memory.compare(base, yours, disk), compared, what="compare both sides")

    def _merge_then_show(self) -> None:
        """Show the merged text; the next ctrl+s writes it, because lines that do not overlap can contradict."""
        subject = self.editor.subject
        assert subject is not None
        disk = subject.disk.snapshot
        if disk is None:
            return
        address, base, yours = subject.address, subject.base, self.editor.data

        def merged(result: tuple[bytes | None, MergeSession]) -> None:
            text, session = result
            if self.address != address or self.editor.data != yours:
                return
            if text is None or not self.editor.replace_text(text):
                self.compare_screen()
                return
            self.editor.merged(yours, disk)
            self.drafts.write()
            if self.options.settings.merge_when_mergeable == "save":
                self._write(text, disk.sha256, self._merge_of())
                return
            added, removed = open_memory.changed_lines(session)
            who = by(self.editor.who)
            self.editor.say(f"Merged +{added} -{removed} saved {who}; ctrl+s again writes it, ctrl+z takes it apart.")

        of = OpenConflict(address, subject.base_sha256, yours, disk.bytes, "", self.bridge.now())

        def merge(engine: Engine) -> tuple[bytes | None, MergeSession]:
            engine.drafts.save_conflict(of)  # both texts are in history before one text takes their place
            return open_memory.merge(base, yours, disk.bytes)

        self.run(merge, merged, what="merge both sides", lane=DRAFTS)

    def show_saved(self, snapshot: Snapshot, words: str) -> None:
        """Show a text that was just written as the one that is open."""
        self.drafts.track()
        yours = self.editor.data if self.editor.dirty else None
        if self.editor.replace_text(snapshot.bytes):
            if yours is not None:
                self.editor.merged(yours, snapshot)
            self.editor.saved(snapshot)
        else:
            self.editor.open(snapshot.address, snapshot, limit=self.editor.text_area.byte_limit)
        self.editor.text_area.focus()
        self.editor.say(words)

    def compare_screen(self, *, alone: bool = False, whose: str = "") -> None:
        """Show both sides and let the user decide; for `alone` and `whose` see `ConflictFlow`."""
        if self.editor.state is FileState.MOVED and self.editor.subject is not None:
            self._show_over("ask_renamed", self.editor.subject.disk.moved_to)
        else:
            self._show_over("compare", alone=alone, whose=whose)

    def describe(self, *, alone: bool = False) -> None:
        """Show the front matter as a form; `alone`: the memory was opened for that alone."""
        editor = self.editor
        if editor.subject is None or editor.asking or self.saving:
            return
        if editor.refusal or not editor.subject.form.editable:
            editor.say(self.why_read_only())
            return
        self._show_over("describe", alone=alone)
