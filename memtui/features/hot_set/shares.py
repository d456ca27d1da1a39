"""Share of each agent: what it loads by itself, what memtui gives it, and what is pinned or used but not given.

The agent's current configuration decides whether memtui gives anything: by hook (which alone gives an agent its own
pinned memories), by server, or not at all. Pinned memories go only to the agent whose folder they are in, and never
twice. Mux's start is built here by its rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.agent import CUT_OFF, LEVELS, WHOLE, Client, KnownAgent
from memtui.agents.session_start import LoadedFile, gather, in_use
from memtui.agents.table import KNOWN, agent_of, agents, canonical, title_of
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Address, Memory, Root
from memtui.errors import MemtuiError
from memtui.features.hot_set.assemble import build, choose, fitted, render
from memtui.features.hot_set.model import Block, Budgets, Context, LeftOut
from memtui.given import reach
from memtui.given.reach import ScopeListing, listings, there, withheld
from memtui.given.tokens import counter
from memtui.pointers.lines import end_of_index
from memtui.wire.access import OTHERS, client_access

if TYPE_CHECKING:
    from memtui.agents.agent import KnownAgent
    from memtui.config.settings import Settings
    from memtui.engine.model import Memory, Root


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


def own_memories(engine: Engine, around: Surroundings, agent: KnownAgent, roots: Iterable[Root]) -> OwnMemories:
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


def own_pinned(engine: Engine, around: Surroundings, client: str) -> tuple[ScopeListing, ...]:
    """Return the pinned memories of a client that memtui's hook has to give it."""
    agent, roots = agent_of_client(client), engine.roots.all()
    if agent is None or not any(row.pinned for shelf in _shelves(engine, agent, roots) for row in shelf.rows):
        return ()  # most have none, and their hook need not work out what the agent loads
    return own_memories(engine, around, agent, roots).pinned


def made_by(engine: Engine, agent: str, roots: Iterable[Root]) -> Made:
    """Make the texts an agent makes of its memories at a start; only Mux does."""
    if agent != "mux":
        return Made()
    from memtui.agents.known.mux import ROOTS

    wanted = [root for root in roots if not set(ROOTS).isdisjoint((root.id, *root.aliases))]
    if not wanted:
        return Made()
    shelves = tuple(listings(engine, wanted, lambda root: f"/memories/{root.scope}", _present))
    listed, chosen = render(shelves, Budgets(), {}), choose(engine, shelves, Budgets(), {})
    if not listed.memories:
        return Made()
    made = as_loaded(listed.block, listed.memories - listed.listed, listed.memories, chosen.block, len(chosen.left_out))
    return Made(made, frozenset(item.row.address for item in chosen.items if not item.shown.truncated))


