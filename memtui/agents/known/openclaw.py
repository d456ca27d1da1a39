"""OpenClaw: workspaces, each with MEMORY.md, a file for each day in `memory/`, and the files that shape its agent.

A workspace is also where the agent works, so only what is known to be memory or instruction is shown of it. The folder
may be one the user already had: settings and variables name it. Source of limits: the repository openclaw/openclaw,
`src/agents/embedded-agent-helpers/bootstrap.ts`, and the documentation of 2026.9.6: of a file that is too long, three
quarters of what is loaded come from its beginning, with the mark where it was cut; of AGENTS.md also some of its rules.
"""

import os
from collections.abc import Iterator
from hashlib import sha256

from memtui.agents import agent
from memtui.agents.layout import BOOKKEEPING, existing, id_part, is_too_wide, names_in, new_root, only
from memtui.agents.settings import is_name, problems, quoted_settings, read_json5, read_text
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "openclaw"
OWN = agent.AgentHome(at_home=(".openclaw",))
SETTINGS = "openclaw.json"
POLICY = Policy(index_file="MEMORY.md", ignore=BOOKKEEPING, whole=("*",), shown_chars=(("MEMORY.md", 20_000),))
"""MEMORY.md is text of its own, not a list of the other files; a long one is cut."""
INSTRUCTIONS = Policy(ignore=BOOKKEEPING, whole=("*",), shown_chars=(("USER.md", 4_000), ("*", 20_000)))
TOTAL = 60_000
"""UTF-16 units of all files that a session begins with."""
FILES = ("AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md")
WRITES = "OpenClaw writes these files while it works: the day's file as it goes, MEMORY.md when something shall last."
READS = "OpenClaw reads these files at the start of a session, and rewrites some of them."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield every workspace's memories and instructions; which project one serves is unknown."""
    listed: set[str] = set()
    for path in _workspaces(surroundings):
        if path in listed or is_too_wide(surroundings, path):
            continue
        found = [*_workspace(path, _instance(path) if listed else "")]
        if found:
            listed.add(path)
        yield from found


def _instance(path: str) -> str:
    """Name a further workspace; those in OpenClaw's own folder are told apart by name alone."""
    name = os.path.basename(path)
    return (
        f":{id_part(name)}"
        if name.startswith("workspace-")
        else f":{id_part(name)}-{sha256(os.fsencode(path)).hexdigest()[:8]}"
    )


def _workspaces(surroundings: Surroundings) -> Iterator[str]:
    state = state_folder(surroundings)
    if state is not None:
        settings = read_text(os.path.join(state, SETTINGS)).text
        names = [name for name in quoted_settings(settings, "id") if is_name(name) and "/" not in name]
        for text in quoted_settings(settings, "workspace"):
            folder = surroundings._replace(cwd=state).folder(text)
            yield folder
            yield from (os.path.join(folder, name) for name in names)  # an agent without one of its own works there
    named = surroundings.variable("OPENCLAW_WORKSPACE_DIR")
    if named:
        yield surroundings.folder(named)
    if state is not None:
        yield os.path.join(state, "workspace")
        for name in names_in(state):
            if name.startswith("workspace-"):
                yield os.path.join(state, name)


def state_folder(surroundings: Surroundings) -> str | None:
    """Return its own folder; None when there is no home folder."""
    named = surroundings.variable("OPENCLAW_STATE_DIR")
    if named:
        return surroundings.folder(named)
    if not surroundings.home:
        return None
    profile = surroundings.variable("OPENCLAW_PROFILE") or "default"
    plain = profile == "default" or "/" in profile
    return os.path.join(surroundings.home, ".openclaw" if plain else f".openclaw-{profile}")


def _workspace(path: str, instance: str) -> Iterator[Root]:
    label = f", {os.path.basename(path)}" if instance else ""
    memory = new_root(f"{ID}:global{instance}", path, f"OpenClaw memory{label}", POLICY, note=WRITES)
    files = memory._replace(
        id=f"{ID}:global{instance}:instructions",
        label=f"OpenClaw instructions{label}",
        policy=INSTRUCTIONS,
        note=READS,
        kind="instructions",
    )
    # Exactly as it is spelled: where case does not count, MEMORY.md would be listed twice.
    older = ("memory.md",) if "memory.md" in names_in(path) else ()
    yield from existing(only(memory, "MEMORY.md", *older, "DREAMS.md", "memory/"), only(files, *FILES))


def _openclaw(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    folder = state_folder(surroundings)
    files = () if folder is None else (read_json5(os.path.join(folder, SETTINGS)),)
    return agent.LoadOptions(problems=problems(files))


FOUND = f"{ID}:global:instructions"
LOADS = agent.Loads(
    (
        *(
            agent.LoadSource(
                label, place, names, limits=agent.Limits(units=most, head=0.75), budget="workspace", by_units=True
            )
            for label, place, names, most in (
                ("workspace", FOUND, ("AGENTS.md", "SOUL.md", "IDENTITY.md"), 20_000),
                ("workspace", FOUND, ("USER.md",), 4_000),
                ("workspace", FOUND, ("BOOTSTRAP.md",), 20_000),
                ("memory", f"{ID}:global", ("MEMORY.md",), 20_000),
            )
        ),
        agent.LoadSource(
            "workspace",
            FOUND,
            ("TOOLS.md", "HEARTBEAT.md"),
            mark=agent.SKIPPED,
            why="Not loaded: OpenClaw has retired this file.",
        ),
        agent.on_demand(
            "daily notes",
            "openclaw:global",
            "memory/**/*.md",
            why="AGENTS.md tells the agent which ones to read, usually those of today and yesterday.",
        ),
    ),
    budgets=(("workspace", TOTAL),),
    options=_openclaw,
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "OpenClaw", roots, policy=POLICY, home=OWN, loads=LOADS)
