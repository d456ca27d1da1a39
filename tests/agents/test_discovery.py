"""Every root on a machine is found, given by hand, nested or moved, and nothing is believed that was planted."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.discovery import PLAIN_POLICY, discover, innermost, layouts, looked_for, merge_same
from memtui.agents.known import claude_code, memtui_native, mux, qwen_code
from memtui.agents.known.mux import project_folder
from memtui.agents.layout import slug
from memtui.agents.table import KNOWN
from memtui.engine import Engine
from memtui.engine.model import Policy, Root
from memtui.errors import UsageError
from tests.agents import homes
from tests.agents.homes import HOMES
from tests.agents.homes_more import HOMES_MORE
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_layout import worktree
from tests.config.fresh import imported_by


@pytest.fixture
def full(machine: Machine) -> Machine:
    """Every agent, with memories for this project and others."""
    worktree(machine.app, machine.folder / "fix")
    for project in ("app", "fix", "other"):
        made = slug(str(machine.folder / project))
        machine.write(f"~/.claude/projects/{made}/memory/MEMORY.md")
        machine.write(f"~/.qwen/projects/{made}/memory/MEMORY.md")
        machine.write(f"~/.xum/memory/project/{project_folder(str(machine.folder / project))}/a.md")
    homes.codex(machine.home, machine.folder / "fix")
    homes.gemini(machine.home, machine.folder / "fix")
    for name in (
        "~/.claude/CLAUDE.md",
        "~/.claude/settings.json",
        "~/.claude/agent-memory/x/MEMORY.md",
        "~/.qwen/memories/MEMORY.md",
        "~/.qwen/settings.json",
        "~/.xum/memory/global/a.md",
        "~/.xum/sessions/w/memory/a.md",
        "~/.xum/config.json",
        "fix/CLAUDE.md",
        "fix/QWEN.md",
        "fix/AGENTS.md",
        "fix/.claude/agent-memory/x/MEMORY.md",
        "fix/.qwen/team-memory/MEMORY.md",
        "fix/.memtui/memory/a.md",
        "etc/claude-code/CLAUDE.md",
        "own/memory/workspace/w/a.md",
    ):
        machine.write(name, '{"autoMemoryDirectory": 1, "advanced": {"runtimeOutputDir": 1}}')
    return machine


def test_the_order_is_our_own_then_by_hand_then_by_agent(full: Machine) -> None:
    roots = full.roots("fix", "notes=notes")
    assert list(roots)[:4] == [*NATIVE, "notes"]
    agents = [root.agent for root in list(roots.values())[4:]]
    assert agents == sorted(agents, key=[layout.id for layout in KNOWN].index)
    assert {"claude-code", "codex", "gemini", "qwen-code", "mux"} <= set(agents)


def test_the_current_projects_roots_have_aliases(full: Machine) -> None:
    aliases = {alias for root in full.roots("fix").values() for alias in root.aliases}
    assert {"claude-code:project", "gemini:project", "qwen-code:project", "mux:project"} <= aliases


def test_all_projects_adds_and_takes_nothing_away(full: Machine) -> None:
    here, everywhere = full.roots("fix"), full.roots("fix", all_projects=True)
    assert set(here) < set(everywhere)
    assert all(everywhere[name] == root for name, root in here.items())


def test_a_root_around_everything_keeps_only_the_rest(full: Machine) -> None:
    roots = full.roots("fix", f"all={full.folder}")
    assert {"fix/.memtui/memory/", "home/.claude/agent-memory/", "home/.claude/CLAUDE.md", "fix/AGENTS.md"} <= set(
        roots["all"].policy.elsewhere
    )


def test_a_found_root_that_was_named_by_hand_keeps_the_given_name(full: Machine) -> None:
    folder = full.home / ".xum" / "memory" / "global"
    roots = full.roots("fix", f"mine={folder},agent=mux")
    assert roots["mine"].aliases == ("mux:global",)
    assert "mux:global" not in roots


def test_instructions_where_the_user_stands_are_a_trace(machine: Machine) -> None:
    machine.write("app/api/CLAUDE.md")
    assert "claude-code:project:instructions" in machine.roots("app/api")
    assert list(machine.roots()) == NATIVE


def test_files_of_ours_that_a_repository_ships_are_not_read(machine: Machine) -> None:
    for name in ("config.toml", ".memtui/config.toml", "memtui/config.toml"):
        machine.write(f"app/{name}", "not toml")
    assert list(machine.roots()) == NATIVE


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="needs an ordinary Unix user")
def test_folders_without_permission_hide_only_themselves(full: Machine) -> None:
    closed = full.home / ".claude"
    closed.chmod(0)
    try:
        assert "qwen-code:global" in full.roots("fix", all_projects=True)
    finally:
        closed.chmod(0o700)


WATCHED = """
import os, sys
CHANGES = ("subprocess", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.mkdir", "os.rename")
CHANGES += ("os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime")
CHANGES += ("socket.", "shutil.")
import json, memtui.config.toml
from memtui.agents.table import agents
list(agents())
from memtui.agents.discovery import discover, looked_for
from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
def tell(event, arguments):
    if event.startswith(CHANGES):
        print("CHANGE", event, arguments)
    elif event == "open":
        flags = arguments[2]
        print("CHANGE" if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else "READ", arguments[0])
    elif event in ("os.listdir", "os.scandir"):
        print("LIST", arguments[0])
sys.addaudithook(tell)
surroundings = surroundings_from(load_settings(read_environment()), cwd=sys.argv[1])
discover(surroundings._replace(system_dir=sys.argv[2]), all_projects=sys.argv[3] == "all")
"""


def test_an_empty_machine_loads_no_agent(machine: Machine) -> None:
    code = (
        "from memtui.agents.discovery import discover\nfrom memtui.config.read import load_settings\n"
        "from memtui.config.surroundings import surroundings_from\n"
        f"here = surroundings_from(load_settings({machine.environ!r}), cwd={str(machine.app)!r})\n"
        f"discover(here._replace(system_dir={str(machine.folder)!r}))\n"
    )
    loaded = imported_by(code, "import memtui.engine.model")
    assert "memtui.agents.known.memtui_native" in loaded
    heavy = {f"memtui.agents.known.{one.id.replace('-', '_')}" for one in KNOWN}
    assert not {*heavy, "memtui.agents.agent", "memtui.agents.layout"} & loaded
    assert not {"json", "dataclasses", "pathlib", "inspect", "subprocess", "shutil"} & loaded


def test_discovery_is_quick(full: Machine) -> None:
    for number in range(300):
        full.write(f"~/.claude/projects/-gone-{number}/memory/MEMORY.md")
    here = full.surroundings("fix")
    projects = full.home / ".claude" / "projects"

    def bare() -> None:
        for entry in os.scandir(projects):
            os.stat(Path(entry.path, "memory"))

    calls: list[Callable[[], object]] = [bare, lambda: discover(here), lambda: discover(here, all_projects=True)]
    times: list[list[float]] = [[], [], []]
    for turn in range(100):  # in turns: what slows this machine down slows all of them
        for call, taken in zip(calls, times, strict=True):
            start = time.thread_time()
            call()
            taken.append(time.thread_time() - start)
        if turn >= 8 and min(times[1]) < min(times[0]) and min(times[2]) < 12 * min(times[0]):
            break
    floor, own, every = map(min, times)
    assert own < floor
    assert every < 12 * floor


def test_an_agent_whose_folder_is_there_left_a_trace(machine: Machine) -> None:
    assert ("codex", "Codex", "~/.codex") in looked_for(machine.surroundings())
    machine.path("~/.codex").mkdir()
    assert "codex" not in {id_ for id_, _, _ in looked_for(machine.surroundings())}


def test_an_agent_s_folder_that_is_linked_into_a_checkout_waits_for_a_review(machine: Machine) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("~/dots/codex/AGENTS.md")
    (machine.home / ".codex").symlink_to("dots/codex")
    assert not machine.roots()["codex:global:instructions"].in_checkout
    (machine.home / "dots" / ".git").mkdir()
    roots = machine.roots()
    assert roots["codex:global:instructions"].in_checkout
    assert not roots["claude-code:global"].in_checkout
    (machine.home / ".git").mkdir()
    (machine.home / "dots" / ".git").rmdir()
    assert not machine.roots()["codex:global:instructions"].in_checkout, "the link leads to no other checkout"


def test_a_root_has_the_id_given(machine: Machine) -> None:
    machine.write("notes/a.md")
    roots = machine.roots("app", f"notes={machine.folder / 'notes'},scope=project")
    assert list(roots) == [*NATIVE, "notes"]
    root = roots["notes"]
    assert (root.agent, root.scope, root.path, root.label) == (
        "files",
        "project",
        str(machine.folder / "notes"),
        "notes",
    )


def test_a_root_chosen_by_hand_is_accepted_even_in_a_checkout(machine: Machine) -> None:
    machine.write("app/docs/a.md")
    assert not machine.roots("app", "docs=docs")["docs"].in_checkout


def test_a_missing_folder_is_an_empty_root(machine: Machine) -> None:
    assert machine.roots("app", "notes=missing")["notes"].path == str(machine.app / "missing")


@pytest.mark.parametrize(
    ("agent", "policy"),
    [
        ("files", PLAIN_POLICY),
        ("memtui", memtui_native.POLICY),
        ("claude-code", claude_code.AUTO),
        ("qwen-code", qwen_code.AUTO),
        ("mux", mux.POLICY),
    ],
)
def test_a_root_can_follow_a_layout(machine: Machine, agent: str, policy: object) -> None:
    root = machine.roots("app", f"notes=/,agent={agent}")["notes"]
    assert root.agent == agent
    assert root.policy._replace(elsewhere=()) == policy


def test_every_layout_can_be_followed(machine: Machine) -> None:
    kinds: dict[str, set[str]] = {"memories": set(), "instructions": set()}
    for agent in layouts():
        root = machine.roots("app", f"notes=missing,agent={agent}")["notes"]
        assert root.agent == agent
        kinds[root.kind].add(agent)
    assert kinds["instructions"] == {"cursor", "kiro", "agents-md"}


@pytest.mark.parametrize(
    "options", [["n=a,agent=emacs"], ["n=a", "n=b"], ["memtui:global=a"], ["claude-code:x=a"], ["mux:global=a"]]
)
def test_what_cannot_be_is_refused(machine: Machine, options: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        machine.roots("app", *options)
    assert (error.value.code, bool(error.value.hint)) == ("E_USAGE", True)


def test_a_mistake_in_the_settings_says_where(machine: Machine) -> None:
    machine.write("own/config.toml", "[[roots]]\nname = 'n'\ndir = '/n'\nagent = 'emacs'\n")
    with pytest.raises(UsageError, match=r"config\.toml, line 1") as error:
        machine.roots()
    assert error.value.code == "E_CONFIG"


def test_only_roots_leaves_out_the_settings_and_the_agents(machine: Machine) -> None:
    machine.write("own/config.toml", f"[[roots]]\nname = 'b'\ndir = '{machine.folder}/b'\n")
    Path(machine.folder / "b").mkdir()
    machine.write("app/CLAUDE.md")
    assert list(machine.roots("app", "a=x", "b2=y")) == [*NATIVE, "a", "b2", "b", "claude-code:project:instructions"]
    assert list(machine.roots("app", "a=x", only_roots=True)) == [*NATIVE, "a"]


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "layouts.md").read_text("utf-8")
EVERY = {**HOMES, **HOMES_MORE}


@pytest.fixture
def crowded(machine: Machine) -> Machine:
    """Everything every agent leaves."""
    for lay in EVERY.values():
        lay(machine.home, machine.app)
    return machine


def test_agents_stand_in_the_order_of_the_table(crowded: Machine) -> None:
    order = [one.id for one in KNOWN if one.folders]
    agents = [root.agent for root in crowded.roots("app/api", all_projects=True).values() if root.agent != "memtui"]
    assert agents == sorted(agents, key=order.index)
    assert set(agents) == set(order)


@pytest.mark.parametrize("agent", EVERY)
def test_every_root_is_on_the_page(machine: Machine, agent: str) -> None:
    EVERY[agent](machine.home, machine.app)
    names = re.findall(r"`([a-z-]+:[^`]*)`", PAGE)
    forms = [re.compile(re.sub(r"<\\?\w+\\?>", ".+", re.escape(name))) for name in names]
    found = [root for root in machine.roots("app/api", all_projects=True).values() if root.agent != "memtui"]
    assert found
    assert not [root.id for root in found if not any(form.fullmatch(root.id) for form in forms)]
    assert f"`{agent}`" in PAGE, "it can be followed by hand"


def test_every_root_says_who_writes_it(crowded: Machine) -> None:
    for root in crowded.roots("app/api", all_projects=True).values():
        assert root.agent == "memtui" or root.note.endswith("."), root.id
        assert root.kind == ("instructions" if "instructions" in root.id else root.kind)


@pytest.mark.parametrize("reach", ["here", "all"])
def test_no_memory_is_read(crowded: Machine, reach: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(crowded.app), str(crowded.folder / "etc"), reach],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, **crowded.environ},
    )
    told = [line.partition(" ") for line in done.stdout.splitlines()]
    assert not [what for kind, _, what in told if kind == "CHANGE"]
    read = {os.path.basename(what) for kind, _, what in told if kind == "READ"}
    assert read <= {
        "settings.json",
        "settings.local.json",
        "managed-settings.json",
        "config.json",
        "config.toml",
        "config.yaml",
        "projects.json",
        ".project_root",
        "workspace.json",
        "meta.json",
        "serena_config.yml",
        "project.yml",
        "project.local.yml",
        "openclaw.json",
    }
    assert {"serena_config.yml", "workspace.json"} <= read


def root(name: str, path: str | Path, *include: str) -> Root:
    return Root(name, str(path), policy=Policy(include=include or None))


def elsewhere(*roots: Root) -> dict[str, tuple[str, ...]]:
    return {found.id: found.policy.elsewhere for found in innermost(roots)}


def test_a_root_inside_another_is_taken_out_of_it() -> None:
    assert elsewhere(root("outer", "/a"), root("inner", "/a/b/c")) == {"outer": ("b/c/",), "inner": ()}
    assert elsewhere(root("inner", "/a/b/c"), root("outer", "/a")) == {"inner": (), "outer": ("b/c/",)}
    assert elsewhere(root("top", "/"), root("inner", "/a")) == {"top": ("a/",), "inner": ()}


def test_names_that_only_begin_alike_are_not_nested() -> None:
    assert elsewhere(root("outer", "/a"), root("other", "/ab")) == {"outer": (), "other": ()}


def test_of_a_root_of_named_files_only_those_are_taken_out() -> None:
    named = root("named", "/a/b", "CLAUDE.md", "rules/")
    assert elsewhere(root("outer", "/a"), named) == {"outer": ("b/CLAUDE.md", "b/rules/"), "named": ()}


def test_a_root_of_named_files_loses_the_names_a_root_further_in_has() -> None:
    project = root("project", "/home", "CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/")
    found = innermost([project, root("own", "/home/.claude", "CLAUDE.md", "rules/")])
    assert [one.policy.include for one in found] == [("CLAUDE.md",), ("CLAUDE.md", "rules/")]


def test_instructions_of_which_no_file_is_left_go(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").touch()
    policies = Policy(include=("AGENTS.md",)), Policy(include=("AGENTS.md", "AGENTS.local.md"))
    roots = [Root(f"{number}", str(tmp_path), kind="instructions", policy=one) for number, one in enumerate(policies)]
    assert [one.id for one in innermost(roots)] == ["0"]
    (tmp_path / "AGENTS.local.md").touch()
    assert [one.id for one in innermost(roots)] == ["0", "1"]


def test_part_of_a_named_folder_can_be_taken_out() -> None:
    found = innermost([root("project", "/p", ".claude/rules/"), root("inner", "/p/.claude/rules/shared")])
    assert (found[0].policy.include, found[0].policy.elsewhere) == ((".claude/rules/",), (".claude/rules/shared/",))


def test_a_root_of_which_nothing_is_left_goes() -> None:
    found = innermost([root("project", "/p", ".claude/rules/"), root("inner", "/p/.claude")])
    assert [one.id for one in found] == ["inner"]


def test_at_the_same_place_the_earlier_root_keeps_a_file() -> None:
    claude, qwen = root("claude", "/p", "CLAUDE.md", "AGENTS.md"), root("qwen", "/p", "QWEN.md", "AGENTS.md")
    found = innermost([claude, qwen])
    assert [one.policy.include for one in found] == [("CLAUDE.md", "AGENTS.md"), ("QWEN.md",)]
    assert [one.id for one in innermost([root("by hand", "/p"), claude])] == ["by hand"]
    assert elsewhere(claude, root("later", "/p")) == {"claude": (), "later": ("CLAUDE.md", "AGENTS.md")}


def test_two_ids_for_one_whole_folder_are_left_for_the_engine_to_report() -> None:
    assert elsewhere(root("a", "/p"), root("b", "/p")) == {"a": (), "b": ()}


def test_links_do_not_hide_nesting(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert elsewhere(root("outer", tmp_path / "link"), root("inner", tmp_path / "real" / "inner"))["outer"] == (
        "inner/",
    )


def test_a_folder_found_twice_is_one_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    second = root("second", tmp_path / "link")._replace(aliases=("other",))
    found = merge_same([root("first", tmp_path / "real")], [second])
    assert [(one.id, one.aliases) for one in found] == [("first", ("second", "other"))]
    assert "second" in found[0].note


def test_roots_given_by_hand_keep_their_ids(tmp_path: Path) -> None:
    first, second = root("first", tmp_path), root("second", tmp_path)
    assert merge_same([first, second], []) == (first, second)


def test_missing_folders_are_not_the_same(tmp_path: Path) -> None:
    first, second = root("first", tmp_path / "missing"), root("second", tmp_path / "missing")
    assert merge_same([first], [second]) == (first, second)


def test_roots_of_named_files_share_a_folder(tmp_path: Path) -> None:
    first, second = root("first", tmp_path, "CLAUDE.md"), root("second", tmp_path, "QWEN.md")
    assert merge_same([], [first, second]) == (first, second)


def owners(roots: tuple[Root, ...], file: str) -> list[str]:
    """Name the roots that list a file, by what their policies say alone."""
    return [found.id for found in roots if _lists(found, file)]


def _lists(found: Root, file: str) -> bool:
    base = found.path.rstrip("/") + "/"
    if not file.startswith(base):
        return False
    path = file[len(base) :]
    include = found.policy.include
    inside = include is None or any(_under(path, entry) for entry in include)
    return inside and not any(_under(path, entry) for entry in found.policy.elsewhere)


def _under(path: str, entry: str) -> bool:
    return path == entry or (entry.endswith("/") and path.startswith(entry))


folders = st.lists(st.sampled_from("abc"), max_size=3).map(lambda parts: "/".join(["/made-up-base", *parts]))
entries = st.lists(st.sampled_from(["a/", "b/", "a/b/", "f", "a/f", "b/c/f"]), max_size=3, unique=True)


@given(st.lists(st.tuples(folders, entries), min_size=1, max_size=6, unique_by=lambda pair: (pair[0], not pair[1])))
def test_no_file_is_listed_twice_and_none_is_lost(made: list[tuple[str, list[str]]]) -> None:
    before = tuple(root(str(number), path, *include) for number, (path, include) in enumerate(made))
    after = innermost(before)
    for folder in {path for path, _ in made} | {f"{path}/{part}" for path, _ in made for part in ("a", "a/b", "b/c")}:
        for file in (f"{folder}/f", f"{folder}/g"):
            had, has = owners(before, file), owners(after, file)
            assert len(has) == min(1, len(had)), (file, had, has)
            if has:
                depth = {one.id: len(one.path) for one in before}
                assert depth[has[0]] == max(depth[name] for name in had)


def test_the_engine_lists_each_file_once(machine: Machine) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("~/.claude/rules/style.md")
    machine.write("~/.claude/agent-memory/reviewer/MEMORY.md")
    machine.write("~/notes/inner/a.md")
    machine.write("~/notes/b.md")
    (machine.home / ".git").mkdir()
    roots = machine.roots("~/", f"home={machine.home}", "notes=notes", "inner=notes/inner").values()
    with Engine.open(roots, state_dir=str(machine.folder / "state")) as engine:
        listed = [str(row.address) for row in engine.rows.list().items]
    assert sorted(listed) == [
        "claude-code:global/CLAUDE.md",
        "claude-code:global/rules/style.md",
        "claude-code:global:agent-memory/reviewer/MEMORY.md",
        "inner/a.md",
        "notes/b.md",
    ]
