"""A full list goes into the tree between the keys, and never over what was told of a row after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memtui.engine.model import Address, Listing, Memory
from memtui.workbench.bridge import RowsChanged, RowsLoaded
from memtui.workbench.browse.projects import ReadBatch
from memtui.workbench.tree import forest, tree
from tests.workbench.shown import Shown, engine_with, shown

MANY = {f"memtui:project/f{number % 9}/n{number:03}.md": f"note {number}\n" for number in range(200)}
FIRST, LAST = Address("memtui:project", "f0/n000.md"), Address("memtui:project", "f1/n199.md")


@asynccontextmanager
async def at_rest(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Shown, Listing]]:
    """A workbench in which a list of which every row differs has begun to go in."""
    async with shown(engine_with(MANY)) as running:
        running.stop_watching()
        await running.until(lambda: not running.app.bridge._queued)
        listing = running.engine.engine.rows.list()
        other = listing._replace(items=tuple(one._replace(bytes=9_000) for one in sorted(listing.items, key=address)))
        monkeypatch.setattr(forest, "BATCH_SIZE", 20)
        monkeypatch.setattr(tree, "SLICE", 0)
        monkeypatch.setattr(tree, "PAUSE", 60)
        running.browser.post_message(RowsLoaded(other))
        await running.until(lambda: running.browser.filling.busy)
        yield running, other


def address(row: Memory) -> Address:
    return row.address


def size(running: Shown, one: Address) -> int:
    return running.browser.forest.nodes[one].bytes


def finish(running: Shown) -> None:
    """Let the pauses be over."""
    turns = 0
    while running.browser.filling.busy:
        running.browser.filling._go_on()
        turns += 1
    assert turns > 1


async def test_keys_come_between_the_parts_of_a_long_list(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(monkeypatch) as (running, _):
        assert sum(node.bytes == 9_000 for node in running.browser.forest.nodes.values()) == 20
        before = running.here
        await running.press("j")
        assert running.here != before
        assert running.browser.filling.busy
        finish(running)
        assert all(node.bytes == 9_000 for node in running.browser.forest.nodes.values())


async def test_what_is_told_of_a_row_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(monkeypatch) as (running, listing):
        newer = next(one for one in listing.items if one.address == LAST)._replace(bytes=77)
        gone = listing.items[100].address
        fresh = newer._replace(address=Address("memtui:project", "fresh.md"))
        running.browser.post_message(RowsChanged((newer, fresh), (gone,)))
        await running.until(lambda: size(running, LAST) == 77)
        finish(running)
        assert size(running, LAST) == 77
        assert gone not in running.browser.forest.nodes
        assert fresh.address in running.browser.forest.nodes
        assert size(running, FIRST) == 9_000


async def test_what_is_read_of_other_projects_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(monkeypatch) as (running, listing):
        newer = next(one for one in listing.items if one.address == LAST)._replace(bytes=77)
        running.browser.projects._take(ReadBatch((LAST.root,), (newer,), (), 0))
        finish(running)
        assert size(running, LAST) == 77


async def test_a_newer_list_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(monkeypatch) as (running, listing):
        newest = listing._replace(items=tuple(one._replace(bytes=5) for one in listing.items[:60]))
        running.browser.filling.take(running.browser.facts.roots, newest)
        finish(running)
        assert {node.bytes for node in running.browser.forest.nodes.values()} == {5}
        assert len(running.browser.forest.nodes) == 60
