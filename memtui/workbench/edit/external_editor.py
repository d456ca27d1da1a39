"""The user's own editor on an open memory, in the terminal or in a window of its own.

What it saved becomes the text in the editor and is saved guarded, so that a conflict opens the usual screen. Apart from
the flow so that it is loaded with its first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from memtui.engine.model import Conflict, Draft, Saved, Snapshot
from memtui.errors import MemtuiError
from memtui.features.actors import by
from memtui.features.edit.verbs import (
    CopyOf,
    EditorCommand,
    PrivateCopy,
    copy_of,
    editor_command,
    run_in_terminal,
    run_in_window,
)
from memtui.workbench.bridge import DRAFTS, WRITE
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.memory_text import read_form
from memtui.workbench.edit.open_memory import FileState

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.edit.edit_flow import EditFlow
    from memtui.workbench.edit.open_memory import OpenMemory

LOOK_EVERY = 0.5
"""Seconds between looks at a text that is open in an editor with a window of its own."""


def edit_outside(editing: EditFlow, *, alone: bool = False) -> None:
    """Open the memory in the user's own editor; what it saved is saved, or is a draft if somebody else saved too.

    `alone`: the memory was opened for this, so the user is taken back afterwards.
    """
    editor, subject = editing.editor, editing.editor.subject
    if subject is None:
        return
    if editor.refusal:
        editor.say(f"{editor.refusal[:1].upper()}{editor.refusal[1:]}.")
        return
    work = _ExternalEdit(editing, subject, alone=alone)
    editing.drafts.write()
    root = editing.options.roots().get(subject.address.root)
    of = None if root is None else copy_of(root, subject.address, subject.base_sha256, subject.base)
    name = subject.address.name
    edit_text_outside(editing, editor.data, name, work.edited, work.say, work.salvage, of, work.back)


class _ExternalEdit:
    """One memory in the user's own editor."""

    def __init__(self, editing: EditFlow, subject: OpenMemory, *, alone: bool) -> None:
        self._editing, self._editor, self._alone = editing, editing.editor, alone
        self._address, self._base = subject.address, subject.base
        self._before = self._given = editing.editor.data
        self._sha256 = subject.base_sha256
        """The version that the next save expects."""
        self._words = ""

    def say(self, words: str) -> None:
        """Show a message, which is repeated where the user is taken back to."""
        self._words = words
        self._editor.say(words)

    def edited(self, data: bytes) -> None:
        editing, editor = self._editing, self._editor
        if editing.address != self._address:
            self._save_closed(data)
            return
        came, here = self._given, editor.data
        self._given = data
        # Beside an editor with a window of its own the user can go on typing here: then they save both.
        typed = here not in (came, data)
        both = open_memory.merge(came, here, data)[0] if typed else data
        if not editor.replace_text(data if both is None else both):
            save_raw(editing, data)
            return
        editing.drafts.write()
        editing.check_disk(None if typed else self._save)
        if typed:
            hint = " It replaced what you typed here: ctrl+z brings that back." if both is None else ""
            editor.say(f"The text of your editor is here, not saved yet: ctrl+s saves it, guarded.{hint}")

    def _save(self) -> None:
        if not self._editor.dirty:
            self.back()
        elif self._editor.state is FileState.DRAFT:
            self._editing.save(self._saved)
        else:
            who = self._editor.who
            self._editor.say(f"The text of your editor is a draft: {who} saved meanwhile. ctrl+s goes on with both.")

    def _saved(self) -> None:
        subject = self._editor.subject
        if subject is not None:
            self._sha256, self._base = subject.base_sha256, subject.base
        self._words = f"Saved {self._address}. u takes it back."
        if self._editor.dirty and self._editor.data == self._given:
            self._save()  # it was saved there once more meanwhile
        self.back()

    def back(self) -> None:
        if self._alone and self._editing.address == self._address and not self._editor.dirty:
            self._editing.leave(self._words)

    def salvage(self, data: bytes) -> Draft | None:
        """Make a draft of what the editor saved, should memtui die meanwhile."""
        return None if data == self._before else self._draft(data)

    def _draft(self, data: bytes) -> Draft | None:
        if not read_form(data).editable:
            return None
        return Draft(self._address, self._sha256, data.decode(), (0, 0), self._editing.bridge.now(), self._base)

    def _save_closed(self, data: bytes) -> None:
        """Save, or keep as a draft, the text of a memory that is no longer the open one."""
        draft, address, base, bridge = self._draft(data), self._address, self._sha256, self._editing.bridge

        def tell(words: str) -> None:
            self._editing.app.notify(words, markup=False)

        def keep(_: object = None) -> None:
            if draft is None:
                tell(f"What you saved in your editor is no text, and {address} is as it was.")
                return
            bridge.run(lambda engine: engine.drafts.save(draft), what="keep a draft", lane=DRAFTS)
            self._editing.drafts.mine.discard(address)
            tell(f"What you saved in your editor is kept as a draft of {address.name}.")

        def written(done: open_memory.SaveResult) -> None:
            if isinstance(done.result, Conflict):
                keep()
            else:
                self._sha256, self._base = done.result.sha256, data
                tell(f"Saved {address}. u takes it back.")

        bridge.run(
            lambda engine: open_memory.write(engine, address, data, base, actor=bridge.actor),
            written,
            what=f"save {address}",
            otherwise=keep,
            lane=WRITE,
        )


