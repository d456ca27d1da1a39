"""What is to be sent, queued: each part a task with a claim, so that one cause sends it once.

It is apart because whoever has something to say queues it, and only the lane sends.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memtui.errors import RefusedError
from memtui.features.delivery.message import TITLE, inert, parts
from memtui.mask import secrets

if TYPE_CHECKING:
    from memtui.config.named import NamedEntry
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.engine.task import Task

KIND = "deliver"
MOST = 20
"""Parts of one message."""
SPREAD_MS, PACE_MS = 240_000, 3_000
"""Feishu refuses much at full hours, so what begins there is spread over 4 minutes; DingTalk takes 20 a minute."""


def refuse(settings: Settings, name: str) -> NamedEntry:
    """Give a delivery that may be used.

    Raises:
        RefusedError: `E_DELIVERY`: the settings have none of this name, or memtui may not speak there unasked.
    """
    known = settings.entries("delivery")
    entry = known.get(name)
    if entry is None:
        raise _refused(f"There is no delivery {name!r} in the settings.", f"There are: {', '.join(known) or 'none'}.")
    kind, app, to, url = (entry.text(key) for key in ("kind", "app", "to", "url"))
    if not (app and to and entry.text("secret")) if (kind != "webhook" and not url) or app else not url:
        wanted = "app, secret and to, or url" if kind != "webhook" else "url"
        raise _refused(f"delivery.{name} does not say where it goes.", f"Give it {wanted}.")
    channel = entry.text("channel")
    if (channel or kind != "webhook") and not (
        channel in settings.entries("channels") and settings.entries("channels")[channel].flag("speak")
    ):
        raise _refused(
            f"memtui may not speak in the channel of {name} of its own accord.",
            f"Set channel in [delivery.{name}], and speak = true in [channels.{channel or 'NAME'}].",
        )
    return entry


def queue(
    engine: Engine, settings: Settings, name: str, cause: str, title: str, text: str, *, workspace: str, client: str
) -> tuple[Task, ...]:
    """Queue a message, once for a cause; call it inside the transaction of the cause.

    Raises:
        RefusedError: as `refuse`; `E_SECRET`: the text holds a secret, and nothing of it is sent.
        BusyError: `E_QUEUE_FULL`. StorageError: it cannot be kept.
    """
    entry = refuse(settings, name)
    short = inert(" ".join(title.split()))[:TITLE]
    pieces = parts(text)
    if any(map(secrets, (short, *pieces, text))):
        raise RefusedError(
            f"What was to be sent to {name} holds a secret.",
            code="E_SECRET",
            unharmed="Nothing was sent.",
            hint="`memtui check` finds it in memories; a job must not print one.",
        )
    if len(pieces) > MOST:
        pieces = (*pieces[: MOST - 1], f"and {len(pieces) - MOST + 1} more parts that are not sent")
    made: list[Task] = []
    now = engine.tasks.clock()
    first = int(hashlib.sha256(cause.encode()).hexdigest()[:8], 16) % SPREAD_MS if entry.text("kind") == "feishu" else 0
    for number, piece in enumerate(pieces, 1):
        key = f"{KIND}:{cause}:{name}:{number}"
        request = {"delivery": name, "key": key, "title": short, "content": piece, "part": number, "of": len(pieces)}
        due = now + (first if now % 1_800_000 < SPREAD_MS else 0) + (number - 1) * PACE_MS

        def put(request: dict[str, object] = request, due: int = due) -> Task:
            return engine.tasks.enqueue(KIND, workspace, client, request, trigger="auto", not_before=due)

        task = engine.claims.once(key, put)
        made += [task] if task is not None else []
    return tuple(made)


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(message, code="E_DELIVERY", unharmed="Nothing was sent.", hint=hint)
