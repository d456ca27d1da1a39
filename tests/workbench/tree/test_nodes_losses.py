"""Counting what others deleted on the rows above it."""

from __future__ import annotations

from memtui.engine.model import Address, Memory, Root
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import Losses, Node


def forest() -> Forest:
    found = Forest()
    roots = (Root("a", "/a"), Root("b", "/b"))
    found.load(roots, [Memory(Address("a", "d/e/x.md"), "global", "files", 1, 0, "f" * 64)])
    return found


def node(found: Forest, *names: str) -> Node:
    here = found.top
    for name in names:
        here = here.children[name]
    return here


def test_every_row_above_counts_it_also_folders_that_are_gone() -> None:
    found, losses = forest(), Losses()
    touched = losses.set_deleted([Address("a", "d/y.md"), Address("a", "d/e/z.md"), Address("b", "q.md")], found.homes)
    assert losses.total == 3
    assert losses.below(node(found, "global")) == 3
    assert losses.below(node(found, "global", "a")) == 2
    assert losses.below(node(found, "global", "a", "d/")) == 2
    assert losses.below(node(found, "global", "a", "d/", "e/")) == 1
    assert node(found, "global", "b").key in touched


def test_only_rows_whose_count_changed_are_touched() -> None:
    found, losses = forest(), Losses()
    losses.set_deleted([Address("a", "d/y.md"), Address("b", "q.md")], found.homes)
    touched = losses.set_deleted([Address("a", "d/y.md")], found.homes)
    assert touched == {node(found, "global", "b").key, node(found, "global").key}
