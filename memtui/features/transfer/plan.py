"""Transfers and new memories as a whole: each memory in its agent's format, the indexes, one list of steps.

Planned before the first byte is written, then done as one undo step. What cannot go stays, with the reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.agents.known.memtui_native import ID as OWN
from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import TYPES, Actor, Address, Done, FieldEdit, Outcome, Rename, Root, Step, Write
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.transfer import shape
from memtui.features.transfer.model import (
    SAID,
    IndexChange,
    Note,
    TakenNames,
    Transfer,
    TransferPlan,
    Translation,
    fitted,
    refusal,
    slug_of,
    steps_of,
    unseen,
)
from memtui.features.transfer.shape import (
    DESCRIPTION,
    LINKS,
    METADATA,
    NAME,
    REQUIRED,
    TYPE,
    Hints,
    Mention,
    lines_added,
    nests_type,
    translate,
)
from memtui.pointers import links, references

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory

TAKEN, MISSING = "the name is taken", "there is no such memory"
INDEX = "it is an index: its lines go with the memories they name (--as-is takes it as a file)"
_SHOWN_LINKS = 3


class TransferOptions(NamedTuple):
    """How to transfer."""

    moving: bool = False
    as_is: bool = False
    """Keep every byte of the memories."""
    alone: bool = False
    """Leave indexes and links as they are."""
    fit: bool = True
    """Give names the target's own ending."""
    masked: bool = False
    """Mask secrets in copies to another root."""


def secrets_of(reader: Engine, pairs: Iterable[tuple[Address, Address]]) -> tuple[Address, ...]:
    """Return the memories that would take a secret to another root."""
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
    """Return the error for secrets that nobody decided about."""
    first = f"{found[0]} holds a secret" if len(found) == 1 else f"{len(found):,} memories hold secrets: {found[0]}, .."
    return RefusedError(f"{first}.", code="E_SECRET", unharmed="Nothing was written.", hint=hint)


def differs(source: Root, target: Root) -> bool:
    """Tell whether another root needs more than a copy of a memory's bytes."""
    linked = any(root.policy.index_format == shape.LINKS for root in (source, target))
    return source.id != target.id and (source.agent != target.agent or linked)


def plan(reader: Engine, pairs: Iterable[tuple[Address, Address]], options: TransferOptions) -> TransferPlan:
    """Plan a transfer of memories from old to new addresses; nothing is written."""
    return _Planning(reader, list(dict(pairs).items()), options).done()


def apply(engine: Engine, wanted: TransferPlan, *, actor: Actor) -> Done:
    """Carry out a plan as one undo step, or nothing of it (`ConflictError`) when something has changed.

    Returns an outcome for each memory of the plan; its error where it stayed.
    """
    failed = [one for one in wanted.staying if not (one.is_index and wanted.going)]
    staying = [Outcome(one.old, None, _stays(one), one.new) for one in failed]
    if not wanted.steps:
        if len(staying) == 1 and staying[0].error is not None:
            raise staying[0].error
        raise UsageError("None of the memories can go there.", hint="--dry-run says why for each.")
    unharmed, hint = "Nothing was copied or moved.", "Look at it, and do it again."
    done = do_all(engine, wanted.steps, actor=actor, label=wanted.words, unharmed=unharmed, hint=hint)
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


def do_all(engine: Engine, steps: Sequence[Step], *, actor: Actor, label: str, unharmed: str, hint: str) -> Done:
    """Carry out steps as one undo step, or none of them; raises ConflictError where a memory changed meanwhile."""
    done = engine.together.do(steps, actor=actor, label=label)
    for outcome in done.outcomes:
        if not outcome.ok:
            raise ConflictError(f"{outcome.address} changed meanwhile.", unharmed=unharmed, hint=hint)
    return done


