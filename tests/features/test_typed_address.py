"""What a typed name means, before anything is done."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Memory, Policy, Root
from memtui.features.typed_address import rename_target
from memtui.workbench.browse.operations import new_target
from memtui.workbench.tree.forest import Forest

ROOTS = {
    root.id: root
    for root in (
        Root("memtui:global", "/g", "memtui", "global"),
        Root("memtui:project", "/p", "memtui", "project", aliases=("memtui:project:checkout",)),
        Root("claude:project", "/c", "claude", "project"),
        Root("notes", "/n", "files", "global", read_only=True),
    )
}


def forest() -> Forest:
    found = Forest()
    address = Address("memtui:global", "style/prose.md")
    found.load(list(ROOTS.values())[:1], [Memory(address, "global", "memtui", 1, 1, "a")])
    return found


def test_a_new_memory_goes_where_the_cursor_is() -> None:
    rows = forest().rows()
    starts = [new_target(node, ROOTS) for node in rows]
    assert [start.text if start else None for start in starts] == ["", "style/", "style/"]
    assert all(start is not None and start.address.root == "memtui:global" for start in starts)


def test_on_a_scope_of_several_roots_the_first_takes_it() -> None:
    found = Forest()
    found.load(list(ROOTS.values()), [])
    start = new_target(found.rows()[0], ROOTS)
    assert start is not None
    assert start.address.root == "memtui:global"


def test_without_a_row_that_can_take_it_the_project_does_or_the_first_root() -> None:
    names = Root("claude:instructions", "/i", "claude", "project", policy=Policy(include=("CLAUDE.md", "rules/")))
    shown = Forest()
    shown.load([names], [Memory(Address(names.id, "CLAUDE.md"), "project", "claude", 1, 1, "a")])
    roots = {**ROOTS, names.id: names}
    for node in (None, *shown.rows()):
        start = new_target(node, roots)
        assert start is not None
        assert start.address.root == "memtui:project"
    start = new_target(None, {"memtui:global": ROOTS["memtui:global"]})
    assert start is not None
    assert start.address.root == "memtui:global"
    assert new_target(None, {}) is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("todo", "memtui:global/todo.md"),
        ("todo.txt", "memtui:global/todo.txt"),
        ("a/b/c", "memtui:global/a/b/c.md"),
        ("memtui:project/x", "memtui:project/x.md"),
        ("memtui:project:checkout/x", "memtui:project/x.md"),
        ("  todo ", "memtui:global/todo.md"),
    ],
)
def test_new_names(text: str, address: str) -> None:
    start = new_target(forest().rows()[0], ROOTS)
    assert start is not None
    target = start.read(text, ROOTS)
    assert (str(target.address), target.problem) == (address, "")


@pytest.mark.parametrize("text", ["", "a/", "/a", "a//b", "../x", "a/./b", "notes/x"])
def test_names_that_are_refused_at_once(text: str) -> None:
    start = new_target(forest().rows()[0], ROOTS)
    assert start is not None
    assert start.read(text, ROOTS).problem


def test_a_rename_starts_at_the_name_with_the_cursor_before_the_suffix() -> None:
    start = rename_target((Address("memtui:global", "a/notes.v1.md"),), None)
    assert (start.text, start.text[: start.cursor]) == ("a/notes.v1.md", "a/notes.v1")
    assert start.read("a/notes.v2.md", ROOTS).pairs((Address("memtui:global", "a/notes.v1.md"),), None) == (
        (Address("memtui:global", "a/notes.v1.md"), Address("memtui:global", "a/notes.v2.md")),
    )


def test_a_folder_of_a_roots_name_stays_a_folder() -> None:
    start = rename_target((Address("memtui:global", "claude:project/x.md"),), None)
    assert str(start.read("claude:project/y.md", ROOTS).address) == "memtui:global/claude:project/y.md"


def test_a_folder_moves_with_everything_below() -> None:
    targets = (Address("memtui:global", "a/x.md"), Address("memtui:global", "a/b/y.md"))
    start = rename_target(targets, "a")
    pairs = start.read("memtui:project/c", ROOTS).pairs(targets, "a")
    assert [str(new) for _, new in pairs] == ["memtui:project/c/x.md", "memtui:project/c/b/y.md"]


def test_many_move_into_a_folder_or_to_the_top() -> None:
    targets = (Address("memtui:global", "a/x.md"), Address("memtui:global", "b/y.md"))
    start = rename_target(targets, None)
    assert [str(new) for _, new in start.read("c/", ROOTS).pairs(targets, None)] == [
        "memtui:global/c/x.md",
        "memtui:global/c/y.md",
    ]
    assert [str(new) for _, new in start.read("", ROOTS).pairs(targets, None)] == [
        "memtui:global/x.md",
        "memtui:global/y.md",
    ]
    same = rename_target((Address("memtui:global", "a/x.md"), Address("memtui:global", "a/y.md")), None)
    assert same.text == "a/"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("b/", "memtui:global/b/x.md"),
        ("memtui:project/", "memtui:project/x.md"),
        ("memtui:project", "memtui:project/x.md"),
        ("memtui:project/in/", "memtui:project/in/x.md"),
        ("b/.md", "memtui:global/b/x.md"),
        ("memtui:project/.md", "memtui:project/x.md"),
    ],
)
def test_one_memory_keeps_its_name_in_a_folder_or_root(text: str, address: str) -> None:
    start = rename_target((Address("memtui:global", "a/x.md"),), None)
    target = start.read(text, ROOTS)
    assert (str(target.address), target.problem) == (address, "")
    assert start.read("/b/", ROOTS).problem
    assert start.read("", ROOTS).problem
    assert start.read(".md", ROOTS).problem == "Type a name; folders end in /."
