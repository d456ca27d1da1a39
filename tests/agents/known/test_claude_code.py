"""Claude Code's folders: which are found, whose they are, and what a repository cannot make memtui believe."""

import json
import os
from pathlib import Path

import pytest

from memtui.agents.known.claude_code import LARGEST
from memtui.agents.layout import short_path, slug
from memtui.engine import Engine
from memtui.engine.look.roots import included
from tests.agents import homes
from tests.agents.listing import listed, marked
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_layout import worktree
from tests.agents.test_session_start_memories import started


def memory(machine: Machine, project: Path, home: str = "~/.claude") -> Path:
    """Give a project one auto memory, and return the folder."""
    return machine.write(f"{home}/projects/{slug(str(project))}/memory/MEMORY.md").parent


def test_the_current_projects_memory(machine: Machine) -> None:
    folder = memory(machine, machine.app)
    memory(machine, machine.folder / "other")
    roots = machine.roots()
    assert list(roots) == [*NATIVE, "claude-code:global", f"claude-code:project:{slug(str(machine.app))}"]
    root = list(roots.values())[-1]
    assert (root.path, root.aliases, root.project) == (str(folder), ("claude-code:project",), str(machine.app))
    assert (root.policy.index_file, root.policy.write_bytes, root.policy.max_files) == ("MEMORY.md", 262_144, None)
    assert not root.in_checkout
    assert root.note


def test_memories_in_the_checkout_of_a_team_and_personal_ones(machine: Machine, tmp_path: Path) -> None:
    for name in ("app/.claude/memory", "~/.claude/memory/personal"):
        machine.write(f"{name}/MEMORY.md", "- [a](a.md)\n")
        machine.write(f"{name}/a.md")
    own = f"~/.claude/projects/{slug(str(machine.app))}/memory"
    for name in ("MEMORY.md", ".consolidate-lock", "team/m1/MEMORY.md", "team/m1/b.md", "team/m1/.memory-sync"):
        machine.write(f"{own}/{name}")
    roots = machine.roots()
    mine = f"claude-code:project:{slug(str(machine.app))}"
    assert listed(roots, tmp_path / "state") == {
        "claude-code:global": [],
        mine: ["MEMORY.md"],
        f"{mine}:team": ["m1/MEMORY.md", "m1/b.md"],
        "claude-code:global:personal": ["MEMORY.md", "a.md"],
        "claude-code:project:memory": ["MEMORY.md", "a.md"],
    }
    assert roots[f"{mine}:team"].policy.is_index("m1/MEMORY.md"), "each store has an index of its own"
    checked_in = roots["claude-code:project:memory"]
    assert (checked_in.in_checkout, checked_in.policy.index_lines, checked_in.policy.index_format) == (
        True,
        None,
        "links",
    )
    assert f"{mine}:team" in machine.roots("app", all_projects=True)


def test_subagents(machine: Machine) -> None:
    machine.write("~/.claude/agent-memory/reviewer/MEMORY.md")
    machine.write("app/.claude/agent-memory/reviewer/MEMORY.md")
    machine.write("app/.claude/agent-memory-local/reviewer/MEMORY.md")
    roots = machine.roots()
    found = {name: roots[name].in_checkout for name in roots if "agent-memory" in name}
    assert found == {
        "claude-code:global:agent-memory": False,
        "claude-code:project:agent-memory": True,
        "claude-code:project:agent-memory-local": True,
    }


@pytest.mark.parametrize("name", ["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/a.md"])
def test_instructions_in_the_project(machine: Machine, name: str) -> None:
    machine.write(f"app/{name}")
    root = machine.roots()["claude-code:project:instructions"]
    assert root.path == str(machine.app)
    assert root.policy.include == ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/")
    assert root.in_checkout


def test_managed_instructions_are_read_only(machine: Machine) -> None:
    machine.write("etc/claude-code/CLAUDE.md")
    root = machine.roots()["claude-code:global:managed"]
    assert root.read_only
    assert root.policy.include == ("CLAUDE.md", ".claude/rules/")


def test_the_folder_can_be_elsewhere(machine: Machine) -> None:
    memory(machine, machine.app, "claude")
    memory(machine, machine.folder / "other")
    roots = machine.roots(CLAUDE_CONFIG_DIR=str(machine.folder / "claude"))
    assert roots["claude-code:global"].path == str(machine.folder / "claude")
    assert roots[f"claude-code:project:{slug(str(machine.app))}"].path.startswith(str(machine.folder / "claude"))


def test_worktrees_share_the_main_checkouts_memory(machine: Machine) -> None:
    worktree(machine.app, machine.folder / "fix")
    folder = memory(machine, machine.app)
    root = machine.roots("fix")[f"claude-code:project:{slug(str(machine.app))}"]
    assert (root.path, root.aliases, root.project) == (str(folder), ("claude-code:project",), str(machine.app))


