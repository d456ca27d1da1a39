"""OpenCode: one name for the whole project, and what its settings name."""

import json
import os

import pytest

from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


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
