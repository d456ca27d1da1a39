"""Letta Code: a git repository of memories for each of its agents, in one of two layouts.

The old layout has folders `system/`, always loaded, and `reference/`; a description is required. The new one has an
index `MEMORY.md` in every folder, without front matter, and `name` and `description` in every other file. A hook of the
repository refuses to commit what breaks these rules, so a front matter edited wrongly stops the agent from saving.
Source of its settings: the repository letta-ai/letta-code, `src/settings-manager.ts` (`agents`, `memfs`).
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import BY_FOLDER, AgentHome, Excluded, KnownAgent, LoadOptions, Loads, LoadSource, on_demand
from memtui.agents.layout import BOOKKEEPING, existing, id_part, is_too_wide, names_in, new_root, not_loaded
from memtui.agents.settings import File, problems, read_json
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "letta"
OWN = AgentHome(at_home=(".letta",))
INDEX = "MEMORY.md"
OLD = Policy(ignore=BOOKKEEPING, front_matter="required", fields=("description",), protected=("skills/",), suffix=".md")
POLICY = Policy(
    index_file=f"**/{INDEX}",
    index_format="links",
    ignore=BOOKKEEPING,
    front_matter="required",
    fields=("name", "description"),
    only_fields=True,
    suffix=".md",
    protected=("skills/",),
    whole=(INDEX, f"*/{INDEX}"),
    shown_chars=(("skills/*", 1_000_000_000), ("*.md", 20_000)),
)
"""The new layout: a file in a folder without an index is not seen."""
WRITES = (
    "Letta Code writes these files, commits them with a reason and pushes after a turn; "
    "a change of yours that it has not committed may stand in its way."
)

_LOOKS = "The agent reads it when it looks for it."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the memories of each agent; an agent is the user's, not a project's."""
    seen: set[str] = set()
    for folder, prefix in _stores(surroundings):
        for name in names_in(folder):
            path = os.path.join(folder, name, "memory")
            if not name.startswith(".") and path not in seen:
                seen.add(path)
                yield from _agent(path, prefix + id_part(name), name)
    named = surroundings.variable("LETTA_MEMORY_DIR") or surroundings.variable("MEMORY_DIR")
    path = surroundings.folder(named) if named else ""
    if path and path not in seen and not is_too_wide(surroundings, path) and _is_memory(path):
        yield from _agent(path, "named", os.path.basename(path))


def _stores(surroundings: Surroundings) -> Iterator[tuple[str, str]]:
    home = surroundings.home
    if home:
        yield os.path.join(home, ".letta", "agents"), ""
    named = surroundings.variable("LETTA_LOCAL_BACKEND_DIR")
    if named:
        yield os.path.join(surroundings.folder(named), "memfs"), "local-"
    elif home:
        yield os.path.join(home, ".letta", "lc-local-backend", "memfs"), "local-"


def _is_memory(path: str) -> bool:
    """Whether a folder named by a very common variable is a memory repository of Letta Code's."""
    return os.path.lexists(os.path.join(path, ".git")) and (
        os.path.lexists(os.path.join(path, INDEX)) or os.path.isdir(os.path.join(path, "system"))
    )


def _agent(path: str, instance: str, name: str) -> Iterator[Root]:
    policy = POLICY if os.path.lexists(os.path.join(path, INDEX)) else OLD
    label = f"Letta Code memory, {name[:14]}"
    yield from existing(new_root(f"{ID}:global:{instance}", path, label, policy, note=WRITES))


def _letta(surroundings: Surroundings, homes: tuple[str, ...]) -> LoadOptions:
    files = tuple(read_json(os.path.join(home, "settings.json")) for home in homes)
    excluded = []
    for home, file in zip(homes, files, strict=True):
        local = surroundings.variable("LETTA_LOCAL_BACKEND_DIR")
        stores = (
            os.path.join(home, "agents"),
            os.path.join(surroundings.folder(local) if local else os.path.join(home, "lc-local-backend"), "memfs"),
        )
        why = not_loaded(surroundings, file.path, "memfs")
        excluded += [
            Excluded(os.path.join(store, agent, "memory"), why, BY_FOLDER)
            for agent in _without_folder(file)
            for store in stores
        ]
    return LoadOptions(excluded=tuple(excluded), problems=problems(files))


def _without_folder(file: File) -> tuple[str, ...]:
    """Return the agents whose switch is off, and on with no other server."""
    found = file.values.get("agents")
    known: dict[str, object] = {}
    for one in found if isinstance(found, list) else ():
        agent = one.get("agentId") if isinstance(one, dict) else None
        if isinstance(agent, str) and known.get(agent) is not True:
            known[agent] = one.get("memfs")
    return tuple(agent for agent, enabled in known.items() if enabled is False)


LOADS = Loads(
    (
        LoadSource("memory index", "letta:*", ("MEMORY.md",)),
        LoadSource("system memories", "letta:*", ("*.md", "system/**/*.md")),
        on_demand("memories", "letta:*", "**/*.md", why=_LOOKS),
    ),
    in_project=(".letta",),
    options=_letta,
    note="A session is of one agent: with several of them, each loads only its own. Its system prompt comes on top.",
)
AGENT = KnownAgent(ID, "Letta Code", roots, policy=POLICY, home=OWN, loads=LOADS, also=("letta-code",))
