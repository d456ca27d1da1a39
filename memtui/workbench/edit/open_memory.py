"""An open memory: its versions, its state and how that is said, and what the editor asks of the engine for it.

Values, pure functions, and functions that run in a thread, so that title line, save and close agree about the state
and the other writer, and every step of a save has tests without a screen.
"""

from __future__ import annotations

import collections
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.merge import CONFLICT, THEIRS, YOURS, shared_start
from memtui.engine.model import (
    Actor,
    Address,
    AuditRecord,
    Conflict,
    Draft,
    MergeOf,
    OpenConflict,
    Saved,
    Snapshot,
    Unchanged,
    is_person,
)
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from memtui.features.actors import ANOTHER, UNKNOWN, did, who_words
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.text import Run, count_words
from memtui.workbench.edit.memory_text import TextForm
from memtui.workbench.edit.merge.decisions import MergeSession, bytes_of

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine


WRITE_AFTER = 0.6
"""Seconds from the first unsaved key to the moment its draft is written; the promise is one second."""


class FileState(Enum):
    """State of an open memory; the value is its sign."""

    CLEAN = ""
    DRAFT = "~"
    """Edited; the disk still has the base."""
    FOLLOW = "A"
    """Not edited; the editor shows a newer text of somebody else that was not looked at yet."""
    MERGEABLE = "~A"
    """Both sides changed, in different places."""
    CONFLICT = "!"
    """Both sides changed the same lines."""
    GONE = "!d"
    MOVED = ">"
    RAW = "raw"
    """Read-only: the text widget would change or hide some of it."""


def state_of(
    *,
    base: str | None,
    disk: str | None,
    dirty: bool,
    editable: bool = True,
    overlaps: int | None = None,
    moved: bool = False,
    unseen: bool = False,
) -> FileState:
    """Name the state of an open memory; both sides changed and no merge known counts as a conflict.

    `base` is the version the edit started from, None for a memory that did not exist; `disk` that on disk, None where
    there is no file. `overlaps` counts places where both sides changed the same lines, None while that is unknown.
    """
    if moved and disk is None and base is not None:
        return FileState.MOVED
    if not editable:
        return FileState.RAW
    if disk is None and base is not None:
        return FileState.GONE
    if not dirty:
        return FileState.FOLLOW if unseen or disk != base else FileState.CLEAN
    if disk == base:
        return FileState.DRAFT
    return FileState.MERGEABLE if overlaps == 0 else FileState.CONFLICT


class DiskState(NamedTuple):
    """What is on disk under a memory's name."""

    snapshot: Snapshot | None
    """None: there is no file."""
    who: str = ""
    """Who wrote, moved or deleted it, as `who_words` names them; empty when unknown."""
    moved_to: Address | None = None
    """The new name of a missing memory that was renamed."""
    at: int = 0
    """When it was deleted, in milliseconds; 0 when unknown."""
    why: str = ""

    @property
    def sha256(self) -> str | None:
        return self.snapshot.sha256 if self.snapshot is not None else None

    @property
    def changed_at(self) -> int:
        """When it was written or deleted, in milliseconds; 0 when unknown."""
        return self.snapshot.modified_at if self.snapshot is not None else self.at


class OpenMemory(NamedTuple):
    """What is open: the version the edit started from, and the version on disk as far as it is known."""

    address: Address
    base: bytes
    base_sha256: str | None
    """None: the memory does not exist yet."""
    form: TextForm
    disk: DiskState


class Comparison(NamedTuple):
    """Result of a three-way comparison, for title and marks."""

    hunks: int
    overlaps: int
    """Those where the draft changed the same lines."""
    marks: dict[int, str]
    """Sign beside each changed line of YOURS; lines from 0."""


