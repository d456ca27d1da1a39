"""A room in the demonstration, told as a gateway tells it: two people ask, one change waits for votes, a digest is due.

It is apart from the world because a gateway's words go through features, which stand above it.
"""

from hashlib import sha256

from memtui.config.settings import Settings
from memtui.config.started import Started
from memtui.config.surroundings import Surroundings
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address, Write
from memtui.engine.proposal import Evidence
from memtui.features.approvals.decide import approve
from memtui.features.attribution.door import begin, end, request
from memtui.features.attribution.said import Word
from memtui.features.channels.room import FILE, append, room_of
from memtui.features.proposals.value import proposal
from memtui.features.schedules.plan import ScheduleWish, add
from memtui.features.tasks.workspace import workspace_of
from memtui.wire.call import LOCK_WAIT
from memtui.wire.session import Options, Session, open_in

GATEWAY, AGENT = "bot", Actor("mcp:qwen-code")
CHAT = Chat("harbour", "crew")
_SESSION = "8d1c6f02-53be-4f0a-9a77-e0b1d2c45506"
_SAID = (
    ("u7", "Marit", "Refunds are called repayments in every text that passengers read."),
    ("u9", "Ines", "Deploys wait until the last sailing has closed."),
)
_LATER = (b"the last sailing has closed", b"the last sailing of the day has left")


def furnish(around: Surroundings, settings: Settings) -> None:
    """Let two people speak in a room, as of now; its settings are those of the world."""
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
        approve(Word(session, settings, GATEWAY, CHAT, person, name, "", kept.id, allowed=True, listed=False))
        wish = ScheduleWish("morning", "0 9 * * 1-5", ("digest",), "UTC", label="what changed")
        add(engine, settings, wish, workspace=workspace_of(around).id, creator="tui")


def _begun(session: Session, person: str, name: str, text: str) -> str:
    """Tell of a turn in the room, which begins; gives its id."""
    digest = sha256(text.encode()).hexdigest()
    said = {"session": _SESSION, "channel": CHAT.channel, "chat": CHAT.chat, "person": person, "name": name}
    turn = str(request(session.engine, GATEWAY, said | {"prompt": digest})["turn"])
    begin(session.engine, GATEWAY, {"turn": turn})
    return turn
