"""Sessions as text and JSON, for the command line and the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.transcripts.calls import KINDS
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

if TYPE_CHECKING:
    from memtui.engine import Engine
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
    uses = [
        {"address": str(use.address), "kind": use.kind, "calls": use.calls, "after": use.taint or None}
        for use in session.uses
    ]
    return {
        "agent": session.agent,
        "session": session.session,
        "cwd": session.cwd or None,
        "began": rfc3339(session.began),
        "ended": rfc3339(session.ended),
        "after": after_words(session) or None,
        "uses": uses,
    }
