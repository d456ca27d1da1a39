"""An agent's own memories: which it loads anyway, and which pinned ones memtui's hook gives it.

Pinned memories go only to the agent whose folder they are in, and never twice. Mux's start is built here by its rules.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtui.agents.agent import CUT_OFF, WHOLE, KnownAgent
from memtui.agents.session_start import LoadedFile, gather
from memtui.agents.table import KNOWN, agent_of, canonical
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Address, Memory, Root
from memtui.features.hot_set import index, texts
from memtui.features.hot_set.model import Block, Budgets
from memtui.given.reach import ScopeListing, listings, there, withheld
from memtui.pointers.lines import end_of_index


class OwnMemories(NamedTuple):
    """What is specific to one agent."""

    itself: tuple[LoadedFile, ...]
    """Files a session loads without memtui, in order, then the texts the agent makes."""
    pinned: tuple[ScopeListing, ...]
    """Pinned memories that it does not load whole, by root."""
    used: tuple[Memory, ...]
    """Used memories that are neither pinned nor loaded."""


class Made(NamedTuple):
    """Texts that an agent makes of its memories at a start."""

    texts: tuple[LoadedFile, ...] = ()
    given: frozenset[Address] = frozenset()
    """Memories that are in them whole."""


def agent_of_client(client: str) -> KnownAgent | None:
    """Return the agent of a client; None if memtui cannot be installed in it."""
    name = canonical(client)
    found = next((one.id for one in KNOWN if name and name in one.client[:1]), None)
    return None if found is None else agent_of(found)


def look(engine: Engine, around: Surroundings, agent: KnownAgent, roots: Iterable[Root]) -> OwnMemories:
    """Determine what a session of an agent loads, and which of its memories are pinned or used."""
    reach = tuple(roots)
    made = made_by(engine, agent.id, reach)
    itself = tuple(one for one in gather(agent, around, reach, end_of_index) if one.at_start)
    whole = {os.path.realpath(one.path) for one in itself if one.mark == WHOLE}
    pinned, used = [], []
    for shelf in _shelves(engine, agent, reach):
        rest = [
            row
            for row in shelf.rows
            if row.address not in made.given
            and os.path.realpath(os.path.join(shelf.place, row.address.path)) not in whole
        ]
        pinned.append(shelf._replace(rows=tuple(row for row in rest if row.pinned)))
        used += [row for row in rest if row.heat > 0 and not row.pinned]
    return OwnMemories((*itself, *made.texts), tuple(shelf for shelf in pinned if shelf.rows), tuple(used))


def pinned(engine: Engine, around: Surroundings, client: str) -> tuple[ScopeListing, ...]:
    """Return the pinned memories of a client that memtui's hook has to give it."""
    agent, roots = agent_of_client(client), engine.roots.all()
    if agent is None or not any(row.pinned for shelf in _shelves(engine, agent, roots) for row in shelf.rows):
        return ()  # most have none, and their hook need not work out what the agent loads
    return look(engine, around, agent, roots).pinned


def made_by(engine: Engine, agent: str, roots: Iterable[Root]) -> Made:
    """Make the texts an agent makes of its memories at a start; only Mux does."""
    if agent != "mux":
        return Made()
    from memtui.agents.known.mux import ROOTS

    wanted = [root for root in roots if not set(ROOTS).isdisjoint((root.id, *root.aliases))]
    if not wanted:
        return Made()
    shelves = tuple(
        listings(
            engine,
            wanted,
            lambda root: f"/memories/{root.scope}",
            lambda rows: tuple(row for row in rows if not row.missing),
        )
    )
    listed, chosen = index.render(shelves, Budgets(), {}), texts.choose(engine, shelves, Budgets(), {})
    if not listed.memories:
        return Made()
    made = as_loaded(listed.block, listed.memories - listed.listed, listed.memories, chosen.block, len(chosen.left_out))
    return Made(made, frozenset(item.address for item in chosen.items if not item.truncated))


def as_loaded(listed: Block, unlisted: int, memories: int, hot: Block, left_out: int) -> tuple[LoadedFile, ...]:
    """Return an index and a hot set as loaded files."""
    said = f"There is no room for {unlisted:,} of {memories:,} memories." if unlisted else ""
    made = [_as_loaded("memory index", listed, said)]
    if hot.text:
        why = f"{left_out:,} pinned or used memories do not fit." if left_out else ""
        made.append(_as_loaded("hot set", hot, why))
    return tuple(made)


def _as_loaded(label: str, block: Block, why: str) -> LoadedFile:
    data = block.text.encode()
    return LoadedFile(label, label, CUT_OFF if why else WHOLE, why, len(data), data, made=True)


def _shelves(engine: Engine, agent: KnownAgent, roots: Iterable[Root]) -> Iterator[ScopeListing]:
    wanted = [root for root in roots if root.agent in (agent.id, *agent.also)]
    if wanted:
        hidden = withheld(engine)
        yield from listings(engine, wanted, lambda root: root.path, lambda rows: there(rows, hidden))
