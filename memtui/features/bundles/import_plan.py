"""Plans an import, memory by memory: nothing, a new memory, a newer text, a merge or a conflict; and carries it out.

Both sides are compared with the last text they had in common, by both histories, in the format of the agent here. The
plan is one step of undo, with the history and pins it brings. Nothing is written over an unseen text: what cannot be
merged is kept as a draft, and the workbench asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import agent_of
from memtui.diff.merge import merged_alone
from memtui.engine.frontmatter import read
from memtui.engine.model import (
    Actor,
    Address,
    Done,
    Draft,
    OpenConflict,
    Policy,
    Remove,
    Root,
    UseCount,
    Version,
    Write,
)
from memtui.errors import MemtuiError, NotFoundError, UsageError
from memtui.features.bundles.bundle import Bundle, BundledMemory, Origin
from memtui.features.transfer import shape
from memtui.features.transfer.model import IndexChange, Note, TakenNames, Transfer, fitted, mapped_words, refusal
from memtui.features.transfer.plan import INDEX, dead_links, do_all, remarks
from memtui.features.transfer.shape import DESCRIPTION, NAME, Hints, Mention, nesting, nests_type, translate

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory, Step

SAME, NEW, NEWER, OLDER = "unchanged", "new", "newer", "older"
MERGED, CONFLICT, STAYS, DELETED = "merges", "conflict", "stays out", "deleted"
"""What happens to a memory.

