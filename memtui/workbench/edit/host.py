"""The editor's place on the main screen: mounted when first used, shown and hidden, fed with news of the disk.

The editor's own flow is in `flow.py`; this is where it meets the tree and what opens over the text, each imported when
it is first used, so that a screen without an editor never imports a text widget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.workbench.bridge import EditorWants
from memtui.workbench.views.stack import Views

if TYPE_CHECKING:
    from memtui.features.entries.entry_names import Name
    from memtui.ui.view_screen import ViewScreen
    from memtui.ui.widgets.page_view import PageView
    from memtui.workbench.edit.editor import MemoryEditor
    from memtui.workbench.edit.entry import EntryFlow
    from memtui.workbench.edit.flow import Editing, Over
    from memtui.workbench.edit.form import Describing
    from memtui.workbench.main_screen import MainScreen


PAUSE = 0.4
"""Seconds a decided conflict stays in sight before the next one is shown."""


class EditorHost:
    """Opens memories in the editor beside or over the tree."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._editing: Editing | None = None
        self._editor: MemoryEditor | None = None
        self._wanted: Address | None = None
        self._describing: Describing | None = None
        self._left: tuple[ViewScreen, ...] = ()
        """The view the editor was opened from."""
        self._entry: EntryFlow | None = None
        self._focused: PageView | None = None
        """The text that had the keyboard when the editor was opened; None: the tree."""

    @property
    def editing(self) -> Editing | None:
        """The flow of editing, once there was any."""
        return self._editing

    @property
    def address(self) -> Address | None:
        """What is open."""
        return self._editing.address if self._editing is not None else None

    @property
    def wanted(self) -> Address | None:
        """What is open, or is being opened."""
        return self.address or self._wanted

    @property
    def asking(self) -> bool:
        """Whether a question about a draft waits for its answer."""
        return self._editor is not None and self._editor.asking

    async def open(self, address: Address, *, then: str = "", left: tuple[ViewScreen, ...] = ()) -> None:
        """Show a memory in the editor; then, when asked to, both sides (`compare`) or $EDITOR (`outside`).

        Args:
            address: which.
            then: what to go on with.
            left: the view it was opened from, which is shown again afterwards.
        """
        self._wanted, self._left = address, left
        panes = (self._screen.page_view, self._screen.info_view)
        self._focused = next((pane for pane in panes if pane is self._screen.focused), None)
        editing = self._editing or await self._make()
        self._screen.chrome.clear()
        self._set_active(active=True)
        editing.open(address, then=then)

    def describe(self, address: Address | None = None) -> None:
        """Show the front matter of a memory as a form: in the editor when it is open there or has a draft."""
        from memtui.workbench.edit.form import OnDisk

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
            self._describing = OnDisk(screen, address)

    def edit_entry(self, address: Address, name: Name | None) -> None:
        """Open one entry of a memory in a text of its own; without a name a new one."""
        from memtui.workbench.edit.entry import EntryFlow

        screen = self._screen
        if screen.editing and self.address == address:
            screen.part(Views).back()
            screen.open_editor(address)
        elif self._entry is None or not self._entry.is_open:
            self._entry = EntryFlow(screen, address, name)

    async def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        """Open a text that is no memory yet in the user's own editor."""
        from memtui.workbench.edit.extras import edit_text_outside

        editing = self._editing or await self._make()
        edit_text_outside(editing, data, name, edited, lambda words: self._screen.say(words, "name"))

    def say(self, words: str) -> None:
        """Say something where the user types: the footer would keep it, and hide the keys, until another pane's key."""
        if self._editor is not None:
            self._editor.say(words)

    async def _make(self) -> Editing:
        from memtui.workbench.edit.editor import MemoryEditor
        from memtui.workbench.edit.flow import Editing, Wishes

        screen = self._screen
        editor = self._editor = MemoryEditor(id="editor")
        editor.named = screen.forest.named
        await screen.query_one("#right").mount(editor)
        settings = screen.facts.settings
        wishes = Wishes(
            left=self.leave,
            roots=lambda: screen.forest.roots,
            editor_command=settings.editor,
            private_folder=settings.state_dir,
            when_mergeable=settings.merge_when_mergeable,
            advance=self._advance(),
            terminal=settings.terminal,
            table=screen.table,
            lend=screen.lend_terminal,
            clock=screen.now,
            named=screen.forest.named,
        )
        self._editing = Editing(screen.app, screen.bridge, editor, wishes, over())
        return self._editing

    def _advance(self) -> float | None:
        """Seconds from a decided conflict to the next one."""
        chosen = self._screen.facts.settings.merge_auto_advance
        if chosen == "off":
            return None
        return 0.0 if chosen == "at-once" or self._screen.facts.calm else PAUSE

    def leave(self, words: str = "") -> None:
        """Go back to where it was opened, and say this there; what was typed is kept as a draft."""
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
        """Pass on what happened on disk."""
        if self._editing is not None:
            self._editing.rows_changed(addresses)

    def flush(self) -> int:
        """Bring what is typed to disk before this returns; returns how many drafts that were."""
        parts = (self._editing, self._describing, self._entry)
        return sum(part.flush() for part in parts if part is not None)


def handle(editing: Editing, event: EditorWants) -> None:
    """Do what the user wants of the editor."""
    from memtui.workbench.edit import extras

    event.stop()
    if event.draft is not None:
        editing.answer(event.draft, event.what)
        return
    does: dict[str, Callable[[], None]] = {
        "save": editing.save,
        "leave": editing.leave,
        "keep": editing.drafts.settle,
        "count": editing.compare_sides,
        "compare": lambda: editing.look(editing.compare_screen),
        "describe": editing.describe,
        "outside": lambda: extras.edit_outside(editing),
        "name": lambda: extras.ask_name(editing),
        "rename": lambda: extras.rename(editing, event.text),
        "looked": lambda: extras.mark_seen(editing),
    }
    does[event.what]()


def over() -> Over:
    """What opens over the text."""
    from memtui.workbench.edit.flow import Over

    return Over(_compare, _ask_about_name, _describe, _edit_outside, _ask_where)


def _compare(editing: Editing, alone: bool, whose: str) -> None:
    from memtui.workbench.edit.merge.flow import start

    start(editing, alone=alone, whose=whose)


def _ask_about_name(editing: Editing, new: Address) -> None:
    from memtui.workbench.edit.merge.flow import ask_about_name

    ask_about_name(editing, new)


def _describe(editing: Editing, alone: bool) -> None:
    from memtui.workbench.edit.form import InEditor

    if editing.address is not None:
        editing.describing = InEditor(editing, editing.address, alone=alone)


def _edit_outside(editing: Editing) -> None:
    from memtui.workbench.edit.extras import edit_outside

    edit_outside(editing, alone=True)


def _ask_where(editing: Editing, address: Address, data: bytes, error: MemtuiError) -> None:
    from memtui.workbench.edit.merge.kept import ask_where

    ask_where(editing, address, data, error, again=editing.save)