def copy(
    engine: Engine,
    pairs: Sequence[tuple[Address, Address]],
    secrets: str,
    *,
    actor: Actor,
    options: TransferOptions | None = None,
) -> Done:
    """Copy memories as one undo step, with a person's choice about secrets that go to another root.

    `secrets` is `keep`, `mask`, `leave` these memories out, or empty: undecided, which raises `E_SECRET`.
    """
    found = () if secrets == "keep" else secrets_of(engine, pairs)
    going = [pair for pair in pairs if secrets != "leave" or pair[0] not in found]
    if found and (not secrets or not going):
        raise refused_for_secrets(found, "Say whether to keep or mask it.")
    masked = secrets == "mask" and bool(found)
    if options is None and not masked:
        return engine.memories.copy(going, actor=actor)
    options = options or TransferOptions(as_is=True, alone=True, fit=False)
    return apply(engine, plan(engine, going, options._replace(masked=masked)), actor=actor)


def _stays(item: Transfer) -> MemtuiError:
    kind = {TAKEN: ConflictError, MISSING: NotFoundError}.get(item.problem, RefusedError)
    return kind(
        f"{item.old} cannot go to {item.new}: {item.problem}.",
        code="E_EXISTS" if item.problem == TAKEN else None,
        unharmed="It stays as it is.",
        hint="Choose another name or place.",
    )


def remarks(data: bytes, old_name: str, new: Address, target: Root) -> list[Note]:
    """Return what is worth knowing of a memory in its new root `target`."""
    policy, title = target.policy, title_of(target.agent)
    notes: list[Note] = []
    if new.name != old_name and fitted(old_name, target) == new.name:
        notes.append(Note(SAID, f"named {new.name}: {title} reads {policy.suffix}"))
    why = unseen(new, target)
    if why:
        notes.append(Note(SAID, why))
    limit, chars = policy.shown_bytes, policy.limit_of(new.path)
    if (limit is not None and len(data) > limit) or (
        chars is not None and len(data.decode("utf-8", "replace")) > chars
    ):
        notes.append(Note(SAID, f"larger than {title} takes"))
    if paths.matches(new.path, policy.generated):
        notes.append(Note(SAID, f"{title} makes this file anew"))
    if policy.format_of(new.path) == "goose":
        notes.append(Note(SAID, f"{title} takes each paragraph for an entry of its own"))
    return notes


def dead_links(data: bytes, old: str, new: str, present: Container[str], there: Container[str]) -> list[Note]:
    """Name the links of a memory that lead nowhere in its new root, which will have the memories `there`."""
    before = links.parse_links(data, old)
    after = links.parse_links(data, new)
    found = [
        one.target for one, other in zip(before, after, strict=True) if one.path in present and other.path not in there
    ]
    lost = list(dict.fromkeys(found))
    if not lost:
        return []
    more = f" and {len(lost) - _SHOWN_LINKS} more" if len(lost) > _SHOWN_LINKS else ""
    shown = ", ".join(lost[:_SHOWN_LINKS]) + more
    return [Note(SAID, f"links that lead nowhere there: {shown}")]


