"""The parts of editing that are used now and then: the external editor, another name, what was seen.

Imported when they are first used. An external editor's text comes back as a draft like any other and is saved by the
guarded save, so that the conflict screen applies to it without knowing where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from memtui.engine.model import Conflict, Done, Draft, Saved, Snapshot
from memtui.errors import MemtuiError
from memtui.features.actors import by
from memtui.features.edit.external import (
    CopyOf,
    EditorCommand,
    PrivateCopy,
    copy_of,
    editor_command,
    run_in_terminal,
    run_in_window,
)
from memtui.features.typed_address import rename_target
from memtui.pointers import carry
from memtui.workbench.bridge import DRAFTS, WRITE
from memtui.workbench.edit import jobs
from memtui.workbench.edit.memory_text import read_form
from memtui.workbench.edit.open_memory import FileState

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.edit.flow import Editing
    from memtui.workbench.edit.open_memory import Subject

LOOK_EVERY = 0.5
"""Seconds between looks at a text that is open in an editor with a window of its own."""


def edit_outside(editing: Editing, *, alone: bool = False) -> None:
    """f4: go on in the user's own editor; what it wrote is saved, or is a draft where somebody else saved too.

    Args:
        editing: the flow, with the memory open.
        alone: it was opened for this alone, so the user is taken back to where they were.
    """
    editor, subject = editing.editor, editing.editor.subject
    if subject is None:
        return
    if editor.refusal:
        editor.say(f"{editor.refusal[:1].upper()}{editor.refusal[1:]}.")
        return
    work = _Outside(editing, subject, alone=alone)
    editing.drafts.write()
    root = editing.wishes.roots().get(subject.address.root)
    of = None if root is None else copy_of(root, subject.address, subject.base_sha256, subject.base)
    name = subject.address.name
    edit_text_outside(editing, editor.data, name, work.edited, work.say, work.salvage, of, work.back)


class _Outside:
    """One memory in the user's own editor."""

    def __init__(self, editing: Editing, subject: Subject, *, alone: bool) -> None:
        self._editing, self._editor, self._alone = editing, editing.editor, alone
        self._address, self._base = subject.address, subject.base
        self._before = self._given = editing.editor.data
        self._sha256 = subject.base_sha256
        """What a save from here follows on."""
        self._words = ""

    def say(self, words: str) -> None:
        """Say something, which is said again where the user is taken back to."""
        self._words = words
        self._editor.say(words)

    def edited(self, data: bytes) -> None:
        """Take what was saved there."""
        editing, editor = self._editing, self._editor
        if editing.address != self._address:
            self._save_closed(data)
            return
        came, here = self._given, editor.data
        self._given = data
        # Beside an editor with a window of its own the user can go on typing here: then they save both.
        typed = here not in (came, data)
        both = jobs.merge(came, here, data)[0] if typed else data
        if not editor.put(data if both is None else both):
            save_raw(editing, data)
            return
        editing.drafts.write()
        editing.look(None if typed else self._save)
        if typed:
            hint = " It took the place of what you typed here: ctrl+z brings that back." if both is None else ""
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
        """Take the user back to where they were, unless a draft is left."""
        if self._alone and self._editing.address == self._address and not self._editor.dirty:
            self._editing.leave(self._words)

    def salvage(self, data: bytes) -> Draft | None:
        """What a death while the editor is open must not lose."""
        return None if data == self._before else self._draft(data)

    def _draft(self, data: bytes) -> Draft | None:
        if not read_form(data).editable:
            return None
        return Draft(self._address, self._sha256, data.decode(), (0, 0), self._editing.wishes.clock(), self._base)

    def _save_closed(self, data: bytes) -> None:
        """Another memory is open by now: what was saved in the window is saved, or the draft of its own memory."""
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

        def written(done: jobs.Written) -> None:
            if isinstance(done.result, Conflict):
                keep()
            else:
                self._sha256, self._base = done.result.sha256, data
                tell(f"Saved {address}. u takes it back.")

        bridge.run(
            lambda engine: jobs.write(engine, address, data, base, actor=bridge.actor),
            written,
            what=f"save {address}",
            otherwise=keep,
            lane=WRITE,
        )


def save_raw(editing: Editing, data: bytes) -> None:
    """Save bytes that cannot be shown as text; when somebody else was first, nothing is written and both are kept."""
    subject = editing.editor.subject
    assert subject is not None
    address, expected, actor = subject.address, subject.base_sha256, editing.bridge.actor

    def written(done: jobs.Written) -> None:
        if editing.address != address:
            return
        if isinstance(done.result, Conflict):
            editing.editor.disk_is(done.disk, who=done.who)
            who = by(editing.editor.who)
            editing.editor.say(f"Nothing was written: it was saved first {who}. Your text is in the history (H).")
        else:
            editing.editor.open(
                address, Snapshot(address, data, done.result.sha256, 0), limit=editing.editor.text_area.byte_limit
            )
            editing.editor.say("Saved." if isinstance(done.result, Saved) else "Nothing to save.")

    editing.run(
        lambda engine: jobs.write(engine, address, data, expected, actor=actor),
        written,
        what=f"save {address}",
        lane=WRITE,
    )


