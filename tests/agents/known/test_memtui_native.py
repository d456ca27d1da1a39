"""memtui's own roots: always three, wherever the user stands."""

from pathlib import Path

from memtui.agents.known.memtui_native import POLICY
from tests.agents.machine import NATIVE, Machine


def test_an_empty_machine_has_exactly_these(machine: Machine) -> None:
    roots = machine.roots()
    assert list(roots) == NATIVE
    own = machine.folder / "own" / "memory"
    assert roots["memtui:global"].path == str(own / "global")
    assert roots["memtui:project"].path == str(machine.app / ".memtui" / "memory")
    assert Path(roots["memtui:workspace"].path).parent == own / "workspace"
    assert [root.scope for root in roots.values()] == ["global", "project", "workspace"]
    assert not own.exists()


def test_their_limits_are_the_memory_tools(machine: Machine) -> None:
    assert {(root.policy.write_bytes, root.policy.max_files) for root in machine.roots().values()} == {(102_400, 1_000)}
    assert POLICY.shown_bytes is None


def test_only_what_lies_in_a_checkout_could_have_been_planted(machine: Machine) -> None:
    assert [root.in_checkout for root in machine.roots().values()] == [False, True, False]
    assert not any(root.in_checkout for root in machine.roots("home").values())


def test_project_memories_on_this_host(machine: Machine) -> None:
    machine.write("own/config.toml", 'project_memory = "host"\n')
    root = machine.roots()["memtui:project"]
    assert Path(root.path).parent == machine.folder / "own" / "memory" / "project"
    assert not root.in_checkout
    assert root.aliases == ("memtui:project:host",)


def test_what_the_other_setting_left_is_still_shown(machine: Machine) -> None:
    machine.write("app/.memtui/memory/old.md")
    machine.write("own/config.toml", 'project_memory = "host"\n')
    roots = machine.roots()
    assert list(roots) == ["memtui:global", "memtui:project", "memtui:project:checkout", "memtui:workspace"]
    assert roots["memtui:project:checkout"].in_checkout
    hosted = roots["memtui:project"].path
    Path(hosted).mkdir(parents=True)
    machine.write("own/config.toml", "")
    assert machine.roots()["memtui:project:host"].path == hosted


def test_each_checkout_has_its_own_workspace(machine: Machine) -> None:
    (machine.folder / "other" / "app" / ".git").mkdir(parents=True)
    here, there = (machine.roots(place)["memtui:workspace"].path for place in ("app", "other/app"))
    assert here != there
    named = machine.roots(MEMTUI_WORKSPACE="review")["memtui:workspace"]
    assert Path(named.path).name == "review"


def test_all_projects_shows_the_other_workspaces(machine: Machine) -> None:
    machine.write("own/memory/workspace/review/a.md")
    machine.write("own/memory/workspace/stray.md")
    machine.write("own/memory/project/old-0123/a.md")
    assert list(machine.roots()) == NATIVE
    roots = machine.roots(all_projects=True)
    assert list(roots)[3:] == ["memtui:project:old-0123", "memtui:workspace:review"]
    assert roots["memtui:workspace:review"].policy == POLICY


def test_the_home_folder_as_project_keeps_the_roots_apart(machine: Machine) -> None:
    (machine.home / ".git").mkdir()
    roots = machine.roots("~/", MEMTUI_HOME=str(machine.home / ".memtui"))
    assert roots["memtui:project"].path == str(machine.home / ".memtui" / "memory")
    workspace = Path(roots["memtui:workspace"].path).name
    assert roots["memtui:project"].policy.elsewhere == ("global/", f"workspace/{workspace}/")
