"""What editing asks of the engine, as functions that run in a thread: values in, values out.

They are apart from the flow so that every step of a save or a conflict can be tested without a screen, and so that the
part of the engine's interface that editing relies on is written down in one place.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.merge import CONFLICT, THEIRS, YOURS
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
from memtui.features.actors import ANOTHER, who_words
from memtui.features.edit.form import Form, applied, heads
from memtui.ui.draw.difference import Look, difference
from memtui.ui.draw.pages import Page, PageLine, fields_page, words_page
from memtui.workbench.edit.merge.session import MergeSession, bytes_of
from memtui.workbench.edit.open_memory import Sides

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine


class Found(NamedTuple):
    """What is on disk under a name now."""

    snapshot: Snapshot | None
    who: str
    """Who wrote it, as far as it is known."""
    moved_to: Address | None
    """Where the text the edit started from stands now, when nothing is left under the old name."""
    at: int = 0
    """When it was deleted, milliseconds; 0 when that is not known, or it is there."""
    why: str = ""
    """Why it was deleted, when somebody said so."""


class Loaded(NamedTuple):
    """Everything needed to open a memory in the editor."""

    address: Address
    snapshot: Snapshot | None
    """What is on disk; None: there is no file."""
    limit: int
    """The root's write limit, bytes."""
    refusal: str
    """Why nothing can be written there; empty when it can."""
    draft: Draft | None
    draft_base: bytes
    """The text the draft started from; empty when it started from nothing or the version is gone."""
    who: str
    """Who wrote what is on disk, when known."""
    unseen: bool
    conflict: OpenConflict | None = None
    """The conflict of the draft that was being decided."""
    gone: Found | None = None
    """What became of a memory that was there and is no longer."""
    last: Snapshot | None = None
    """Its last text, or the one the draft started from; None: there never was one."""


class Written(NamedTuple):
    """How a guarded save ended."""

    result: Saved | Unchanged | Conflict
    data: bytes
    """What was to be written."""
    disk: Snapshot | None
    """What is there now, after a conflict."""
    who: str
    warns: str = ""
    """What came in with it that somebody should look at; nothing of it shows a secret."""


def load(engine: Engine, address: Address, *, read_only: bool) -> Loaded:
    """Read a memory with its draft.

    Raises:
        MemtuiError: the memory cannot be read, for another reason than that it does not exist.
    """
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
    last, gone = snapshot, None
    if snapshot is None and (last := _last_text(engine, address, draft, draft_base)) is not None:
        gone = look(engine, address, last.sha256)
        who = gone.who
    limit = root.policy.write_bytes
    return Loaded(address, snapshot, limit, refusal, draft, draft_base, who, unseen, conflict, gone, last)


def _last_text(engine: Engine, address: Address, draft: Draft | None, draft_base: bytes) -> Snapshot | None:
    """Return what a memory without a file held when its draft was begun, or last."""
    if draft is not None:
        return None if draft.base_sha256 is None else Snapshot(address, draft_base, draft.base_sha256, draft.at)
    last = next(iter(engine.history.of(address)), None)
    if last is None or last.redacted:
        return None
    return Snapshot(address, version_or_empty(engine, address, last.sha256), last.sha256, last.at)


def conflict_or_none(engine: Engine, address: Address) -> OpenConflict | None:
    """Return the conflict a memory is in; None also when a text of it was redacted."""
    try:
        return engine.drafts.conflict(address)
    except RefusedError:
        return None


def read_or_none(engine: Engine, address: Address) -> Snapshot | None:
    """Read a memory; None when there is no file."""
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


def refuse_vanished(engine: Engine, address: Address) -> None:
    """Refuse to go on where the folder a memory was in is gone: writing would make it anew, empty but for one memory.

    Raises:
        NotFoundError: `E_ROOT_MISSING`.
    """
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
    """The lane in which a memory is read or saved: each other machine has its own, for which nothing here waits."""
    return address.root.partition(":")[0] if address.root.startswith("@") else lane


def look(engine: Engine, address: Address, base_sha256: str | None) -> Found:
    """Read what is on disk now; when nothing is, look whether it was moved to another name.

    Of another machine it is what was read or saved there last: a save finds out what is there by then.
    """
    there = engine.roots.elsewhere.get(address.root)
    if there is not None:
        return Found(there.kept(address), f"somebody on {there.root.host}", None)
    snapshot = read_or_none(engine, address)
    if snapshot is not None:
        return Found(snapshot, _writer(engine, address)[0], None)
    if base_sha256 is None:
        return Found(None, "", None)
    last = _last(engine, address)
    if last is None or (last.after is not None and last.new_address is None):
        return Found(None, "", None)
    return Found(None, name_of(last.actor, address), _moved_to(engine, address, base_sha256), last.at, last.note)


