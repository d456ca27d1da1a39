"""Claude Code: the whole hierarchy of a home as it leaves it, and what its settings change."""

import json
import os

from memtui.agents.folders import slug
from memtui.agents.loads.tables.claude_code import LARGEST
from tests.agents import homes
from tests.agents.loads.test_tables import started, told
from tests.agents.machine import Machine


def test_the_hierarchy_is_loaded_in_order(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    machine.write("etc/claude-code/CLAUDE.md", "Managed.\n")
    machine.write("app/api/CLAUDE.md", "Of a folder.\n")
    home = os.path.relpath(machine.home, machine.folder)
    memory = f"{home}/.claude/projects/{slug(str(machine.app))}/memory"
    matching = ": only when matching files are touched"
    assert told(machine, started(machine, "claude-code")) == [
        "etc/claude-code/CLAUDE.md",
        f"{home}/.claude/CLAUDE.md",
        f"{home}/.claude/prefs/style.md",
        f"{home}/.claude/rules/review.md",
        f"{home}/.claude/rules/lang/python.md{matching}",
        "CLAUDE.md",
        "app/CLAUDE.md",
        "app/docs/conventions.md",
        "outside.md: needs approval",
        "app/.claude/CLAUDE.md",
        f"app/.claude/rules/api.md{matching}",
        "app/CLAUDE.local.md",
        f"{memory}/MEMORY.md",
        *(f"{memory}/{name}.md: on demand" for name in ("feedback_testing", "project_freeze", "user_role")),
        f"{home}/.claude/agent-memory/reviewer/MEMORY.md: on demand",
        "app/.claude/agent-memory/reviewer/MEMORY.md: on demand",
        "app/.claude/agent-memory-local/tester/MEMORY.md: on demand",
        "app/api/CLAUDE.md: on demand",
    ]


def test_in_a_folder_its_own_file_is_loaded_too(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    machine.write("app/api/CLAUDE.md", "Of a folder.\n")
    assert told(machine, started(machine, "claude-code", "app/api")) == ["app/CLAUDE.md", "app/api/CLAUDE.md"]


def test_comments_and_front_matter_of_rules_go_and_code_is_no_import(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", "a\n<!-- for people\n@b.md -->\n```\n@b.md\n```\n")
    machine.write("app/b.md", "b\n")
    machine.write("app/.claude/rules/c.md", "---\ntitle: c\n---\nc\n")
    found = started(machine, "claude-code")
    assert [one.text for one in found] == [b"a\n```\n@b.md\n```\n", b"c\n"]


def test_the_index_is_cut_and_a_huge_file_left_out(machine: Machine) -> None:
    machine.write(f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md", "- [a](a.md) - b\n" * 205)
    with machine.write("app/CLAUDE.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    huge, index = started(machine, "claude-code")
    assert (huge.mark, huge.raw, huge.size) == ("skipped", b"", LARGEST + 1)
    assert (index.mark, index.text.count(b"\n"), index.why) == (
        "cut",
        200,
        "The agent loads 200 lines or 25,000 bytes of it.",
    )


def test_settings_leave_files_out_and_switch_memories_off(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    machine.write("app/x/CLAUDE.md")
    machine.write(f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md")
    machine.write("~/.claude/settings.json", json.dumps({"claudeMdExcludes": ["**/x/CLAUDE.md"]}))
    machine.write("app/.claude/settings.json", json.dumps({"autoMemoryEnabled": False}))
    found = started(machine, "claude-code", "app/x")
    assert [one.mark for one in found] == ["", "skipped", "skipped"]
    assert found[-1].why == "Auto memory is switched off."
    machine.write("~/.claude/settings.json", "[not json")
    machine.write("app/.claude/settings.json", "[]")
    assert [one.mark for one in started(machine, "claude-code")][:1] == [""]
