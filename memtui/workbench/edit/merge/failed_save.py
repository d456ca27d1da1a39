"""A save that failed: keep the text as a draft, say why, and offer to retry, to save elsewhere or to copy it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.workbench.bridge import DRAFTS, WRITE
from memtui.workbench.edit import guarded_save
from memtui.workbench.edit.merge.questions import QuestionScreen, not_saved
from memtui.workbench.edit.screens import close_screen

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.edit.edit_flow import EditFlow


def ask_where(
    editing: EditFlow,
    address: Address,
    data: bytes,
    error: MemtuiError,
    *,
    again: Callable[[], None],
    elsewhere: Callable[[str], None] | None = None,
) -> None:
    """Keep a text that could not be saved, and ask what to do with it.

    `again` tries again; `elsewhere` saves under another name, by default as `keep_elsewhere` does.
    """
    screen: QuestionScreen

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
        folder = editing.options.private_folder
        place = f"Your text is kept as a draft in {folder}, and is offered when you open the memory again."
        if not kept:
            place = "Your text could not be kept as a draft either: copy it, or save it elsewhere, before you leave."
        question = not_saved(
            str(address),
            error,
            place,
            again=try_again,
            save_as=save_as,
            copy=lambda: _copy_text(editing, data.decode(errors="replace"), screen.say),
            later=close,
        )
        screen = QuestionScreen(question, table=editing.options.table)
        editing.app.push_screen(screen)

    _keep(editing, show)


def _copy_text(editing: EditFlow, text: str, say: Callable[[str], None]) -> None:
    from memtui.ui.clipboard import copy

    terminal = editing.options.terminal
    escaped: list[str] = []

    def copied(route: str) -> None:
        for through_terminal in escaped:
            editing.app.copy_to_clipboard(through_terminal)
        say(f"Copied your text ({route}).")

    def failed(error: MemtuiError) -> None:
        say(str(error))

    editing.run(lambda _: copy(text, terminal, escaped.append), copied, what="copy your text", otherwise=failed)


def _keep(editing: EditFlow, then: Callable[[bool], None]) -> None:
    """Store the draft again, also beside the ledger, and tell `then` whether it is stored."""
    editing.drafts.keeper.invalidate(editing.editor)
    due = editing.drafts.keeper.due()

    def keep(engine: Engine) -> bool:
        for owner, draft in due:
            editing.drafts.keeper.write(owner, draft)
        return engine.drafts.keep_apart()

    def kept(complete: bool) -> None:
        editing.bridge.refresh_drafts()
        then(complete)

    editing.run(keep, kept, what="keep a draft", otherwise=lambda _: kept(complete=False), lane=DRAFTS)


def keep_elsewhere(
    editing: EditFlow,
    old: Address,
    data: bytes,
    path: str,
    close: Callable[[], None],
    refused: Callable[[MemtuiError], None],
) -> None:
    """Keep a text as a new memory and continue there; the memory it was meant for stays as it is on disk.

    `path` is an address, or a name in the same root; `close` dismisses the screens that asked.
    """
    actor, subject = editing.bridge.actor, editing.editor.subject
    was_there = subject is not None and subject.base_sha256 is not None

    def create(engine: Engine) -> Address:
        new = engine.roots.resolve(path) if "/" in path else Address(old.root, path)
        if was_there and new.root == old.root:
            guarded_save.refuse_missing_folder(engine, old)
        engine.memories.create(new, data, actor=actor)
        return new

    def created(new: Address) -> None:
        close()
        editing.drafts.drop(old)
        editing.abandon(go_to=new)

    editing.run(create, created, what=f"create {path}", otherwise=refused, lane=WRITE)
