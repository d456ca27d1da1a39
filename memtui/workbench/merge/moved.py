"""A memory that somebody renamed while you had unsaved text in it: follow it, or keep the old name too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, Snapshot
from memtui.errors import MemtuiError
from memtui.workbench.bridge import WRITE
from memtui.workbench.edit import jobs
from memtui.workbench.merge import keeping, questions
from memtui.workbench.merge.cases import CaseScreen
from memtui.workbench.merge.view import Parties

if TYPE_CHECKING:
    from memtui.workbench.edit.flow import Editing


def ask_about_name(editing: Editing, new: Address) -> None:
    """Ask whether the open memory is to be followed to its new name; one nobody typed in is followed at once."""
    editor = editing.editor
    subject, old = editor.subject, editing.address
    if subject is None or old is None:
        return
    if not editor.dirty:
        editing.renamed(old, new)
        editor.say("You follow the memory to its new name.")
        return
    data = editor.data
    screen: CaseScreen

    def follow() -> None:
        editing.close_screen(screen)
        if editing.address == old:
            editing.renamed(old, new)
            editor.say("You follow the memory to its new name; what you typed came along.")

    def keep_name() -> None:
        editing.saving = True
        editing.run(
            lambda engine: jobs.write(engine, old, data, None, actor=editing.actor),
            written,
            what=f"save {old}",
            otherwise=failed,
            lane=WRITE,
        )

    def written(done: jobs.Written) -> None:
        editing.saving = False
        editing.close_screen(screen)
        if editing.address != old:
            return
        if isinstance(done.result, Conflict):
            editing.look(editing.compare_screen)  # somebody took the old name meanwhile
            return
        snapshot = Snapshot(old, data, done.result.sha256, editing.wishes.clock())
        editing.adopt(snapshot, "Saved under the old name; the renamed memory is as they left it.")
        editing.drop(old)

    def failed(error: MemtuiError) -> None:
        editing.saving = False
        keeping.ask_where(editing, old, data, error, again=keep_name)

    who = {"agent": "Somebody", "you": "Another window of yours"}.get(editor.who, editor.who)
    parties = Parties(str(old), "", "", f"{who} {editing.when(editor.disk_at) if editor.disk_at else ''}".strip())
    case = questions.renamed_by_them(
        parties,
        str(new),
        (subject.base, data),
        follow=follow,
        keep_name=keep_name,
        later=lambda: editing.close_screen(screen),
    )
    screen = CaseScreen(case, table=editing.table)
    editing.show_screen(screen)