def _moved_to(engine: Engine, address: Address, sha256: str) -> Address | None:
    """Follow the renames on record; a memory with the same text that nobody moved there is another one."""
    new, passed = address, {address}
    while (last := _last(engine, new)) is not None and last.address == new and last.new_address is not None:
        new = last.new_address
        if new in passed:
            return None
        passed.add(new)
    row = next((row for row in engine.rows.list([address.root]).items if row.address == new), None)
    return new if row is not None and row.sha256 == sha256 else None


def _last(engine: Engine, address: Address) -> AuditRecord | None:
    """What was last done to what had this name, or was given it; a mark (a pin, an approval) is no such thing."""
    records = (one for one in engine.history.audit(address=address, limit=8) if one.state == "done")
    return next((one for one in records if one.before or one.after), None)


def write(
    engine: Engine,
    address: Address,
    data: bytes,
    expected: str | None,
    *,
    actor: Actor,
    merge: MergeOf | None = None,
) -> Written:
    """Save, guarded; after a conflict look at what is there. `merge` says what the text was merged from."""
    result = engine.save(address, data, expected_sha256=expected, actor=actor, merge=merge)
    if isinstance(result, Saved):
        return Written(result, data, None, "", _warning(engine, address, expected, data))
    if not isinstance(result, Conflict):
        return Written(result, data, None, "")
    found = look(engine, address, None)
    return Written(result, data, found.snapshot, found.who)


def _warning(engine: Engine, address: Address, expected: str | None, data: bytes) -> str:
    """Say what a save brought in that somebody should look at; a save is never refused for it."""
    try:
        before = engine.history.read(address, expected) if expected is not None else b""
    except MemtuiError:
        return ""  # redacted, or not kept: what is new in it cannot be told, and Health shows all of it
    from memtui.features.hygiene.scan import newly  # its rules take time to load, and no start waits for them

    found = newly(before, data)
    if not found:
        return ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"Line {found[0].line:,} holds {found[0].rule.what}{more}: 7 shows it."


def compare(base: bytes, yours: bytes, agent: bytes) -> Sides:
    """Count what the other side changed and where it overlaps, and mark the lines of YOURS."""
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
    return Sides(hunks, overlaps, marks)


def merge(base: bytes, yours: bytes, agent: bytes) -> tuple[bytes | None, MergeSession]:
    """Merge three texts; the result is None when places overlap."""
    session = MergeSession.of(base, yours, agent)
    return (bytes_of(session.result) if not session.open else None), session


def changed_lines(session: MergeSession) -> tuple[int, int]:
    """Count the lines the other side put in and took out, in the chunks that were merged from it."""
    added = removed = 0
    for index in session.hunks:
        if session.choice(index) == THEIRS:
            before = collections.Counter(session.chunks[index].yours)
            after = collections.Counter(session.chunks[index].theirs)
            added += (after - before).total()
            removed += (before - after).total()
    return added, removed


class Preview(NamedTuple):
    """What would come of what is typed."""

    page: Page
    after: bytes | None
    """The text as it would be; None when it is refused."""
    refusal: str = ""


def preview_of(form: Form, typed: dict[str, str], width: int, *, plain: bool = False) -> Preview:
    """Work out what would come of what is typed: the lines that change, then the fields that stay.

    Args:
        form: what is there.
        typed: name to what is typed.
        width: cells there are.
        plain: show hidden characters in ASCII.
    """
    kept = _kept(form, width)
    if form.refusal:
        hint = "f9 opens it as text, where it can be corrected. Nothing was changed."
        words = words_page(form.refusal, hint, f"({form.code})", style="problem", width=width)
        return Preview((*words, *kept), None, form.refusal)
    try:
        after = applied(form, typed)
    except MemtuiError as error:
        words = words_page(error.message, error.hint, f"({error.code})", style="problem", width=width)
        return Preview((*words, *kept), None, error.message)
    if after == form.data:
        return Preview((*words_page("Nothing yet.", style="dim", width=width), *kept), after)
    return Preview((*difference(*heads(form.data, after), Look(width, plain=plain)), *kept), after)


def _kept(form: Form, width: int) -> Page:
    if not form.others:
        return ()
    heading = words_page("", "Kept as they are", style="heading", width=width)
    return (PageLine(()), *heading[1:], *fields_page([(name, value or "-") for name, value in form.others], width))


def _writer(engine: Engine, address: Address) -> tuple[str, bool]:
    """Name who wrote what a memory holds, and say whether the user has seen it.

    A text that an undo, or a restoring, brought back is whose it was before.
    """
    there = engine.roots.elsewhere.get(address.root)
    if there is not None:
        return f"somebody on {there.root.host}", False
    try:
        memory = engine.rows.get(address)
    except NotFoundError:
        return "", False
    actor = memory.actor
    if is_person(actor):
        before = [one.actor for one in engine.history.of(address) if one.sha256 == memory.sha256]
        actor = next((one for one in before if not is_person(one)), actor)
    return name_of(actor, address), memory.unseen


def name_of(actor: str, address: Address) -> str:
    """Name whoever else wrote a memory; a person who is told that is in another window just then."""
    return ANOTHER if is_person(actor) else who_words(actor, address.root)
