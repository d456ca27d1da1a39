"""What an import would do, memory by memory, and doing it: nothing, a new memory, a newer text, a merge or a conflict.

Both sides are compared with the last text they had in common, as the histories of both tell. Nothing here is written
over a text that nobody has seen: what cannot be merged is kept as a draft, and the workbench asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memtui.digest import sha256_hex
from memtui.engine.model import Actor, Address, Done, Draft, OpenConflict, Root, Usage, Version
from memtui.engine.steps import Write
from memtui.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.transfer.bundle import Bundle, Origin, Packed
from memtui.transfer.naming import refusal
from memtui.values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from memtui.engine.model import Listing, Memory, Snapshot
    from memtui.engine.steps import Step

    class Reader(Protocol):
        """The part of an engine that planning uses."""

        @property
        def roots(self) -> tuple[Root, ...]:
            """Every root."""
            ...

        def find_root(self, root_id: str, /) -> Root:
            """Describe a root."""
            ...

        def list(self, root_ids: Iterable[str] | None = None, /) -> Listing:
            """List memories."""
            ...

        def read(self, address: Address, /) -> Snapshot:
            """Read a memory."""
            ...

        def history(self, address: Address, /) -> tuple[Version, ...]:
            """List versions."""
            ...

    class Writer(Reader, Protocol):
        """The part of an engine that an import uses."""

        def together(self, steps: Iterable[Step], /, *, actor: Actor, label: str) -> Done:
            """Do several steps as one."""
            ...

        def keep_versions(self, address: Address, versions: Iterable[tuple[Version, bytes]], /, *, actor: Actor) -> int:
            """Take in versions."""
            ...

        def pin_along(self, addresses: Iterable[Address], /, *, actor: Actor, joins: str | None) -> int:
            """Pin memories."""
            ...

        def take_uses(self, usages: Iterable[Usage], /) -> int:
            """Take over counts."""
            ...

        def drafts(self) -> tuple[Draft, ...]:
            """List drafts."""
            ...

        def save_draft(self, draft: Draft, /) -> None:
            """Keep a draft."""
            ...

        def save_conflict(self, found: OpenConflict, /) -> None:
            """Keep a conflict."""
            ...


Merge = Callable[[bytes, bytes, bytes], "bytes | None"]
"""From the text both had in common, the bundle's and the one here, to all of it; None when a person must decide."""

SAME, NEW, NEWER, OLDER, MERGED, CONFLICT, STAYS = (
    "unchanged",
    "new",
    "newer",
    "older",
    "merges",
    "conflict",
    "stays out",
)
"""What becomes of a memory: its text is here; it is not here; the one here is an earlier one of it; a later one; both
changed, at different places; both changed at one place, or nobody knows what they had in common; it cannot be here."""
WRITTEN = (NEW, NEWER, MERGED)


class Arrival(NamedTuple):
    """One memory of a bundle, and what becomes of it here."""

    packed: Packed
    address: Address | None
    """Where; None when no root here is meant."""
    what: str
    """`NEW` and so on."""
    why: str = ""
    """Why it stays out, or what is worth knowing. May hold hostile text."""
    data: bytes = b""
    """What would be written."""
    here: bytes | None = None
    """The text that is here."""
    base: bytes | None = None
    """The text both had in common."""
    pins: bool = False
    """It would be pinned."""


class Plan(NamedTuple):
    """A whole import, before it is done."""

    arrivals: tuple[Arrival, ...]

    def of(self, *what: str) -> tuple[Arrival, ...]:
        """The memories of which this becomes."""
        return tuple(arrival for arrival in self.arrivals if arrival.what in what)

    @property
    def written(self) -> tuple[Arrival, ...]:
        """Those that would be written."""
        return self.of(*WRITTEN)

    @property
    def idle(self) -> bool:
        """Whether nothing would come of it."""
        return not self.written and not self.of(CONFLICT) and not any(one.pins for one in self.arrivals)

    @property
    def words(self) -> str:
        """How many of which, for people: `3 new, 1 conflict`."""
        counts = [(what, len(self.of(what))) for what in (NEW, NEWER, MERGED, CONFLICT, SAME, OLDER, STAYS)]
        pins = sum(one.pins for one in self.arrivals)
        said = [f"{count:,} {what}{'s' * (what == CONFLICT and count != 1)}" for what, count in counts if count]
        return ", ".join([*said, *([f"{pins:,} to pin"] if pins else [])]) or "nothing"