Its text is here; it is new; the one here is an earlier version of it; a later one; both changed in different places; in
the same place, or without a known common text; it cannot be imported; it was deleted there after the version that is
here.
"""
WRITTEN = (NEW, NEWER, MERGED)


class ImportItem(NamedTuple):
    """One memory of a bundle, and what happens to it here."""

    packed: BundledMemory
    address: Address | None
    """None when no root here is meant."""
    what: str
    why: str = ""
    """Why it stays out, or what is worth knowing. May hold hostile text."""
    data: bytes = b""
    here: bytes | None = None
    base: bytes | None = None
    pins: bool = False
    shaped: bytes | None = None
    """The bundled text in the format of the agent here; None where that is the same."""
    notes: tuple[Note, ...] = ()

    @property
    def expected_sha256(self) -> str | None:
        """The version it replaces; None when it is not here."""
        return None if self.here is None else sha256(self.here).hexdigest()


class ImportPlan(NamedTuple):
    """A whole import, before it is done."""

    arrivals: tuple[ImportItem, ...]
    indexes: tuple[IndexChange, ...] = ()
    """Indexes that get lines for memories of other agents."""

    def of(self, *what: str) -> tuple[ImportItem, ...]:
        """Return the items with one of these results."""
        return tuple(arrival for arrival in self.arrivals if arrival.what in what)

    @property
    def written(self) -> tuple[ImportItem, ...]:
        """The items that would be written."""
        return self.of(*WRITTEN)

    @property
    def idle(self) -> bool:
        """Whether nothing would happen."""
        return not self.written and not self.of(CONFLICT, DELETED) and not any(one.pins for one in self.arrivals)

    @property
    def words(self) -> str:
        """The counts for people: `3 new, 1 conflict`."""
        counts = [(what, len(self.of(what))) for what in (NEW, NEWER, MERGED, DELETED, CONFLICT, SAME, OLDER, STAYS)]
        pins = sum(one.pins for one in self.arrivals)
        said = [f"{count:,} {what}{'s' * (what == CONFLICT and count != 1)}" for what, count in counts if count]
        return ", ".join([*said, *([f"{pins:,} to pin"] if pins else [])]) or "nothing"

    @property
    def all_words(self) -> str:
        """`words`, followed by `also`."""
        return f"{self.words}; {self.also}" if self.also else self.words

    @property
    def also(self) -> str:
        """What is done for another agent: `front matter mapped, 1 line added in …`; may be empty."""
        mapped = sum(one.shaped is not None for one in self.of(*WRITTEN, CONFLICT))
        said = [mapped_words(mapped, len(self.arrivals))] if mapped else []
        return ", ".join([*said, *(f"{one.what} in {one.address}" for one in self.indexes if one.what)])


def plan(reader: Engine, bundle: Bundle, into: Mapping[str, str], *, as_is: bool = False) -> ImportPlan:
    """Plan an import; nothing is written.

    `into` has root ids here by those of the bundle, under `""` the one for all others; `as_is` keeps every byte.
    """
    unknown = into.keys() - {origin.id for origin in bundle.origins} - {""}
    if unknown:
        names = ", ".join(origin.id for origin in bundle.origins)
        raise UsageError(f"The bundle has no root {min(unknown)!r}.", hint=f"It has {names}.")
    targets = {origin: _target(reader, origin, into) for origin in bundle.origins}
    ids = sorted({root.id for root in targets.values() if root is not None})
    rows: dict[str, dict[str, Memory]] = {one: {} for one in ids}
    for row in reader.rows.list(ids).items if ids else ():
        if not row.missing and row.address.root in rows:
            rows[row.address.root][row.address.path] = row
    packs: dict[Origin, list[BundledMemory]] = {origin: [] for origin in targets}
    for packed in bundle.memories:
        packs[packed.origin].append(packed)
    ways: dict[Origin, SameAgent] = {
        origin: SameAgent()
        if as_is or origin.agent == root.agent
        else OtherAgent(reader, origin, root, packs[origin], rows[root.id])
        for origin, root in targets.items()
        if root is not None
    }
    used: set[Address] = set()
    taken = {one: TakenNames(rows[one]) for one in ids}
    found = []
    for packed in bundle.memories:
        root = targets[packed.origin]
        if root is None:
            why = f"no root here is {packed.origin.id}: --into says where it goes"
            found.append(ImportItem(packed, None, STAYS, why))
            continue
        way = ways[packed.origin]
        address = Address(root.id, way.path(packed))
        mine = rows[root.id].get(address.path)
        why = "another one of the bundle has this name" if address in used else way.refusal(packed)
        why = why or ("" if mine is not None else _clash(address, root, taken[root.id]))
        if why:
            found.append(ImportItem(packed, address, STAYS, why))
            continue
        used.add(address)
        found.append(_arrival(reader, packed, root, mine, way))
        if found[-1].what == NEW:
            taken[root.id].add(address.path)
    for packed in bundle.deleted:
        root = targets[packed.origin]
        if root is not None and packed.origin.agent == root.agent and packed.path in rows[root.id]:
            found.append(_deletion(reader, packed, root))
    return ImportPlan(tuple(found), _indexes(reader, found, ways, rows))


def _clash(address: Address, root: Root, taken: TakenNames) -> str:
    """Return why a new name would be refused beside the present ones; empty when it would not."""
    other = "" if root.policy.any_name else taken.clash(address.path)
    return f"it differs from {other} there only by case or Unicode form" if other else ""


def _indexes(
    reader: Engine,
    arrivals: Sequence[ImportItem],
    ways: Mapping[Origin, SameAgent],
    rows: Mapping[str, Mapping[str, Memory]],
) -> tuple[IndexChange, ...]:
    """Return the lines that indexes get for new memories of other agents."""
    places = {one.address: one for one in arrivals if one.address is not None and one.what != STAYS}
    items: dict[str, list[Transfer]] = {}
    said: dict[Address, Mention] = {}
    for address, one in places.items():
        way = ways[one.packed.origin]
        if one.what == NEW and isinstance(way, OtherAgent):
            item = Transfer(Address(one.packed.origin.id, one.packed.path), address, one.packed.data, one.data)
            items.setdefault(address.root, []).append(item)
            said[item.old] = way.said.get(one.packed.path, Mention())
    pending = {
        address: IndexChange(address, one.here or b"", one.data, one.expected_sha256, "")
        for address, one in places.items()
        if one.what in WRITTEN
    }
    found: list[IndexChange] = []
    for root_id, new in items.items():
        for change in shape.lines_added(reader, reader.roots.find(root_id), new, said, rows[root_id], pending):
            other = places.get(change.address)
            if other is not None and other.what == CONFLICT:
                why = ("The index gets no line: it is in conflict itself.",)
                found.append(IndexChange(change.address, change.before, change.before, None, "", why))
            else:
                found.append(change)
    return tuple(found)


def _target(reader: Engine, origin: Origin, into: Mapping[str, str]) -> Root | None:
    named = into.get(origin.id) or into.get("")
    if named:
        return reader.roots.find(named)
    for wanted in (origin.id, *origin.aliases):
        try:
            return reader.roots.find(wanted)
        except NotFoundError:
            continue  # the next name may be known
    alike = [root for root in reader.roots.all() if (root.agent, root.scope) == (origin.agent, origin.scope)]
    alike = [root for root in alike if root.kind == "memories"]
    return alike[0] if len(alike) == 1 else None


def _arrival(reader: Engine, packed: BundledMemory, root: Root, row: Memory | None, way: SameAgent) -> ImportItem:
    address = Address(root.id, way.path(packed))
    if row is None:
        sides = way.sides(packed, None)
        side = next(sides)
        arrival = _shaped(ImportItem(packed, address, NEW, data=side.data, pins=packed.pinned), side)
        why = refusal(address, root) or _over(side.data, root)
        if why:
            return arrival._replace(what=STAYS, why=why, pins=False)
        known = _had(reader, address)
        if not known or not any(sha256(one.data).hexdigest() in known for one in (side, *sides)):
            return arrival
        mine, there = states(reader.history.of(address), None), _states_there(arrival)
        relation, _ = compare(mine, there)
        if relation == UNKNOWN:
            return arrival._replace(why="it was here, and deleted")
        if relation == BEHIND:
            return arrival._replace(what=OLDER, why="deleted here since; `memtui trash` has it", pins=False)
        return arrival._replace(why="it was deleted here, and changed there since")
    try:
        here = reader.read(address).bytes
    except MemtuiError as error:
        return ImportItem(packed, address, STAYS, error.message.rstrip("."))
    pins = packed.pinned and not row.pinned
    sides = way.sides(packed, here)
    side = next(sides)
    arrival = _shaped(ImportItem(packed, address, SAME, here=here, pins=pins), side)
    if here == side.data:
        return arrival
    if root.read_only:
        return arrival._replace(what=STAYS, why=f"{root.id} is read-only", pins=False)
    return _different(reader, arrival, side, sides, here)


def _shaped(arrival: ImportItem, side: TranslatedMemory) -> ImportItem:
    shaped = None if side.data == arrival.packed.data else side.data
    return arrival._replace(shaped=shaped, notes=side.notes)


def _different(
    reader: Engine,
    arrival: ImportItem,
    side: TranslatedMemory,
    others: Iterable[TranslatedMemory],
    here: bytes,
) -> ImportItem:
    assert arrival.address is not None
    mine, root = sha256(here).hexdigest(), reader.roots.find(arrival.address.root)
    there = _states_there(arrival) if arrival.shaped is None else ()
    relation, base_sha = compare(states(reader.history.of(arrival.address), mine), there)
    if relation in (EQUAL, BEHIND):
        return arrival._replace(what=OLDER, why="the one here was made of it", base=side.data)
    if relation == APART:
        base = next((one for one in side.past if sha256(one).hexdigest() == base_sha), None)
        return _merged(arrival, side, base, here, root)
    if relation == AHEAD or mine in side.digests:
        over = _over(side.data, root)
        return arrival._replace(what=STAYS if over else NEWER, why=over, data=side.data, base=here)
    known = _had(reader, arrival.address)
    sides = (side, *others)
    if any(sha256(one.data).hexdigest() in known for one in sides):
        return arrival._replace(what=OLDER, why="the one here was made of it", base=side.data)
    common = min((n for one in sides for n, sha in enumerate(one.digests) if sha in known), default=None)
    return _merged(arrival, side, None if common is None else side.past[common], here, root)


def _merged(arrival: ImportItem, side: TranslatedMemory, base: bytes | None, here: bytes, root: Root) -> ImportItem:
    merged = merged_alone(base, side.data, here) if base is not None else None
    if merged is not None:
        if merged == here:
            return arrival._replace(what=OLDER, why="all of it is here", base=base)
        over = _over(merged, root)
        return arrival._replace(what=STAYS if over else MERGED, why=over, data=merged, base=base)
    why = "both changed the same lines" if base is not None else "nothing tells what both had in common"
    if not _is_text(side.data) or not _is_text(here):
        return arrival._replace(what=STAYS, why="another one is here, and one of them is no text")
    return arrival._replace(what=CONFLICT, why=why, data=side.data, base=base)


def _states_there(arrival: ImportItem) -> tuple[HistoryState, ...]:
    packed = arrival.packed
    return states([past.version for past in packed.history], packed.sha256)


def _deletion(reader: Engine, packed: BundledMemory, root: Root) -> ImportItem:
    address = Address(root.id, packed.path)
    arrival = ImportItem(packed, address, OLDER, why="deleted there, and changed here since")
    try:
        here = reader.read(address).bytes
    except MemtuiError as error:
        return arrival._replace(what=STAYS, why=error.message.rstrip("."))
    mine = states(reader.history.of(address), sha256(here).hexdigest())
    relation, _ = compare(mine, states([past.version for past in packed.history], None))
    if relation == UNKNOWN:
        return arrival._replace(why="another one of this name was deleted there", here=here)
    if relation != AHEAD:
        return arrival._replace(here=here)
    if root.read_only:
        return arrival._replace(what=STAYS, why=f"{root.id} is read-only", here=here)
    return arrival._replace(what=DELETED, why="deleted there since; it goes to the trash", here=here)


def _had(reader: Engine, address: Address) -> frozenset[str]:
    """Return the texts that were under a name here, not those kept beside it, as in a conflict."""
    return frozenset(version.sha256 for version in reader.history.of(address) if not version.note)


def _over(data: bytes, root: Root) -> str:
    limit = root.policy.write_bytes
    return f"{len(data):,} bytes; the limit there is {limit:,}" if len(data) > limit else ""


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


EQUAL, AHEAD, BEHIND, APART, UNKNOWN = "equal", "ahead", "behind", "apart", "unknown"
"""The other side's relation: same state, newer, older, both changed, or no common version."""


