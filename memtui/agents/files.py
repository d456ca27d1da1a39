"""Roots the user named by hand: any folder, seen as plain files or through a known agent's layout."""

from collections.abc import Iterator

from memtui.agents import claude_code, memtui_native, mux, qwen_code
from memtui.config.surroundings import RootEntry, Surroundings
from memtui.engine.model import Policy, Root
from memtui.errors import UsageError

AGENT = "files"

LAYOUTS = {
    AGENT: Policy(ignore=(".DS_Store", ".git")),
    memtui_native.AGENT: memtui_native.POLICY,
    claude_code.AGENT: claude_code.POLICY,
    qwen_code.AGENT: qwen_code.POLICY,
    mux.AGENT: mux.POLICY,
}
"""The layouts a root by hand can follow, by the agent's name."""


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
        policy = LAYOUTS.get(entry.agent)
        if policy is None:
            raise _refusal(entry, f"there is no layout {entry.agent!r}.", f"The layouts are {', '.join(LAYOUTS)}.")
        agent, colon, _ = entry.name.partition(":")
        if colon and agent in LAYOUTS:
            what = f"names that begin with {agent}: are those of the roots memtui finds by itself."
            raise _refusal(entry, what, "Give it another name.")
        if entry.name in used:
            raise _refusal(entry, f"the name {entry.name!r} is given twice.", "Give one of them another name.")
        used.add(entry.name)
        yield Root(entry.name, entry.dir, entry.agent, entry.scope, entry.name, policy)


def _refusal(entry: RootEntry, what: str, hint: str) -> UsageError:
    code = "E_USAGE" if entry.origin == "--root" else "E_CONFIG"
    return UsageError(f"{entry.origin}: root {entry.name}: {what}", code=code, hint=hint)
