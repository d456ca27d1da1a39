"""Which rows stand at the top of the tree, and which roots lie below each: grouped by scope or by agent.

The project the user stands in comes first. Other projects lie below one row in each group, so that thousands of them
take one line; what people write for agents is a group of its own, so that it can be put away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import SCOPES, Listing, Root
from memtui.workbench.browse.nodes import OTHERS, SCOPE, Key

INSTRUCTIONS = "instructions"
"""The kind of a root that people write, and the name of its group."""
INSTRUCTIONS_KEY: Key = (SCOPE, INSTRUCTIONS)


class Group(NamedTuple):
    """One row at the top."""

    key: Key
    name: str
    """The scope, the agent in words, or what the others below it are."""
    roots: tuple[Root, ...]
    others: bool = False
    """Whether these are other projects' roots."""
    says: str = "scope"
    """What the row at the top already says of its roots: their `scope`, their `agent`, or nothing."""


def groups(roots: Iterable[Root], others: Iterable[Root], *, by_agent: bool) -> list[Group]:
    """Sort roots into groups.

    Args:
        roots: those of where the user stands.
        others: those of other projects.
        by_agent: one group for each agent instead of one for each scope.

    Returns:
        The groups in the order in which they are shown; none is empty.
    """
    own, more = tuple(roots), tuple(others)
    written = tuple(root for root in own if root.kind == INSTRUCTIONS)
    memories = tuple(root for root in own if root.kind != INSTRUCTIONS)
    found: list[Group] = []
    if by_agent:
        for agent, here, there in _split(memories, more, lambda root: root.agent, ()):
            words = agent.replace("-", " ")
            if here:
                found.append(Group((SCOPE, f"agent:{agent}"), words, here, says="agent"))
            if there:
                found.append(Group((OTHERS, f"agent:{agent}"), f"{words}, other projects", there, others=True))
    else:
        for scope, here, there in _split(memories, more, lambda root: root.scope, SCOPES):
            if here:
                found.append(Group((SCOPE, scope), scope, here))
            if there:
                found.append(Group((OTHERS, scope), f"other {scope}s", there, others=True))
    if written:
        found.append(Group(INSTRUCTIONS_KEY, INSTRUCTIONS, written, says=""))
    return found


def worth_showing(roots: tuple[Root, ...], listing: Listing | None, vanished: Collection[str]) -> tuple[Root, ...]:
    """Leave roots that hold something or need something, that are ours, or that were given by hand.

    Args:
        roots: those of where the user stands.
        listing: what is known of them; None when nothing is.
        vanished: those whose folder is gone although they held memories.
    """
    if listing is None or not listing.roots:
        return tuple(root for root in roots if root.agent == "memtui") or roots
    there = {status.root.id for status in listing.roots if status.files or status.problems}
    there |= {memory.address.root for memory in listing.items} | set(vanished)
    here = {root.id for root in roots}
    known = tuple(status.root for status in listing.roots if status.root.id in here)
    return tuple(root for root in known if root.id in there or root.agent in ("memtui", "files"))


def _split(
    own: Iterable[Root], more: Iterable[Root], value: Callable[[Root], str], first: Iterable[str]
) -> list[tuple[str, tuple[Root, ...], tuple[Root, ...]]]:
    """Sort both kinds by a value; the values in the given order, then as they come."""
    here: dict[str, list[Root]] = {one: [] for one in first}
    there: dict[str, list[Root]] = {}
    for root in own:
        here.setdefault(value(root), []).append(root)
    for root in more:
        there.setdefault(value(root), []).append(root)
    return [(one, tuple(here.get(one, ())), tuple(there.get(one, ()))) for one in dict.fromkeys((*here, *there))]


def root_words(root: Root, names: Mapping[str, str], says: str) -> str:
    """Name a root by what is not said above it: `project api  Claude Code memory`, `project api  memory`."""
    label = root.label or root.id
    if says == "scope":
        return label
    where = " ".join(word for word in (root.scope, names.get(root.scope, "")) if word)
    agent = root.agent.replace("-", " ")
    if says == "agent" and label.casefold().startswith(agent):
        label = label[len(agent) :].lstrip(" ,")
    return f"{where}  {label}".rstrip()
