"""Roots the user named by hand: any folder, seen as plain files or through a known agent's layout."""

from collections.abc import Iterator

from memtui.agents.layouts import memtui_native
from memtui.agents.table import LAYOUTS, layout_of, policy_of
from memtui.config.settings import RootEntry
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root
from memtui.errors import UsageError

AGENT = "files"
AGENTS = (AGENT, memtui_native.AGENT, *(layout.agent for layout in LAYOUTS))
"""Whose layouts a root by hand can follow."""
POLICY = Policy(ignore=(".DS_Store", ".git"))


def roots(surroundings: Surroundings, *, only_options: bool) -> Iterator[Root]:
    """Give the roots named by hand.

    Args:
        surroundings: where the user stands.
        only_options: leave out those of the settings.

    Raises:
        UsageError: an unknown agent, or a name that is not free.
    """
    used: set[str] = set()
    for entry in surroundings.roots:
        if only_options and entry.origin != "--root":
            continue
        agent, colon, _ = entry.name.partition(":")
        if colon and agent in AGENTS:
            what = f"names that begin with {agent}: are those of the roots memtui finds by itself."
            raise _refusal(entry, what, "Give it another name.")
        if entry.name in used:
            raise _refusal(entry, "this name is given twice.", "Give one of them another name.")
        used.add(entry.name)
        yield Root(entry.name, entry.dir, entry.agent, entry.scope, entry.name, _policy(entry), kind=_kind(entry))


def _policy(entry: RootEntry) -> Policy:
    if entry.agent == AGENT:
        return POLICY
    if entry.agent == memtui_native.AGENT:
        return memtui_native.POLICY
    layout = layout_of(entry.agent)
    if layout is None:
        raise _refusal(entry, f"there is no layout {entry.agent!r}.", f"The layouts are {', '.join(AGENTS)}.")
    return policy_of(layout)


def _kind(entry: RootEntry) -> str:
    layout = layout_of(entry.agent)
    return layout.kind if layout is not None else "memories"


def _refusal(entry: RootEntry, what: str, hint: str) -> UsageError:
    code = "E_USAGE" if entry.origin == "--root" else "E_CONFIG"
    return UsageError(f"{entry.origin}: root {entry.name}: {what}", code=code, hint=hint)
