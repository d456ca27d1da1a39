"""Cline: the memory bank of a project, a handful of files with fixed names, and rules of the user and of a project.

The bank is a convention, not a feature of the program, and Roo Code's users have it too: where Roo Code is the one in
use, the bank is Roo Code's. The two are apart because each agent has one file.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import BOOKKEEPING, has_any, in_project, only, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "cline"
OWN = agent.AgentHome(at_home=("Documents/Cline/Rules",))
BANK = "memory-bank"
POLICY = Policy(index_file="activeContext.md", ignore=BOOKKEEPING, whole=("*",))
"""activeContext.md is read first and says what matters now; it is no list of the other files."""
RULES = Policy(ignore=BOOKKEEPING, whole=(".clinerules",))
WRITES = "Cline reads all of these files when a task begins, and rewrites them when told to update the memory bank."
READS = "Cline reads these files when a task begins, and writes them when asked to."
ROO = (".roo", ".roomodes", ".roorules", "memory-bank/decisionLog.md")
CLINE = (".clinerules", "memory-bank/.clinerules", "memory-bank/projectbrief.md")


def is_roos(project: str) -> bool:
    """Whether a project's memory bank is rather Roo Code's than Cline's."""
    return has_any(project, ROO) and not has_any(project, CLINE)


_BANK = "It is read when the rules tell the agent to, as the usual text about memory banks does at each task."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's rules, then the current project's memory bank and rules."""
    if surroundings.home:
        for name, folder in (("", "Documents/Cline/Rules"), ("-home", "Cline/Rules")):
            yield from there(_rules(f"global:instructions{name}", os.path.join(surroundings.home, folder)))
    project = surroundings.project
    bank = os.path.join(project, BANK)
    yield from in_project(surroundings, only(_rules("project:instructions", project), ".clinerules", ".clinerules/"))
    if not is_roos(project):
        yield from in_project(
            surroundings,
            only(_rules("project:bank-instructions", bank), ".clinerules"),
            Root(f"{ID}:project", bank, ID, "project", "Cline memory bank", POLICY, note=WRITES),
        )


def _rules(name: str, path: str) -> Root:
    return Root(f"{ID}:{name}", path, ID, "global", "Cline rules", RULES, note=READS, kind="instructions")


def _cline(found: dict[str, str]) -> agent.RuleVerdict:
    return agent.RuleVerdict(agent.MATCHING, f"paths: {found['paths']}") if found.get("paths") else agent.RuleVerdict()


def _rule_files(label: str, place: str, *names: str) -> agent.LoadSource:
    return agent.LoadSource(label, place, names, front_matter=True)


LOADS = agent.Loads(
    (
        _rule_files("user rule", agent.HOME, "**/*.md")._replace(judge=_cline),
        _rule_files("rule", agent.PROJECT, ".clinerules", ".clinerules/**/*.md", ".clinerules/**/*.txt")._replace(
            judge=_cline
        ),
        agent.LoadSource("project instructions", agent.PROJECT, ("AGENTS.md",)),
        agent.LoadSource("memory bank", agent.PROJECT, ("memory-bank/**/*.md",), mark=agent.ON_DEMAND, why=_BANK),
    ),
    in_project=(".clinerules",),
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "Cline", roots, policy=POLICY, home=OWN, loads=LOADS)
