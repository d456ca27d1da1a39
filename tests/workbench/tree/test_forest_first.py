"""Where a first look belongs: at what waits for the user, else at the project's own memories; and what is not shown."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Draft, Memory, Problem, Root, RootStatus
from memtui.workbench.tree.forest import Forest, first_to_see

ROOTS = (
    Root("memtui:global", "/g", "memtui", "global", "memtui"),
    Root("codex:global", "/x", "codex", "global", "Codex memory", switched_off="in ~/config.toml"),
    Root("memtui:project", "/p", "memtui", "project", "memtui"),
    Root("claude-code:project", "/c", "claude-code", "project", "Claude Code memory"),
    Root("claude-code:project:instructions", "/i", "claude-code", "project", "CLAUDE.md", kind="instructions"),
)
SUMMARY, STYLE, NOTES, INDEX, LAST, TOLD = (
    "codex:global/summary.md",
    "memtui:global/style/code.md",
    "claude-code:project/a/notes.md",
    "claude-code:project/MEMORY.md",
    "claude-code:project/z.md",
    "claude-code:project:instructions/CLAUDE.md",
)


def row(name: str, *unseen: str) -> Memory:
    return Memory(Address.parse(name), "global", "x", 10, 1_000, "a" * 64, unseen=name in unseen)


def forest(*names: str, unseen: tuple[str, ...] = ()) -> Forest:
    found = Forest()
    found.load(ROOTS, [row(name, *unseen) for name in names])
    return found


def first(found: Forest) -> str:
    place = first_to_see(found)
    assert place is not None
    node = found.rows()[place]
    return str(node.memory.address) if node.memory is not None else "/".join(node.key)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ((SUMMARY, STYLE, TOLD, NOTES, LAST), NOTES),
        ((SUMMARY, STYLE, TOLD), STYLE),
        ((SUMMARY, TOLD), TOLD),
        ((SUMMARY,), SUMMARY),
    ],
)
def test_the_projects_own_memories_come_first_and_those_of_a_switched_off_agent_last(
    names: tuple[str, ...], wanted: str
) -> None:
    assert first(forest(*names)) == wanted


def test_what_waits_comes_before_everything_and_a_conflict_before_all_that_waits() -> None:
    names = (SUMMARY, STYLE, NOTES, INDEX, LAST, TOLD)
    found = forest(*names, unseen=(SUMMARY,))
    assert first(found) == NOTES  # what a switched-off agent wrote waits for nobody
    found.index_signs = {Address.parse(INDEX): "I", Address.parse(NOTES): "C"}
    assert first(found) == INDEX
    found.load(ROOTS, [row(name, LAST) for name in names])
    assert first(found) == LAST
    mine = Draft(Address.parse(NOTES), "a" * 64, "mine", (0, 0), 1)
    found.set_drafts([mine])
    assert first(found) == NOTES
    found.set_drafts([mine, Draft(Address.parse(LAST), "b" * 64, "mine", (0, 0), 1)])
    assert first(found) == LAST


def test_what_waits_elsewhere_comes_before_a_memory_that_does_not() -> None:
    assert first(forest(SUMMARY, STYLE, NOTES, unseen=(STYLE,))) == STYLE


def test_what_waits_in_a_closed_folder_is_found_at_the_folder() -> None:
    found = forest(STYLE, NOTES, LAST, unseen=(NOTES,))
    folder = found.nodes[Address.parse(NOTES)].parent
    assert folder is not None
    found.set_open(folder, open=False)
    assert first(found) == "folder/claude-code:project/a"


def test_without_a_memory_there_is_nothing_to_look_at() -> None:
    assert first_to_see(forest()) is None


# What is empty


def names_of(found: Forest) -> list[str]:
    return [node.name for node in found.rows()]


def test_empty_roots_have_no_row_until_there_is_something_in_them() -> None:
    found = forest(NOTES)
    assert names_of(found) == ["project", "Claude Code memory", "a", "notes.md"]
    assert found.update([row(STYLE)]).rebuilt
    assert names_of(found)[:3] == ["global", "memtui", "style"]
    found.update((), [Address.parse(STYLE)])
    assert "global" not in names_of(found)
    assert found.roots.keys() == {root.id for root in ROOTS}


def test_an_empty_root_with_a_fault_is_shown_and_so_is_one_the_user_named() -> None:
    found = forest(NOTES)
    assert "memtui" not in names_of(found)
    problem = Problem("E_PERMISSION", "It cannot be opened.")
    found.statuses = {"memtui:project": RootStatus(ROOTS[2], True, False, True, 0, 0, False, (problem,))}  # noqa: FBT003
    assert any(effect.rebuilt for effect in found.replace_all(ROOTS, [row(NOTES)]))
    assert "memtui" in names_of(found)
    found.load([*ROOTS, Root("mine", "/m", "files", "global", "Mine")], [])
    assert "Mine" in names_of(found)


def test_what_others_deleted_brings_an_empty_root_back() -> None:
    found = forest(NOTES)
    assert "global" not in names_of(found)
    assert found.set_deleted([Address.parse(STYLE)]).rebuilt
    assert names_of(found)[:2] == ["global", "memtui"]
