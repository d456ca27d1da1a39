"""No door shows a planted secret: every verb, piped, on a terminal and as JSON, every tool of the protocol, and every
view of a real terminal. `python -m tests.hygiene doors` plants one of every kind, this a few.
"""

import os
import random
import re
import shlex
from pathlib import Path

import pytest

from memtui.features.table import NAMES
from tests import planted
from tests.cli.conftest import Cli, cli
from tests.features.proposals.test_tool import CHANGE
from tests.mcp_server.conftest import store
from tests.mcp_server.talk import Store, talk
from tests.terminal import Terminal
from tests.workbench.test_app_terminal import COMMAND, letters

__all__ = ["cli", "store"]
KINDS: tuple[str, ...] = ("S04", "S10", "S17", "S19", "S22", "P03", "S01 block")
if "MEMTUI_ALL_PLANTS" in os.environ:
    KINDS = ("S04", *(kind for kind in planted.PLANTS if kind not in ("S04", "S01 block")), "S01 block")
NO_OUTPUT = {"serve", "mcp", "web", "demo", "edit", "help", "keys", "completion", "watch", "workspace", "import"}
"""Verbs that stay, draw the workbench, start a program, or say nothing of a memory; the doors of agents have their own
tests."""
RUNS = """
roots | ls | ls --names | changes | review | search ferry | search {half} | search --versions {half} | recall ferry
context | cost | cost --agent claude-code | history {a} | blame {a} | trash | log | health | check | rules | pins
status | entries list team/d.txt | orphans | repoint notes --to . | accept 1 | reject 1 | sessions | tasks | doctor
config | install | obs status | cp {a} notes/{name}.md | cp {a} other/ | mv {a} other/{name}2.md --dry-run | export -
create {named} - | save {a} --expect absent - | pin {named} | unpin {named} | rm {named} | restore {named} | undo | redo
redact {a}@{name} --reason x | forget ferry | remember - | extract | dream --dry-run | uninstall | ls notes/{name}
view notes/{name} | diff notes/{name} | tool | seen --all
"""
EXACT = """view {a} | diff {a} | entries show team/d.txt 2"""


class World:
    """Memories with secrets of several kinds in names, front matter, index lines and texts, now, before and deleted."""

    def __init__(self, base: Path) -> None:
        dice = random.Random(7)
        plants = [(planted.PLANTS[kind][0](dice), planted.PLANTS[kind][1][0]) for kind in KINDS]
        self.values = [value for value, _ in plants]
        self.token = self.values[0]
        self.text = f"---\ndescription: ferry {self.token} now\n---\n# Deploy by ferry\n\n" + "\n\n".join(
            form.format(value) for value, form in plants
        )
        self.roots = [base / "notes", base / "other"]
        for root in self.roots:
            root.mkdir(parents=True)
        (self.roots[0] / "a.md").write_text(self.text + "\nferry\n")
        (self.roots[0] / f"{self.token}.md").write_text(f"ferry {self.token}\n")
        (self.roots[0] / "MEMORY.md").write_text(f"- [A](a.md) the ferry {self.token} key\n")
        (base / "team").mkdir()
        key = self.values[-1].replace("\n", "\n\n")  # each line of it is an entry by itself
        (base / "team" / "d.txt").write_text(f"# keys\n{key}\n\nferry by night\n")
        self.options = ["--only-root", "--root", f"team={base}/team,agent=goose"]
        for root in self.roots:
            self.options += ["--root", f"{root.name}={root},agent=claude-code"]

    def leaks(self, said: str) -> list[str]:
        """The parts of secrets that stand in what was said."""
        flat = said.replace("\n", "")
        parts = [line for value in self.values for line in value.split("\n") if not line.startswith("-----")]
        return [part[at : at + 9] for part in parts for at in range(0, len(part) - 8, 3) if part[at : at + 9] in flat]

    def words(self, line: str) -> list[str]:
        """The words of a line of `RUNS`."""
        token = self.token
        return shlex.split(line.format(a="notes/a.md", named=f"notes/{token}.md", name=token, half=token[4:24]))


