"""Hermes: two files of entries for each profile, MEMORY.md about the work and USER.md about the user; and SOUL.md.

Entries stand between lines that hold only `§`. The program refuses to write a file that is over its limit or that it
did not form itself, so the limit is part of the layout. Source of its settings: the repository
NousResearch/hermes-agent, `memory` in config.yaml.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import BOOKKEEPING, has_any, here, id_part, names_in, only, short_path, there
from memtui.agents.settings import number_setting, problems, read_text, settings_text, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "hermes"
OWN = agent.AgentHome(("HERMES_HOME",), (".hermes",))
POLICY = Policy(
    ignore=BOOKKEEPING,
    whole=("*",),
    entries=(("MEMORY.md", "hermes"), ("USER.md", "hermes")),
    shown_chars=(("MEMORY.md", 2_200), ("USER.md", 1_375)),
)
"""What the limits are when its settings say nothing."""
INSTRUCTIONS = Policy(ignore=BOOKKEEPING, whole=("*",), keep_folders=True)
WRITES = "Hermes rewrites these files while it works; it adds nothing to one that is over its limit."
READS = "Hermes reads this file at the start of a session."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the memories and the persona of the profile in use, then those of the other profiles, then the project's."""
    home = OWN.folder(surroundings)
    if home is not None:
        yield from _profile(home, "", "")
        beside = os.path.dirname(home)  # where the variable names a profile, the others are beside it
        profiles = beside if os.path.basename(beside) == "profiles" else os.path.join(home, "profiles")
        for name in names_in(profiles):
            path = os.path.join(profiles, name)
            if path != home and not name.startswith("."):
                yield from _profile(path, f":profile-{id_part(name)}", f", profile {name}")
    policy = INSTRUCTIONS._replace(include=(".hermes.md", "HERMES.md"))
    label = "Hermes instructions"
    yield from here(surroundings, ID, label, surroundings.project, policy, READS)


def _profile(home: str, instance: str, label: str) -> Iterator[Root]:
    settings = settings_text(os.path.join(home, "config.yaml"))
    limits = (
        ("MEMORY.md", number_setting(settings, "memory_char_limit", 2_200)),
        ("USER.md", number_setting(settings, "user_char_limit", 1_375)),
    )
    policy = POLICY._replace(shown_chars=limits)
    memory = os.path.join(home, "memories")
    soul = Root(
        f"{ID}:global{instance}:instructions",
        home,
        ID,
        "global",
        f"Hermes persona{label}",
        INSTRUCTIONS,
        note=READS,
        kind="instructions",
    )
    yield from there(Root(f"{ID}:global{instance}", memory, ID, "global", f"Hermes memory{label}", policy, note=WRITES))
    if has_any(home, ("SOUL.md", "pending")):  # what it stages lies beside the persona
        yield only(soul, "SOUL.md")


def _hermes(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    """Read which of the two memories are on."""
    files = tuple(read_text(os.path.join(home, "config.yaml")) for home in homes)
    off = []
    for label, key in (("memory", "memory_enabled"), ("memory about you", "user_profile_enabled")):
        for file in files:
            if (yaml_setting(file.text, key) or "").lower() == "false":
                where = short_path(file.path, surroundings.home)
                off.append((label, f"Not loaded: switched off in {where} ({key})."))
    return agent.LoadOptions(off=tuple(off), problems=problems(files))


LOADS = agent.Loads(
    (
        agent.LoadSource("persona", agent.HOME, ("SOUL.md",)),
        agent.LoadSource("project instructions", agent.PROJECT, (".hermes.md", "HERMES.md", "AGENTS.md"), first=True),
        agent.LoadSource("memory", agent.HOME, ("memories/MEMORY.md",), advised=2_200),
        agent.LoadSource("memory about you", agent.HOME, ("memories/USER.md",), advised=1_375),
    ),
    in_project=(".hermes.md", "HERMES.md"),
    options=_hermes,
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(
    ID, "Hermes", roots, policy=POLICY, home=OWN, loads=LOADS, staged=(("pending/memory", ".json"),)
)
