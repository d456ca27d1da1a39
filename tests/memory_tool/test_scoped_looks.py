"""What is said of a folder that others make and remove meanwhile is true, and what can be done is done."""

import os
import re
import threading
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Policy, Root
from memtui.memory_tool import scoped
from memtui.memory_tool.scoped import ScopedTool

D = Address("memtui:global", "d")
TRUE = [
    r"No memory file or directory at /memories/global/d",
    r"Destination /memories/global/e\d+-\d+ already exists",
    r"Memory operation failed: another program keeps changing /memories/global/d; view it, then try again",
]


def engine(base: Path) -> Engine:
    root = Root("memtui:global", str(base / "memory"), "memtui", "global", policy=Policy(102_400, 1_000))
    return Engine.open([root], state_dir=str(base / "state"), lock_wait=20)


def test_what_is_said_while_others_create_in_a_folder_is_true(tmp_path: Path) -> None:
    said: list[tuple[bool, str]] = []
    making = threading.Event()
    made: list[bool] = []

    def create(number: int) -> None:
        with engine(tmp_path) as one:
            tool = ScopedTool(one, Actor("agent:maker"))
            for count in range(60):
                path = f"/memories/global/d/{number}-{count}.md"
                made.append(tool.call({"command": "create", "path": path, "file_text": "x"}).ok)

    def meddle(number: int) -> None:
        with engine(tmp_path) as one:
            tool = ScopedTool(one, Actor("agent:meddler"))
            count = 0
            while not making.is_set():
                count += 1
                call = {"command": ("delete", "rename", "view")[number % 3], "path": "/memories/global/d"}
                if number % 3 == 1:
                    call["new_path"] = f"/memories/global/e{number}-{count}"
                result = tool.call(call)
                said.append((result.ok, result.text))

    makers = [threading.Thread(target=create, args=(number,)) for number in range(3)]
    meddlers = [threading.Thread(target=meddle, args=(number,)) for number in range(5)]
    for thread in (*makers, *meddlers):
        thread.start()
    for thread in makers:
        thread.join()
    making.set()
    for thread in meddlers:
        thread.join()
    assert made == [True] * 180
    false = {text for ok, text in said if not ok and not any(re.fullmatch(true, text) for true in TRUE)}
    assert false == set()


@pytest.mark.parametrize("command", ["delete", "rename"])
def test_a_folder_of_hidden_files_is_called_what_it_is(command: str, tmp_path: Path) -> None:
    (tmp_path / "memory/d").mkdir(parents=True)
    (tmp_path / "memory/d/.keep").write_text("mine")
    with engine(tmp_path) as one:
        assert scoped.at(one, D) == scoped.OTHERS
        call = {"command": command, "path": D.path, "new_path": "/memories/global/e"}
        result = ScopedTool(one, Actor("agent:x")).call(call | {"path": "/memories/global/d"})
    words = "/memories/global/d holds no memories, only hidden or other files, which are left alone; use another path"
    assert (result.ok, result.text) == (False, words)
    assert (tmp_path / "memory/d/.keep").read_text() == "mine"


def test_what_has_a_name(tmp_path: Path) -> None:
    base = tmp_path / "memory"
    (base / "empty/inner").mkdir(parents=True)
    (base / "full/inner").mkdir(parents=True)
    (base / "full/inner/a.md").write_text("x")
    os.symlink("full", base / "link")
    with engine(tmp_path) as one:
        found = {
            name: scoped.at(one, Address("memtui:global", name))
            for name in ("empty", "full", "full/inner/a.md", "link", "none", "none/deeper")
        }
        assert found == {
            "empty": scoped.EMPTY,
            "full": scoped.MEMORIES,
            "full/inner/a.md": "file",
            "link": "link",
            "none": scoped.NOTHING,
            "none/deeper": scoped.NOTHING,
        }
        assert scoped.is_blocked(one, Address("memtui:global", "full/inner/a.md/b/c.md"))
        assert not scoped.is_blocked(one, Address("memtui:global", "none/b/c.md"))