class HistoryState(NamedTuple):
    """What a memory was for a while."""

    sha256: str
    """Empty: deleted."""
    ids: frozenset[tuple[str, int]]
    """Consecutive versions with this text: an import adds another version of the text it brings."""


DELETED_STATE = HistoryState("", frozenset())


def states(history: Sequence[Version], present: str | None) -> tuple[HistoryState, ...]:
    """Return the states of a memory, oldest first; none when its history lacks the present text.

    What is newer in its history than `present` (None: deleted) was only kept beside it.
    """
    first = 0 if present is None else next((n for n, one in enumerate(history) if one.sha256 == present), len(history))
    found: list[HistoryState] = []
    for one in reversed(history[first:]):
        name = frozenset({(one.sha256, one.at)})
        if found and found[-1].sha256 == one.sha256 and one.operation != "restored":
            found[-1] = HistoryState(one.sha256, found[-1].ids | name)
        else:
            found.append(HistoryState(one.sha256, name))
    return (*found, DELETED_STATE) if found and present is None else tuple(found)


def compare(here: Sequence[HistoryState], there: Sequence[HistoryState]) -> tuple[str, str | None]:
    """Return the other side's relation (`EQUAL` and so on), and the sha-256 of the last common text, or None."""
    mine, theirs = _ids(here), _ids(there)
    last_here = max((n for n, one in enumerate(here) if one.ids & theirs), default=-1)
    last_there = max((n for n, one in enumerate(there) if one.ids & mine), default=-1)
    if last_here < 0 or last_there < 0:
        return UNKNOWN, None
    base = here[last_here].sha256 if here[last_here].sha256 == there[last_there].sha256 else None
    # Both may have made the same of it, as two merges do: that is no difference.
    while last_here + 1 < len(here) and last_there + 1 < len(there):
        if here[last_here + 1].sha256 != there[last_there + 1].sha256:
            break
        last_here, last_there = last_here + 1, last_there + 1
        base = here[last_here].sha256
    at_end = last_here + 1 == len(here), last_there + 1 == len(there)
    return {(True, True): EQUAL, (True, False): AHEAD, (False, True): BEHIND, (False, False): APART}[at_end], base


