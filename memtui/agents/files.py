"""Roots the user named by hand: any folder, seen as plain files or through a known agent's layout."""

from collections.abc import Iterator

from memtui.config.settings import RootEntry
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root
from memtui.errors import UsageError

AGENT = "files"
AGENTS = (AGENT, "memtui", "claude-code", "qwen-code", "mux")
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
        yield Root(entry.name, entry.dir, entry.agent, entry.scope, entry.name, _policy(entry))


def _policy(entry: RootEntry) -> Policy:
    if entry.agent == AGENT:
        return POLICY
    if entry.agent == "memtui":
        from memtui.agents.memtui_native import POLICY as NATIVE

        return NATIVE
    if entry.agent == "claude-code":
        from memtui.agents.claude_code import AUTO as CLAUDE_CODE

        return CLAUDE_CODE
    if entry.agent == "qwen-code":
        from memtui.agents.qwen_code import AUTO as QWEN_CODE

        return QWEN_CODE
    if entry.agent == "mux":
        from memtui.agents.mux import POLICY as MUX

        return MUX
    raise _refusal(entry, f"there is no layout {entry.agent!r}.", f"The layouts are {', '.join(AGENTS)}.")


def _refusal(entry: RootEntry, what: str, hint: str) -> UsageError:
    code = "E_USAGE" if entry.origin == "--root" else "E_CONFIG"
    return UsageError(f"{entry.origin}: root {entry.name}: {what}", code=code, hint=hint)
