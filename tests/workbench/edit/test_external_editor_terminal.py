"""The user's own editor, when it has a window of its own: the workbench goes on beside it."""

import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

EDITOR = """#!{python}
import pathlib, sys, time
open({started!r}, "w").close()
while not pathlib.Path({finish!r}).exists():
    time.sleep(0.02)
path = pathlib.Path(sys.argv[-1])
path.write_bytes(path.read_bytes().replace(b"two", b"from the window"))
"""


@pytest.mark.parametrize("text", [b"one\r\nbetween\r\ntwo\r\n", b"one\r\ntwo\r\n"], ids=["apart", "overlap"])
def test_point_29_an_editor_with_a_window_freezes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    root, program = tmp_path / "root", tmp_path / "bin" / "gedit"
    root.mkdir()
    program.parent.mkdir()
    (root / "a.md").write_bytes(text)
    (root / "b.md").write_bytes(b"another\n")
    started, finish = tmp_path / "started", tmp_path / "finish"
    program.write_text(EDITOR.format(python=sys.executable, started=str(started), finish=str(finish)))
    program.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(program))
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    with Terminal(command, columns=120, rows=40) as terminal:
        terminal.wait_for("a.md")
        terminal.settle(0.2)
        terminal.press("enter")
        terminal.wait_for("ctrl+s save")
        terminal.press("f4")
        terminal.wait_for(lambda _: started.exists())
        terminal.wait_for("Editing in gedit")
        assert b"\x1b[?1049l" not in terminal.raw, "the screen was given away"
        terminal.type("mine ")
        terminal.wait_for("mine one")
        finish.touch()
        terminal.wait_for("from the window")
        if b"between" not in text:
            terminal.wait_for("It replaced what you typed here")
            terminal.press("ctrl+z")
        terminal.wait_for("mine one")
        assert (root / "a.md").read_bytes() == text, "what is typed beside it is not saved unasked"


@pytest.mark.parametrize("change", [True, False])
def test_from_the_text_of_a_memory_f4_saves_and_comes_back_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bool
) -> None:
    root, script = tmp_path / "root", tmp_path / "editor.py"
    root.mkdir()
    (root / "a.md").write_bytes(b"one\r\ntwo\r\n")
    write = "path.write_bytes(b'by editor ' + path.read_bytes())"
    script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{write if change else ''}\n")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    with Terminal(command, columns=120, rows=40) as terminal:
        terminal.wait_for("a.md")
        terminal.settle(0.2)
        terminal.press("tab")
        terminal.wait_for(">notes/a.md")
        terminal.press("f4")
        terminal.wait_for("Saved notes/a.md. u takes it back." if change else "nothing was changed")
        terminal.wait_for("\u2500>notes/a.md")
        assert (root / "a.md").read_bytes() == b"by editor " * change + b"one\r\ntwo\r\n"
        assert "ctrl+s save" not in terminal.text