class Imported(NamedTuple):
    """What an import did."""

    done: Done | None
    """The one step of undo; None when nothing was written."""
    pinned: int
    conflicts: tuple[Address, ...]
    """Memories whose text from the bundle waits as a draft for a decision."""
    waiting: tuple[Address, ...]
    """Those that have a draft of their own already, which stays: the bundle's text is not kept."""


def plan(reader: Reader, bundle: Bundle, into: Mapping[str, str], merge: Merge) -> Plan:
    """Work out an import; nothing is written.

    Args:
        reader: an engine.
        bundle: what arrives.
        into: root ids here by root ids of the bundle; under `` the root for all others.
        merge: merges what can be merged.

    Raises:
        NotFoundError: `E_NO_ROOT`, for a root in `into`.
        UsageError: `into` names a root that the bundle does not have.
    """
    unknown = into.keys() - {origin.id for origin in bundle.origins} - {""}
    if unknown:
        names = ", ".join(origin.id for origin in bundle.origins)
        raise UsageError(f"The bundle has no root {min(unknown)!r}.", hint=f"It has {names}.")
    targets = {origin: _target(reader, origin, into) for origin in bundle.origins}
    ids = sorted({root.id for root in targets.values() if root is not None})
    rows = {row.address: row for row in reader.list(ids).items if not row.missing} if ids else {}
    used: set[tuple[str, str]] = set()
    found = []
    for packed in bundle.memories:
        root = targets[packed.origin]
        if root is None:
            why = f"no root here is {packed.origin.id}: --into says where it goes"
            found.append(Arrival(packed, None, STAYS, why))
            continue
        address = Address(root.id, packed.path)
        folded = (root.id, packed.path.casefold())
        if folded in used:
            found.append(Arrival(packed, address, STAYS, "another one of the bundle has this name"))
            continue
        used.add(folded)
        found.append(_arrival(reader, packed, root, rows.get(address), merge))
    return Plan(tuple(found))


def _target(reader: Reader, origin: Origin, into: Mapping[str, str]) -> Root | None:
    """The root here that a root of a bundle means."""
    named = into.get(origin.id) or into.get("")
    if named:
        return reader.find_root(named)
    for wanted in (origin.id, *origin.aliases):
        try:
            return reader.find_root(wanted)
        except NotFoundError:
            continue  # the next name may be known
    alike = [root for root in reader.roots if (root.agent, root.scope) == (origin.agent, origin.scope)]
    alike = [root for root in alike if root.kind == "memories"]
    return alike[0] if len(alike) == 1 else None


def _arrival(reader: Reader, packed: Packed, root: Root, row: Memory | None, merge: Merge) -> Arrival:
    address = Address(root.id, packed.path)
    if row is None:
        why = refusal(address, root) or _over(packed.data, root)
        if why:
            return Arrival(packed, address, STAYS, why)
        known = _had(reader, address)
        was = "it was here, and deleted" if packed.sha256 in known else ""
        return Arrival(packed, address, NEW, was, packed.data, pins=packed.pinned)
    try:
        here = reader.read(address).bytes
    except MemtuiError as error:
        return Arrival(packed, address, STAYS, error.message.rstrip("."))
    pins = packed.pinned and not row.pinned
    if here == packed.data:
        return Arrival(packed, address, SAME, here=here, pins=pins)
    if root.read_only:
        return Arrival(packed, address, STAYS, f"{root.id} is read-only", here=here)
    return _different(reader, packed, address, here, merge)._replace(pins=pins)


def _different(reader: Reader, packed: Packed, address: Address, here: bytes, merge: Merge) -> Arrival:
    """Compare two texts with the last one they had in common."""
    mine = sha256_hex(here)
    theirs = {past.version.sha256: past.data for past in packed.history}
    root = reader.find_root(address.root)
    if mine in theirs:
        over = _over(packed.data, root)
        return Arrival(packed, address, STAYS if over else NEWER, over, packed.data, here, here)
    known = _had(reader, address)
    if packed.sha256 in known:
        return Arrival(packed, address, OLDER, "the one here was made of it", here=here, base=packed.data)
    base = next((data for sha, data in theirs.items() if sha in known), None)
    merged = merge(base, packed.data, here) if base is not None else None
    if merged is not None:
        if merged == here:
            return Arrival(packed, address, OLDER, "all of it is here", here=here, base=base)
        over = _over(merged, root)
        return Arrival(packed, address, STAYS if over else MERGED, over, merged, here, base)
    why = "both changed the same lines" if base is not None else "nothing tells what both had in common"
    if not _is_text(packed.data) or not _is_text(here):
        return Arrival(packed, address, STAYS, "another one is here, and one of them is no text", here=here)
    return Arrival(packed, address, CONFLICT, why, packed.data, here, base)


