"""Which agent runs a command, by the marks agents leave in the environment and by the programs above the process.

What an agent's command does must not be taken for the user's. Each mark was found in the agent's own source or pages,
as `found` in its line says; a mark the user's own shell can have is none.
"""

from typing import NamedTuple

from memtui.agents.table import KNOWN, ONLY_RUN
from memtui.config.started import Program, Started

ENDS = ("tmux: server", "tmux", "screen", "zellij", "sshd", "login")
"""Programs in which a person sits down: what is above them did not start what runs in them."""
_SUFFIXES = (".js", ".mjs", ".cjs", ".py")


class Runner(NamedTuple):
    """The agent that runs a command."""

    agent: str
    seen: str
    """What shows it, as the end of a sentence."""


def runner(started: Started) -> Runner | None:
    """Find the agent that runs a process, the nearest one above it first; None when nothing shows one."""
    known = (*KNOWN, *ONLY_RUN)
    for program in started.programs:
        names = _names(program)
        found = next((agent.id for agent in known if not names.isdisjoint(agent.programs)), None)
        if found is not None:
            return Runner(found, f"{program.name} started it")
        if program.login or not names.isdisjoint(ENDS):
            break
    environ = dict(started.environ)
    for agent in known:
        for variable in agent.runs:
            name, _, value = variable.partition("=")
            if environ.get(name) and value in ("", environ[name]):
                return Runner(agent.id, f"{name} is set")
    return None


def _names(program: Program) -> frozenset[str]:
    names = {program.title, *program.names}
    return frozenset(names | {name.removesuffix(suffix) for name in names for suffix in _SUFFIXES})
