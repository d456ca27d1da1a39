"""Queueing of messages: each part is a task with a claim, so that one cause sends it once.

Apart from sending because every feature may queue a message, and only the worker of the lane sends.
"""

from __future__ import annotations

import hashlib
import re

from memtui.config.named import NamedEntry
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.task import Task
from memtui.errors import RefusedError
from memtui.mask import secrets
from memtui.safe_text import visible

KIND = "deliver"
MAX_PARTS = 20
PART_CHARS, TITLE_CHARS = 3_500, 20
SPREAD_MS, PACE_MS = 240_000, 3_000
"""Feishu throttles at full hours, so its messages are spread over 4 minutes there; DingTalk takes 20 a minute."""
_FENCE = "```"
_MENTION = re.compile(r"@(?=\w)|<(?=/?\s*at\b)", re.IGNORECASE)
_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
"""The line below the head of a Markdown table."""


def usable_entry(settings: Settings, name: str) -> NamedEntry:
    """Return the settings of a delivery, or refuse one that is unknown, incomplete or not allowed to speak.

    Raises RefusedError: `E_DELIVERY`.
    """
    known = settings.entries("delivery")
    entry = known.get(name)
    if entry is None:
        raise _refused(f"There is no delivery {name!r} in the settings.", f"There are: {', '.join(known) or 'none'}.")
    is_app = entry.text("kind") != "webhook"
    needed = ("app", "secret", "to") if is_app else ("url",)
    if not all(map(entry.text, needed)):
        raise _refused(f"delivery.{name} does not say where it goes.", f"Give it {', '.join(needed)}.")
    channel, channels = entry.text("channel"), settings.entries("channels")
    if (channel or is_app) and not (channel in channels and channels[channel].flag("speak")):
        raise _refused(
            f"memtui may not speak in the channel of {name} of its own accord.",
            f"Set channel in [delivery.{name}], and speak = true in [channels.{channel or 'NAME'}].",
        )
    return entry


def queue(
    engine: Engine, settings: Settings, name: str, cause: str, title: str, text: str, *, workspace: str, client: str
) -> tuple[Task, ...]:
    """Queue a message once for each `cause`, inside the transaction of that cause.

    Raises:
        RefusedError: as `usable_entry`; `E_SECRET`: the text holds a secret, and nothing of it is sent.
        BusyError: `E_QUEUE_FULL`.
    """
    entry = usable_entry(settings, name)
    short = defuse(" ".join(title.split()))[:TITLE_CHARS]
    pieces = parts(text)
    if any(map(secrets, (short, *pieces, text))):
        raise RefusedError(
            f"What was to be sent to {name} holds a secret.",
            code="E_SECRET",
            unharmed="Nothing was sent.",
            hint="`memtui check` finds it in memories; a job must not print one.",
        )
    if len(pieces) > MAX_PARTS:
        pieces = (*pieces[: MAX_PARTS - 1], f"and {len(pieces) - MAX_PARTS + 1} more parts that are not sent")
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


def defuse(text: str) -> str:
    """Make a text harmless: break mentions and links, and make hidden characters visible."""
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return _MENTION.sub(lambda match: {"@": "＠", "<": "＜"}[match[0]], shown).replace("](", "] (")


def parts(text: str, limit: int = PART_CHARS) -> tuple[str, ...]:
    """Split a text at line ends; close and reopen code fences, and turn tables into lines."""
    found, lines, fence = list[str](), list[str](), ""
    for line in defuse(text).split("\n"):
        plain = line if fence else _without_table(line)
        if plain is None:
            continue
        for piece in [plain[at : at + limit // 2] for at in range(0, len(plain), limit // 2)] or [""]:
            if lines and sum(map(len, lines)) + len(lines) + len(piece) + len(_FENCE) > limit:
                found.append("\n".join([*lines, *([_FENCE] if fence else [])]))
                lines = [fence] if fence else []
            lines.append(piece)
        if plain.lstrip().startswith(_FENCE):
            fence = "" if fence else plain.strip()[:40]
    return tuple(part for part in (*found, "\n".join([*lines, *([_FENCE] if fence else [])])) if part.strip())


def _without_table(line: str) -> str | None:
    if not line.strip().startswith("|"):
        return line
    return None if _RULE.fullmatch(line) else "  ".join(cell.strip() for cell in line.strip().strip("|").split("|"))


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(message, code="E_DELIVERY", unharmed="Nothing was sent.", hint=hint)