def _ids(states: Sequence[HistoryState]) -> frozenset[tuple[str, int]]:
    return frozenset[tuple[str, int]]().union(*(one.ids for one in states))


# Memories of another agent: each of their versions as the agent of a root here wants it. Texts can be compared with
# those here only in one shape, so the text that is here says which: what a translation makes up, and where it puts the
# type, stay as they are. Otherwise a second import would find differences nobody made.

NAMED = "the index there has this name"


class TranslatedMemory(NamedTuple):
    """One memory of a bundle, in one format."""

    data: bytes
    past: tuple[bytes, ...]
    """Every version it had, newest first."""
    notes: tuple[Note, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        """The sha-256 of each version."""
        return tuple(sha256(data).hexdigest() for data in self.past)


class SameAgent:
    """Memories of one root of a bundle, byte for byte."""

    def path(self, packed: BundledMemory) -> str:
        """Return a memory's path here."""
        return packed.path

    def refusal(self, packed: BundledMemory) -> str:  # noqa: ARG002
        """Return why a memory stays out, or empty."""
        return ""

    def sides(self, packed: BundledMemory, here: bytes | None) -> Iterator[TranslatedMemory]:  # noqa: ARG002
        """Yield a memory in its format here, then in other formats it may have come in before."""
        yield TranslatedMemory(packed.data, tuple(past.data for past in packed.history))


class OtherAgent(SameAgent):
    """Memories of one root of a bundle, in the format of another agent."""

    def __init__(
        self,
        reader: Engine,
        origin: Origin,
        target: Root,
        memories: Sequence[BundledMemory],
        rows: Mapping[str, Memory],
    ) -> None:
        """Learn how memories are written at both ends; `rows` are the memories here, by path."""
        self.target = target
        texts = {packed.path: packed.data for packed in memories}

        def text(path: str) -> bytes:
            if path not in texts:
                raise NotFoundError(f"{path} is not in the bundle.")
            return texts[path]

        self.present = texts
        self.there = rows.keys() | {fitted(path, target) for path in texts}
        self.policy = _policy(origin)
        self.said = shape.mentions(text, self.policy, list(texts), texts)
        self.nested = nests_type(reader, rows.values())

    def path(self, packed: BundledMemory) -> str:
        """Give it the ending that is read here."""
        return fitted(packed.path, self.target)

    def refusal(self, packed: BundledMemory) -> str:
        """Refuse indexes: their lines go with the memories they name."""
        if self.policy.is_index(packed.path):
            return INDEX
        policy = self.target.policy
        return NAMED if policy.index_format == shape.LINKS and policy.is_index(self.path(packed)) else ""

    def sides(self, packed: BundledMemory, here: bytes | None) -> Iterator[TranslatedMemory]:
        """Translate it."""
        said = self.said.get(packed.path, Mention())
        plain = Hints(said.title, said.hook, self.nested)
        path = self.path(packed)
        remarked = [
            *remarks(packed.data, packed.path.rpartition("/")[2], Address(self.target.id, path), self.target),
            *dead_links(packed.data, packed.path, path, self.present, self.there),
        ]
        for hints in dict.fromkeys((_as_here(plain, here), plain, *(plain._replace(nested=one) for one in _SHAPES))):
            found, *past = (
                translate(data, self.target, path, hints)
                for data in (packed.data, *(one.data for one in packed.history))
            )
            yield TranslatedMemory(found.data, tuple(one.data for one in past), (*found.notes, *remarked))


_SHAPES = (True, False, None)


def _as_here(plain: Hints, here: bytes | None) -> Hints:
    """Take what a translation would fill in from the text that is here."""
    if here is None:
        return plain
    fields, inner = read.split(here).fields, nesting(here)
    name, description = fields.get(NAME), fields.get(DESCRIPTION)
    return Hints(
        name if isinstance(name, str) and name.strip() else plain.title,
        description if isinstance(description, str) and description.strip() else plain.hook,
        plain.nested if inner is None else inner,
    )


def _policy(origin: Origin) -> Policy:
    """Return what is known of the source's index: from the bundle, or for older ones from its agent."""
    if origin.index_file is not None:
        return Policy(index_file=origin.index_file or None, index_format=shape.LINKS if origin.index_file else "")
    found = agent_of(origin.agent).policy or Policy()
    return found if found.index_format == shape.LINKS else Policy()


class Imported(NamedTuple):
    """Result of an import."""

    done: Done | None
    pinned: int
    conflicts: tuple[Address, ...]
    """Memories whose bundled text waits as a draft."""
    waiting: tuple[Address, ...]
    """Memories that have a draft already; the bundled text is not kept."""


def apply(engine: Engine, wanted: ImportPlan, *, actor: Actor, now: int) -> Imported:
    """Carry out an import plan as one undo step, or nothing of it (`ConflictError`); conflicts become drafts."""
    for arrival in (*wanted.written, *wanted.of(CONFLICT)):
        _keep_history(engine, arrival, actor)
    done = _write(engine, wanted, actor)
    pins = [one.address for one in wanted.arrivals if one.pins and one.address is not None and one.what != STAYS]
    pinned = engine.pins.bring(pins, actor=actor, joins=done.txn if done is not None else None) if pins else 0
    engine.pins.take_uses(
        UseCount(one.address, one.packed.uses, one.packed.last_used_at, one.packed.last_written_at)
        for one in wanted.arrivals
        if one.address is not None and one.packed.uses and one.what not in (STAYS, CONFLICT, DELETED)
    )
    conflicts, waiting = _open(engine, wanted.of(CONFLICT), now)
    return Imported(done, pinned, conflicts, waiting)


def _keep_history(engine: Engine, arrival: ImportItem, actor: Actor) -> None:
    past = [(one.version, one.data) for one in reversed(arrival.packed.history)]
    if past and arrival.address is not None:
        engine.history.keep(arrival.address, past, actor=actor)


def _write(engine: Engine, wanted: ImportPlan, actor: Actor) -> Done | None:
    places = {one.address: Write(one.address, one.data, one.expected_sha256) for one in wanted.written if one.address}
    lines = {one.address: Write(one.address, one.after, one.expected_sha256) for one in wanted.indexes if one.what}
    gone = [Remove(one.address, one.expected_sha256) for one in wanted.of(DELETED) if one.address is not None]
    steps: list[Step] = [*(places | lines).values(), *gone]
    if not steps:
        return None
    count = len(places) + len(gone)
    label = f"import {steps[0].address}" if count == 1 else f"import {count:,} memories"
    unharmed, hint = "Nothing was imported.", "Import it again: what is here now is compared anew."
    return do_all(engine, steps, actor=actor, label=label, unharmed=unharmed, hint=hint)


def _open(engine: Engine, arrivals: Sequence[ImportItem], now: int) -> tuple[tuple[Address, ...], tuple[Address, ...]]:
    drafts = {draft.address: draft for draft in engine.drafts.all()} if arrivals else {}
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
        base_sha = None if base is None else sha256(base).hexdigest()
        if other is None:
            engine.drafts.save(Draft(one.address, base_sha, text, (0, 0), now, base))
            engine.drafts.save_conflict(OpenConflict(one.address, base_sha, one.data, one.here, "", now))
        opened.append(one.address)
    return tuple(opened), tuple(waiting)
