"""OpenCode: one name for the whole project, and what its settings name."""

import json
import os

import pytest

from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_memories import started


def test_its_own_files_up_to_the_checkout(machine: Machine) -> None:
    for name in ("AGENTS.md", "sub/AGENTS.md", "sub/deep/CLAUDE.md", "CLAUDE.md"):
        machine.write(f"app/{name}")
    machine.write("AGENTS.md")
    found = marked(machine, started(machine, "opencode", "app/sub/deep"))
    assert found == ["app/sub/AGENTS.md", "app/AGENTS.md"]


def test_claude_codes_files_where_it_has_none(machine: Machine) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("app/CLAUDE.md")
    machine.write("app/CONTEXT.md")
    assert [one.label for one in started(machine, "opencode")] == ["user instructions", "project instructions"]
    machine.write("~/.config/opencode/AGENTS.md")
    assert started(machine, "opencode")[0].path == str(machine.path("~/.config/opencode/AGENTS.md"))


@pytest.mark.parametrize(
    "where", ["app/opencode.json", "app/.opencode/opencode.jsonc", "~/.config/opencode/opencode.json"]
)
def test_instructions_that_settings_name(machine: Machine, where: str) -> None:
    named = ["rules/*.md", "../secret.md", "~/mine.md", "https://example.org/x.md", "gone.md", "/etc/*.conf"]
    machine.write(where, json.dumps({"instructions": named}))
    for name in ("app/rules/a.md", "app/sub/rules/b.md", "secret.md", "~/mine.md"):
        machine.write(name)
    found = started(machine, "opencode", "app/sub")
    assert [os.path.relpath(one.path, machine.app) for one in found] == [
        "sub/rules/b.md",
        "rules/a.md",
        "../secret.md",
        os.path.relpath(machine.path("~/mine.md"), machine.app),
    ]
    assert [(one.mark, one.raw) for one in found[2:]] == [("", b"")] * 2, "counted, and not read"


def test_variables_move_its_folder_and_add_settings(machine: Machine) -> None:
    for name in ("~/moved/AGENTS.md", "~/.config/opencode/AGENTS.md", "app/a.md", "app/b.md", "app/c.md", "~/c.md"):
        machine.write(name)
    machine.write("~/more.json", '{"instructions": ["b.md"]} // mine')
    machine.write("~/moved/opencode.json", '{"instructions": ["a.md"]}')
    moved = {
        "OPENCODE_CONFIG_DIR": str(machine.path("~/moved")),
        "OPENCODE_CONFIG": "~/more.json",
        "OPENCODE_CONFIG_CONTENT": '{"instructions": ["c.md", 1]}',
    }
    found = [os.path.relpath(one.path, machine.folder) for one in started(machine, "opencode", **moved)]
    home = os.path.relpath(machine.home, machine.folder)
    assert found == [f"{home}/moved/AGENTS.md", "app/b.md", "app/a.md", "app/c.md"]
    machine.environ.update(moved)
    assert machine.roots()["agents-md:global:opencode"].path == moved["OPENCODE_CONFIG_DIR"]
    *_, broken = started(machine, "opencode", OPENCODE_CONFIG_CONTENT="[")
    assert (broken.path, broken.why[:21]) == ("OPENCODE_CONFIG_CONTENT", "It is no JSON object.")


@pytest.mark.parametrize(
    ("variables", "left"),
    [
        ({"OPENCODE_DISABLE_CLAUDE_CODE": "on"}, ["app/x.md"]),
        ({"OPENCODE_DISABLE_CLAUDE_CODE_PROMPT": "off"}, ["~/.claude/CLAUDE.md", "app/CLAUDE.md", "app/x.md"]),
        ({"OPENCODE_DISABLE_PROJECT_CONFIG": "TRUE"}, ["~/.claude/CLAUDE.md"]),
        ({"OPENCODE_DISABLE_PROJECT_CONFIG": "yes"}, ["~/.claude/CLAUDE.md", "app/CLAUDE.md", "app/x.md"]),
    ],
)
def test_variables_switch_files_off(machine: Machine, variables: dict[str, str], left: list[str]) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("app/CLAUDE.md")
    machine.write("app/x.md")
    machine.write("app/opencode.json", json.dumps({"instructions": [str(machine.path("app/x.md"))]}))
    loaded = [one.path for one in started(machine, "opencode", **variables)]
    assert loaded == [str(machine.path(name)) for name in left]


def test_the_users_own_file_behind_a_link_is_a_root(machine: Machine) -> None:
    machine.write("~/kept/A.md")
    for name in ("opencode", "amp"):
        machine.write(f"~/.config/{name}/x")
        machine.path(f"~/.config/{name}/AGENTS.md").symlink_to(machine.path("~/kept/A.md"))
    roots = machine.roots()
    assert roots["agents-md:global:link-opencode-AGENTS.md"].policy.include == ("A.md",)


def test_patterns_that_lead_out_of_the_project_mean_nothing(machine: Machine) -> None:
    named = ["../../.ssh/*", "x/../../*.md", f"{machine.app}/../*.md", "rules/../*.md"]
    machine.write("app/opencode.json", json.dumps({"instructions": named}))
    for name in ("secret.md", ".ssh/id", "app/in.md"):
        machine.write(name)
    assert marked(machine, started(machine, "opencode", "app")) == ["app/in.md"]
