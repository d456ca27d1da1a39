"""The editor's place on the main screen: mounted when first used, shown and hidden, told what changed on disk.

Imports the editor, and what opens over it, when they are first used, so that a screen without one loads no text widget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.typed_address import rename_target
from memtui.workbench.bridge import WRITE, EditorWants
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.engine.model import Done, Draft
    from memtui.features.entries.model import Name
    from memtui.ui.view_screen import ViewScreen
    from memtui.ui.widgets.scroller import PageView
    from memtui.workbench.edit.edit_flow import EditFlow
    from memtui.workbench.edit.editor import MemoryEditor
    from memtui.workbench.edit.entry_screen import EntryFlow
    from memtui.workbench.edit.form_screen import FormFlow
    from memtui.workbench.main_screen import MainScreen


PAUSE = 0.4


class EditorHost:
    """Opener of memories in the editor, beside or over the tree."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._editing: EditFlow | None = None
        self._editor: MemoryEditor | None = None
        self._wanted: Address | None = None
        self._describing: FormFlow | None = None
        self._left: tuple[ViewScreen, ...] = ()
        self._entry: EntryFlow | None = None
        self._focused: PageView | None = None
        """The pane that had the focus when the editor was opened; None: the tree."""

    @property
    def editing(self) -> EditFlow | None:
        return self._editing

    @property
    def address(self) -> Address | None:
        return self._editing.address if self._editing is not None else None

    @property
    def wanted(self) -> Address | None:
        """The memory that is open, or being opened."""
        return self.address or self._wanted

    @property
    def asking(self) -> bool:
        return self._editor is not None and self._editor.asking

    async def open(self, address: Address, *, then: str = "", left: tuple[ViewScreen, ...] = ()) -> None:
        """Show a memory in the editor; for `then` see `EditFlow.open`. `left` is the view to return to."""
        self._wanted, self._left = address, left
        panes = (self._screen.page_view, self._screen.info_view)
        self._focused = next((pane for pane in panes if pane is self._screen.focused), None)
        editing = self._editing or await self._make()
        self._screen.chrome.clear()
        self._set_active(active=True)
        editing.open(address, then=then)

    def describe(self, address: Address | None = None) -> None:
        """Show the front matter as a form: in the editor when the memory is open there or has a draft."""
        from memtui.workbench.edit.form_screen import DiskFormFlow

        screen = self._screen
        node = screen.memories.current if address is None else screen.forest.nodes.get(address)
        if node is None or node.memory is None:
            return
        address, subject = node.memory.address, self._editor.subject if self._editor is not None else None
        if screen.editing and subject is not None and subject.address == address and subject.form.editable:
            assert self._editing is not None
            self._editing.describe()
        elif node.signs.draft:
            screen.part(Views).back()
            screen.open_editor(address, then="describe")
        elif self._describing is None or not self._describing.is_open:
            self._describing = DiskFormFlow(screen, address)

    def edit_entry(self, address: Address, name: Name | None) -> None:
        from memtui.workbench.edit.entry_screen import EntryFlow

        screen = self._screen
        if screen.editing and self.address == address:
            screen.part(Views).back()
            screen.open_editor(address)
        elif self._entry is None or not self._entry.is_open:
            self._entry = EntryFlow(screen, address, name)

    async def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        """Open a text that is no memory yet in the user's own editor."""
        from memtui.workbench.edit.external_editor import edit_text_outside

        editing = self._editing or await self._make()
        edit_text_outside(editing, data, name, edited, lambda words: self._screen.say(words, "name"))

    def say(self, words: str) -> None:
        """Show a message below the text: in the footer it would hide the keys."""
        if self._editor is not None:
            self._editor.say(words)

    async def _make(self) -> EditFlow:
        from memtui.workbench.edit.edit_flow import EditFlow, EditorOptions
        from memtui.workbench.edit.editor import MemoryEditor

        screen = self._screen
        editor = self._editor = MemoryEditor(id="editor")
        editor.named = screen.forest.names.named
        await screen.query_one("#right").mount(editor)
        settings = screen.facts.settings
        options = EditorOptions(
            left=self.leave,
            roots=lambda: screen.forest.roots,
            settings=settings,
            advance=self._advance(),
            table=screen.table,
            lend=screen.lend_terminal,
        )
        self._editing = EditFlow(screen.app, screen.bridge, editor, options)
        return self._editing

    def _advance(self) -> float | None:
        chosen = self._screen.facts.settings.merge_auto_advance
        if chosen == "off":
            return None
        return 0.0 if chosen == "at-once" or self._screen.facts.calm else PAUSE

    def leave(self, words: str = "") -> None:
        """Return to where the editor was opened, and say `words` there; what was typed is kept as a draft."""
        if self._editing is not None and not self._editing.put_away():
            return
        self._set_active(active=False)
        self._give_keys_back()
        # What the text asked for before it was left is done by the app's queue only now.
        self._screen.app.call_later(self._give_keys_back)
        left, self._left = self._left, ()
        if left:
            self._screen.part(Views).again(left)
        if words:
            self._screen.say(words)

    def _give_keys_back(self) -> None:
        if self._screen.editing:
            return
        self._screen.memories.focus()
        if self._focused is not None and not self._screen.panes.one_column:
            self._screen.call_after_refresh(self._focused.focus)  # it is in sight again only then

    def _set_active(self, *, active: bool) -> None:
        self._screen.editing = active
        self._screen.panes.rearrange(over=active and self._screen.panes.one_column)
        self._screen.chrome.update()
        self._screen.keep_place()

    def rows_changed(self, addresses: Iterable[Address] | None) -> None:
        if self._editing is not None:
            self._editing.rows_changed(addresses)

    def flush(self) -> int:
        parts = (self._editing, self._describing, self._entry)
        return sum(part.flush() for part in parts if part is not None)


