"""A conflict on real files, ready to be decided: what the tests of the conflict screen and its flow start from."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from memtui.engine.model import Address
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import LinesView
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.workbench import AGENT, Bench, address, until

BASE = b"# Retry\n\n- one\n- two\n- three\n- four\n"
AGENT_TEXT = b"# Retry\n\n- one by agent\n- two\n- three\n- four by agent\n"
YOURS = b"# Retry\n\n- one by me\n- two\n- three\n- four\n"
THREE_BASE = b"a\n=\nb\n=\nc\n=\nd\n"
THREE_YOURS = b"a 1\n=\nb 1\n=\nc 1\n=\nd\n"
THREE_AGENT = b"a 2\n=\nb 2\n=\nc 2\n=\nd 2\n"
"""Three conflicts and one change of the agent's."""


def make(tmp_path: Path, editor_command: str = "true", *, advance: float | None = 0.0, base: bytes = BASE) -> Bench:
    """A bench with one memory; made anew on the same folder it is a restart."""
    if not (tmp_path / "root").exists():
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "a.md").write_bytes(base)
    return Bench(tmp_path, editor_command=editor_command, advance=advance)


async def in_conflict(
    bench: Bench, pilot: Pilot[None], *, key: str = "ctrl+s", yours: bytes = YOURS, agent: bytes = AGENT_TEXT
) -> ConflictScreen:
    """Open, type, let an agent save, and press the key that leads to the conflict screen."""
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.replace_text(yours)
    bench.engine.save(address(), agent, expected_sha256=bench.engine.read(address()).sha256, actor=AGENT)
    bench.flow.check_disk()
    await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
    await pilot.press(key)
    return await shown(bench, pilot)


@asynccontextmanager
async def conflict(
    tmp_path: Path,
    editor_command: str = "true",
    *,
    key: str = "ctrl+s",
    yours: bytes = YOURS,
    agent: bytes = AGENT_TEXT,
    size: tuple[int, int] = (80, 24),
    **options: Any,
) -> AsyncIterator[tuple[Bench, Pilot[None], ConflictScreen]]:
    """Show a conflict; `options` are those of `make`."""
    bench = make(tmp_path, editor_command, **options)
    async with bench.run_test(size=size) as pilot:
        yield bench, pilot, await in_conflict(bench, pilot, key=key, yours=yours, agent=agent)


def three(tmp_path: Path, **options: Any) -> AbstractAsyncContextManager[tuple[Bench, Pilot[None], ConflictScreen]]:
    """Show three conflicts."""
    return conflict(tmp_path, base=THREE_BASE, yours=THREE_YOURS, agent=THREE_AGENT, **options)


async def shown(bench: Bench, pilot: Pilot[None]) -> ConflictScreen:
    """Wait for the conflict screen."""
    await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
    assert isinstance(bench.screen, ConflictScreen)
    return bench.screen


async def in_three(bench: Bench, pilot: Pilot[None]) -> ConflictScreen:
    """Three conflicts; the bench was made with `THREE_BASE`."""
    return await in_conflict(bench, pilot, yours=THREE_YOURS, agent=THREE_AGENT)


async def question_shown(bench: Bench, pilot: Pilot[None], room: str) -> QuestionScreen:
    """Wait for a question."""
    await until(pilot, lambda: isinstance(bench.screen, QuestionScreen) and bench.screen.question.room == room)
    assert isinstance(bench.screen, QuestionScreen)
    return bench.screen


async def closed(bench: Bench, pilot: Pilot[None]) -> None:
    """Wait until the editor is what is seen."""
    await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen | QuestionScreen))


def disk(bench: Bench) -> bytes:
    """What is under the name."""
    return bench.path("a.md").read_bytes()


def kept(bench: Bench, where: Address | None = None) -> set[bytes]:
    """Every text that can be read again: history, and the drafts."""
    name = where or address()
    versions = {bench.engine.history.read(name, version.sha256) for version in bench.engine.history.of(name)}
    return versions | {draft.text.encode() for draft in bench.engine.drafts.all()}


def text_of(screen: ConflictScreen | QuestionScreen, name: str) -> str:
    """The text of a part of the screen."""
    widget = screen.query_one(name)
    assert isinstance(widget, Lines | LinesView)
    return widget.text


def shown_text(bench: Bench) -> str:
    """Everything that is drawn."""
    strips = bench.screen._compositor.render_strips(bench.size)
    return " ".join(" ".join(strip.text for strip in strips).split())
