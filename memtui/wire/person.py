"""Who runs this memtui, a person or an agent's command, and so whose name stands in the records.

A front that took the name it was given would let a program write, and approve, as the user.
"""

from typing import TYPE_CHECKING

from memtui.engine.approval import Approver
from memtui.engine.model import Actor

if TYPE_CHECKING:
    from memtui.agents.runner import Runner
    from memtui.config.started import Started
    from memtui.wire.session import Options

UNNAMED = Actor("cli")
"""The actor of the options when none was given."""


def started() -> "Started":
    """Look at how this process was started; what looks is loaded now, because a command that only reads never asks."""
    from memtui.config.started import read_started

    return read_started()


def acting(options: "Options", front: str = "cli") -> Actor:
    """Say who changes are recorded for: the actor that was given, the user at a front, or the agent that runs it."""
    return _actor(options, _runner(options.started()), front)


def approver(options: "Options", front: str = "cli") -> Approver:
    """Say who approves through this front, and where."""
    known = options.started()
    found = _runner(known)
    above = next((program.name for program in known.programs[1:]), "")
    where = [f"at {known.terminal}" if known.terminal else "", f"from {above}" if above else ""]
    return Approver(
        _actor(options, found, front).name,
        " ".join(filter(None, where)),
        f"The agent {found.agent} runs this memtui: {found.seen}." if found else "",
    )


def _runner(known: "Started") -> "Runner | None":
    from memtui.agents.runner import runner

    return runner(known)


def _actor(options: "Options", found: "Runner | None", front: str) -> Actor:
    given = options.actor
    if found is not None:
        return Actor(f"agent:{found.agent}" if given == UNNAMED else f"agent:{found.agent}/{given}")
    return Actor(front) if given == UNNAMED else given