class _Planning:
    def __init__(self, reader: Engine, pairs: Sequence[tuple[Address, Address]], options: TransferOptions) -> None:
        self.reader, self.options = reader, options
        self.pairs = [(old, self._named(new)) for old, new in pairs]
        ids = dict.fromkeys(one.root for pair in self.pairs for one in pair)
        self.roots = {root_id: reader.roots.find(root_id) for root_id in ids}
        listing = reader.rows.list(list(ids))
        self.rows: dict[str, dict[str, Memory]] = {root_id: {} for root_id in ids}
        for row in listing.items:
            if row.address.root in self.rows:
                self.rows[row.address.root][row.address.path] = row
        self.there: dict[str, set[str]] = {root_id: set(rows) for root_id, rows in self.rows.items()}
        for _, new in self.pairs:
            self.there[new.root].add(new.path)
        self.said = self._mentions()
        self.nested: dict[str, bool | None] = {}

    def _named(self, new: Address) -> Address:
        root = self.reader.roots.find(new.root)
        path = fitted(new.path, root) if self.options.fit and not self.options.as_is else new.path
        return Address(root.id, path)

    def _mentions(self) -> dict[Address, Mention]:
        found: dict[Address, Mention] = {}
        for root_id in {old.root for old, _ in self.pairs}:
            wanted = [old.path for old, _ in self.pairs if old.root == root_id]

            def text(home: str, root_id: str = root_id) -> bytes:
                return self.reader.read(Address(root_id, home)).bytes

            said = shape.mentions(text, self.roots[root_id].policy, wanted, self.rows[root_id])
            found |= {Address(root_id, path): mention for path, mention in said.items()}
        return found

    def done(self) -> TransferPlan:
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
        return TransferPlan(self.options.moving, tuple(items), changes, tuple(steps), left, count, rest)

    def _steps(self, item: Transfer) -> list[Step]:
        if not self.options.moving:
            return [Write(item.new, item.after, None)]
        sha = self.rows[item.old.root][item.old.path].sha256
        steps: list[Step] = [Rename(item.old, item.new, sha)]
        if item.changed:
            steps.append(Write(item.new, item.after, sha))
        return steps

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
        masked = self.options.masked and old.root != new.root
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
        linked = source.policy.index_format == shape.LINKS and source.policy.is_index(old.path)
        if linked and source.id != target.id and not self.options.as_is and not self.options.alone:
            return INDEX
        if self.options.moving and source.read_only:
            return f"{source.id} is read-only"
        if new.path in self.rows[new.root]:
            return TAKEN
        return "another one has this name" if new in used else refusal(new, target)

    def _translated(self, data: bytes, old: Address, new: Address) -> Translation:
        source, target = self.roots[old.root], self.roots[new.root]
        if self.options.as_is or source.agent == target.agent:
            return Translation(data)
        mention = self.said.get(old, Mention())
        return translate(data, target, new.path, Hints(mention.title, mention.hook, self._habit(target)))

    def _habit(self, root: Root) -> bool | None:
        if root.id not in self.nested:
            self.nested[root.id] = nests_type(self.reader, self.rows[root.id].values())
        return self.nested[root.id]

    def _notes(self, data: bytes, old: Address, new: Address) -> list[Note]:
        source, target = self.roots[old.root], self.roots[new.root]
        if source.id == target.id:
            return []
        lost = dead_links(data, old.path, new.path, self.rows[old.root], self.there[new.root])
        return [*remarks(data, old.name, new, target), *lost]

    def _carried(self, going: Sequence[Transfer]) -> references.ReferencePlan:
        if not self.options.moving or self.options.alone:
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
        if not self.options.alone:
            for root_id in dict.fromkeys(item.new.root for item in going):
                items = [item for item in going if item.new.root == root_id and item.old.root != root_id]
                root = self.roots[root_id]
                for change in shape.lines_added(
                    self.reader, root, items, self.said, self.rows[root_id], coming | changes
                ):
                    changes[change.address] = change
        return tuple(changes.values()), carried.left, carried.rest


def translates(pairs: Iterable[tuple[Address, Address]], roots: Mapping[str, Root]) -> bool:
    """Tell whether any of these memories needs more than a copy of its bytes."""
    return any(
        old.root in roots and new.root in roots and differs(roots[old.root], roots[new.root]) for old, new in pairs
    )


class MemoryFields(NamedTuple):
    """Contents of a new memory."""

    name: str
    description: str = ""
    type: str = ""
    body: str = ""


class NewPlan(NamedTuple):
    """A new memory, before it is created."""

    address: Address
    changes: tuple[IndexChange, ...]
    """The memory first, then the index that names it."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """For `Engine.together`."""
        return steps_of(self.changes)


def has_shape(root: Root) -> bool:
    """Tell whether a root's agent wants fields in a memory, or finds one by a line of its index."""
    return bool(root.policy.fields) or root.policy.index_format == LINKS


