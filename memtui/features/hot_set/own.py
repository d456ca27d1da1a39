"""An agent's own memories: which of them it begins with anyway, and which pinned ones memtui's hook has to give it.

Only the agent that a folder belongs to is given what is pinned in it, under the path by which it opens the file. What
it loads whole by itself is not given twice.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtui.agents.agent import WHOLE, KnownAgent
from memtui.agents.session_start import LoadedFile, gather
from memtui.agents.table import KNOWN, agent_of, canonical
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Memory, Root
from memtui.given.reach import ScopeListing
from memtui.pointers.cutline import end_of_index


class OwnMemories(NamedTuple):
    """What concerns one agent alone."""

    itself: tuple[LoadedFile, ...]
    """What a session begins with without memtui, in the order of loading."""
    pinned: tuple[ScopeListing, ...]
    """Its pinned memories that it does not load whole by itself, by root."""
    used: tuple[Memory, ...]
    """Those that are used, and neither pinned nor loaded."""


def agent_of_client(client: str) -> KnownAgent | None:
    """Give the agent that a client is; None for one that memtui cannot be installed in."""
    name = canonical(client)
    found = next((one.id for one in KNOWN if name and name in one.client[:1]), None)
    return None if found is None else agent_of(found)


def look(engine: Engine, around: Surroundings, agent: KnownAgent, roots: Iterable[Root]) -> OwnMemories:
    """See what a session of an agent begins with, and what of its own is pinned or used; nothing is recorded.

    Args:
        engine: lists the memories.
        around: where the session would start.
        agent: which.
        roots: those in reach there.
    """
    reach = tuple(roots)
    itself = tuple(one for one in gather(agent, around, reach, end_of_index) if one.at_start)
    whole = {os.path.realpath(one.path) for one in itself if one.mark == WHOLE}
    pinned, used = [], []
    for shelf in _shelves(engine, agent, reach):
        rest = [row for row in shelf.rows if os.path.realpath(os.path.join(shelf.place, row.address.path)) not in whole]
        pinned.append(shelf._replace(rows=tuple(row for row in rest if row.pinned)))
        used += [row for row in rest if row.heat > 0 and not row.pinned]
    return OwnMemories(itself, tuple(shelf for shelf in pinned if shelf.rows), tuple(used))


def pinned(engine: Engine, around: Surroundings, client: str) -> tuple[ScopeListing, ...]:
    """Give what memtui's hook has to give a client of its own memories; nothing of it is read yet."""
    agent, roots = agent_of_client(client), engine.roots.all()
    if agent is None or not any(row.pinned for shelf in _shelves(engine, agent, roots) for row in shelf.rows):
        return ()  # most have none, and their hook need not work out what the agent loads
    return look(engine, around, agent, roots).pinned


def _shelves(engine: Engine, agent: KnownAgent, roots: Iterable[Root]) -> Iterator[ScopeListing]:
    """The agent's roots, each with what is there; the place is the folder."""
    wanted = [root.id for root in roots if root.agent in (agent.id, *agent.also)]
    if not wanted:
        return
    listing = engine.rows.list(wanted)
    for status in listing.roots:
        rows = (row for row in listing.items if row.address.root == status.root.id and not row.missing)
        yield ScopeListing(status.root.path, status, tuple(rows))
