"""A transfer as a whole: each memory mapped, both indexes, one list of steps; planned first, then one step of undo.

Nothing is written while planning. What cannot go stays as it is, and is said with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.engine.model import Actor, Address, Done, Outcome, Rename, Root, Step, Write
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.transfer import index_lines
from memtui.features.transfer.fields import Hints, translate
from memtui.features.transfer.index_lines import Mention
from memtui.features.transfer.model import IndexChange, Note, Transfer, TransferPlan, Translation, steps_of
from memtui.features.transfer.names import fitted, refusal
from memtui.features.transfer.remarks import dead_links, habit, remarks
from memtui.pointers import references

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory


TAKEN, MISSING = "the name is taken", "there is no such memory"
INDEX = "it is an index: its lines go with the memories they name (--as-is takes it as a file)"


class Wish(NamedTuple):
    """How a transfer is wanted."""

    moving: bool = False
    as_is: bool = False
    """Keep every byte of the memories."""
    alone: bool = False
    """Leave indexes and links as they are."""
    fit: bool = True
    """Give names the target's own ending."""
    masked: bool = False
    """Mask the secrets of what is copied to another root."""


def secrets_of(reader: Engine, pairs: Iterable[tuple[Address, Address]]) -> tuple[Address, ...]:
    """Find which memories would take a secret to another root; one that cannot be read does not go there."""
    found = []
    for old, new in pairs:
        if old.root != new.root:
            try:
                data = reader.read(old).bytes
            except MemtuiError:
                continue
            found += [old] if mask.secrets(data.decode("utf-8", "replace")) else []
    return tuple(found)


def refused_for_secrets(found: Sequence[Address], hint: str) -> RefusedError:
    """Make the error of a copy or a bundle that would take secrets along, which nobody said."""
    first = f"{found[0]} holds a secret" if len(found) == 1 else f"{len(found):,} memories hold secrets: {found[0]}, .."
    return RefusedError(f"{first}.", code="E_SECRET", unharmed="Nothing was written.", hint=hint)


def differs(source: Root, target: Root) -> bool:
    """Whether a memory needs more than a copy of its bytes to be at home in another root."""
    linked = any(root.policy.index_format == index_lines.LINKS for root in (source, target))
    return source.id != target.id and (source.agent != target.agent or linked)


def plan(reader: Engine, pairs: Iterable[tuple[Address, Address]], wish: Wish) -> TransferPlan:
    """Work out a transfer; nothing is written.

    Args:
        reader: an engine.
        pairs: memories, by their old addresses and the new ones.
        wish: how it is wanted.

    Raises:
        NotFoundError: `E_NO_ROOT`.
    """
    return _Planning(reader, list(dict(pairs).items()), wish).done()


def apply(engine: Engine, wanted: TransferPlan, *, actor: Actor) -> Done:
    """Do what a plan says as one undo step, or nothing of it when something is another version by now.

    Returns:
        An outcome for each memory of the plan; its error where it stayed.

    Raises:
        UsageError: nothing can go. ConflictError: something changed meanwhile; nothing was done.
        MemtuiError: as `Engine.together`.
    """
    failed = [one for one in wanted.staying if not (one.is_index and wanted.going)]
    staying = [Outcome(one.old, None, _stays(one), one.new) for one in failed]
    if not wanted.steps:
        if len(staying) == 1 and staying[0].error is not None:
            raise staying[0].error
        raise UsageError("None of the memories can go there.", hint="--dry-run says why for each.")
    done = engine.together.do(wanted.steps, actor=actor, label=wanted.words)
    for outcome in done.outcomes:
        if outcome.error is not None or not outcome.ok:
            raise ConflictError(
                f"{outcome.address} changed meanwhile.",
                unharmed="Nothing was copied or moved.",
                hint="Look at it, and do it again.",
            )
    mine = {item.old: item.new for item in wanted.going}
    news = {new: old for old, new in mine.items()}
    outcomes: dict[Address, Outcome] = {}
    for outcome in done.outcomes:
        if outcome.new_address is not None and outcome.address in mine:
            outcomes[outcome.address] = outcome
        elif outcome.address in news:
            old = news[outcome.address]
            outcomes[old] = Outcome(old, outcome.result, new_address=outcome.address)
    operation = "rename" if wanted.moving else "create"
    return Done(done.txn, operation, (*outcomes.values(), *staying), done.label, wanted.rest, wanted.also)