def title_note(state: FileState, compared: Comparison | None = None, *, who: str = UNKNOWN, reason: str = "") -> str:
    """Say the state in words, for the title line; `reason` is why the memory is read-only."""
    match state:
        case FileState.CLEAN:
            return ""
        case FileState.DRAFT:
            return "~ draft, not saved"
        case FileState.FOLLOW:
            return f"A {did(who, 'saved')}, shown here"
        case FileState.MERGEABLE | FileState.CONFLICT:
            return f"{state.value} {did(who, 'saved')}: {_counts(compared)}  f8"
        case FileState.GONE:
            return f"!d {did(who, 'deleted')}, your text is kept  f8"
        case FileState.MOVED:
            return f"> {did(who, 'moved')}  f8"
        case FileState.RAW:
            return f"raw, read-only: {reason}  f4"


def _counts(compared: Comparison | None) -> str:
    if compared is None:
        return "both sides changed"
    overlaps = count_words(compared.overlaps, "overlap") if compared.overlaps else "no overlap"
    return f"{count_words(compared.hunks, 'hunk')}, {overlaps}"


LEAST_NAME = 8

_NOTE_STYLES = {
    FileState.DRAFT: "draft",
    FileState.FOLLOW: "agent",
    FileState.MERGEABLE: "agent",
    FileState.CONFLICT: "conflict",
    FileState.GONE: "conflict",
    FileState.MOVED: "agent",
    FileState.RAW: "problem",
}