def edit_text_outside(
    editing: Editing,
    data: bytes,
    name: str,
    edited: Callable[[bytes], None],
    say: Callable[[str], None],
    salvage: Callable[[bytes], Draft | None] = lambda _: None,
    of: CopyOf | None = None,
    unchanged: Callable[[], None] = lambda: None,
) -> None:
    """Open a text in the user's own editor.

    Args:
        editing: whose settings and terminal are used.
        data: what the editor shows.
        name: the file name it sees.
        edited: called with what came back, when it differs; for an editor with a window, each time it is saved there.
        say: shows one line.
        salvage: makes a draft of what the editor has saved so far, should memtui die meanwhile.
        of: which memory it is of, for the next start when there is no time for that.
        unchanged: called when an editor in the terminal ended, or could not begin, and nothing came of it.
    """
    try:
        command = editor_command(editing.wishes.editor_command)
        copy = PrivateCopy(data, name=name, folder=editing.wishes.private_folder, of=of)
    except MemtuiError as error:
        say(str(error))
        unchanged()
        return
    if command.windowed:
        _beside(editing, command, copy, edited, say)
        return
    editing.flush()
    editing.drafts.keeper.open(copy, lambda: _salvaged(copy, salvage))
    try:
        after = _instead(editing, command, copy, say)
    finally:
        editing.drafts.keeper.close(copy)
        copy.remove()
    if after is not None:
        edited(after)
    else:
        unchanged()


def _salvaged(copy: PrivateCopy, salvage: Callable[[bytes], Draft | None]) -> Draft | None:
    try:
        return salvage(copy.read())
    except MemtuiError:  # between the two steps of the editor's own save there may be no file
        return None


def _instead(
    editing: Editing,
    command: EditorCommand,
    copy: PrivateCopy,
    say: Callable[[str], None],
) -> bytes | None:
    """Give the terminal to the editor and take it back when it ends; returns the text when it is another one."""
    try:
        with _lent_terminal(editing):
            status = run_in_terminal(command, copy.path)
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


@contextmanager
def _lent_terminal(editing: Editing) -> Iterator[None]:
    """Give the terminal to another program for a while."""
    with editing.app.suspend():
        editing.wishes.lend("another program")
        try:
            yield
        finally:
            editing.wishes.lend("")


def _beside(
    editing: Editing,
    command: EditorCommand,
    copy: PrivateCopy,
    edited: Callable[[bytes], None],
    say: Callable[[str], None],
) -> None:
    """Let an editor run in its own window, and take what is saved there as it is saved."""
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


def ask_name(editing: Editing) -> None:
    """f2: ask for another name."""
    editor, address = editing.editor, editing.address
    if address is None:
        return
    if editor.refusal:
        editor.say(f"{editor.refusal[:1].upper()}{editor.refusal[1:]}.")
        return
    start = rename_target((address,), None)
    editor.ask_name(start.text, start.cursor)


def rename(editing: Editing, value: str) -> None:
    """Rename or move the open memory; what is typed goes with it."""
    subject = editing.editor.subject
    if subject is None:
        return
    old, actor, sha256 = subject.address, editing.bridge.actor, subject.disk_sha256
    target = rename_target((old,), None).read(value, editing.wishes.roots())
    new = target.address
    if target.problem or new == old:
        editing.editor.say(target.problem or "It has that name already.")
        return

    def renamed(done: Done | None) -> None:
        editing.saving = False
        error = next((outcome.error for outcome in done.outcomes if outcome.error), None) if done else None
        failed = done is not None and not all(outcome.ok for outcome in done.outcomes)
        if failed:
            editing.editor.say(str(error) if error else "It was saved in that moment, so it keeps its name. Try again.")
        else:
            editing.renamed(old, new)
            also = f", {done.also}" if done is not None and done.also else ""
            undo = " u in the tree takes it back." if done is not None else ""
            editing.editor.say(f"Renamed to {new}{also}.{undo} {done.left if done is not None else ''}".rstrip())
        editing.look()

    def refused(error: MemtuiError) -> None:
        editing.saving = False
        editing.editor.say(str(error))

    if sha256 is None:
        renamed(None)
        return
    editing.saving = True
    editing.run(
        lambda engine: carry.rename(engine, [(old, new)], actor=actor),
        renamed,
        what=f"rename {old}",
        otherwise=refused,
        lane=WRITE,
    )


def mark_seen(editing: Editing) -> None:
    """The user looked at what somebody else changed."""
    address = editing.address
    if address is None or editing.bridge.read_only:
        return

    def seen(engine: Engine) -> int:
        return engine.changes.mark_seen([address], looked=True)

    editing.run(seen, what="mark as seen", lane=WRITE)