def copy(
    engine: Engine, pairs: Sequence[tuple[Address, Address]], secrets: str, *, actor: Actor, wish: Wish | None = None
) -> Done:
    """Copy memories as one undo step, with what a person said about secrets that would go to another root.

    Args:
        engine: does it.
        pairs: memories, by their old addresses and the new ones.
        secrets: `keep`, `mask`, `leave` these memories out, or empty: nobody said.
        actor: who does it.
        wish: how, where more than bytes is copied.

    Raises:
        RefusedError: `E_SECRET`, there are some, and nobody said; or all are left out.
        MemtuiError: as `apply`, and `Memories.copy`.
    """
    found = () if secrets == "keep" else secrets_of(engine, pairs)
    going = [pair for pair in pairs if secrets != "leave" or pair[0] not in found]
    if found and (not secrets or not going):
        raise refused_for_secrets(found, "Say whether to keep or mask it.")
    masked = secrets == "mask" and bool(found)
    if wish is None and not masked:
        return engine.memories.copy(going, actor=actor)
    wish = wish or Wish(as_is=True, alone=True, fit=False)
    return apply(engine, plan(engine, going, wish._replace(masked=masked)), actor=actor)


def _stays(item: Transfer) -> MemtuiError:
    kind = {TAKEN: ConflictError, MISSING: NotFoundError}.get(item.problem, RefusedError)
    return kind(
        f"{item.old} cannot go to {item.new}: {item.problem}.",
        code="E_EXISTS" if item.problem == TAKEN else None,
        unharmed="It stays as it is.",
        hint="Choose another name or place.",
    )


