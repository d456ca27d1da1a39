"""Kilo Code's folders: memories of a project by a hash of its path, the older memory bank, rules."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed, marked
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_session_start_memories import started


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.kilo(machine.home, machine.app)
    roots = machine.roots()
    (mine,) = (name for name in roots if "kilo:project" in roots[name].aliases)
    assert listed(roots, tmp_path / "state") == {
        "kilo:global:instructions": ["style.md"],
        mine: ["project.md", "sessions/one.md"],
        "kilo:project:bank": ["brief.md", "context.md"],
        "kilo:project:instructions": [".kilocode/rules/01.md"],
    }
    assert [roots[name].in_checkout for name in list(roots)[3:]] == [False, False, True, True]
    assert "kilo:project:other-0123456789ab" in machine.roots(all_projects=True)


def test_worktrees_share_memories_and_a_variable_moves_them(machine: Machine) -> None:
    homes_more.kilo(machine.home, machine.app)
    moved = machine.path("data")
    moved.mkdir()
    (machine.home / ".local/share/kilo").rename(moved / "kilo")
    roots = machine.moved("XDG_DATA_HOME", "data")
    (mine,) = (root for root in roots.values() if "kilo:project" in root.aliases)
    git = machine.app / ".git/worktrees/w"
    git.mkdir(parents=True)
    for path, text in (("w/.git", f"gitdir: {git}\n"), ("app/.git/worktrees/w/gitdir", f"{machine.path('w/.git')}\n")):
        machine.write(path, text)
    machine.write("app/.git/worktrees/w/commondir", "../..\n")
    assert mine.path in {root.path for root in machine.roots("w").values()}


def test_what_a_session_begins_with(machine: Machine) -> None:
    homes_more.kilo(machine.home, machine.app)
    seen = {one.rpartition("/")[2] for one in marked(machine, started(machine, "kilo"))}
    rules = {"style.md", "01.md", "brief.md", "context.md"}
    assert seen == {*rules, "index.kmem", "project.md: on demand", "one.md: on demand"}
    (state,) = (machine.home / ".local/share/kilo/memory").glob("app-*/state.json")
    state.write_text("{}")
    (index,) = (one for one in started(machine, "kilo") if one.label == "memory index")
    assert (index.mark, index.why[:30]) == ("skipped", "Not loaded: not switched on in")


def test_a_machine_without_it_has_none(machine: Machine) -> None:
    machine.write("app/README.md")
    assert list(machine.roots()) == NATIVE
