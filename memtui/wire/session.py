"""Opening of sessions: roots in reach, an engine on them, and who runs the process.

Every front uses this, so that all find the same roots, keep the same versions and honour read-only. Agents are told
from the user by the marks in `agents/`, each verified in the agent's source.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from memtui.agents.discovery import discover
from memtui.agents.table import KNOWN, ONLY_RUN
from memtui.config.settings import Settings
from memtui.config.started import Program, Started, read_started
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.look.roots import READ_WRITE, Access
from memtui.engine.model import Actor, Retention, Root
from memtui.engine.policy import ROOM
from memtui.errors import UsageError

SESSION_HOSTS = ("tmux: server", "tmux", "screen", "zellij", "sshd", "login")
"""Programs that host a person's session: the search for agents among ancestors stops there."""
_SUFFIXES = (".js", ".mjs", ".cjs", ".py")


class RunningAgent(NamedTuple):
    """The agent that runs a command."""

    agent: str
    seen: str
    """The evidence, as the end of a sentence."""


AGENT = "agent:"
"""Prefix of the actors of agents' own commands."""
UNNAMED = Actor("cli")
"""The default actor."""


class Options(NamedTuple):
    """The global options of the command line."""

    read_only: bool = False
    ascii: bool = False
    """Draw with ASCII only."""
    calm: bool = False
    """No animation, few repaints."""
    actor: Actor = UNNAMED
    """As given; `acting` returns the actor in effect."""
    all_projects: bool = False
    only_roots: bool = False
    """Only roots given by hand and memtui's own."""
    project: str | None = None
    fresh: bool = False
    """Ignore the state of the last session."""
    no_mouse: bool = False
    """Leave the mouse to the terminal."""
    roots: tuple[str, ...] = ()
    """`NAME=DIR[,agent=KIND][,scope=SCOPE]`."""
    session: str = ""
    """The agent's session that the client belongs to."""
    started: Callable[[], Started] = read_started
    """Reads how this process was started; called late because it reads a dozen files."""


class Session(NamedTuple):
    """An engine on the roots in reach, and what it was opened with."""

    settings: Settings
    roots: tuple[Root, ...]
    engine: Engine
    options: Options
    surroundings: Surroundings


def open_session(
    settings: Settings, options: Options, *, lock_wait: float, access: Access = READ_WRITE, front: str = "cli"
) -> Session:
    """Find the roots around the working directory and open an engine; nothing on disk is touched yet.

    `lock_wait` is in seconds, before `E_LOCKED`; `front` is the actor of a person, `cli` or `tui`.
    Raises UsageError: malformed root, or the working directory is gone. NotFoundError: no folder of `--project`.
    """
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise UsageError("The working directory is gone.", hint="Change to a folder that exists.") from None
    surroundings = surroundings_from(settings, cwd=cwd, project=options.project, roots=options.roots)
    return open_in(surroundings, settings, options, lock_wait=lock_wait, access=access, front=front)


def open_in(
    surroundings: Surroundings,
    settings: Settings,
    options: Options,
    *,
    lock_wait: float,
    access: Access = READ_WRITE,
    front: str = "cli",
) -> Session:
    """Open a session as `open_session` does, in given surroundings."""
    found = discover(surroundings, all_projects=options.all_projects, only_roots=options.only_roots)
    if access.room == "*" and any(root.kind == ROOM for root in found) and run_by(options):
        access = access._replace(room="")  # what a chat told is no agent's that runs a command
    roots = tuple(filter(access.shows, found))
    engine = Engine.open(
        roots,
        state_dir=settings.state_dir,
        retention=Retention(settings.retention_versions, settings.retention_days),
        read_only=options.read_only,
        lock_wait=lock_wait,
        access=access,
        approver=lambda: approver(options, front),
        session=options.session,
    )
    return Session(settings, roots, engine, options, surroundings)


def own_roots(session: Session) -> tuple[Root, ...]:
    """Return the roots of the current project, also of a session on every project."""
    if not session.options.all_projects:
        return session.roots
    found = roots_now(session)
    known = {root.id: root for root in session.roots}
    return tuple(known.get(root.id, root) for root in found)


def roots_now(session: Session) -> tuple[Root, ...]:
    """Find the roots of the current project again, as agents create folders late."""
    return discover(session.surroundings, only_roots=session.options.only_roots)


def other_projects(session: Session) -> tuple[Root, ...]:
    """Find every root of every project."""
    return discover(session.surroundings, all_projects=True, only_roots=session.options.only_roots)


def acting(options: Options, front: str = "cli") -> Actor:
    """Return the actor of changes: the given one, the person at a front, or the agent that runs it."""
    return _actor(options, run_by(options), front)


def approver(options: Options, front: str = "cli") -> Approver:
    """Return who approves through this front, and where."""
    known = options.started()
    found = run_by(options)
    above = next((program.name for program in known.programs[1:]), "")
    where = [f"at {known.terminal}" if known.terminal else "", f"from {above}" if above else ""]
    return Approver(
        _actor(options, found, front).name,
        " ".join(filter(None, where)),
        f"The agent {found.agent} runs this memtui: {found.seen}." if found else "",
    )


def _actor(options: Options, found: RunningAgent | None, front: str) -> Actor:
    given = options.actor
    if found is None:
        return Actor(front) if given == UNNAMED else given
    agent = f"{AGENT}{found.agent}"
    if f"{given}/".startswith(f"{agent}/"):
        return given
    return Actor(agent if given == UNNAMED else f"{agent}/{given}")


def run_by(options: Options) -> RunningAgent | None:
    """Return the agent that runs a command, from the process or from a given `agent:` actor.

    Over ssh only that actor shows an agent; it can only take rights away.
    """
    name = options.actor.name
    agent = name.removeprefix(AGENT).partition("/")[0] if name.startswith(AGENT) else ""
    return runner(options.started()) or (RunningAgent(agent, f"--actor {name} says so") if agent else None)


def runner(started: Started) -> RunningAgent | None:
    """Return the agent that runs a process, the nearest ancestor first; None when nothing shows one."""
    known = (*KNOWN, *ONLY_RUN)
    for program in started.programs:
        names = _names(program)
        found = next((agent.id for agent in known if not names.isdisjoint(agent.programs)), None)
        if found is not None:
            return RunningAgent(found, f"{program.name} started it")
        if program.login or not names.isdisjoint(SESSION_HOSTS):
            break
    environ = dict(started.environ)
    for agent in known:
        for variable in agent.runs:
            name, _, value = variable.partition("=")
            if environ.get(name) and value in ("", environ[name]):
                return RunningAgent(agent.id, f"{name} is set")
    return None


def _names(program: Program) -> frozenset[str]:
    names = {program.title, *program.names}
    return frozenset(names | {name.removesuffix(suffix) for name in names for suffix in _SUFFIXES})