class _Planning:
    """One transfer being planned."""

    def __init__(self, reader: Engine, pairs: Sequence[tuple[Address, Address]], wish: Wish) -> None:
        self.reader, self.wish = reader, wish
        self.pairs = [(old, self._named(new)) for old, new in pairs]
        ids = dict.fromkeys(one.root for pair in self.pairs for one in pair)
        self.roots = {root_id: reader.roots.find(root_id) for root_id in ids}
        listing = reader.rows.list(list(ids))
        self.rows: dict[str, dict[str, Memory]] = {root_id: {} for root_id in ids}
        for row in listing.items:
            if row.address.root in self.rows:
                self.rows[row.address.root][row.address.path] = row
        self.there: dict[str, set[str]] = {root_id: set(rows) for root_id, rows in self.rows.items()}
        """The memories there will be in each root."""
        for _, new in self.pairs:
            self.there[new.root].add(new.path)
        self.said = self._mentions()
        self.nested: dict[str, bool | None] = {}

    def _named(self, new: Address) -> Address:
        root = self.reader.roots.find(new.root)
        path = fitted(new.path, root) if self.wish.fit and not self.wish.as_is else new.path
        return Address(root.id, path)

    def _mentions(self) -> dict[Address, Mention]:
        found: dict[Address, Mention] = {}
        for root_id in {old.root for old, _ in self.pairs}:
            wanted = [old.path for old, _ in self.pairs if old.root == root_id]

            def text(home: str, root_id: str = root_id) -> bytes:
                return self.reader.read(Address(root_id, home)).bytes

            said = index_lines.mentions(text, self.roots[root_id].policy, wanted, self.rows[root_id])
            found |= {Address(root_id, path): mention for path, mention in said.items()}
        return found

    def done(self) -> TransferPlan:
        """Plan it."""
        items: list[Transfer] = []
        used: set[Address] = set()
        for old, new in self.pairs:
            item = self._item(old, new, used)
            if not item.problem:
                used.add(new)
            items.append(item)
        going = [item for item in items if not item.problem]
        steps: list[Step] = []
        for item in going:
            steps += self._steps(item)
        carried = self._carried(going)
        changes, left, rest = self._indexes(going, carried)
        steps += steps_of(changes)
        count = sum(one.links for one in carried.carried)
        return TransferPlan(self.wish.moving, tuple(items), changes, tuple(steps), left, count, rest)

    def _steps(self, item: Transfer) -> list[Step]:
        if not self.wish.moving:
            return [Write(item.new, item.after, None)]
        sha = self.rows[item.old.root][item.old.path].sha256
        steps: list[Step] = [Rename(item.old, item.new, sha)]
        if item.changed:
            steps.append(Write(item.new, item.after, sha))
        return steps

    # --- one memory

    def _item(self, old: Address, new: Address, used: set[Address]) -> Transfer:
        problem = self._problem(old, new, used)
        if problem:
            return Transfer(old, new, problem=problem, is_index=problem == INDEX)
        try:
            snapshot = self.reader.read(old)
        except MemtuiError as error:
            return Transfer(old, new, problem=error.message.rstrip("."))
        row = self.rows[old.root][old.path]
        if snapshot.sha256 != row.sha256:
            return Transfer(old, new, problem="somebody is writing it")
        data, root = snapshot.bytes, self.roots[new.root]
        masked = self.wish.masked and old.root != new.root
        found = self._translated(mask.shown_bytes(data) if masked else data, old, new)
        if len(found.data) > root.policy.write_bytes:
            return Transfer(
                old, new, problem=f"{len(found.data):,} bytes; the limit there is {root.policy.write_bytes:,}"
            )
        return Transfer(old, new, data, found.data, (*found.notes, *self._notes(data, old, new)))

    def _problem(self, old: Address, new: Address, used: set[Address]) -> str:
        source, target = self.roots[old.root], self.roots[new.root]
        row = self.rows[old.root].get(old.path)
        if old == new:
            return "it is there already"
        if row is None or row.missing:
            return MISSING
        if row.sha256 is None:
            return row.problems[0].text.rstrip(".") if row.problems else "it cannot be read"
        linked = source.policy.index_format == index_lines.LINKS and source.policy.is_index(old.path)
        if linked and source.id != target.id and not self.wish.as_is and not self.wish.alone:
            return INDEX
        if self.wish.moving and source.read_only:
            return f"{source.id} is read-only"
        if new.path in self.rows[new.root]:
            return TAKEN
        return "another one has this name" if new in used else refusal(new, target)

    def _translated(self, data: bytes, old: Address, new: Address) -> Translation:
        source, target = self.roots[old.root], self.roots[new.root]
        if self.wish.as_is or source.agent == target.agent:
            return Translation(data)
        mention = self.said.get(old, Mention())
        return translate(data, target, new.path, Hints(mention.title, mention.hook, self._habit(target)))

    def _habit(self, root: Root) -> bool | None:
        if root.id not in self.nested:
            self.nested[root.id] = habit(self.reader, self.rows[root.id].values())
        return self.nested[root.id]

    def _notes(self, data: bytes, old: Address, new: Address) -> list[Note]:
        source, target = self.roots[old.root], self.roots[new.root]
        if source.id == target.id:
            return []
        lost = dead_links(data, old.path, new.path, self.rows[old.root], self.there[new.root])
        return [*remarks(data, old.name, new, target), *lost]

    # --- indexes

    def _carried(self, going: Sequence[Transfer]) -> references.ReferencePlan:
        if not self.wish.moving or self.wish.alone:
            return references.ReferencePlan((), (), ())
        return references.plan(self.reader, [(item.old, item.new) for item in going])

    def _indexes(
        self, going: Sequence[Transfer], carried: references.ReferencePlan
    ) -> tuple[tuple[IndexChange, ...], tuple[references.OutdatedMemory, ...], str]:
        changes: dict[Address, IndexChange] = {}
        moved = {item.new: item for item in going}
        for step in carried.steps:
            before = moved[step.address].before if step.address in moved else self.reader.read(step.address).bytes
            links_ = next((one.links for one in carried.carried if one.address == step.address), 0)
            what = f"{links_:,} link{'s' * (links_ != 1)} updated"
            changes[step.address] = IndexChange(step.address, before, step.data, step.expected_sha256, "", (what,))
        # An index that comes as a file gets the lines of the others once it is there.
        coming = {
            item.new: IndexChange(item.new, item.after, item.after, sha256(item.after).hexdigest(), "")
            for item in going
            if self.roots[item.new.root].policy.is_index(item.new.path)
        }
        if not self.wish.alone:
            for root_id in dict.fromkeys(item.new.root for item in going):
                items = [item for item in going if item.new.root == root_id and item.old.root != root_id]
                root = self.roots[root_id]
                for change in index_lines.added(
                    self.reader, root, items, self.said, self.rows[root_id], coming | changes
                ):
                    changes[change.address] = change
        return tuple(changes.values()), carried.left, carried.rest


def translates(pairs: Iterable[tuple[Address, Address]], roots: Mapping[str, Root]) -> bool:
    """Whether any of these memories needs more than a copy of its bytes to be at home where it goes."""
    return any(
        old.root in roots and new.root in roots and differs(roots[old.root], roots[new.root]) for old, new in pairs
    )