def test_no_verb_prints_a_secret(cli: Cli, tmp_path: Path, home: Path) -> None:
    world = World(tmp_path / "roots")
    calls = [line.strip() for line in RUNS.replace("\n", "|").split("|") if line.strip()]
    named = {line.split()[0] for line in (*calls, *EXACT.split("|"))}
    assert set(NAMES) > NO_OUTPUT
    calls += [f"{verb} {{a}}" for verb in NAMES if verb not in named | NO_OUTPUT]
    asked = b'{"command": "view", "path": "/memories"}\n' + f"ferry {world.token}".encode()
    seen = 0
    for terminal, more in ((False, ()), (True, ()), (False, ("--json",))):
        for line in calls:
            result = cli(*world.options, *more, *world.words(line), stdin=asked, terminal=terminal)
            assert not world.leaks(result.raw.decode(errors="replace") + result.err), (line, terminal, more)
            seen += "[masked: " in result.out + result.err
    assert seen > 40
    for line in EXACT.split("|"):
        result = cli(*world.options, *world.words(line), terminal=True)
        assert (result.status, world.leaks(result.out + result.err)) == (0, [])
        assert world.leaks(cli(*world.options, *world.words(line)).out)
        assert world.leaks(cli(*world.options, *world.words(line), "--show-secrets", terminal=True).out)


async def test_no_tool_answers_with_a_secret(store: Store, tmp_path: Path) -> None:
    world = World(tmp_path / "roots")
    store.write("global/a.md", world.text + "\nferry\n")
    store.write(f"global/{world.token}.md", f"ferry {world.token}\n")
    store.configure('[proposals]\nclients = ["codex"]\n')
    half = world.token[4:24]
    words = ({"query": "ferry"}, {"query": half}, {"pattern": "ferry"})
    views = [{"command": "view", "path": path} for path in ("/memories", "/memories/global/a.md")]
    async with talk() as it:
        await it.hello("codex-mcp-client")
        tools = [tool["name"] for tool in (await it.ask("tools/list"))["tools"]]
        said = [await it.call("memory_propose", **{**CHANGE, "old_text": world.token})]
        for name in tools:
            said += [await it.call(name, **given) for given in (views if name == "memory" else words)]
        cards = sorted(set(re.findall(r"^- (\w{8,}) ", "\n".join(text for _, text in said), re.MULTILINE)))
        assert cards
        said += [await it.call("memory_timeline", id=card) for card in cards]
        said.append(await it.call("memory_details", ids=cards[:10]))
    assert len(tools) >= 7
    assert not [text for _, text in said if world.leaks(text.replace(f"'{half}'", ""))]  # what was asked is repeated
    assert sum("[masked: " in text for done, text in said if done) > 6


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
def test_no_view_draws_a_secret(tmp_path: Path, home: Path, size: tuple[int, int]) -> None:
    world = World(tmp_path / "roots")
    with Terminal([*COMMAND, *world.options[1:]], columns=size[0], rows=size[1]) as terminal:
        terminal.wait_for("MEMORY.md")
        drawn = []
        for keys, shown in (
            ("G", "[masked"), ("k", ""), ("k", ""), ("H", "History of"), ("esc", "enter edit"), ("i", "sha-256"),
            ("i", ""), ("B", "Who wrote"), ("esc", "enter edit"),
            ("3", "[3"), ("4", "[4"), ("5", "[5"), ("6", "[6"), ("7", "[7"), ("8", "[8"),
            ("9", "[9"), ("0", "[0"),
            ("1", "[1 Mem"), ("C", "Copy 1"), ("esc", "enter edit"), ("enter", "ctrl+s save"), ("down", ""),
            ("esc", "enter edit"), ("2", "[2"), *((letter, "") for letter in "ferry"), ("down", "[masked"),
        ):  # fmt: skip
            terminal.press(keys)
            terminal.wait_for(shown)
            terminal.settle(0.1)
            drawn.append(terminal.text)
        assert not [screen for screen in drawn if world.leaks(screen)]
        assert len([screen for screen in drawn if "[masked" in screen]) > 5
        assert not world.leaks(letters(bytes(terminal.raw)).decode(errors="replace"))
        terminal.press("ctrl+q")
        terminal.wait_exit()
