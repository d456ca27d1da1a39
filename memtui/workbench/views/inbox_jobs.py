"""What the inbox asks the engine: jobs for the bridge, run in a thread, giving values.

They are functions of an engine and a change, so that each is tested without a screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.diff.hunks import hunks, why_not_text
from memtui.engine.model import Address, Change, Conflict, Done, Draft
from memtui.errors import MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.changes.writers import since_seen
from memtui.ui.draw.difference import Look
from memtui.workbench.views.difference import Shown, draw
from memtui.workbench.views.inbox import Loaded
from memtui.workbench.views.inbox_rows import heading

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine

COUNTED_BYTES = 262_144
"""Lines of larger texts are not counted for the list."""


def load(engine: Engine, kept: Iterable[Address] = ()) -> Loaded:
    """Read everything the inbox lists, and what is in memories that it goes on showing."""
    changes = engine.changes.unseen()
    return Loaded(
        changes,
        engine.rows.written_at(change.address for change in changes if change.after is not None),
        {root.id: root.agent for root in engine.roots.all()},
        engine.rows.vanished(),
        {address: _now(engine, address) for address in kept},
    )


def _now(engine: Engine, address: Address) -> str | None:
    try:
        return engine.rows.get(address).sha256
    except NotFoundError:
        return None


def version(engine: Engine, change: Change, sha256: str | None) -> bytes | None:
    """Read one side of a change; None when there is none, or none that is kept."""
    if sha256 is None:
        return None
    for address in (change.address, change.old_address):
        if address is not None:
            try:
                return engine.history.read(address, sha256)
            except (NotFoundError, RefusedError, StorageError):
                continue  # under its other name, or removed by retention, redaction or damage: the page says so
    return _on_disk(engine, change, sha256)


def _on_disk(engine: Engine, change: Change, sha256: str) -> bytes | None:
    """What is under the name now, if that is the version; history may not have it yet."""
    try:
        found = engine.read(change.address)
    except MemtuiError:
        return None
    return found.bytes if found.sha256 == sha256 else None


def show(engine: Engine, change: Change, agent: str, at: int, now: int, look: Look) -> Shown:
    """Draw a change.

    Args:
        engine: where the texts are.
        change: what happened.
        agent: whose folder it is in.
        at: when it was made.
        now: the clock.
        look: how it is drawn.
    """
    since = [(one.actor, one.at) for one in since_seen(change, engine.history.of(change.address))]
    before, after = version(engine, change, change.before), version(engine, change, change.after)
    return draw(change, before, after, heading(change, agent, since, at, now), look)


def count(engine: Engine, changes: Iterable[Change]) -> dict[Change, tuple[int, int]]:
    """Count the lines that came and went in each change; nothing for what is no text."""
    found = {}
    for change in changes:
        before, after = version(engine, change, change.before) or b"", version(engine, change, change.after) or b""
        if why_not_text(before, COUNTED_BYTES) or why_not_text(after, COUNTED_BYTES):
            found[change] = (0, 0)
            continue
        places = hunks(before, after)
        came = sum(place.after[1] - place.after[0] for place in places)
        found[change] = came, sum(place.before[1] - place.before[0] for place in places)
    return found


def changed_meanwhile(done: Done) -> bool:
    """Whether an operation on one memory was refused because somebody wrote it again."""
    return len(done.outcomes) == 1 and isinstance(done.outcomes[0].result, Conflict)


def draft_for_conflict(engine: Engine, change: Change, wanted: bytes, base: bytes, now: int) -> bool:
    """Keep what was to be written as a draft of the version that was shown, so that the merge can decide.

    Returns:
        False when that is no text, or when the memory has a draft of its own, which stays as it is.
    """
    try:
        text = wanted.decode()
    except UnicodeDecodeError:
        return False
    if any(draft.address == change.address for draft in engine.drafts.all()):
        return False
    engine.drafts.save(Draft(change.address, change.after, text, (0, 0), now, base))
    return True
