"""Agents' sessions as text and JSON, and the consent to read them: its question, its settings and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import AuditRecord
from memtui.features.tasks.work import note
from memtui.transcripts.event import KINDS
from memtui.transcripts.sessions import CARDS, PROJECT
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339
from memtui.wire.values import plain_fields

if TYPE_CHECKING:
    from memtui.engine.ledger.touches import SessionTouches, UseCounts
    from memtui.engine.model import Address

SHORT = 8
"""Characters of a session's id that are shown."""


def placed(engine: Engine, sessions: Iterable[SessionTouches]) -> tuple[SessionTouches, ...]:
    """Replace addresses by those of the roots that own the files, as several roots may share a folder."""
    rightful = engine.roots.rightful
    return tuple(
        one._replace(uses=tuple(use._replace(address=rightful(use.address)) for use in one.uses)) for one in sessions
    )


def calls_of(session: SessionTouches, *kinds: str) -> int:
    """Count the calls of some kinds."""
    return sum(use.calls for use in session.uses if use.kind in kinds)


def after_words(session: SessionTouches) -> str:
    """Name the outside sources a session read before it wrote; empty for none."""
    return ", ".join(dict.fromkeys(part for use in session.uses for part in use.taint.split(", ") if part))


def done_words(session: SessionTouches, named: Callable[[Address], str]) -> list[str]:
    """Write what a session did to each memory: `opened   testing.md x2`."""
    lines = []
    for kind in KINDS:
        for use in session.uses:
            if use.kind == kind:
                many = f" x{use.calls}" if use.calls > 1 else ""
                lines.append(f"{kind:<9}{named(use.address)}{many}{f', after {use.taint}' if use.taint else ''}")
    return lines


def counts_words(counts: UseCounts) -> str:
    """Write how often a memory was used: `loaded in 3, opened in 1 of the last 12 sessions here`."""
    if not counts.sessions:
        return "in no session that was read"
    return f"loaded in {counts.loaded}, opened in {counts.opened} of the last {counts.sessions} sessions here"


def session_json(session: SessionTouches) -> Json:
    """Turn a session into JSON."""
    return {
        **plain_fields(session, "agent session"),
        "cwd": session.cwd or None,
        "began": rfc3339(session.began),
        "ended": rfc3339(session.ended),
        "after": after_words(session) or None,
        "uses": [plain_fields(use, "address kind calls") | {"after": use.taint or None} for use in session.uses],
    }


# --- consent


def question(read: str, keep: str, worker: str) -> str:
    """Write the question to a person: what is read, what is kept, and who else gets it."""
    whose = "of this project" if read == PROJECT else "of all projects"
    kept = "places of reads and writes, and quotes of at most 200 masked characters in proposals"
    cards = "the first line you typed, what you corrected, a paragraph of the answer, plans, summaries, files, and 400 "
    cards += "characters of a failure, without secrets, for 180 days or as `observe.days` says"
    kept += f"; and cards: {cards}" if keep == CARDS else ""
    sent = f" Parts of them, without secrets, are sent to the worker {worker}." if worker != "none" else ""
    return f"Read the session files of your agents {whose} on this machine, and keep {kept}?{sent}"


def write_consent(settings: Settings, read: str, keep: str) -> None:
    """Write the answer into the settings file, leaving all else in it; raises `E_CONFIG` where it cannot be edited."""
    from memtui.clients import disk, formats

    path = disk.followed(settings.config_file)
    before = disk.read(path)
    text = formats.toml_put(before.text, ("transcripts",), {"read": read, "keep": keep})
    disk.replace(path, before, text.encode(), private=True)


def record_consent(engine: Engine, settings: Settings, *, known: bool = False) -> AuditRecord | None:
    """Record a changed setting in the activity; return the newest record."""
    said = f"transcripts.read = {settings.transcripts_read}, transcripts.keep = {settings.transcripts_keep}"
    return note(engine, said, "transcripts.read = ask, transcripts.keep = places", known=known)