def _had(reader: Reader, address: Address) -> frozenset[str]:
    """The texts that were under a name here, not those that were only kept beside it, as in a conflict."""
    return frozenset(version.sha256 for version in reader.history(address) if not version.note)


def _over(data: bytes, root: Root) -> str:
    limit = root.policy.write_bytes
    return f"{len(data):,} bytes; the limit there is {limit:,}" if len(data) > limit else ""


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def apply(engine: Writer, wanted: Plan, *, actor: Actor, now: int) -> Imported:
    """Do what a plan says: everything that is written as one undo step, conflicts as drafts for the workbench.

    Args:
        engine: what writes.
        wanted: from `plan`.
        actor: who does it.
        now: milliseconds since the epoch.

    Raises:
        ConflictError: something changed meanwhile; nothing was written.
        MemtuiError: as `Engine.together`; nothing was written.
    """
    for arrival in (*wanted.written, *wanted.of(CONFLICT)):
        _keep_history(engine, arrival, actor)
    done = _write(engine, wanted.written, actor)
    pins = [one.address for one in wanted.arrivals if one.pins and one.address is not None and one.what != STAYS]
    pinned = engine.pin_along(pins, actor=actor, joins=done.txn if done is not None else None) if pins else 0
    engine.take_uses(
        Usage(one.address, one.packed.uses, one.packed.last_used_at, one.packed.last_written_at)
        for one in wanted.arrivals
        if one.address is not None and one.packed.uses and one.what not in (STAYS, CONFLICT)
    )
    conflicts, waiting = _open(engine, wanted.of(CONFLICT), now)
    return Imported(done, pinned, conflicts, waiting)


def _keep_history(engine: Writer, arrival: Arrival, actor: Actor) -> None:
    """Put the versions it had on its history here; what is written comes on top of them."""
    past = [(one.version, one.data) for one in reversed(arrival.packed.history)]
    if past and arrival.what in (NEW, NEWER) and past[-1][0].sha256 == arrival.packed.sha256:
        past.pop()  # it is what is written
    if past and arrival.address is not None:
        engine.keep_versions(arrival.address, past, actor=actor)


def _write(engine: Writer, arrivals: Sequence[Arrival], actor: Actor) -> Done | None:
    steps = [
        Write(one.address, one.data, None if one.here is None else sha256_hex(one.here))
        for one in arrivals
        if one.address is not None
    ]
    if not steps:
        return None
    label = f"import {steps[0].address}" if len(steps) == 1 else f"import {len(steps):,} memories"
    done = engine.together(steps, actor=actor, label=label)
    for outcome in done.outcomes:
        if not outcome.ok:
            raise ConflictError(
                f"{outcome.address} changed meanwhile.",
                unharmed="Nothing was imported.",
                hint="Import it again: what is here now is compared anew.",
            )
    return done


def _open(engine: Writer, arrivals: Sequence[Arrival], now: int) -> tuple[tuple[Address, ...], tuple[Address, ...]]:
    """Keep the bundle's texts as drafts of what both had in common, so that the merge screen can decide."""
    drafts = {draft.address: draft for draft in engine.drafts()} if arrivals else {}
    opened: list[Address] = []
    waiting: list[Address] = []
    for one in arrivals:
        if one.address is None or one.here is None:
            continue
        text, base = one.data.decode(), one.base
        other = drafts.get(one.address)
        if other is not None and other.text != text:
            waiting.append(one.address)
            continue
        base_sha = None if base is None else sha256_hex(base)
        if other is None:
            engine.save_draft(Draft(one.address, base_sha, text, (0, 0), now, base))
            engine.save_conflict(OpenConflict(one.address, base_sha, one.data, one.here, "", now))
        opened.append(one.address)
    return tuple(opened), tuple(waiting)
