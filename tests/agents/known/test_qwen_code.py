"""Qwen Code's folders: which are found, and how its own variables move them."""

import json
import os
from pathlib import Path

import pytest

from memtui.agents.layout import slug
from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_layout import worktree
from tests.agents.test_session_start_memories import started


def memory(machine: Machine, project: Path, base: str = "~/.qwen") -> Path:
    """Give a project one memory, and return the folder."""
    return machine.write(f"{base}/projects/{slug(str(project))}/memory/MEMORY.md").parent


def mine(machine: Machine) -> str:
    return f"qwen-code:project:{slug(str(machine.app))}"


def test_agents_md_is_its_only_where_it_is_in_use(machine: Machine) -> None:
    machine.write("app/AGENTS.md")
    assert list(machine.roots()) == [*NATIVE, "agents-md:project:instructions"]
    machine.path("~/.qwen").mkdir()
    assert machine.roots()["qwen-code:project:instructions"].policy.include == (
        "QWEN.md",
        "AGENTS.md",
        ".qwen/QWEN.local.md",
        ".qwen/rules/",
    )


def test_a_project_alone_shows_its_instructions(machine: Machine) -> None:
    machine.write("app/.qwen/QWEN.local.md")
    root = machine.roots()["qwen-code:project:instructions"]
    assert root.policy.include == ("QWEN.md", ".qwen/QWEN.local.md", ".qwen/rules/")


def test_each_worktree_has_its_own(machine: Machine) -> None:
    tree = machine.folder / "fix"
    worktree(machine.app, tree)
    memory(machine, machine.app)
    assert not [name for name in machine.roots("fix") if name.startswith("qwen-code:project")]
    memory(machine, tree)
    assert machine.roots("fix")[f"qwen-code:project:{slug(str(tree))}"].aliases == ("qwen-code:project",)


@pytest.mark.parametrize("variable", ["QWEN_CODE_MEMORY_BASE_DIR", "QWEN_RUNTIME_DIR", "QWEN_HOME"])
def test_each_variable_moves_it(machine: Machine, variable: str) -> None:
    folder = memory(machine, machine.app, "base")
    memory(machine, machine.app)
    assert machine.moved(variable, "base")[mine(machine)].path == str(folder)


def test_the_stronger_variable_wins(machine: Machine) -> None:
    folder = memory(machine, machine.app, "base")
    memory(machine, machine.app, "runtime")
    found = machine.roots(
        QWEN_RUNTIME_DIR=str(machine.folder / "runtime"), QWEN_CODE_MEMORY_BASE_DIR=str(machine.folder / "base")
    )
    assert found[mine(machine)].path == str(folder)


def test_the_users_settings_can_move_it(machine: Machine) -> None:
    folder = memory(machine, machine.app, "run")
    machine.write("~/.qwen/settings.json", json.dumps({"advanced": {"runtimeOutputDir": str(machine.folder / "run")}}))
    assert machine.roots()[mine(machine)].path == str(folder)
    machine.write("~/.qwen/settings.json", json.dumps({"advanced": {"runtimeOutputDir": "../run"}}))
    assert machine.roots()[mine(machine)].path == str(folder)


def test_local_memories(machine: Machine) -> None:
    machine.write("app/.qwen/memory/MEMORY.md")
    assert list(machine.roots()) == NATIVE
    root = machine.roots(QWEN_CODE_MEMORY_LOCAL="1")["qwen-code:project:local"]
    assert root.in_checkout
    assert root.aliases == ("qwen-code:project",)


@pytest.mark.parametrize(("scope", "first"), [("git-root", "app"), (" Workspace ", "app/src"), ("odd", "app")])
def test_the_command_line_and_the_daemon_may_differ(machine: Machine, scope: str, first: str) -> None:
    (machine.app / "src").mkdir()
    memory(machine, machine.app)
    memory(machine, machine.app / "src")
    roots = machine.roots("app/src", QWEN_CODE_MEMORY_PROJECT_SCOPE=scope)
    aliased = {name: root.aliases for name, root in roots.items() if name.startswith("qwen-code:project:")}
    assert len(aliased) == 2
    assert aliased[f"qwen-code:project:{slug(str(machine.folder / first))}"] == ("qwen-code:project",)


