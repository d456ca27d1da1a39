"""Keeping what a conflict is about: the decisions after every key, and the text when the disk says no.

The screen never waits for it; a process that dies has at most the last moment's keys to make again, never a text.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.model import Address, OpenConflict
from memtui.errors import MemtuiError
from memtui.workbench.bridge import DRAFTS, WRITE
from memtui.workbench.edit import jobs
from memtui.workbench.edit.merge.cases import CaseScreen, not_saved
from memtui.workbench.edit.merge.remember import Spot
from memtui.workbench.edit.merge.remember import written as decisions
from memtui.workbench.edit.merge.session import MergeSession
from memtui.workbench.edit.screens import close_screen

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.edit.flow import Editing

__all__ = ["Keeping", "after_edit", "ask_where", "decisions", "keep_elsewhere"]

EVERY = 0.25
"""Seconds between two writes of decisions, at least."""


class Keeping:
    """Writes the state of one conflict to the ledger, not more often than it is worth."""

    def __init__(self, editing: Editing, state: Callable[[], OpenConflict | None]) -> None:
        """Take what gives the state as it is now."""
        self._editing = editing
        self._state = state
        self._timer: Timer | None = None
        self._last = 0.0
        self._due = False

    def soon(self) -> None:
        """Write at once, or a moment after the last write."""
        self._due = True
        if self._timer is None:
            wait = self._last + EVERY - time.monotonic()
            if wait <= 0:
                self.now_in_thread()
            else:
                self._timer = self._editing.app.set_timer(wait, self.now_in_thread)

    def now_in_thread(self) -> None:
        """Write what is due, in a thread."""
        self._forget_timer()
        found = self._state() if self._due else None
        self._due, self._last = False, time.monotonic()
        if found is not None:
            self._editing.bridge.run(
                lambda engine: engine.drafts.save_conflict(found),
                what="keep your decisions",
                lane=DRAFTS,
                latest="conflict",
            )

    def now(self) -> None:
        """Write what is due before this returns."""
        found = self._state() if self._due else None
        if found is not None:
            self._editing.bridge.store_conflict(found)
            self._due = False

    def stop(self) -> None:
        """Write nothing any more."""
        self._due = False
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


def after_edit(session: MergeSession, spot: Spot, text: str) -> str:
    """Write down the decisions as they would be with a text of the whole file taken; the screen stays as it is."""
    after = session.copy()
    after.read_back(text)
    return decisions(after, spot)


def ask_where(
    editing: Editing,
    address: Address,
    data: bytes,
    error: MemtuiError,
    *,
    again: Callable[[], None],
    elsewhere: Callable[[str], None] | None = None,
) -> None:
    """A save failed: keep the text, say why and where it is, and offer to try again, to save elsewhere, to copy it.

    Args:
        editing: the flow of editing.
        address: what was to be saved.
        data: the text.
        error: why it was not.
        again: tries again.
        elsewhere: saves under another name; None: as `keep_elsewhere` does.
    """
    screen: CaseScreen

    def close() -> None:
        close_screen(screen)

    def try_again() -> None:
        close()
        again()

    def save_as(path: str) -> None:
        if elsewhere is not None:
            close()
            elsewhere(path)
        else:
            keep_elsewhere(editing, address, data, path, close, lambda why: screen.say(f"Not written. {why}"))

    def show(kept: bool) -> None:
        nonlocal screen
        folder = editing.wishes.private_folder
        place = f"Your text is kept as a draft in {folder}, and is offered when you open the memory again."
        if not kept:
            place = "Your text could not be kept as a draft either: copy it, or save it elsewhere, before you leave."
        case = not_saved(
            str(address),
            error,
            place,
            again=try_again,
            save_as=save_as,
            copy=lambda: _copy_text(editing, data.decode(errors="replace"), screen.say),
            later=close,
        )
        screen = CaseScreen(case, table=editing.wishes.table)
        editing.app.push_screen(screen)

    _keep(editing, show)


def _copy_text(editing: Editing, text: str, say: Callable[[str], None]) -> None:
    """Copy a text, and say which way it went."""
    from memtui.ui.clipboard import copy

    terminal = editing.wishes.terminal
    escaped: list[str] = []

    def copied(route: str) -> None:
        for through_terminal in escaped:
            editing.app.copy_to_clipboard(through_terminal)
        say(f"Copied your text ({route}).")

    def failed(error: MemtuiError) -> None:
        say(str(error))

    editing.run(lambda _: copy(text, terminal, escaped.append), copied, what="copy your text", otherwise=failed)


def _keep(editing: Editing, then: Callable[[bool], None]) -> None:
    """Bring what is typed to disk again, where the ledger's fate does not matter, and tell whether it is there."""
    editing.drafts.keeper.doubt(editing.editor)
    due = editing.drafts.keeper.due()

    def keep(engine: Engine) -> bool:
        for owner, draft in due:
            editing.drafts.keeper.write(owner, draft)
        return engine.drafts.keep_apart()

    def kept(all_of_them: bool) -> None:
        editing.bridge.refresh_drafts()
        then(all_of_them)

    editing.run(keep, kept, what="keep a draft", otherwise=lambda _: kept(all_of_them=False), lane=DRAFTS)


def keep_elsewhere(
    editing: Editing,
    old: Address,
    data: bytes,
    path: str,
    close: Callable[[], None],
    refused: Callable[[MemtuiError], None],
) -> None:
    """Keep a text as a new memory and go on there; the old name stays as it is on disk.

    Args:
        editing: the flow of editing.
        old: the memory the text was meant for; its draft goes, once the text is safe.
        data: the text.
        path: an address, or a name in the same root.
        close: takes the screens away that asked.
        refused: told why it could not be done.
    """
    actor, subject = editing.bridge.actor, editing.editor.subject
    was_there = subject is not None and subject.base_sha256 is not None

    def create(engine: Engine) -> Address:
        new = engine.roots.resolve(path) if "/" in path else Address(old.root, path)
        if was_there and new.root == old.root:
            jobs.refuse_vanished(engine, old)
        engine.memories.create(new, data, actor=actor)
        return new

    def created(new: Address) -> None:
        close()
        editing.drafts.drop(old)
        editing.reopen(new)

    editing.run(create, created, what=f"create {path}", otherwise=refused, lane=WRITE)
