"""Cline: the memory bank of a project, a handful of files with fixed names, and rules of the user and of a project.

The bank is a convention, not a feature of the program, and Roo Code's users have it too: where Roo Code is the one in
use, the bank is Roo Code's. The two are apart because each agent has one file. Source of rules: the repository
cline/cline, `sdk/packages/shared/src/storage/paths.ts` and `user-instruction-config-loader.ts` beside it in `core`:
only files right in a folder of rules are read, none of its folders.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import BOOKKEEPING, existing, has_any, in_project, new_root, only
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "cline"
OWN = agent.AgentHome(at_home=(".cline/rules", "Documents/Cline/Rules", "Cline/Rules"))
SHARED = ".agents"
"""The folder in the home folder whose AGENTS.md it reads, after the project's rules and before the user's."""
BANK = "memory-bank"
POLICY = Policy(index_file="activeContext.md", ignore=BOOKKEEPING, whole=("*",))
"""activeContext.md is read first and says what matters now; it is no list of the other files."""
RULES = Policy(ignore=BOOKKEEPING, whole=(".clinerules",))
WRITES = "Cline reads all of these files when a task begins, and rewrites them when told to update the memory bank."
READS = "Cline reads these files when a task begins, and writes them when asked to."
PLACES = (".clinerules", ".clinerules/", ".cline/rules/")
ROO = (".roo", ".roomodes", ".roorules", "memory-bank/decisionLog.md")
CLINE = (".clinerules", "memory-bank/.clinerules", "memory-bank/projectbrief.md")


def is_roos(project: str) -> bool:
    """Whether a project's memory bank is rather Roo Code's than Cline's."""
    return has_any(project, ROO) and not has_any(project, CLINE)


BANK_READ = "It is read when the rules tell the agent to, as the usual text about memory banks does at each task."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's rules, then the current project's memory bank and rules."""
    if surroundings.home:
        for name, folder in (("", "Documents/Cline/Rules"), ("-home", "Cline/Rules"), ("-cline", ".cline/rules")):
            yield from existing(_rules(f"global:instructions{name}", os.path.join(surroundings.home, folder)))
        yield from existing(
            only(_rules("global:agents-instructions", os.path.join(surroundings.home, SHARED)), "AGENTS.md")
        )
    project = surroundings.project
    bank = os.path.join(project, BANK)
    yield from in_project(surroundings, only(_rules("project:instructions", project), *PLACES))
    if not is_roos(project):
        yield from in_project(
            surroundings,
            only(_rules("project:bank-instructions", bank), ".clinerules"),
            new_root(f"{ID}:project", bank, "Cline memory bank", POLICY, note=WRITES),
        )


def _rules(name: str, path: str) -> Root:
    return new_root(f"{ID}:{name}", path, "Cline rules", RULES, note=READS, kind="instructions")


def _cline(found: dict[str, str]) -> agent.RuleVerdict:
    if found.get("disabled") == "true" or (found.get("enabled") == "false" and "disabled" not in found):
        return agent.RuleVerdict(agent.SKIPPED, "Not loaded: its front matter switches it off.")
    return agent.matching("paths")(found)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    return agent.LoadOptions(folders=(os.path.join(surroundings.home, SHARED),) if surroundings.home else ())


_RULE = agent.LoadSource(
    "rule",
    agent.PROJECT,
    (
        ".clinerules",
        *(f"{folder}/*.{ending}" for folder in (".clinerules", ".cline/rules") for ending in ("md", "txt")),
    ),
    front_matter=True,
    judge=_cline,
)
LOADS = agent.Loads(
    (
        agent.LoadSource("project instructions", agent.PROJECT, ("AGENTS.md",)),
        _RULE,
        agent.LoadSource("user instructions", agent.NAMED, ("AGENTS.md",)),
        _RULE._replace(label="user rule", place=agent.HOME, names=("*.md", "*.txt")),
        agent.LoadSource(
            "file in a folder of rules",
            agent.PROJECT,
            (".clinerules/*/**/*.md", ".cline/rules/*/**/*.md"),
            mark=agent.SKIPPED,
            why="Not loaded: Cline reads the files right in the folder of rules, and none in folders of it.",
        ),
        agent.on_demand("memory bank", agent.PROJECT, "memory-bank/**/*.md", why=BANK_READ),
    ),
    in_project=(".clinerules", ".cline/rules"),
    options=_options,
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "Cline", roots, policy=POLICY, home=OWN, loads=LOADS)
