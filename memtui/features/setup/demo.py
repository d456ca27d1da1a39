"""`memtui demo`: the workbench on a throw-away world with a past, while an agent in another process works beside it.

In a room two people speak, as a gateway reports it: one change waits for votes, and a digest is due.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from memtui.config.directories import Directories
from memtui.config.read import load_settings
from memtui.config.settings import Settings
from memtui.config.started import Started
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.demo import agent, life_cycle, world
from memtui.engine import now_ms
from memtui.engine.ledger.schedules import PlannedRun
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address, Write
from memtui.engine.proposal import Evidence
from memtui.errors import StorageError
from memtui.features.approvals.decide import approve
from memtui.features.attribution.chat import ChatCommand
from memtui.features.attribution.verbs import begin, end, request
from memtui.features.channels.verbs import FILE, append, room_of
from memtui.features.proposals.value import proposal
from memtui.features.schedules.plan import add
from memtui.features.setup.verbs import need_terminal, run_workbench
from memtui.features.tasks.work import workspace_of
from memtui.wire.call import LOCK_WAIT, Call
from memtui.wire.session import Options, Session, open_in

_LAST_ACT = 5.0
"""Seconds the agent has to finish its last change."""
GATEWAY, AGENT = "bot", Actor("mcp:qwen-code")
CHAT = Chat("harbour", "crew")
_SESSION = "8d1c6f02-53be-4f0a-9a77-e0b1d2c45506"
_SAID = (
    ("u7", "Marit", "Refunds are called repayments in every text that passengers read."),
    ("u9", "Ines", "Deploys wait until the last sailing has closed."),
)
_LATER = (b"the last sailing has closed", b"the last sailing of the day has left")


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
        world.live(around, settings.state_dir, now=now_ms(), lane=lane)
        furnish(around, settings)
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
    """Run the simulated agent; it ends, and tidies up, when its standard input is closed."""
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


def furnish(around: Surroundings, settings: Settings) -> None:
    """Let two people speak in a room of the world."""
    session = open_in(around, settings, Options(session=_SESSION, started=Started), lock_wait=LOCK_WAIT, front="tui")
    with session.engine as engine:
        root = room_of(session, CHAT)
        for person, name, text in _SAID:
            turn = _begun(session, person, name, text)
            append(engine, root, CHAT, text, actor=AGENT)
            end(engine, GATEWAY, {"turn": turn, "in": 2_140, "out": 310, "model": "qwen3-coder"})
        address = Address(root.id, FILE)
        engine.changes.mark_seen([address])
        now = engine.read(address)
        asked = "Please make that: the last sailing of the day."
        turn = _begun(session, *_SAID[0][:2], asked)
        step = Write(address, now.bytes.replace(*_LATER), now.sha256)
        shown = Evidence("request", "mcp", quote=asked)
        made = proposal(engine, kind="replace", steps=[step], by=AGENT.name, why="Marit says which", evidence=[shown])
        (kept,) = engine.proposals.add([made])
        end(engine, GATEWAY, {"turn": turn})
        person, name, _ = _SAID[1]
        approve(ChatCommand(session, settings, GATEWAY, CHAT, person, name, "", kept.id, allowed=True, listed=False))
        words, lane = ("digest",), workspace_of(around).id
        wanted = PlannedRun(0, "morning", "0 9 * * 1-5", "UTC", words, "", "what changed", "tui", lane, 0, 0)
        add(engine, settings, wanted)


def _begun(session: Session, person: str, name: str, text: str) -> str:
    digest = sha256(text.encode()).hexdigest()
    said = {"session": _SESSION, "channel": CHAT.channel, "chat": CHAT.chat, "person": person, "name": name}
    turn = str(request(session.engine, GATEWAY, said | {"prompt": digest})["turn"])
    begin(session.engine, GATEWAY, {"turn": turn})
    return turn
