"""`memtui demo`: the workbench on a throw-away world with a past, while an agent in another process works beside it."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.config.directories import Directories
from memtui.config.read import load_settings
from memtui.config.started import Started
from memtui.config.surroundings import surroundings_from
from memtui.demo import agent, life_cycle, world
from memtui.demo import world as past
from memtui.engine import now_ms
from memtui.errors import StorageError
from memtui.features.setup import demo_room
from memtui.features.setup.verbs import need_terminal, run_workbench
from memtui.features.tasks.workspace import workspace_of
from memtui.wire.call import LOCK_WAIT, Call
from memtui.wire.session import Options, Session, open_in

_LAST_ACT = 5.0
"""Seconds the agent has to finish what it is doing."""


def demo(call: Call) -> int:
    """Build the world, open the workbench on it, and remove it again."""
    need_terminal(call)
    call.out.say("memtui demo: everything happens in a throw-away folder.")
    try:
        made = world.newcomer(now_ms()) if call.args.flag("newcomer") else world.build(waiting_at=now_ms())
    except OSError as error:
        raise StorageError(f"The samples cannot be written: {error.strerror}.", hint="Free some space.") from None
    try:
        return _show(call, made)
    finally:
        world.remove(made)


def _show(call: Call, made: world.World) -> int:
    settings = call.settings._replace(
        directories=Directories(made.memtui_home, made.memtui_home, made.memtui_home, "memtui demo"),
        home=made.folder,
        project_memory="checkout",
        roots=(),
        named=load_settings({"HOME": made.folder, "MEMTUI_HOME": made.memtui_home}).named,
        workspace=None,
        variables=(),
        transcripts_read="all",
        transcripts_keep="cards",
        lifecycle_worker="command" if made.worked_in else "none",
        lifecycle_command=life_cycle.choose_worker(made.memtui_home) if made.worked_in else (),
    )
    around = surroundings_from(settings, cwd=made.project)._replace(system_dir=made.system)
    chosen = call.options
    options = Options(chosen.read_only, chosen.ascii, chosen.calm, chosen.actor, chosen.all_projects, started=Started)
    lane = workspace_of(around).id
    if made.worked_in:
        past.live(around, settings.state_dir, now=now_ms(), lane=lane)
        demo_room.furnish(around, settings)
    session = open_in(around, settings, options, lock_wait=LOCK_WAIT, front="tui")
    if not made.worked_in:
        with session.engine:
            return run_workbench(session, demo=False)
    with session.engine, _agent(made, session):
        if not chosen.read_only:
            for kind in (
                "observe",
                "dream",
                "extract",
            ):  # found while the workbench is open already, so that it opens at once
                session.engine.tasks.enqueue(kind, lane, "tui", {}, trigger="manual")
        return run_workbench(session, demo=True)


@contextmanager
def _agent(made: world.World, session: Session) -> Iterator[None]:
    """Let the simulated agent work; it ends, and tidies up, when its standard input does."""
    place = session.surroundings.project
    orders = agent.Orders(session.roots, session.settings.state_dir, made.worked_in, place, remove=made.folder)
    process = subprocess.Popen(
        [sys.executable, "-I", os.path.abspath(agent.__file__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=made.folder,
        start_new_session=True,  # closing the terminal must not kill it before it has tidied up
    )
    try:
        if process.stdin is not None:
            process.stdin.write(pickle.dumps(tuple(orders)))
            process.stdin.flush()
        yield
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_LAST_ACT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
