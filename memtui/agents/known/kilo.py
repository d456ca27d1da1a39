"""Kilo Code: memories of each project in its folder of data, the older memory bank in a project, and rules.

Kilo Memory is off until it is switched on for a project; worktrees share it. The memory bank is rules to Kilo: all of
it is loaded. Sources: kilo.ai/docs, pages memory, memory-bank and custom-rules; the repository Kilo-Org/kilocode,
`packages/kilo-memory/src/storage/paths.ts` for the folder's name and `memory.ts` for what a session begins with.
"""

import os
from collections.abc import Iterator
from hashlib import sha1

from memtui.agents import agent, layout
from memtui.agents.layout import main_checkout
from memtui.agents.settings import problems, read_json
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "kilo"
OWN = agent.AgentHome(at_home=(".kilocode/rules",))
POLICY = Policy(
    ignore=(*layout.BOOKKEEPING, ".lock", ".gitignore", "*.json", "*.jsonl", "*.kmem"), whole=("*",), suffix=".md"
)
"""Three files of facts and a digest of each session; its index is Kilo's own."""
BANK = Policy(index_file="context.md", ignore=layout.BOOKKEEPING, whole=("*",))
"""context.md says what matters now; it is no list of the other files."""
RULES = Policy(ignore=layout.BOOKKEEPING, whole=("*",))
FOLDERS = (".kilocode/rules", ".kilo/rules")
WRITES = "Kilo Code adds to these files while it works, where its memory is switched on for the project."
BANKS = "Kilo Code loads these files as rules, and rewrites them when told to; AGENTS.md has replaced them."
READS = "Kilo Code reads these files when a task begins."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's rules, the current project's memories, bank and rules, then other projects' memories."""
    if surroundings.home:
        yield from layout.existing(_rules("global", os.path.join(surroundings.home, ".kilocode/rules")))
    folder, mine = _memories(surroundings)
    for name in layout.names_in(folder):
        is_mine = name.endswith(mine)
        if is_mine or all_projects:
            label = "Kilo Code memory" if is_mine else f"Kilo Code memory, {name}"
            root = layout.new_root(f"{ID}:project:{layout.id_part(name)}", os.path.join(folder, name), label, POLICY)
            root = root._replace(aliases=(f"{ID}:project",), project=surroundings.project) if is_mine else root
            yield from layout.existing(root._replace(note=WRITES))
    project = surroundings.project
    for number, inside in enumerate(FOLDERS):
        path = os.path.join(project, inside, "memory-bank")
        name = f"{ID}:project:bank{'' if number == 0 else '-kilo'}"
        yield from layout.in_project(
            surroundings, layout.new_root(name, path, "Kilo Code memory bank", BANK, note=BANKS)
        )
    names = tuple(f"{inside}/" for inside in FOLDERS)
    yield from layout.in_project(surroundings, layout.only(_rules("project", project), *names))


def _memories(surroundings: Surroundings) -> tuple[str, str]:
    """Return the folder of all projects' memories, and the ending of this project's name."""
    data = surroundings.variable("XDG_DATA_HOME")
    if not data or not os.path.isabs(data):
        data = os.path.join(surroundings.home or os.sep, ".local", "share")
    anchor = surroundings.checkout or surroundings.project
    main = os.path.realpath(main_checkout(anchor) if surroundings.checkout else anchor)
    made = sha1(os.fsencode(main), usedforsecurity=False).hexdigest()[:12]
    return os.path.join(data, "kilo", "memory"), f"-{made}"


def _rules(scope: str, path: str) -> Root:
    return layout.new_root(
        f"{ID}:{scope}:instructions", path, "Kilo Code rules", RULES, note=READS, kind="instructions"
    )


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    folder, mine = _memories(surroundings)
    files = tuple(
        read_json(os.path.join(folder, name, "state.json")) for name in layout.names_in(folder) if name.endswith(mine)
    )
    off = tuple(
        ("memory index", layout.not_loaded(surroundings, file.path, "enabled", "not switched on in"))
        for file in files
        if file.values.get("enabled") is not True
    )
    return agent.LoadOptions(off=off, problems=problems(files))


LOADS = agent.Loads(
    (
        agent.LoadSource("user rule", agent.HOME, ("**/*.md",)),
        agent.LoadSource("rule", agent.PROJECT, tuple(f"{inside}/**/*.md" for inside in FOLDERS)),
        agent.LoadSource("project instructions", agent.PROJECT, ("AGENTS.md",)),
        agent.LoadSource("memory index", f"{ID}:project", ("index.kmem",)),
        agent.on_demand("memories", f"{ID}:project", "**/*.md", why="The agent looks for it when asked."),
    ),
    in_project=FOLDERS,
    options=_options,
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "Kilo Code", roots, policy=POLICY, home=OWN, loads=LOADS, also=("kilocode",))