def test_what_a_worktree_had_before_is_shown_too(machine: Machine) -> None:
    worktree(machine.app, machine.folder / "fix")
    memory(machine, machine.app)
    memory(machine, machine.folder / "fix")
    roots = machine.roots("fix")
    assert [root.aliases for name, root in roots.items() if name.startswith("claude-code:project")] == [
        ("claude-code:project",),
        (),
    ]


def test_a_folder_inside_the_checkout_uses_the_checkouts_memory(machine: Machine) -> None:
    memory(machine, machine.app)
    (machine.app / "src").mkdir()
    assert f"claude-code:project:{slug(str(machine.app))}" in machine.roots("app/src")


def test_a_long_slug_is_found_by_its_beginning(machine: Machine) -> None:
    deep = machine.app / ("x" * 120) / ("y" * 120)
    (deep / ".git").mkdir(parents=True)
    made = slug(str(deep))
    machine.write(f"~/.claude/projects/{made[:200]}-1abcd/memory/MEMORY.md")
    root = machine.roots(str(deep.relative_to(machine.folder)))[f"claude-code:project:{made[:200]}-1abcd"]
    assert root.aliases == ("claude-code:project",)


def test_the_users_settings_can_move_it(machine: Machine) -> None:
    machine.write("shared/MEMORY.md")
    old = memory(machine, machine.app)
    machine.write("~/.claude/settings.json", json.dumps({"autoMemoryDirectory": str(machine.folder / "shared")}))
    roots = machine.roots()
    assert (roots["claude-code:project:shared"].path, roots["claude-code:project:shared"].aliases) == (
        str(machine.folder / "shared"),
        ("claude-code:project",),
    )
    assert roots[f"claude-code:project:{slug(str(machine.app))}"].path == str(old)


@pytest.mark.parametrize("value", ["/", "~/", "~", "relative", "/missing/folder", 3, None])
def test_a_setting_that_cannot_be_meant_is_not_followed(machine: Machine, value: object) -> None:
    machine.write("~/.claude/settings.json", json.dumps({"autoMemoryDirectory": value}))
    assert "claude-code:project:shared" not in machine.roots()


def test_a_setting_that_would_take_in_the_home_folder_is_not_followed(machine: Machine) -> None:
    machine.write("~/.claude/settings.json", json.dumps({"autoMemoryDirectory": str(machine.home.parent)}))
    assert "claude-code:project:shared" not in machine.roots()


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_a_repositorys_settings_are_not_believed(machine: Machine, name: str) -> None:
    machine.write("shared/a.md")
    machine.path("~/.claude").mkdir()
    machine.write(f"app/{name}", json.dumps({"autoMemoryDirectory": str(machine.folder / "shared")}))
    assert not [root for root in machine.roots().values() if "shared" in root.path]


def test_a_planted_git_file_shows_nobody_elses_memory(machine: Machine) -> None:
    own = worktree(machine.app, machine.folder / "fix")
    memory(machine, machine.app)
    machine.write("planted/.git", f"gitdir: {own}\n")
    assert list(machine.roots("planted")) == [*NATIVE, "claude-code:global"]


def test_all_projects(machine: Machine) -> None:
    there, twin = machine.folder / "two" / "one", machine.folder / "two-one"
    there.mkdir(parents=True)
    only = machine.home / "src" / "only"
    only.mkdir(parents=True)
    memory(machine, there)
    memory(machine, only)
    memory(machine, machine.folder / "gone")
    memory(machine, machine.app)
    machine.path("~/.claude/projects/empty").mkdir()
    machine.write("~/.claude/projects/stray.jsonl")
    name = "claude-code:project:" + slug(str(there))
    roots = machine.roots(all_projects=True)
    assert len([found for found in roots if found.startswith("claude-code:project:")]) == 4
    assert (roots[name].project, roots[name].aliases) == (str(there), ())
    assert roots["claude-code:project:" + slug(str(only))].label.endswith("~/src/only")
    gone = roots["claude-code:project:" + slug(str(machine.folder / "gone"))]
    assert gone.project is None
    assert "gone" in gone.note
    assert gone.label.endswith(slug(str(machine.folder / "gone")))
    twin.mkdir()
    shared = machine.roots(all_projects=True)[name]
    assert shared.project is None
    assert "2 folders share them" in shared.note


def test_the_home_folder_as_project_lists_nothing_twice(machine: Machine) -> None:
    (machine.home / ".git").mkdir()
    machine.write("~/.claude/CLAUDE.md")
    machine.write("~/.claude/agent-memory/reviewer/MEMORY.md")
    roots = machine.roots("~/")
    assert "claude-code:project:instructions" not in roots or roots[
        "claude-code:project:instructions"
    ].policy.include == ("CLAUDE.md", "CLAUDE.local.md")
    assert "claude-code:project:agent-memory" not in roots
    assert roots["claude-code:global:agent-memory"].aliases == ("claude-code:project:agent-memory",)


