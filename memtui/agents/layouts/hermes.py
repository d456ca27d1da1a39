"""Hermes: two files of entries for each profile, MEMORY.md about the work and USER.md about the user; and SOUL.md.

Entries stand between lines that hold only `§`. The program refuses to write a file that is over its limit or that it
did not form itself, so the limit is part of the layout.
"""

import os
from collections.abc import Iterator

from memtui.agents import instructions
from memtui.agents.folders import id_part, names_in
from memtui.agents.places import BOOKKEEPING, home_of, number_setting, only, settings_text, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "hermes"
POLICY = Policy(
    ignore=BOOKKEEPING,
    whole=("*",),
    entries=(("MEMORY.md", "hermes"), ("USER.md", "hermes")),
    shown_chars=(("MEMORY.md", 2_200), ("USER.md", 1_375)),
)
"""What the limits are when its settings say nothing."""
INSTRUCTIONS = Policy(ignore=BOOKKEEPING, whole=("*",))
WRITES = "Hermes rewrites these files while it works; it adds nothing to one that is over its limit."
READS = "Hermes reads this file at the start of a session."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the memories and the persona of the profile in use, then those of the other profiles, then the project's."""
    home = home_of(surroundings, "HERMES_HOME", ".hermes")
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
    yield from instructions.here(surroundings, AGENT, label, surroundings.project, policy, READS)


def _profile(home: str, instance: str, label: str) -> Iterator[Root]:
    settings = settings_text(os.path.join(home, "config.yaml"))
    limits = (
        ("MEMORY.md", number_setting(settings, "memory_char_limit", 2_200)),
        ("USER.md", number_setting(settings, "user_char_limit", 1_375)),
    )
    policy = POLICY._replace(shown_chars=limits)
    memory = os.path.join(home, "memories")
    soul = Root(
        f"{AGENT}:global{instance}:instructions",
        home,
        AGENT,
        "global",
        f"Hermes persona{label}",
        INSTRUCTIONS,
        note=READS,
        kind="instructions",
    )
    yield from there(
        Root(f"{AGENT}:global{instance}", memory, AGENT, "global", f"Hermes memory{label}", policy, note=WRITES),
        only(soul, "SOUL.md"),
    )