def new_lines(before: list[str], after: list[str]) -> dict[int, str]:
    """Mark the lines between the common start and the common end of two texts."""
    start = shared_start(before, after)
    end = min(shared_start(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    return dict.fromkeys(range(start, len(after) - end), "A")


def title_runs(address: str, note: str, state: FileState, width: int, *, focused: bool) -> list[Run]:
    """Draw the title line: the address and the note, whose words are shortened first, never the key at its end."""
    words, gap, key = note.rpartition("  ")
    if gap:
        note = one_line(words, max(width - LEAST_NAME - 3 - cell_width(gap + key), 8)) + gap + key
    room = max(width - cell_width(visible(note)) - 3, LEAST_NAME)
    if cell_width(visible(address)) > room:
        address = address.rpartition("/")[2]
    name = f"{'>' if focused else ' '}{one_line(address, room)} "
    return [(name, "title-focus" if focused else "strong"), (f" {note}", _NOTE_STYLES.get(state, "description"))]


def draft_words(draft: Draft, disk_text: str, disk_sha256: str | None, when: str) -> str:
    """Say what there is to decide about a stored draft of the time `when`; empty when its text is what is on disk.

    Of a missing memory `disk_text` is the last text there was, and `disk_sha256` None.
    """
    if disk_sha256 is not None and draft.text == disk_text:
        return ""
    known = set(disk_text.splitlines())
    lines = count_words(sum(line not in known for line in draft.text.splitlines()), "line")
    gone = disk_sha256 is None and draft.base_sha256 is not None
    stale = draft.base_sha256 != disk_sha256
    since = f", and the memory {'was deleted' if gone else 'changed'} since" if stale else ""
    return f"A draft from {when} was never saved: {lines} of yours{since}. The history keeps it either way."


class LoadedMemory(NamedTuple):
    """Everything needed to open a memory in the editor."""

    address: Address
    disk: DiskState
    limit: int
    refusal: str
    """Why nothing can be written there; empty when it can."""
    draft: Draft | None
    draft_base: bytes
    """The text the draft started from; empty when it started from nothing or the version is gone."""
    unseen: bool
    conflict: OpenConflict | None
    """The undecided conflict of the draft."""
    last: Snapshot | None
    """The text on disk; of a deleted memory the last one, or the one its draft started from."""

    @property
    def deleted(self) -> bool:
        return self.disk.snapshot is None and self.last is not None


class SaveResult(NamedTuple):
    """How a guarded save ended."""

    result: Saved | Unchanged | Conflict
    data: bytes
    disk: DiskState = DiskState(None)
    """What is there after a conflict."""
    warning: str = ""
    """What the save brought in that the user should look at; shows no secret."""


def load(engine: Engine, address: Address, *, read_only: bool) -> LoadedMemory:
    """Read a memory and its draft; a memory that does not exist has no snapshot."""
    snapshot = read_or_none(engine, address)
    there = engine.roots.elsewhere.get(address.root)
    root = there.root if there is not None else engine.roots.find(address.root)
    draft = next((draft for draft in engine.drafts.all() if draft.address == address), None)
    draft_base = b""
    if draft is not None and draft.base_sha256 is not None:
        if snapshot is not None and draft.base_sha256 == snapshot.sha256:
            draft_base = snapshot.bytes
        elif draft.base is not None:
            draft_base = draft.base
        else:
            draft_base = version_or_empty(engine, address, draft.base_sha256)
    refusal = "memtui was started with --read-only" if read_only else "the root is read-only" if root.read_only else ""
    who, unseen = _writer(engine, address) if snapshot is not None else ("", False)
    conflict = conflict_or_none(engine, address) if draft is not None else None
    last, disk = snapshot, DiskState(snapshot, who)
    if snapshot is None and (last := _last_text(engine, address, draft, draft_base)) is not None:
        disk = read_disk(engine, address, last.sha256)
    limit = root.policy.write_bytes
    return LoadedMemory(address, disk, limit, refusal, draft, draft_base, unseen, conflict, last)


def _last_text(engine: Engine, address: Address, draft: Draft | None, draft_base: bytes) -> Snapshot | None:
    """The text a missing memory had when its draft was begun, or its last version."""
    if draft is not None:
        return None if draft.base_sha256 is None else Snapshot(address, draft_base, draft.base_sha256, draft.at)
    last = next(iter(engine.history.of(address)), None)
    if last is None or last.redacted:
        return None
    return Snapshot(address, version_or_empty(engine, address, last.sha256), last.sha256, last.at)


def conflict_or_none(engine: Engine, address: Address) -> OpenConflict | None:
    try:
        return engine.drafts.conflict(address)
    except RefusedError:
        return None


def read_or_none(engine: Engine, address: Address) -> Snapshot | None:
    try:
        return engine.read(address)
    except NotFoundError:
        return None


def version_or_empty(engine: Engine, address: Address, sha256: str) -> bytes:
    """Read a kept version; empty when retention or the user removed it."""
    try:
        return engine.history.read(address, sha256)
    except NotFoundError:
        return b""


def refuse_missing_folder(engine: Engine, address: Address) -> None:
    """Raise `E_ROOT_MISSING` when the root's folder is gone: a write would create it anew with one memory in it."""
    try:
        engine.read(address)
    except NotFoundError as error:
        if error.code == "E_ROOT_MISSING":
            root = engine.roots.find(address.root)
            raise NotFoundError(
                f"The folder of {root.id} is gone: {root.path}",
                code="E_ROOT_MISSING",
                unharmed="None of its memories counts as deleted, and every text memtui knows is kept.",
                hint="Bring the folder back and try again, or save your text in another root.",
            ) from None


def lane_of(address: Address, lane: str) -> str:
    """The lane of a read or save: each other machine has a lane of its own, so that nothing here waits for it."""
    return address.root.partition(":")[0] if address.root.startswith("@") else lane


def read_disk(engine: Engine, address: Address, base_sha256: str | None) -> DiskState:
    """Read what is on disk now; of a missing memory find the new name (when `base_sha256` is given) and who deleted it.

    On another machine this is the version read or saved last: the save itself finds out about a newer one.
    """
    there = engine.roots.elsewhere.get(address.root)
    if there is not None:
        return DiskState(there.kept(address), f"somebody on {there.root.host}")
    snapshot = read_or_none(engine, address)
    if snapshot is not None:
        return DiskState(snapshot, _writer(engine, address)[0])
    last = _last_record(engine, address) if base_sha256 is not None else None
    if base_sha256 is None or last is None or (last.after is not None and last.new_address is None):
        return DiskState(None)
    return DiskState(None, name_of(last.actor, address), _moved_to(engine, address, base_sha256), last.at, last.note)


def _moved_to(engine: Engine, address: Address, sha256: str) -> Address | None:
    """Follow recorded renames to the memory that still has this text; a copy elsewhere does not count."""
    new, passed = address, {address}
    while (last := _last_record(engine, new)) is not None and last.address == new and last.new_address is not None:
        new = last.new_address
        if new in passed:
            return None
        passed.add(new)
    row = next((row for row in engine.rows.list([address.root]).items if row.address == new), None)
    return new if row is not None and row.sha256 == sha256 else None


def _last_record(engine: Engine, address: Address) -> AuditRecord | None:
    """The last change recorded under this name; marks such as pins and approvals do not count."""
    records = (record for record in engine.history.audit(address=address, limit=8) if record.state == "done")
    return next((record for record in records if record.before or record.after), None)


def write(
    engine: Engine,
    address: Address,
    data: bytes,
    expected: str | None,
    *,
    actor: Actor,
    merge: MergeOf | None = None,
) -> SaveResult:
    """Save only over the `expected` version; after a conflict read what is there. `merge` names the merged versions."""
    result = engine.save(address, data, expected_sha256=expected, actor=actor, merge=merge)
    if isinstance(result, Conflict):
        return SaveResult(result, data, read_disk(engine, address, None))
    warning = _warning(engine, address, expected, data) if isinstance(result, Saved) else ""
    return SaveResult(result, data, warning=warning)


def _warning(engine: Engine, address: Address, expected: str | None, data: bytes) -> str:
    """Name the first hygiene finding that a save brought in; no save is refused for it."""
    try:
        before = engine.history.read(address, expected) if expected is not None else b""
    except MemtuiError:
        return ""  # redacted or removed by retention: what is new cannot be told, and Health lists all findings
    from memtui.features.hygiene.scan import added_hazards  # loading its rules takes time

    findings = added_hazards(before, data)
    if not findings:
        return ""
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"Line {findings[0].line:,} holds {findings[0].rule.what}{more}: 7 shows it."


def compare(base: bytes, yours: bytes, agent: bytes) -> Comparison:
    """Merge three texts to count the other side's changes and overlaps, and to mark the lines of YOURS."""
    marks: dict[int, str] = {}
    hunks = overlaps = 0
    for chunk in MergeSession.of(base, yours, agent).chunks:
        sign = {YOURS: "~", THEIRS: "A", CONFLICT: "!"}.get(chunk.kind)
        if sign is None:
            continue
        hunks += chunk.kind != YOURS
        overlaps += chunk.kind == CONFLICT
        lines = range(chunk.yours_line, chunk.yours_line + max(len(chunk.yours), 1))
        marks.update(dict.fromkeys(lines, sign))
    return Comparison(hunks, overlaps, marks)


def merge(base: bytes, yours: bytes, agent: bytes) -> tuple[bytes | None, MergeSession]:
    """Merge three texts; the result is None when places overlap."""
    session = MergeSession.of(base, yours, agent)
    return (bytes_of(session.result) if not session.open else None), session


def changed_lines(session: MergeSession) -> tuple[int, int]:
    """Count the lines added and removed by what was merged from the other side."""
    added = removed = 0
    for index in session.hunks:
        if session.choice(index) == THEIRS:
            before = collections.Counter(session.chunks[index].yours)
            after = collections.Counter(session.chunks[index].theirs)
            added += (after - before).total()
            removed += (before - after).total()
    return added, removed


def _writer(engine: Engine, address: Address) -> tuple[str, bool]:
    """Who wrote the current text, and whether the user has yet to see it; a restored text keeps its first writer."""
    there = engine.roots.elsewhere.get(address.root)
    if there is not None:
        return f"somebody on {there.root.host}", False
    try:
        memory = engine.rows.get(address)
    except NotFoundError:
        return "", False
    actor = memory.actor
    if is_person(actor):
        writers = [version.actor for version in engine.history.of(address) if version.sha256 == memory.sha256]
        actor = next((writer for writer in writers if not is_person(writer)), actor)
    return name_of(actor, address), memory.unseen


def name_of(actor: str, address: Address) -> str:
    """Name the other writer of a memory; a person is named as another window."""
    return ANOTHER if is_person(actor) else who_words(actor, address.root)
