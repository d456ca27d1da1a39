"""Agents with rule files: front matter decides, each agent in its own words."""

import pytest

from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started

MATCHING, DEMAND = "only when matching files are touched", "on demand"


def rule(machine: Machine, path: str, *fields: str) -> None:
    machine.write(path, "---\n" + "".join(f"{field}\n" for field in fields) + "---\ntext\n")


def marks(machine: Machine, agent: str) -> dict[str, str]:
    return {one.path.rpartition("/")[2]: one.mark for one in started(machine, agent)}


def test_copilot(machine: Machine) -> None:
    machine.write("app/.github/copilot-instructions.md")
    folder = "app/.github/instructions"
    rule(machine, f"{folder}/all.instructions.md", 'applyTo: "**"')
    rule(machine, f"{folder}/some.instructions.md", "applyTo: '**/*.ts'")
    rule(machine, f"{folder}/hand.instructions.md", "description: x")
    memories = "~/.config/Code/User/globalStorage/github.copilot-chat/memory-tool/memories"
    machine.write(f"{memories}/a.md", "1\n" * 150)
    machine.write(f"{memories}/b.md", "1\n" * 150)
    machine.write(f"{memories}/deep/c.md")
    found = started(machine, "copilot")
    assert {one.path.rpartition("/")[2]: one.mark for one in found} == {
        "copilot-instructions.md": "",
        "all.instructions.md": "",
        "some.instructions.md": MATCHING,
        "hand.instructions.md": DEMAND,
        "a.md": "",
        "b.md": "cut",
        "c.md": DEMAND,
    }
    texts = [one.text.count(b"\n") for one in found if one.label == "user memories" and one.at_start]
    assert sum(texts) + len(texts) <= 200


@pytest.mark.parametrize(
    ("agent", "files", "wanted"),
    [
        ("cline", {".clinerules/a.md": "x", "memory-bank/b.md": "x"}, {"a.md": "", "b.md": DEMAND}),
        ("roo", {".roo/rules/a.md": "x", ".roo/rules-code/b.md": "x"}, {"a.md": "", "b.md": DEMAND}),
        ("opencode", {"AGENTS.md": "x", "CLAUDE.md": "x"}, {"AGENTS.md": ""}),
        ("opencode", {"CLAUDE.md": "x"}, {"CLAUDE.md": ""}),
    ],
)
def test_others(machine: Machine, agent: str, files: dict[str, str], wanted: dict[str, str]) -> None:
    for name, text in files.items():
        machine.write(f"app/{name}", text)
    assert marks(machine, agent) == wanted


def test_cline_reads_the_files_right_in_its_folders_of_rules(machine: Machine) -> None:
    for name in (".clinerules/a.md", ".cline/rules/b.txt", ".clinerules/hooks/README.md", ".cline/rules/deep/c.md"):
        machine.write(f"app/{name}")
    for name in ("~/.cline/rules/d.md", "~/Documents/Cline/Rules/e.md", "~/Cline/Rules/f.md", "~/.cline/rules/x/g.md"):
        machine.write(name)
    rule(machine, "app/.clinerules/off.md", "disabled: true")
    rule(machine, "app/.clinerules/older.md", "enabled: false")
    rule(machine, "app/.clinerules/on.md", "disabled: false", "enabled: false")
    rule(machine, "app/.clinerules/some.md", "paths:", "  - src/**")
    found = started(machine, "cline")
    assert {one.path.rpartition("/")[2]: one.mark for one in found} == {
        **dict.fromkeys(("a.md", "b.txt", "d.md", "e.md", "f.md", "on.md"), ""),
        **dict.fromkeys(("off.md", "older.md", "README.md", "c.md"), "skipped"),
        "some.md": MATCHING,
    }
    assert all(one.why for one in found if one.mark)