@pytest.mark.parametrize("name", ["~/.claude", "~/.claude/projects"])
def test_a_file_where_a_folder_should_be(machine: Machine, name: str) -> None:
    machine.write(name)
    assert set(machine.roots(all_projects=True)) <= {*NATIVE, "claude-code:global"}


def test_instructions_down_to_where_the_user_stands(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    machine.write("app/api/v2/CLAUDE.md")
    root = machine.roots("app/api/v2")["claude-code:project:instructions"]
    assert {"CLAUDE.md", "api/CLAUDE.md", "api/v2/CLAUDE.md", "api/v2/.claude/rules/"} <= set(root.policy.include or ())
    assert included(root, "api/v2/.claude/rules/x.md")
    assert not included(machine.roots("app/api")["claude-code:project:instructions"], "api/v2/CLAUDE.md")


def test_instructions_above_the_project(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    name = f"claude-code:project:above{slug(str(machine.folder))}"
    root = machine.roots()[name]
    assert (root.path, root.kind, root.project) == (str(machine.folder), "instructions", str(machine.app))
    assert (root.in_checkout, root.scope) == (False, "project")
    assert [found for found in machine.roots() if ":above" in found] == [name]


def test_what_lies_above_in_another_checkout_is_unreviewed(machine: Machine) -> None:
    (machine.app / "vendor" / "lib" / ".git").mkdir(parents=True)
    machine.path("~/.claude").mkdir()
    machine.write("app/CLAUDE.md")
    root = machine.roots("app/vendor/lib")[f"claude-code:project:above{slug(str(machine.app))}"]
    assert root.in_checkout


def test_its_own_folder_above_the_project_is_listed_once(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    (machine.home / "src" / "x" / ".git").mkdir(parents=True)
    assert not [name for name in machine.roots("~/src/x") if name.endswith(slug(str(machine.home)))]
    machine.write("~/CLAUDE.md")
    root = machine.roots("~/src/x")[f"claude-code:project:above{slug(str(machine.home))}"]
    assert root.policy.include == ("CLAUDE.md", "CLAUDE.local.md")


def test_imports_are_not_followed(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    with Engine.open(machine.roots().values(), state_dir=str(machine.folder / "state")) as engine:
        listed = {str(row.address) for row in engine.rows.list().items}
    assert "claude-code:project:instructions/CLAUDE.md" in listed
    assert not [name for name in listed if name.endswith(("conventions.md", "outside.md", "style.md"))]


@pytest.mark.parametrize("name", ["app/.claude/settings.local.json", "etc/claude-code/managed-settings.json"])
def test_what_switches_memory_off_is_named(machine: Machine, name: str) -> None:
    memory(machine, machine.app)
    machine.write("~/.claude/settings.json", json.dumps({"autoMemoryEnabled": True}))
    file = machine.write(name, json.dumps({"autoMemoryEnabled": False}))
    note = machine.roots()[f"claude-code:project:{slug(str(machine.app))}"].note
    assert f"switched off in {short_path(str(file), str(machine.home))}, so" in note
    machine.environ["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "0"
    assert "switched off" not in machine.roots()[f"claude-code:project:{slug(str(machine.app))}"].note
    machine.environ["CLAUDE_CODE_DISABLE_CLAUDE_MDS"] = "yes"
    note = machine.roots()[f"claude-code:project:{slug(str(machine.app))}"].note
    assert "switched off by CLAUDE_CODE_DISABLE_CLAUDE_MDS, so Claude Code loads none of them; it still writes" in note
    said = {name: root.switched_off for name, root in machine.roots().items() if root.switched_off}
    assert said == {f"claude-code:project:{slug(str(machine.app))}": "by CLAUDE_CODE_DISABLE_CLAUDE_MDS"}


def test_settings_behind_a_link_out_of_the_checkout_are_not_asked(machine: Machine) -> None:
    memory(machine, machine.app)
    machine.write("secret/settings.json", json.dumps({"autoMemoryEnabled": False}))
    (machine.app / ".claude").symlink_to(machine.folder / "secret")
    assert "switched off" not in machine.roots()[f"claude-code:project:{slug(str(machine.app))}"].note


def test_the_administrators_settings_move_it_before_the_users(machine: Machine) -> None:
    for name in ("shared", "managed"):
        machine.write(f"{name}/MEMORY.md")
    machine.path("~/.claude").mkdir()
    machine.write("~/.claude/settings.json", json.dumps({"autoMemoryDirectory": str(machine.folder / "shared")}))
    settings = json.dumps({"autoMemoryDirectory": str(machine.folder / "managed")})
    machine.write("etc/claude-code/managed-settings.json", settings)
    assert machine.roots()["claude-code:project:shared"].path == str(machine.folder / "managed")


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