def _present(rows: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple(row for row in rows if not row.missing)


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


BY_HOOK, BY_SERVER, NOT_INSTALLED, IMPOSSIBLE = "hook", "server", "none", "impossible"
"""How memtui reaches an agent; `IMPOSSIBLE`: it cannot be installed there."""


class Door(NamedTuple):
    """A client or agent, and how memtui reaches it."""

    client: str = ""
    """As in the `[access]` table; empty for clients without an entry."""
    agent: str = ""
    """Id of the agent; empty for a client without a known agent."""
    way: str = BY_SERVER

    @property
    def title(self) -> str:
        """Display name."""
        return title_of(self.agent) if self.agent else self.client or "any other agent"


class Given(NamedTuple):
    """The share of one agent."""

    door: Door
    context: Context | None
    """What memtui gives; None: nothing."""
    off: str = ""
    """Why it gives nothing."""
    hidden: tuple[str, ...] = ()
    """Scopes that are off for the client."""
    itself: tuple[LoadedFile, ...] = ()
    """Files the agent loads without memtui."""
    left_out: tuple[LeftOut, ...] = ()
    """Memories that are pinned or used, and not given."""
    tokens: int = 0
    """Of both blocks, once `counted`."""

    @property
    def budgets(self) -> Budgets:
        """The limits of the share."""
        return self.context.budgets if self.context is not None else Budgets()


def doors(settings: Settings, around: Surroundings | None, roots: Iterable[Root]) -> tuple[Door, ...]:
    """Return whose shares there are: agents in use here, other clients, then those in the `[access]` table.

    `roots` are in reach where sessions would start; where that is unknown (`around` is None), there are no agents.
    """
    found = []
    if around is not None:
        here = tuple(roots)
        holding = {root.agent for root in here if root.kind == "memories"}
        used = {agent.id for agent in in_use(around, here)}
        for agent in agents():
            if agent.id in used or not holding.isdisjoint((agent.id, *agent.also)):
                found.append(door_of(agent, settings, around))
    named = (canonical(rule.client) for rule in settings.access if rule.client != OTHERS)
    clients = [name for name in dict.fromkeys(named) if name and name not in {door.client for door in found}]
    return (*found, Door(), *map(Door, clients))


def door_of(agent: KnownAgent, settings: Settings, around: Surroundings) -> Door:
    """Determine how memtui is installed in an agent, by user or project."""
    if agent.client is None:
        return Door("", agent.id, IMPOSSIBLE)
    return Door(agent.client.name, agent.id, _way(agent.client, settings, around))


def _way(client: Client, settings: Settings, around: Surroundings) -> str:
    from memtui.clients.install import INSTALLED, OUTDATED, look_at  # a hook does not ask how it was installed

    try:
        found = [look_at(client, level, around, settings) for level in LEVELS]
    except MemtuiError:  # without a home folder there is no configuration
        return NOT_INSTALLED
    if any(one.hook for one in found):
        return BY_HOOK
    gives = any(one.context and one.state in (INSTALLED, OUTDATED) for one in found)
    return BY_SERVER if gives else NOT_INSTALLED


def load(
    engine: Engine,
    settings: Settings,
    door: Door,
    around: Surroundings | None = None,
    roots: Iterable[Root] = (),
) -> Given:
    """Compute one share; a person also sees what they withhold from it."""
    given = _load(engine, settings, door, around, roots)
    shown = [root for root in reach.roots(engine) if root.scope not in given.hidden]
    shown += [root for root in roots if door.agent and root.agent in (door.agent, *agent_of(door.agent).also)]
    return given._replace(left_out=(*_withheld(engine, shown), *given.left_out))


def _withheld(engine: Engine, roots: Iterable[Root]) -> tuple[LeftOut, ...]:
    """Return pinned or used memories that a person withholds; nothing where an agent asks."""
    if not (engine.observations.withheld() and reach.is_person(engine)):
        return ()
    hidden, rows = reach.withheld(engine), engine.rows.list([root.id for root in roots]).items
    claims = (row for row in rows if (row.pinned or row.heat > 0) and not row.missing)
    return tuple(_left(row, engine, "withheld") for row in claims if hidden(row.address, row.sha256))


def _load(
    engine: Engine,
    settings: Settings,
    door: Door,
    around: Surroundings | None,
    roots: Iterable[Root],
) -> Given:
    mine = OwnMemories((), (), ())
    if door.agent and around is not None:
        agent = next(one for one in agents() if one.id == door.agent)
        mine = own_memories(engine, around, agent, roots)
    used = tuple(_left(row, engine, "not-pinned") for row in mine.used)
    rest = tuple(_left(row, engine, "no-hook") for shelf in mine.pinned for row in shelf.rows)
    try:
        access = client_access(settings, door.client)
    except MemtuiError as error:
        said = f"{error.message} {error.hint}".strip()
        return Given(door, None, said, itself=mine.itself, left_out=_because("off", (*rest, *used)))
    shown = {root.scope for root in engine.roots.all() if root.id == f"memtui:{root.scope}"}
    scopes = frozenset(root.scope for root in engine.roots.all() if root.scope in shown and access.shows(root))
    hidden = tuple(sorted(shown - scopes))
    if door.way == BY_HOOK:
        given = tuple(shelf for shelf in mine.pinned if access.shows(shelf.status.root))
        rest = _because(
            "off", (one for one in rest if one.row.address.root not in {each.status.root.id for each in given})
        )
        found = fitted(engine, scopes=scopes, own=given)
    else:
        found = build(engine, scopes=scopes)
    if door.way in (BY_HOOK, BY_SERVER):
        return Given(door, found, "", hidden, mine.itself, (*found.left_out, *rest, *used))
    reason, off = "no-hook", f"memtui is not installed in {door.title}."
    if door.way == IMPOSSIBLE:
        reason, off = "no-client", f"memtui cannot be installed in {door.title}."
    left = (*(_left(item.row, engine, reason) for item in found.items), *found.left_out)
    return Given(door, None, off, hidden, mine.itself, _because(reason, (*left, *rest, *used)))


def counted(given: Given) -> Given:
    """Count the tokens of a share with the best counter; budgets remain estimates."""
    found = given.context
    if found is None:
        return given
    items = tuple(one._replace(shown=one.shown._replace(tokens=_count(one.shown.text))) for one in found.items)
    tokens = _count(found.index_block.text) + _count(found.hot_block.text)
    return given._replace(context=found._replace(items=items), tokens=tokens)


@lru_cache(maxsize=64)
def _count(text: str) -> int:
    return counter().of(text)


def _left(row: Memory, engine: Engine, reason: str) -> LeftOut:
    path = engine.roots.virtual_path(row.address) or engine.roots.file_path(row.address)
    return LeftOut(row, path, reason)


def _because(reason: str, left: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Set one reason for all, except for those that would not be given in any case."""
    stays = ("unreviewed", "unreadable", "not-pinned")
    return tuple(one if one.reason in stays else one._replace(reason=reason) for one in left)