def fields_of(root: Root) -> tuple[str, ...]:
    """Return the fields of the form for a new memory of a root."""
    typed = TYPE in root.policy.fields and root.policy.types
    return (NAME, DESCRIPTION, TYPE) if typed else (NAME, DESCRIPTION)


def plan_new(engine: Engine, root: Root, folder: str, sheet: MemoryFields) -> NewPlan:
    """Plan a memory that a person creates in a folder (empty: the usual place); nothing is written.

    A name with the ending of a file is the name of the file.
    """
    if not sheet.name.strip():
        raise UsageError("Type a name.")
    rows = {row.address.path: row for row in engine.rows.list([root.id]).items}
    ending, name = root.policy.suffix or ".md", sheet.name.strip()
    if (root.policy.index_file or "").startswith("*/") and not folder and "/" not in name:
        raise RefusedError(
            f"{root.label or root.id} keeps a folder for each of several agents, and reads nothing beside them.",
            hint=f"Type the folder too: reviewer/{slug_of(name)}{ending}",
        )
    if name.endswith(ending) and name != ending:
        path = name if "/" in name else f"{folder}/{name}".lstrip("/")
        name = path.rpartition("/")[2].removesuffix(ending)
    elif folder:
        path = fitted(f"{folder}/{slug_of(name)}.md", root)
    else:
        path = usual_path(root, slug_of(name), sheet.type, rows)
    address = Address(root.id, path)
    clash = TakenNames(rows).clash(path)
    if clash or path in rows:
        raise ConflictError(f"{clash or path} is there already.", code="E_EXISTS", hint="Choose another name.")
    return NewPlan(address, shaped(engine, root, path, sheet._replace(name=name), rows))


def usual_path(root: Root, slug: str, kind: str, rows: Mapping[str, Memory]) -> str:
    """Return the path of a new memory, named like its siblings (`rows`); it may be taken."""
    names = [path for path in rows if not root.policy.is_index(path) and path.endswith(root.policy.suffix or ".md")]
    folders = any(path.partition("/")[0] in TYPES for path in names if "/" in path)
    flat = [path for path in names if "/" not in path]
    stem = f"{kind}/{slug}" if kind else slug
    if root.policy.new_in:
        stem = f"{root.policy.new_in}{slug}"
    elif root.policy.include is not None:
        stem = next((one for one in root.policy.include if one.endswith("/")), "") + slug
    elif root.agent != OWN and flat and not folders:
        prefixed = sum(path.partition("_")[0] in TYPES for path in flat)
        stem = f"{kind}_{slug}" if kind and prefixed * 2 > len(flat) else slug
    return fitted(f"{stem}.md", root)


def shaped(
    engine: Engine, root: Root, path: str, sheet: MemoryFields, rows: Mapping[str, Memory]
) -> tuple[IndexChange, ...]:
    """Return the changes that create a memory in its agent's format: the memory, then its index."""
    address = Address(root.id, path)
    why = refusal(address, root)
    if why:
        raise RefusedError(
            f"It cannot become {address}: {why}.", hint="Choose another root with --to, or write it with memtui create."
        )
    policy = root.policy
    lately = nests_type(engine, rows.values())
    nested = policy.front_matter != REQUIRED and (policy.nests_type if lately is None else lately)
    values = {NAME: sheet.name, DESCRIPTION: sheet.description, TYPE: sheet.type}
    edits = [
        FieldEdit((METADATA, TYPE) if nested and field == TYPE else (field,), value.strip())
        for field, value in values.items()
        if value.strip() and (not policy.fields or field in policy.fields)
    ]
    found = translate(set_fields(f"\n{sheet.body}".encode(), edits), root, path, Hints(nested=nested))
    notes = tuple(f"{note.text}." for note in found.notes)
    made = IndexChange(address, b"", found.data, None, "", notes)
    item = Transfer(address, address, b"", found.data)
    return (made, *lines_added(engine, root, [item], {address: Mention(hook=sheet.description)}, rows, {}))
