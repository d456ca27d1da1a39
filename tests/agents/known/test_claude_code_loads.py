"""Claude Code: the whole hierarchy of a home as it leaves it, and what its settings change."""

import json
import os

import pytest

from memtui.agents.known.claude_code import LARGEST
from memtui.agents.layout import short_path, slug
from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


def test_the_hierarchy_is_loaded_in_order(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    machine.write("etc/claude-code/CLAUDE.md", "Managed.\n")
    machine.write("app/api/CLAUDE.md", "Of a folder.\n")
    home = os.path.relpath(machine.home, machine.folder)
    memory = f"{home}/.claude/projects/{slug(str(machine.app))}/memory"
    matching = ": only when matching files are touched"
    assert marked(machine, started(machine, "claude-code")) == [
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
        "The agent loads 200 lines or 25,000 characters of it.",
    )


def test_settings_leave_files_out_and_switch_memories_off(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    machine.write("app/x/CLAUDE.md")
    machine.write(f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md")
    machine.write("~/.claude/settings.json", json.dumps({"claudeMdExcludes": ["**/x/CLAUDE.md"]}))
    settings = machine.write("app/.claude/settings.json", json.dumps({"autoMemoryEnabled": False}))
    found = started(machine, "claude-code", "app/x")
    assert [one.mark for one in found] == ["", "skipped", "skipped"]
    assert found[1].why == "Not loaded: claudeMdExcludes in ~/.claude/settings.json leaves it out: **/x/CLAUDE.md"
    assert found[-1].why == f"Not loaded: switched off in {short_path(str(settings), str(machine.home))}."
    machine.write("~/.claude/settings.json", "[not json")
    machine.write("app/.claude/settings.json", "[]")
    found = started(machine, "claude-code")
    assert [(one.label, one.mark) for one in found] == [
        ("instructions", ""),
        ("memory index", ""),
        ("folder instructions", "on demand"),
        ("settings", "skipped"),
        ("settings", "skipped"),
    ]
    assert {one.why for one in found[3:]} == {"It is no JSON object. None of its settings is known here."}


def test_settings_leave_out_rules_and_imports_and_no_managed_file_and_no_memory(machine: Machine) -> None:
    memory = f"~/.claude/projects/{slug(str(machine.app))}/memory"
    for name in ("etc/claude-code/CLAUDE.md", "~/.claude/CLAUDE.md", f"{memory}/MEMORY.md", f"{memory}/a.md"):
        machine.write(name)
    machine.write("app/CLAUDE.md", "@docs/a.md\n@docs/b.md\n")
    for name in ("docs/a.md", "docs/b.md", ".claude/rules/one.md", ".claude/rules/deep/two.md", "CLAUDE.local.md"):
        machine.write(f"app/{name}")
    machine.write("app/.claude/settings.local.json", json.dumps({"claudeMdExcludes": ["**/rules/*.md", "**/b.md"]}))
    found = {os.path.basename(one.path): one.mark for one in started(machine, "claude-code")}
    assert {name for name, mark in found.items() if mark == "skipped"} == {"one.md", "b.md"}, "* stays in its folder"
    machine.write("app/.claude/settings.local.json", json.dumps({"claudeMdExcludes": ["**"]}))
    labels = {one.label for one in started(machine, "claude-code") if one.mark in ("", "on demand")}
    assert labels == {"managed instructions", "memory index", "memories"}


def test_an_excluded_path_may_go_through_links(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    (machine.folder / "way").symlink_to(machine.app)
    for pattern in (
        f"{machine.folder}/way/CLAUDE.md",
        f"{machine.folder}/way/*.md",
        f"{machine.folder}/way/{{CLAUDE,x}}.md",
    ):
        machine.write("~/.claude/settings.json", json.dumps({"claudeMdExcludes": [pattern]}))
        assert [one.mark for one in started(machine, "claude-code")] == ["skipped"], pattern


@pytest.mark.parametrize(
    ("user", "project", "local", "managed", "variable", "where"),
    [
        (False, None, None, None, None, "~/.claude/settings.json"),
        (True, False, None, None, None, "settings.json"),
        (False, True, None, None, None, ""),
        (False, False, True, None, None, ""),
        (True, True, True, False, None, "managed-settings.json"),
        (False, None, None, None, "0", ""),
        (True, None, None, None, "TRUE", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"),
        ("no", 0, None, None, "maybe", ""),
    ],
)
def test_the_strongest_setting_decides(
    machine: Machine, user: object, project: object, local: object, managed: object, variable: str | None, where: str
) -> None:
    machine.write(f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md")
    files = ("~/.claude/settings.json", "app/.claude/settings.json", "app/.claude/settings.local.json")
    for name, value in zip(
        (*files, "etc/claude-code/managed-settings.json"), (user, project, local, managed), strict=True
    ):
        if value is not None:
            machine.write(name, json.dumps({"autoMemoryEnabled": value}))
    environ = {} if variable is None else {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": variable}
    (index,) = started(machine, "claude-code", **environ)
    assert (index.mark, where in index.why) == ("skipped" if where else "", True)


def test_one_variable_switches_everything_off(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    found = started(machine, "claude-code", CLAUDE_CODE_DISABLE_CLAUDE_MDS="1", CLAUDE_CODE_DISABLE_AUTO_MEMORY="0")
    rest = [one for one in found if one.label != "subagent index"]
    assert rest
    assert {one.why for one in rest} == {"Not loaded: switched off by CLAUDE_CODE_DISABLE_CLAUDE_MDS."}
    assert {one.mark for one in found} == {"skipped", "on demand"}


def test_settings_with_values_of_other_kinds_change_nothing(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    machine.write("~/.claude/settings.json", json.dumps({"claudeMdExcludes": {"**": 1}, "autoMemoryEnabled": "false"}))
    machine.write("app/.claude/settings.json", json.dumps({"claudeMdExcludes": [1, ["**"], "!**"]}))
    assert [one.mark for one in started(machine, "claude-code")] == [""]


def test_patterns_that_are_not_followed_in_all_are_rows(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    file = machine.write("~/.claude/settings.json", json.dumps({"claudeMdExcludes": ["x" * 2_000, "{a,b}" * 9]}))
    odd = machine.write("app/.claude/settings.json", json.dumps({"claudeMdExcludes": ["x"] * 51}))
    first, *rows = started(machine, "claude-code")
    assert first.at_start
    assert [(one.label, one.path, one.mark) for one in rows] == [
        ("settings", str(path), "skipped") for path in (odd, file, file)
    ]
    assert rows[0].why == "Only the first 50 patterns of claudeMdExcludes are followed."
    assert [text in one.why for text, one in zip(("is longer", "only 50 of"), rows[1:], strict=True)] == [True, True]
