"""Share of each agent: what it loads by itself, what memtui gives it, and what is pinned or used but not given.

The agent's current configuration decides whether memtui gives anything: by hook (which alone gives an agent its own
pinned memories), by server, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.agent import LEVELS, Client
from memtui.agents.session_start import LoadedFile, in_use
from memtui.agents.table import agent_of, agents, canonical, title_of
from memtui.clients.install import INSTALLED, OUTDATED, look_at
from memtui.errors import MemtuiError
from memtui.features.hot_set import own
from memtui.features.hot_set.assemble import HOOK, build, fitted, hook_characters
from memtui.features.hot_set.model import Budgets, Context, LeftOut
from memtui.given import reach
from memtui.given.tokens import counter
from memtui.wire.access import OTHERS, client_access

if TYPE_CHECKING:
    from memtui.agents.agent import KnownAgent
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.engine.model import Memory, Root

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
    used: int = 0
    """Length of the hook's output."""
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

    Args:
        around: where sessions would start; None: unknown, so that there are no agents.
        roots: those in reach there.
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
    mine = own.OwnMemories((), (), ())
    if door.agent and around is not None:
        agent = next(one for one in agents() if one.id == door.agent)
        mine = own.look(engine, around, agent, roots)
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
        rest = _because("off", (one for one in rest if one.address.root not in {each.status.root.id for each in given}))
        found = fitted(engine, hook_characters, HOOK, scopes=scopes, own=given)
        left = (*found.left_out, *rest, *used)
        return Given(door, found, "", hidden, hook_characters(found), mine.itself, left)
    found = build(engine, scopes=scopes)
    if door.way == BY_SERVER:
        return Given(door, found, "", hidden, 0, mine.itself, (*found.left_out, *rest, *used))
    reason, off = "no-hook", f"memtui is not installed in {door.title}."
    if door.way == IMPOSSIBLE:
        reason, off = "no-client", f"memtui cannot be installed in {door.title}."
    items = [engine.rows.get(item.address) for item in found.items]
    left = (*(_left(row, engine, reason) for row in items), *found.left_out)
    return Given(door, None, off, hidden, 0, mine.itself, _because(reason, (*left, *rest, *used)))


def counted(given: Given) -> Given:
    """Count the tokens of a share with the best counter; budgets remain estimates."""
    found = given.context
    if found is None:
        return given
    items = tuple(one._replace(tokens=_count(found.hot_block.text[one.start : one.end])) for one in found.items)
    tokens = _count(found.index_block.text) + _count(found.hot_block.text)
    return given._replace(context=found._replace(items=items), tokens=tokens)


@lru_cache(maxsize=64)
def _count(text: str) -> int:
    return counter().of(text)


def _left(row: Memory, engine: Engine, reason: str) -> LeftOut:
    path = engine.roots.virtual_path(row.address) or engine.roots.file_path(row.address)
    return LeftOut(row.address, path, reason, row.pinned, row.heat, row.uses, row.bytes, sha256=row.sha256)


def _because(reason: str, left: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Set one reason for all, except for those that would not be given in any case."""
    stays = ("unreviewed", "unreadable", "not-pinned")
    return tuple(one if one.reason in stays else one._replace(reason=reason) for one in left)
