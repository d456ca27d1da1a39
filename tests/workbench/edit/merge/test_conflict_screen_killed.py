"""The workbench killed in the conflict screen, at any moment: no text is lost, and it opens again where it was."""

import os
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, OpenConflict, Root
from tests.terminal import Terminal
from tests.workbench.edit.test_editor import enter_note

BASE = b"one\n=\ntwo\n=\nthree\n"
AGENT = b"one agent\n=\ntwo agent\n=\nthree agent\n"
YOURS = "my one\n=\nmy two\n=\nthree\n"
NOTE = Address("notes", "note.md")
F8 = "\x1b[19~"


def start(tmp_path: Path, *options: str) -> Terminal:
    """Run the workbench on one memory."""
    root = tmp_path / "root"
    if not root.exists():
        root.mkdir()
        (root / "note.md").write_bytes(BASE)
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}", *options]
    env = {**os.environ, "MEMTUI_HOME": str(tmp_path / "home")}
    return Terminal(command, columns=120, rows=40, env=env)


def into_conflict(terminal: Terminal, tmp_path: Path, keys: str = F8) -> None:
    """Type in two places, let somebody write, and open the conflict screen, with what is typed on in one go."""
    enter_note(terminal)
    terminal.wait_for("ctrl+s save")
    terminal.type("my ")
    terminal.wait_for("my one")
    terminal.press("down", "down", "home")
    terminal.type("my ")
    terminal.wait_for("my two")
    temp = tmp_path / "whole"
    temp.write_bytes(AGENT)
    temp.replace(tmp_path / "root" / "note.md")
    terminal.wait_for("saved outside memtui: 3 hunks, 2 overlaps")
    terminal.type(keys)
    terminal.wait_for("conflict 1/2")


def stored(tmp_path: Path) -> OpenConflict | None:
    """What a restart would find."""
    roots = [Root("notes", str(tmp_path / "root"))]
    with Engine.open(roots, state_dir=str(tmp_path / "home"), read_only=True) as engine:
        return engine.drafts.conflict(NOTE)


def texts(tmp_path: Path) -> set[bytes]:
    """Every text that can be read again."""
    roots = [Root("notes", str(tmp_path / "root"))]
    with Engine.open(roots, state_dir=str(tmp_path / "home"), read_only=True) as engine:
        kept = {engine.history.read(NOTE, version.sha256) for version in engine.history.of(NOTE)}
        return kept | {draft.text.encode() for draft in engine.drafts.all()}


def killed(terminal: Terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGKILL)


def hung_up(terminal: Terminal) -> None:
    terminal.hang_up()


def terminated(terminal: Terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGTERM)


def nothing(_: Terminal) -> None:
    """Press nothing."""


def decide(terminal: Terminal) -> None:
    """Decide the first conflict; the second one is shown."""
    terminal.press("a")
    terminal.wait_for("conflict 2/2")
    terminal.wait_for("1 open")


def edit(terminal: Terminal) -> None:
    """Begin an edit of the second conflict."""
    decide(terminal)
    terminal.press("e")
    terminal.wait_for("ctrl+s takes this text")
    terminal.type("half")
    terminal.wait_for("halfmy two")


POINTS: dict[str, tuple[Callable[[Terminal], None], tuple[str, ...], tuple[str, ...]]] = {
    "nothing decided": (nothing, ('"places":[]',), ("conflict 1/2", "2 open")),
    "one decided": (decide, ('"theirs"', '"spot":[2'), ("conflict 2/2", "1 open")),
    "in the small editor": (edit, ("halfmy two",), ("conflict 2/2", "1 open", "halfmy two", "ctrl+s takes this text")),
}
"""What is done before the death, what the ledger then holds, and what is seen after the next start."""


@pytest.mark.parametrize(
    ("point", "death"),
    [*((point, killed) for point in POINTS), ("one decided", terminated), ("in the small editor", hung_up)],
)
def test_a_death_in_the_conflict_screen_loses_nothing(
    tmp_path: Path, point: str, death: Callable[[Terminal], None]
) -> None:
    act, decided, back = POINTS[point]
    with start(tmp_path) as terminal:
        into_conflict(terminal, tmp_path)
        act(terminal)
        if death is killed:
            terminal.wait_for(
                lambda _: (found := stored(tmp_path)) is not None and all(one in found.decisions for one in decided)
            )
        death(terminal)
        terminal.wait_exit()
    assert (tmp_path / "root" / "note.md").read_bytes() == AGENT
    assert texts(tmp_path) >= {BASE, YOURS.encode(), AGENT}
    by_hand = death is killed  # it may not have said what was open, so the user begins anew and opens it
    with start(tmp_path, *(["--fresh"] if by_hand else [])) as terminal:
        if by_hand:
            enter_note(terminal)
        for words in back:
            terminal.wait_for(words)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_a_death_right_after_the_write_leaves_the_result_and_every_text(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        into_conflict(terminal, tmp_path)
        decide(terminal)
        terminal.press("y")
        terminal.wait_for("ctrl+s writes")
        terminal.press("ctrl+s")
        result = b"one agent\n=\nmy two\n=\nthree agent\n"
        terminal.wait_for(lambda _: (tmp_path / "root" / "note.md").read_bytes() == result)
        killed(terminal)
        terminal.wait_exit()
    with start(tmp_path) as terminal:
        terminal.wait_for("note.md")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert (tmp_path / "root" / "note.md").read_bytes() == result
    assert texts(tmp_path) >= {BASE, YOURS.encode(), AGENT, result}


def test_a_death_while_the_whole_result_is_in_an_editor_keeps_what_was_saved_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read()\n"
        "start, end = t.index('<<<<<<<'), t.index('>>>>>>> AGENT\\n') + len('>>>>>>> AGENT\\n')\n"
        "open(p, 'w').write(t[:start] + 'by hand\\n' + t[end:])\n"
        "print('EDITOR HERE', flush=True); input()\n"
    )
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(script)]))
    with start(tmp_path) as terminal:
        into_conflict(terminal, tmp_path)
        terminal.press("E")
        terminal.wait_for("EDITOR HERE")
        terminated(terminal)
        terminal.wait_exit()
    assert (tmp_path / "root" / "note.md").read_bytes() == AGENT
    with start(tmp_path) as terminal:
        terminal.wait_for("1 open")
        terminal.wait_for("by hand")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_what_is_typed_on_after_a_save_decides_nothing(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        into_conflict(terminal, tmp_path, "\x13an end, 3 0 x w")
        terminal.wait_for("typed before this question was there were ignored")
        terminal.wait_for("2 open")
        terminal.settle(0.3)
        terminal.press("a")
        terminal.wait_for("1 open")
    assert (tmp_path / "root" / "note.md").read_bytes() == AGENT
