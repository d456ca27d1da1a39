"""Agents with rule files: front matter decides, each agent in its own words."""

import pytest

from tests.agents.loads.test_tables import started
from tests.agents.machine import Machine

MATCHING, DEMAND = "only when matching files are touched", "on demand"


def rule(machine: Machine, path: str, *fields: str) -> None:
    machine.write(path, "---\n" + "".join(f"{field}\n" for field in fields) + "---\ntext\n")


def marks(machine: Machine, agent: str) -> dict[str, str]:
    return {one.path.rpartition("/")[2]: one.mark for one in started(machine, agent)}


def test_cursor(machine: Machine) -> None:
    folder = "app/.cursor/rules"
    rule(machine, f"{folder}/always.mdc", "description: x", "globs: *.ts", "alwaysApply: true")
    rule(machine, f"{folder}/globs.mdc", "globs: *.ts", "alwaysApply: false")
    rule(machine, f"{folder}/deep/agent.mdc", "description: x")
    rule(machine, f"{folder}/hand.mdc", "alwaysApply: false")
    machine.write(f"{folder}/no.md")
    machine.write("app/.cursorrules")
    machine.write("app/AGENTS.md")
    assert marks(machine, "cursor") == {
        "always.mdc": "",
        "globs.mdc": MATCHING,
        "hand.mdc": DEMAND,
        "agent.mdc": DEMAND,
        "AGENTS.md": "",
        ".cursorrules": "",
    }
    assert started(machine, "cursor")[0].text == b"text\n"


def test_windsurf(machine: Machine) -> None:
    folder = "app/.windsurf/rules"
    for name, trigger in (("a", "always_on"), ("b", "glob"), ("c", "model_decision"), ("d", "manual")):
        rule(machine, f"{folder}/{name}.md", f"trigger: {trigger}", "globs: *.ts")
    machine.write("app/.windsurfrules", "x" * 12_001)
    machine.write("~/.codeium/windsurf/memories/global_rules.md", "x" * 6_001)
    assert marks(machine, "windsurf") == {
        "global_rules.md": "cut",
        "a.md": "",
        "b.md": MATCHING,
        "c.md": DEMAND,
        "d.md": DEMAND,
        ".windsurfrules": "cut",
    }


def test_kiro(machine: Machine) -> None:
    for base in ("app/.kiro/steering", "~/.kiro/steering"):
        machine.write(f"{base}/{base[0]}none.md")
        rule(machine, f"{base}/{base[0]}match.md", "inclusion: fileMatch", 'fileMatchPattern: "*.ts"')
        rule(machine, f"{base}/{base[0]}auto.md", "inclusion: auto")
    found = marks(machine, "kiro")
    assert (found["anone.md"], found["amatch.md"], found["aauto.md"]) == ("", MATCHING, DEMAND)
    assert (found["~none.md"], found["~match.md"], found["~auto.md"]) == ("", "skipped", DEMAND)


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
        ("amp", {"AGENTS.md": "x"}, {"AGENTS.md": ""}),
    ],
)
def test_others(machine: Machine, agent: str, files: dict[str, str], wanted: dict[str, str]) -> None:
    for name, text in files.items():
        machine.write(f"app/{name}", text)
    assert marks(machine, agent) == wanted
