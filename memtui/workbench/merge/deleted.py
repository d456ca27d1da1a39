"""A memory that somebody changed while you deleted it: nothing is deleted before their change was shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Snapshot
from memtui.errors import NotFoundError
from memtui.workbench.edit import jobs
from memtui.workbench.merge import questions
from memtui.workbench.merge.cases import CaseScreen

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


def ask_about_deleted(
    screen: BrowserScreen, address: Address, seen_sha256: str, trash: Callable[[Address, str], None]
) -> None:
    """Show what somebody changed, and ask whether the memory is still to go.

    Args:
        screen: the main screen.
        address: what was to be deleted.
        seen_sha256: the version that was listed.
        trash: moves exactly this version of it to the trash.
    """

    def look(engine: Engine) -> tuple[bytes, Snapshot, str] | None:
        try:
            now = engine.read(address)
        except NotFoundError:
            return None
        return jobs.version_or_empty(engine, address, seen_sha256), now, jobs.name_of(engine.rows.get(address).actor)

    def ask(found: tuple[bytes, Snapshot, str] | None) -> None:
        screen.bridge.refresh([address])
        if found is None:
            screen.say(f"{address} is gone already.")
            return
        before, now, who = found
        case: CaseScreen

        def keep() -> None:
            case.dismiss(None)
            screen.say(f"{address} stays as {who or 'they'} wrote it.")

        def still() -> None:
            case.dismiss(None)
            trash(address, now.sha256)

        question = questions.deleted_by_you(str(address), who, (before, now.bytes), keep=keep, trash=still)
        case = CaseScreen(question, table=screen.table)
        screen.app.push_screen(case)

    screen.bridge.run(look, ask, what=f"read {address}", awaited=True)