def save_raw(editing: EditFlow, data: bytes) -> None:
    """Save bytes that cannot be shown as text; on a conflict nothing is written and both versions are kept."""
    subject = editing.editor.subject
    assert subject is not None
    address = subject.address

    def written(done: open_memory.SaveResult) -> None:
        if editing.address != address:
            return
        if isinstance(done.result, Conflict):
            editing.editor.set_disk(done.disk)
            who = by(editing.editor.who)
            editing.editor.say(f"Nothing was written: it was saved first {who}. Your text is in the history (H).")
        else:
            editing.editor.open(
                address, Snapshot(address, data, done.result.sha256, 0), limit=editing.editor.text_area.byte_limit
            )
            editing.editor.say("Saved." if isinstance(done.result, Saved) else "Nothing to save.")

    editing.write(address, data, subject.base_sha256, written, lambda error: editing.editor.say(str(error)))


def edit_text_outside(
    editing: EditFlow,
    data: bytes,
    name: str,
    edited: Callable[[bytes], None],
    say: Callable[[str], None],
    salvage: Callable[[bytes], Draft | None] = lambda _: None,
    of: CopyOf | None = None,
    unchanged: Callable[[], None] = lambda: None,
) -> None:
    """Open a text in the user's own editor, which sees a file called `name`.

    `edited` gets a changed text; from an editor with a window, each time it is saved there. `unchanged` is called when
    one in the terminal ended without a change. Should memtui die meanwhile, `salvage` makes a draft of what was saved
    so far, and `of`, the memory the text belongs to, lets the next start offer a copy that was left.
    """
    try:
        command = editor_command(editing.options.settings.editor)
        copy = PrivateCopy(data, name=name, folder=editing.options.settings.state_dir, of=of)
    except MemtuiError as error:
        say(str(error))
        unchanged()
        return
    if command.windowed:
        _run_in_window(editing, command, copy, edited, say)
        return

    def salvaged() -> Draft | None:
        try:
            return salvage(copy.read())
        except MemtuiError:  # between the two steps of the editor's own save there may be no file
            return None

    editing.flush()
    editing.drafts.keeper.open(copy, salvaged)
    try:
        after = _run_in_terminal(editing, command, copy, say)
    finally:
        editing.drafts.keeper.close(copy)
        copy.remove()
    if after is not None:
        edited(after)
    else:
        unchanged()


def _run_in_terminal(
    editing: EditFlow,
    command: EditorCommand,
    copy: PrivateCopy,
    say: Callable[[str], None],
) -> bytes | None:
    """Give the terminal to the editor until it ends; return the text if it changed."""
    try:
        with editing.app.suspend():
            editing.options.lend("another program")
            try:
                status = run_in_terminal(command, copy.path)
            finally:
                editing.options.lend("")
        after = copy.read()
    except SuspendNotSupported:
        say("This terminal cannot be lent to another program, so f4 is off here.")
        return None
    except MemtuiError as error:
        say(str(error))
        return None
    if after != copy.data:
        return after
    ended = f"{command.name} ended with status {status}" if status else f"Back from {command.name}"
    say(f"{ended}: nothing was changed.")
    return None


def _run_in_window(
    editing: EditFlow,
    command: EditorCommand,
    copy: PrivateCopy,
    edited: Callable[[bytes], None],
    say: Callable[[str], None],
) -> None:
    """Run an editor in its own window, and take each text that is saved there."""
    say(f"Editing in {command.name}: what you save there is saved, guarded. Beside what you type here it is a draft.")
    last, seen = [copy.data], [copy.data]

    def take(*, ended: bool = False) -> None:
        try:
            data = copy.read()
        except MemtuiError:  # between the two steps of the editor's own save there may be no file
            return
        if data != seen[0] and not ended:
            seen[0] = data  # a file that is being written may be half of it
        elif data != last[0]:
            last[0] = data
            edited(data)
            copy.taken(data)

    timer: Timer = editing.app.set_interval(LOOK_EVERY, take)

    def ended(status: int) -> None:
        timer.stop()
        take(ended=True)
        copy.remove()
        if last[0] == copy.data:
            say(f"{command.name} closed" + (f" with status {status}" if status else "") + ": nothing was changed.")

    def failed(error: MemtuiError) -> None:
        timer.stop()
        copy.remove()
        say(str(error))

    editing.run(
        lambda _: run_in_window(command, copy.path),
        ended,
        what=f"run {command.name}",
        otherwise=failed,
        lane=f"window-{copy.path}",
    )
