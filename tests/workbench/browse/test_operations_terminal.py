"""The guide "Clean up forty memories in five minutes", key by key, on the very folder it makes."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT
from tests.terminal import Terminal

PAGE = (ROOT / "docs/guide/clean-up.md").read_text()


def make_forty(folder: Path) -> Path:
    """Run what the page says, without its last line, which opens the workbench."""
    (script,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    *lines, last = script.strip().split("\n")
    assert last.startswith("memtui ")
    subprocess.run(["sh", "-eu", "-c", "\n".join(lines)], cwd=folder, check=True)
    made = folder / "forty"
    assert len(list(made.rglob("*.md"))) == 40
    return made


def here(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}


def on(name: str) -> Callable[[Terminal], bool]:
    """Whether the cursor stands on this row."""
    return lambda terminal: any(
        line.startswith(">") and name in line.split("▏")[0] for line in terminal.text.split("\n")
    )


def narrow(terminal: Terminal, words: str, count: str) -> None:
    terminal.press("/")
    terminal.wait_for(lambda t: t.text.rstrip().split("\n")[-1].strip().startswith("/"))
    terminal.type(words)
    terminal.wait_for(count)
    terminal.press("enter")
    terminal.wait_for("space mark")


def write(terminal: Terminal, key: str, label: str, words: str) -> None:
    """Open a prompt, and put other words in place of its own."""
    terminal.press(key)
    terminal.wait_for(label)
    terminal.press("ctrl+u")
    terminal.type(words)
    terminal.wait_for(words)


def back(terminal: Terminal) -> None:
    terminal.settle(0.1)
    terminal.press("esc")
    terminal.wait_for(lambda t: " of " not in t.text.split("\n")[2].split("▏")[0])


def clear_out(terminal: Terminal, folder: Path) -> None:
    """The first two steps of the page: away with the scratch files, one of them kept."""
    # 1
    narrow(terminal, "scratch", "18 of 40")
    terminal.press("*")
    terminal.wait_for("18 marked")
    for _ in range(20):
        if on("tmp-07.md")(terminal):
            break
        terminal.press("j")
        terminal.settle(0.1)
    terminal.wait_for("The one thing worth keeping")
    terminal.press("space")
    terminal.wait_for("17 marked")
    terminal.press("d")
    terminal.wait_for("t moves 17 memories to the trash")
    terminal.press("t")
    terminal.wait_for("17 memories moved to the trash; u brings them back.")
    assert len(here(folder)) == 23
    back(terminal)
    # 2
    narrow(terminal, "tmp-07", "1 of 23")
    terminal.wait_for(on("tmp-07.md"))
    write(terminal, "r", "move", "decisions/key-rotation")
    terminal.press("enter")
    terminal.wait_for("u takes it back")
    assert "decisions/key-rotation.md" in here(folder)
    back(terminal)
    terminal.wait_for(on("key-rotation.md"))
    terminal.press("p")
    terminal.wait_for("Pinned, not given")


def sort_out(terminal: Terminal, folder: Path, copies: Path) -> None:
    """The next two: a range is moved, some are copied for every project."""
    # 3
    narrow(terminal, "api-", "14 of 23")
    terminal.wait_for(on("api-01.md"))
    terminal.press("v")
    terminal.wait_for("1 marked")
    for number in range(2, 11):
        terminal.press("j")
        terminal.wait_for(f"{number} marked")
    terminal.settle(0.1)  # more than six keys in 80 ms are taken for a paste
    terminal.press("v")
    write(terminal, "r", "Move 10 memories", "archive")
    terminal.wait_for("notes/decisions/api-01.md -> notes/archive/api-01.md")
    terminal.press("enter")
    terminal.wait_for("10 memories moved to notes/archive/")
    assert {name for name in here(folder) if name.startswith("archive/")} == {
        f"archive/api-{number:02}.md" for number in range(1, 11)
    }
    back(terminal)
    # 4
    narrow(terminal, "restart", "8 of 23")
    terminal.press("*")
    terminal.wait_for("8 marked")
    write(terminal, "C", "Copy 8 memories", "memtui:global/runbooks")
    terminal.wait_for("notes/runbooks/restart-1.md -> memtui:global/runbooks/restart-1.md")
    terminal.press("enter")
    terminal.wait_for("8 memories copied to memtui:global/runbooks/")
    assert len(list(copies.glob("*.md"))) == 8


def test_forty_memories_are_cleaned_up_as_the_page_says(tmp_path: Path, home: Path) -> None:
    folder = make_forty(tmp_path)
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={folder}"]
    with Terminal(command, columns=120, rows=40) as terminal:
        terminal.wait_for("api-01.md")
        terminal.settle(0.3)
        clear_out(terminal, folder)
        copies = home / ".memtui-test" / "memory" / "global" / "runbooks"
        sort_out(terminal, folder, copies)
        # 5
        terminal.press("5")
        terminal.wait_for("[5 Act")
        terminal.wait_for("8 memories")
        for undone in ("copy 8 memories", "move 10 memories", "pin ", "rename ", "delete 17 memories"):
            terminal.settle(0.2)
            terminal.press("u")
            terminal.wait_for(f"Undid: {undone}")
        assert len(here(folder)) == 40
        assert "scratch/tmp-07.md" in here(folder)
        assert not list(copies.glob("*.md"))
        terminal.press("q", "q")
        assert terminal.wait_exit() == 0


def test_every_key_the_page_names_is_one() -> None:
    from memtui.workbench.actions import ACTIONS

    known = {key for action in ACTIONS for key in action.keys}
    table = PAGE.split("## The keys")[1]
    named = [key for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for key in re.findall(r"`([^`]+)`", row)]
    assert named
    assert not [key for key in named if key not in known]
