"""What the user's own editor saves is saved, guarded; it is a draft where somebody else saved as well."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.ui.widgets.lines import Lines
from tests.terminal import Terminal
from tests.workbench.workbench import Bench, address, until

WINDOW = """while [ ! -e {folder}/go ]; do sleep 0.02; done
printf 'mine\\ntwo\\n' > "$2"
"""


def bench_on(folder: Path) -> Bench:
    """Two memories, and an editor with a window that saves once there is a file `go`."""
    (folder / "root").mkdir()
    for name in ("a.md", "b.md"):
        (folder / "root" / name).write_bytes(b"one\ntwo\n")
    script = folder / "editor.sh"
    script.write_text(WINDOW.format(folder=folder))
    return Bench(folder, editor_command=f"sh {script} --wait")


async def opened(bench: Bench, pilot: Pilot[None], name: str = "a.md") -> None:
    bench.flow.open(address(name))
    await until(pilot, lambda: bench.flow.address == address(name))


async def test_what_it_saves_is_saved_and_leaves_no_draft(tmp_path: Path) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        (tmp_path / "go").touch()
        await until(pilot, lambda: bench.path("a.md").read_bytes() == b"mine\ntwo\n")
        await until(pilot, lambda: bench.engine.drafts.all() == () and not bench.editor.dirty)


async def test_beside_what_an_agent_saved_it_is_a_draft(tmp_path: Path) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        bench.path("a.md").write_bytes(b"theirs\ntwo\n")
        (tmp_path / "go").touch()
        await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["mine\ntwo\n"])
        await until(pilot, lambda: "saved meanwhile" in bench.editor.query_one("#editor-said", Lines).text)
        assert bench.path("a.md").read_bytes() == b"theirs\ntwo\n"


@pytest.mark.parametrize("theirs", [False, True])
async def test_what_it_saves_when_another_memory_is_open_goes_to_its_own(tmp_path: Path, theirs: bool) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        await opened(bench, pilot, "b.md")
        if theirs:
            bench.path("a.md").write_bytes(b"theirs\ntwo\n")
        (tmp_path / "go").touch()
        await until(pilot, lambda: bool(bench._notifications))
        if theirs:
            await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["mine\ntwo\n"])
        assert [one.message for one in bench._notifications] == [
            "What you saved in your editor is kept as a draft of a.md."
            if theirs
            else "Saved notes/a.md. u takes it back."
        ]
        assert bench.path("a.md").read_bytes() == (b"theirs\ntwo\n" if theirs else b"mine\ntwo\n")
        assert bench.path("b.md").read_bytes() == b"one\ntwo\n"


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
