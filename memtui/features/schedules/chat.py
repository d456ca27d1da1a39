"""The chat command `/schedule`: texts that the channel's job is given at a time.

No model reads what is typed, and none of it is executed: the job is in the settings and reads the text on standard
input. Apart because only chat commands load it.
"""

from __future__ import annotations

import re
from hashlib import sha256

from memtui.config.read import local_zone
from memtui.engine.ledger.schedules import PlannedRun
from memtui.errors import RefusedError, UsageError
from memtui.features.attribution.chat import ChatCommand, ChatReply
from memtui.features.schedules import times
from memtui.features.schedules.plan import CHAT_PREFIX, JOB, ScheduleRequest, add, off_reason
from memtui.features.tasks.work import workspace_of
from memtui.mask import mask
from memtui.wire.times import rfc3339

_ASKED = re.compile(r'(?:["“]([^"“”]+)["”]|(@[a-z]+))\s+(\S.*)', re.DOTALL)
_HOW = 'Write /schedule "0 9 * * 1-5" TEXT, /schedule list, /schedule disable N or /schedule cancel N.'


def answer(command: ChatCommand) -> ChatReply:
    """Add, list, disable or cancel a schedule of this chat."""
    first, _, rest = command.text.partition(" ")
    if first in ("", "list"):
        return ChatReply("\n".join(map(_line, _mine(command))) or f"Nothing is scheduled here. {_HOW}")
    if first in ("disable", "cancel"):
        return _end(command, rest.strip(), cancel=first == "cancel")
    return _add(command)


def _prefix(command: ChatCommand) -> str:
    return f"{CHAT_PREFIX}{sha256(chr(0).join(command.chat[:3]).encode()).hexdigest()[:10]}-"


def _mine(command: ChatCommand) -> list[PlannedRun]:
    return [one for one in command.session.engine.schedules.all() if one.name.startswith(_prefix(command))]


def _line(one: PlannedRun) -> str:
    return f"{one.id}: {one.spec} {one.zone}, {one.label}, {off_reason(one) or 'on'}"


def _end(command: ChatCommand, number: str, *, cancel: bool) -> ChatReply:
    found = next((one for one in _mine(command) if str(one.id) == number), None)
    if found is None:
        return ChatReply(f"There is no schedule {number[:20]} here. /schedule list shows them.")
    if not command.allowed:
        return ChatReply("The settings do not name you for that.")
    table = command.session.engine.schedules
    if cancel:
        table.remove(found.id)
    else:
        table.pause(found.id, found.paused or "from the chat")
    return ChatReply(f"{found.id} is {'cancelled' if cancel else 'disabled'}.")


def _add(command: ChatCommand) -> ChatReply:
    channel = command.settings.entries("channels").get(command.chat.channel)
    job = channel.text("job") if channel is not None else ""
    if channel is None or not job:
        raise RefusedError(
            "Nothing can be scheduled here.", code="E_SCHEDULE", hint=f"Set job in [channels.{command.chat.channel}]."
        )
    found = _ASKED.fullmatch(command.text.strip())
    if found is None:
        raise UsageError("That is no schedule.", code="E_SCHEDULE", hint=_HOW)
    spec, said, engine = found[1] or found[2], " ".join(found[3].split()), command.session.engine
    here = command.chat.channel, command.chat.chat
    places = command.settings.entries("delivery").values()
    target = next((one.name for one in places if (one.text("channel"), one.text("to")) == here), "")
    count = max((int(n) for one in _mine(command) if (n := one.name.rpartition("-")[2]).isdecimal()), default=0) + 1
    zone = channel.text("zone") or local_zone()
    request = ScheduleRequest(f"{_prefix(command)}{count}", spec, (JOB, job, said), zone, target, mask(said).text[:60])
    made = add(
        engine,
        command.settings,
        request,
        workspace=workspace_of(command.session.surroundings).id,
        creator=f"chat:{command.name or command.person or 'unknown'}",
        agreed=command.listed and channel.text("schedule") == "allowed",
    )
    coming = next(times.due_times(made.spec, made.zone, engine.schedules.clock()), None)
    when = rfc3339(coming) if coming is not None else "never"
    waits = f"It waits for a person: memtui schedule resume {made.name}" if made.waits else f"Next: {when}"
    return ChatReply(f"{made.id} is scheduled. {waits}")