def handle(editing: EditFlow, event: EditorWants) -> None:
    from memtui.workbench.edit.external_editor import edit_outside

    event.stop()
    if event.draft is not None:
        editing.answer(event.draft, event.what)
        return
    run: dict[str, Callable[[], None]] = {
        "save": editing.save,
        "leave": editing.leave,
        "keep": editing.drafts.settle,
        "count": editing.compare_sides,
        "compare": lambda: editing.check_disk(editing.compare_screen),
        "describe": editing.describe,
        "editor_outside": lambda: edit_outside(editing),
        "editor_rename": lambda: ask_name(editing),
        "rename": lambda: rename(editing, event.text),
        "looked": lambda: mark_seen(editing),
    }
    run[event.what]()


def ask_name(editing: EditFlow) -> None:
    editor, address = editing.editor, editing.address
    if address is None:
        return
    if editor.refusal:
        editor.say(f"{editor.refusal[:1].upper()}{editor.refusal[1:]}.")
        return
    start = rename_target((address,), None)
    editor.ask_name(start.text, start.cursor)


def rename(editing: EditFlow, value: str) -> None:
    from memtui.pointers import references

    subject = editing.editor.subject
    if subject is None:
        return
    old, actor, sha256 = subject.address, editing.bridge.actor, subject.disk.sha256
    target = rename_target((old,), None).read(value, editing.options.roots())
    new = target.address
    if target.problem or new == old:
        editing.editor.say(target.problem or "It has that name already.")
        return

    def renamed(done: Done | None) -> None:
        editing.saving = False
        error = next((outcome.error for outcome in done.outcomes if outcome.error), None) if done else None
        failed = done is not None and not all(outcome.ok for outcome in done.outcomes)
        if failed:
            editing.editor.say(str(error) if error else "Somebody else just saved it, so it keeps its name. Try again.")
        else:
            editing.renamed(old, new)
            also = f", {done.also}" if done is not None and done.also else ""
            undo = " u in the tree takes it back." if done is not None else ""
            editing.editor.say(f"Renamed to {new}{also}.{undo} {done.left if done is not None else ''}".rstrip())
        editing.check_disk()

    def refused(error: MemtuiError) -> None:
        editing.saving = False
        editing.editor.say(str(error))

    if sha256 is None:
        renamed(None)
        return
    editing.saving = True
    editing.run(
        lambda engine: references.rename(engine, [(old, new)], actor=actor),
        renamed,
        what=f"rename {old}",
        otherwise=refused,
        lane=WRITE,
    )


def mark_seen(editing: EditFlow) -> None:
    address = editing.address
    if address is not None and not editing.bridge.read_only:
        editing.run(lambda engine: engine.changes.mark_seen([address], looked=True), what="mark as seen", lane=WRITE)


def offer_words(drafts: Sequence[Draft]) -> str:
    names = ", ".join(draft.address.name for draft in drafts[:3]) + (", ..." if len(drafts) > 3 else "")
    if len(drafts) == 1:
        return f"A draft was never saved: {names}. Open it to restore or discard it."
    return f"{len(drafts)} drafts were never saved: {names}. Open each to restore or discard it."
