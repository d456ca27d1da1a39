"""The texts that agents make of their memories when a session starts, made here by the same rules.

Mux gives its agents an index of all memories and the texts of a hot set; memtui gives both to every agent that it is
installed in.
"""

from __future__ import annotations

import os

from memtui.agents.agent import APPROVAL, CUT_OFF, WHOLE
from memtui.agents.known.mux import ROOTS
from memtui.agents.reader import link_out
from memtui.agents.session_start import LoadedFile
from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.features.hot_set import index, texts
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.model import Block, Budgets
from memtui.given.reach import ScopeListing


def with_made(engine: Engine, agent: str, found: tuple[LoadedFile, ...]) -> tuple[LoadedFile, ...]:
    """Add what an agent makes itself, behind the files it loads and before those it reads on demand."""
    if agent == "memtui":
        given = build(engine)
        left = given.memories - given.listed
        said = f"There is no room for {left:,} of {given.memories:,} memories." if left else ""
        return (*_blocks(given.index_block, said, given.hot_block, len(given.left_out)), *_behind_links(engine))
    if agent != "mux":
        return found
    roots = [root for root in engine.roots.all() if not set(ROOTS).isdisjoint((root.id, *root.aliases))]
    if not roots:
        return found
    shelves = _shelves(engine, roots)
    budgets = Budgets()
    listed = index.render(shelves, budgets, {})
    chosen = texts.choose(engine, shelves, budgets, {})
    left = listed.memories - listed.listed
    said = f"There is no room for {left:,} of {listed.memories:,} memories." if left else ""
    first = tuple(one for one in found if one.at_start)
    made = _blocks(listed.block, said, chosen.block, len(chosen.left_out)) if listed.memories else ()
    return (*first, *made, *(one for one in found if not one.at_start))


def _behind_links(engine: Engine) -> tuple[LoadedFile, ...]:
    """A row for every link that a repository brought in the place of memtui's folder: nothing is read behind it."""
    found: dict[str, LoadedFile] = {}
    for root in engine.roots.all():
        if root.agent != "memtui" or not root.in_checkout or root.project is None:
            continue
        link = link_out(root.project, root.path, (os.path.realpath(root.project),))
        if link is not None:
            why = "It is a link to a folder, not followed: it leads out. Its memories are given to nobody."
            found[link] = LoadedFile("memories", link, APPROVAL, why)
    return tuple(found.values())


def _blocks(listed: Block, said: str, hot: Block, left_out: int) -> tuple[LoadedFile, ...]:
    made = [_block("memory index", listed, said)]
    if hot.text:
        why = f"{left_out:,} pinned or used memories do not fit." if left_out else ""
        made.append(_block("hot set", hot, why))
    return tuple(made)


def _block(label: str, block: Block, why: str) -> LoadedFile:
    data = block.text.encode()
    return LoadedFile(label, label, CUT_OFF if why else WHOLE, why, len(data), data, made=True)


def _shelves(engine: Engine, roots: list[Root]) -> tuple[ScopeListing, ...]:
    listing = engine.rows.list([root.id for root in roots])
    return tuple(
        ScopeListing(
            f"/memories/{status.root.scope}",
            status,
            tuple(row for row in listing.items if row.address.root == status.root.id and not row.missing),
        )
        for status in listing.roots
    )