def test_all_projects(machine: Machine) -> None:
    memory(machine, machine.app)
    (machine.folder / "there").mkdir()
    memory(machine, machine.folder / "there")
    memory(machine, machine.folder / "gone")
    roots = machine.roots(all_projects=True)
    assert roots[f"qwen-code:project:{slug(str(machine.folder / 'there'))}"].project == str(machine.folder / "there")
    assert "gone" in roots[f"qwen-code:project:{slug(str(machine.folder / 'gone'))}"].note
    assert len(machine.roots()) == len(roots) - 2


def test_every_tier(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    roots = machine.roots()
    found = {name: (root.scope, root.kind) for name, root in roots.items() if root.agent == "qwen-code"}
    assert found == {
        "qwen-code:global": ("global", "memories"),
        "qwen-code:global:instructions": ("global", "instructions"),
        mine(machine): ("project", "memories"),
        "qwen-code:project:team": ("project", "memories"),
        "qwen-code:channel": ("channel", "memories"),
        "qwen-code:project:instructions": ("project", "instructions"),
    }
    assert roots["qwen-code:channel"].path == str(machine.home / ".qwen" / "channels" / "memory")
    policy = roots["qwen-code:global"].policy
    assert (policy.index_lines, policy.index_units, policy.index_bytes) == (200, 25_000, None)
    assert (policy.front_matter, policy.protected, policy.generated) == ("required", ("pinned/",), ("MEMORY.md",))


def test_channels_follow_the_home_and_not_the_runtime_folder(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    machine.write("run/channels/memory/x/y/CHANNEL.md")
    machine.write("home2/channels/memory/x/y/CHANNEL.md")
    roots = machine.roots(QWEN_RUNTIME_DIR=str(machine.folder / "run"), QWEN_HOME=str(machine.folder / "home2"))
    assert roots["qwen-code:channel"].path == str(machine.folder / "home2" / "channels" / "memory")
    assert "qwen-code:global" not in roots


@pytest.mark.parametrize(
    ("setting", "variable", "off"),
    [(None, None, True), (True, None, False), (True, "0", True), (None, "1", False), ("yes", None, True)],
)
def test_team_memory_that_is_switched_off_says_so(
    machine: Machine, setting: object, variable: str | None, off: bool
) -> None:
    machine.write("app/.qwen/team-memory/MEMORY.md")
    machine.write("~/.qwen/settings.json", json.dumps({"memory": {"enableTeamMemory": setting}}))
    machine.environ |= {} if variable is None else {"QWEN_CODE_MEMORY_TEAM": variable}
    assert ("switched off" in machine.roots()["qwen-code:project:team"].note) is off


def test_team_memory_that_is_pushed_by_itself_says_so(machine: Machine) -> None:
    machine.write("app/.qwen/team-memory/MEMORY.md")
    settings = {"memory": {"enableTeamMemory": True, "enableTeamMemorySync": True}}
    machine.write("~/.qwen/settings.json", json.dumps(settings))
    assert "pushes" in machine.roots()["qwen-code:project:team"].note
    machine.environ["QWEN_CODE_MEMORY_TEAM_SYNC"] = "0"
    assert "pushes" not in machine.roots()["qwen-code:project:team"].note


def test_instructions_down_to_the_user_and_one_folder_above_the_checkout(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    machine.write("QWEN.md")
    machine.write("~/QWEN.md")
    roots = machine.roots("app/api")
    assert {"QWEN.md", "api/QWEN.md"} <= set(roots["qwen-code:project:instructions"].policy.include or ())
    assert [name for name in roots if ":above" in name] == [f"qwen-code:project:above{slug(str(machine.folder))}"]


def test_without_a_checkout_instructions_are_read_from_the_home_folder_down(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    machine.write("~/QWEN.md")
    machine.write("QWEN.md")
    machine.path("~/notes/deep").mkdir(parents=True)
    above = [root.path for root in machine.roots("~/notes/deep").values() if ":above" in root.id]
    assert above == [str(machine.folder), str(machine.home)]
    outside = machine.folder / "free"
    outside.mkdir()
    assert not [name for name in machine.roots("free") if ":above" in name]


def test_the_users_settings_name_the_files(machine: Machine) -> None:
    machine.write("~/.qwen/settings.json", json.dumps({"context": {"fileName": ["TEAM.md", "../x", "AGENTS.md"]}}))
    machine.write("app/TEAM.md")
    assert machine.roots()["qwen-code:project:instructions"].policy.include == (
        "TEAM.md",
        "AGENTS.md",
        ".qwen/QWEN.local.md",
        ".qwen/rules/",
    )


TIERS = ("user", "project", "team")


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    found = [(one.label, one.mark) for one in started(machine, "qwen-code")]
    assert ("user memory index", "") in found
    assert ("project memory index", "") in found
    assert ("local instructions", "") in found
    assert ("user memories", "on demand") in found


def test_the_index_is_cut_at_its_lines_and_the_team_is_off_by_default(machine: Machine) -> None:
    machine.write("~/.qwen/memories/MEMORY.md", "- x\n" * 250)
    machine.write("app/.qwen/team-memory/MEMORY.md", "- x\n")
    user, team = started(machine, "qwen-code")
    assert (user.mark, user.text.count(b"\n"), user.cut is not None) == ("cut", 200, True)
    assert team.mark == "skipped"
    machine.write("~/.qwen/settings.json", json.dumps({"memory": {"enableTeamMemory": True}}))
    assert [one.mark for one in started(machine, "qwen-code")] == ["cut", ""]


def test_names_come_from_its_settings(machine: Machine) -> None:
    machine.write("app/QWEN.md")
    machine.write("app/NOTES.md")
    machine.write("~/.qwen/settings.json", json.dumps({"context": {"fileName": ["NOTES.md", "../x", "*.md"]}}))
    assert [one.path for one in started(machine, "qwen-code")] == [str(machine.app / "NOTES.md")]


def test_rules_the_folder_above_and_the_language_by_name(machine: Machine) -> None:
    names = ("~/.qwen/QWEN.md", "~/.qwen/AGENTS.md", "~/.qwen/output-language.md", "~/.qwen/rules/r.md")
    for name in (*names, "QWEN.md", "app/QWEN.md", "app/AGENTS.md", "app/.qwen/QWEN.local.md"):
        machine.write(name)
    machine.write("app/.qwen/rules/a.md", "---\ntitle: x\n---\na\n<!-- b -->\n")
    machine.write("app/.qwen/rules/some.md", '---\npaths: "**"\n---\na\n')
    home = os.path.relpath(machine.home, machine.folder)
    found = started(machine, "qwen-code")
    assert marked(machine, found) == [
        f"{home}/.qwen/QWEN.md",
        "QWEN.md",
        "app/QWEN.md",
        f"{home}/.qwen/AGENTS.md",
        "app/AGENTS.md",
        f"{home}/.qwen/output-language.md",
        "app/.qwen/QWEN.local.md",
        f"{home}/.qwen/rules/r.md",
        "app/.qwen/rules/a.md",
        "app/.qwen/rules/some.md: only when matching files are touched",
    ]
    assert found[-2].text == b"a\n"


def test_a_file_counts_as_often_as_it_is_imported(machine: Machine) -> None:
    machine.write("app/QWEN.md", "@a.md @a.md @b.md,\n")
    machine.write("app/a.md", "@QWEN.md\n")
    machine.write("app/b.md")
    assert marked(machine, started(machine, "qwen-code")) == [
        "app/QWEN.md",
        "app/a.md",
        "app/a.md",
        "app/b.md,: missing",
    ]


def test_rules_may_be_a_link_and_links_in_them_are_passed_over(machine: Machine) -> None:
    for name in ("~/kept/rules/a.md", "~/one/x.md", "~/.qwen/x"):
        machine.write(name)
    machine.path("~/kept/rules/x.md").symlink_to(machine.path("~/one/x.md"))
    machine.path("~/.qwen/rules").symlink_to(machine.path("~/kept/rules"))
    found = {os.path.basename(one.path): one.mark for one in started(machine, "qwen-code")}
    assert found == {"a.md": "", "x.md": "skipped"}
    assert machine.roots()["qwen-code:global:link-rules"].path == str(machine.path("~/kept/rules"))


def test_memories_that_are_switched_off_are_shown_and_not_loaded(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    before = list(machine.roots())
    off = {"memory": {"enableManagedAutoMemory": False, "enableTeamMemory": False}}
    machine.write("~/.qwen/settings.json", "// mine\n" + json.dumps(off))
    found = [one for one in started(machine, "qwen-code") if "memor" in one.label]
    assert {one.label for one in found} == {f"{tier} memor{what}" for tier in TIERS for what in ("y index", "ies")}
    assert {(one.mark, one.text) for one in found} == {("skipped", b"")}
    assert all(one.why.startswith("Not loaded: switched off in ~/.qwen/settings.json") for one in found)
    roots = machine.roots()
    assert list(roots) == before
    where = "in ~/.qwen/settings.json (memory.enableManagedAutoMemory)"
    assert roots["qwen-code:global"].switched_off == where
    assert f"switched off {where}" in roots["qwen-code:global"].note
