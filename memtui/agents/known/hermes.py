"""Hermes: two files of entries for each profile, MEMORY.md about the work and USER.md about the user; and SOUL.md.

Entries stand between lines that hold only `§`. The program refuses to write a file that is over its limit or that it
did not form itself, so the limit is part of the layout. Source: the repository NousResearch/hermes-agent, `memory` in
config.yaml, and `agent/prompt_builder.py` for the files of a project: one kind of them is loaded, the first that is
there, and what a long one loses in its middle depends on the model.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent, layout
from memtui.agents.settings import number_setting, problems, read_text, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "hermes"
OWN = agent.AgentHome(("HERMES_HOME",), (".hermes",))
POLICY = Policy(
    ignore=layout.BOOKKEEPING,
    whole=("*",),
    entries=(("MEMORY.md", "hermes"), ("USER.md", "hermes")),
    shown_chars=(("MEMORY.md", 2_200), ("USER.md", 1_375)),
)
"""The limits when its settings name none."""
INSTRUCTIONS = Policy(ignore=layout.BOOKKEEPING, whole=("*",), keep_folders=True)
WRITES = "Hermes rewrites these files while it works; it adds nothing to one that is over its limit."
READS = "Hermes reads this file at the start of a session."
OWN_FILES = (".hermes.md", "HERMES.md")
KINDS = (
    ("project instructions", agent.CHAIN, OWN_FILES),
    ("AGENTS.md", agent.CHAIN, ("AGENTS.override.md", "AGENTS.md", "agents.md")),
    ("CLAUDE.md", agent.FOLDER, ("CLAUDE.md", "claude.md")),
    ("Cursor rules", agent.FOLDER, (".cursorrules", ".cursor/rules/*.mdc")),
)
"""Files of a project: only the first kind that exists is loaded, and of `OWN_FILES` only the nearest."""
LONGEST = 20_000
"""Characters of such a file, or 6% of what the model takes where that is more."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the memories and persona of the profile in use, those of the other profiles, then the project's."""
    home = OWN.folder(surroundings)
    if home is not None:
        yield from _profile(home, "", "")
        beside = os.path.dirname(home)  # where the variable names a profile, the others are beside it
        profiles = beside if os.path.basename(beside) == "profiles" else os.path.join(home, "profiles")
        for name in layout.names_in(profiles):
            path = os.path.join(profiles, name)
            if path != home and not name.startswith("."):
                yield from _profile(path, f":profile-{layout.id_part(name)}", f", profile {name}")
    top = surroundings.checkout or surroundings.project
    policy = INSTRUCTIONS._replace(include=layout.along(surroundings, top, OWN_FILES))
    yield from layout.project_instructions(surroundings, ID, "Hermes instructions", top, policy, READS)


def _profile(home: str, instance: str, label: str) -> Iterator[Root]:
    settings = read_text(os.path.join(home, "config.yaml")).text
    limits = (
        ("MEMORY.md", number_setting(settings, "memory_char_limit", 2_200)),
        ("USER.md", number_setting(settings, "user_char_limit", 1_375)),
    )
    policy = POLICY._replace(shown_chars=limits)
    memory = os.path.join(home, "memories")
    soul = layout.new_root(
        f"{ID}:global{instance}:instructions",
        home,
        f"Hermes persona{label}",
        INSTRUCTIONS,
        note=READS,
        kind="instructions",
    )
    yield from layout.existing(
        layout.new_root(f"{ID}:global{instance}", memory, f"Hermes memory{label}", policy, note=WRITES)
    )
    if layout.has_any(home, ("SOUL.md", "pending")):  # what it stages lies beside the persona
        yield layout.only(soul, "SOUL.md")


def _hermes(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    files = tuple(read_text(os.path.join(home, "config.yaml")) for home in homes)
    off = [
        (label, layout.not_loaded(surroundings, file.path, key))
        for label, key in (("memory", "memory_enabled"), ("memory about you", "user_profile_enabled"))
        for file in files
        if (yaml_setting(file.text, key) or "").lower() == "false"
    ]
    others, excluded = _of_project(surroundings)
    return agent.LoadOptions(off=(*off, *others), excluded=excluded, problems=problems(files))


def _of_project(surroundings: Surroundings) -> tuple[list[tuple[str, str]], tuple[agent.Excluded, ...]]:
    """Return which kinds of a project's files another kind replaces, and which files a nearer one replaces.

    Without a checkout only the folder at hand counts.
    """
    top = surroundings.checkout or surroundings.project
    folders = [os.path.join(top, below) for below in reversed(layout.chain(surroundings, top))]
    if surroundings.checkout is None:
        del folders[1:]
    for number, (label, place, names) in enumerate(KINDS[:-1]):
        places = folders if place == agent.CHAIN else folders[:1]
        found = [os.path.join(folder, name) for folder in places for name in names if _is_filled(folder, name)]
        if not found:
            continue
        why = f"Not loaded: Hermes reads {os.path.basename(found[0])} instead."
        nearer = "Not loaded: Hermes reads the nearest one."
        farther = found[1:] if number == 0 else []
        return (
            [(other, why) for other, _, _ in KINDS if other != label],
            tuple(
                agent.Excluded(path, nearer) for path in farther if os.path.dirname(path) != os.path.dirname(found[0])
            ),
        )
    return [], ()


def _is_filled(folder: str, name: str) -> bool:
    try:
        return os.path.getsize(os.path.join(folder, name)) > 0
    except OSError:  # missing, or out of reach: it is not read either
        return False


LOADS = agent.Loads(
    (
        agent.LoadSource("persona", agent.HOME, ("SOUL.md",)),
        *(
            agent.LoadSource(
                label,
                place,
                names,
                first=number < len(KINDS) - 1,
                blank=False,
                advised=LONGEST,
                front_matter=number == 0,
            )
            for number, (label, place, names) in enumerate(KINDS)
        ),
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
