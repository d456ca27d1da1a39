"""The verbs that change memories and folders of them, each as one transaction with one undo step.

A folder is no memory and has no history; it exists as long as something is in it. That is settled here, so that no
front leaves empty folders behind, moves a folder into itself or mixes two. It is apart so that only a command that uses
it loads it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256

from memtui.engine.changes.folders import clear_below
from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import StillWritten
from memtui.engine.disk.paths import Siblings
from memtui.engine.ledger.audit import MOVED, Txn
from memtui.engine.look.library import below, selected
from memtui.engine.model import (
    Actor,
    Address,
    Change,
    Conflict,
    Done,
    FieldEdit,
    MergeOf,
    Outcome,
    Root,
    Saved,
    Unchanged,
)
from memtui.engine.part import (
    EnginePart,
    batched,
    each,
    encode,
    in_batches,
    mode,
    retry_after_repair,
    too_big,
    transaction,
    when_settled,
)
from memtui.engine.save import files, names
from memtui.engine.save.files import CARRIED, NEWS_STAYS, Job, Site
from memtui.engine.save.merge_note import merge_note
from memtui.engine.save.names import TargetFolder
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError


class Memories(EnginePart):
    """Saves, creates, renames, copies, deletes and restores memories; a folder changes memory by memory.

    Checks the root's rules, and leaves the disk to `save/`.
    """

    @retry_after_repair
    def save(
        self,
        address: Address,
        text: str | bytes,
        expected: str | None,
        *,
        actor: Actor,
        merge: MergeOf | None = None,
        news_since: str | None = None,
    ) -> Saved | Unchanged | Conflict:
        """See `Engine.save`."""
        root = self._rules.writable(address, actor)
        data = encode(text, root, address)
        if expected is None:
            try:
                return self.create(address, data, actor=actor)
            except ConflictError as error:
                if error.code != "E_EXISTS":
                    raise
                with self._roots.site(root, actor) as site:
                    return self._refused(site, address, data, actor)

        note = merge_note(merge, sha256(data).hexdigest()) if merge is not None else ""
        if news_since is not None:
            record = self._ledger.memories.record(self._roots.uid(root), address.path)
            note = NEWS_STAYS if record is not None and record.seen_sha256 == news_since else note

        def replace(site: Site, job: Job) -> Saved | Unchanged | Conflict:
            return files.replace(site, address, data, expected, job)

        try:
            return self._written(root, address, actor, replace, note)
        except NotFoundError as error:
            if error.code not in ("E_NOT_FOUND", "E_ROOT_MISSING"):
                raise
            return self._gone(root, address, data, expected, actor)

    @retry_after_repair
    def edit(
        self, address: Address, change: Callable[[bytes], str | bytes], *, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Replace a memory's text by what `change` makes of it, under the root's lock, so it must be quick.

        Returns a `Conflict` only when a program outside memtui was in between, so that the caller may try again.
        """
        root = self._rules.writable(address, actor)

        def replace(site: Site, job: Job) -> Saved | Unchanged | Conflict:
            return files.edit(site, address, lambda data: encode(change(data), root, address), job)

        return self._written(root, address, actor, replace)

    def _written(
        self,
        root: Root,
        address: Address,
        actor: Actor,
        replace: Callable[[Site, Job], Saved | Unchanged | Conflict],
        note: str = "",
    ) -> Saved | Unchanged | Conflict:
        """Replace one text as a transaction of its own, when nobody is writing it, and publish the change."""
        txn = transaction(self._ledger, "save", actor, f"save {address}")
        result = self._change(root, Job(txn, actor, "modified", note=note), replace)
        if isinstance(result, Saved):
            self._tell(address, "modified", actor, result.before, result.sha256)
        return result

    def _gone(self, root: Root, address: Address, data: bytes, expected: str, actor: Actor) -> Conflict:
        """Report a file or folder that vanished as a conflict: it is never recreated silently."""
        uid = self._roots.uid(root)
        with self._ledger.transaction():
            yours = self._ledger.versions.keep_text(uid, address.path, data, actor=actor.name, note=files.REFUSED)
            txn = transaction(self._ledger, "save", actor, f"save {address}")
            self._ledger.audit.intend(
                txn.id,
                uid,
                address.path,
                actor=actor.name,
                operation="modified",
                before=None,
                after=yours,
                state="conflict",
            )
        return Conflict(address, None, expected, yours, str(txn.id))

    def _refused(self, site: Site, address: Address, data: bytes, actor: Actor) -> Unchanged | Conflict:
        txn = transaction(self._ledger, "create", actor, f"create {address}")
        found = handles.read(site.handle, address, calm=True)
        if found.data == data:
            return Unchanged(address, found.sha)
        return files.refuse(site, address, data, None, found, Job(txn, actor, "created"))

    @retry_after_repair
    def create(self, address: Address, text: str | bytes, *, actor: Actor) -> Saved | Unchanged:
        """Create a memory; raises `ConflictError` (`E_EXISTS`, `E_CLASH`) when another text has the name."""
        root = self._rules.writable(address, actor)
        data = encode(text, root, address)
        self._rules.check_new(root, address)
        txn = transaction(self._ledger, "create", actor, f"create {address}")
        return self._make(root, address, data, Job(txn, actor, "created"))

    def _make(self, root: Root, address: Address, data: bytes, job: Job) -> Saved | Unchanged:
        with self._roots.site(root, job.actor, create=True) as site:
            self._rules.check_room(site, root)
            result = names.create(site, address, data, job, mode=mode(root))
        if isinstance(result, Saved):
            self._tell(address, "created", job.actor, None, result.sha256)
        return result

    @retry_after_repair
    def restore(self, address: Address, *, version: str | None = None, actor: Actor) -> Saved | Unchanged | Conflict:
        """Bring a memory back from the trash, or one of its old versions."""
        root = self._rules.writable(address, actor)
        uid = self._roots.uid(root)
        if version is None:
            entry = next(
                (e for e in self._ledger.activity.trash({uid: root.id}) if e.address.path == address.path), None
            )
            if entry is None:
                raise NotFoundError(f"{address} is not in the trash.", hint="`memtui trash` lists what is.")
            sha, data = entry.sha256, self._ledger.versions.blob(entry.sha256)
        else:
            sha = self._ledger.versions.find_version(uid, address.path, version)
            data = self._ledger.versions.version_text(uid, address.path, sha)
        text = data or b""

        def bring_back(site: Site, job: Job) -> Saved | Unchanged | Conflict:
            return _bring_back(site, address, text, job, over=version is not None)

        txn = transaction(self._ledger, "restore", actor, f"restore {address}")
        result = self._change(root, Job(txn, actor, "restored"), bring_back, create=True)
        if isinstance(result, Saved):
            self._tell(address, "created" if result.before is None else "modified", actor, result.before, sha)
        return result

    @retry_after_repair
    def edit_fields(
        self, address: Address, edits: Iterable[FieldEdit], *, expected_sha256: str, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Set and remove front-matter fields in one save, changing no other byte; see `save`."""
        root = self._rules.writable(address, actor)
        found = handles.read(self._roots.reading(root), address)
        same = found.sha == expected_sha256
        started = found.data if same else self._kept(root, address, expected_sha256) or found.data
        from memtui.engine.frontmatter.edit import set_fields

        return self.save(address, set_fields(started, edits), expected_sha256, actor=actor)

    def _kept(self, root: Root, address: Address, sha: str) -> bytes | None:
        try:
            return self._ledger.versions.version_text(self._roots.uid(root), address.path, sha)
        except NotFoundError:
            return None

    def _delete_each(
        self, addresses: Iterable[Address], actor: Actor, expected: Mapping[Address, str | None] | None = None
    ) -> Done:
        chosen = list(dict.fromkeys(addresses))
        self._rules.refuse_read_only()
        txn = transaction(self._ledger, "delete", actor, label_of("delete", chosen))
        job = Job(txn, actor, "deleted")

        def one(address: Address) -> Outcome:
            root, version = self._rules.writable(address, actor), (expected or {}).get(address)
            result = self._change(root, job, lambda site, job: names.remove(site, address, version, job))
            if isinstance(result, Conflict):
                return Outcome(address, result)
            self._tell(address, "deleted", actor, result.before, None)
            return Outcome(address, None)

        def some(batch: Collection[Address]) -> Mapping[Address, Outcome]:
            root = self._rules.writable(next(iter(batch)), actor)
            for address in batch:
                self._rules.writable(address, actor)
            folder = handles.split(next(iter(batch)).path)[:-1]
            wanted = {address: (expected or {}).get(address) for address in batch}
            with self._roots.site(root, actor) as site:
                found = names.remove_some(site, folder, wanted, job._replace(patient=True))
            now = self._ledger.clock()
            self._events.changed(
                Change(address, "deleted", actor.name, result.before, None, now)
                for address, result in found.items()
                if isinstance(result, Saved)
            )
            return {address: _outcome(address, result) for address, result in found.items()}

        outcomes = in_batches(self._events.pace, batched(chosen, _folder), some, one, failed)
        return Done(str(txn.id), "delete", outcomes, label_of("delete", chosen))

    @retry_after_repair
    def move(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Rename memories as one undo step, with an outcome for each."""
        return self._move_each(pairs, actor)

    def _move_each(self, pairs: Iterable[tuple[Address, Address]], actor: Actor, txn: Txn | None = None) -> Done:
        chosen = list(pairs)
        self._rules.refuse_read_only()
        label = (
            f"rename {chosen[0][0]} to {chosen[0][1]}" if len(chosen) == 1 else label_of("move", [a for a, _ in chosen])
        )
        txn = txn or transaction(self._ledger, "rename", actor, label)
        targets = dict(chosen)

        def one(address: Address) -> Outcome:
            return self.move_one(address, targets[address], None, Job(txn, actor, "renamed"))

        siblings, here = Siblings(), ("", "")

        def some(batch: Collection[Address]) -> Mapping[Address, Outcome]:
            nonlocal siblings, here
            first = next(iter(batch))
            if _folder(first)[0] != _folder(targets[first])[0]:
                return {}  # a move between two roots is two changes for each
            if here != _folder(targets[first]):
                siblings, here = Siblings(), _folder(targets[first])
            return self._move_some({old: targets[old] for old in batch}, job, siblings)

        job = Job(txn, actor, "renamed")
        # Where one takes the name that another has or had, the order counts: they are done one after another.
        chained = not targets.keys().isdisjoint(targets.values())
        batches = batched(targets, lambda old: old if chained else (_folder(old), _folder(targets[old])))
        return Done(str(txn.id), "rename", in_batches(self._events.pace, batches, some, one, failed), label)

    def _move_some(self, wanted: Mapping[Address, Address], job: Job, siblings: Siblings) -> dict[Address, Outcome]:
        """Rename several memories of one folder into another one; those left out are renamed one by one."""
        old, new = next(iter(wanted.items()))
        root = self._rules.writable(old, job.actor)
        for address, target in wanted.items():
            self._rules.writable(address, job.actor)
            self._rules.check_new(self._rules.writable(target, job.actor), target)
        pairs = {address: (target, None) for address, target in wanted.items()}
        with (
            self._roots.site(root, job.actor) as site,
            TargetFolder(site, handles.split(new.path)[:-1], siblings) as there,
        ):
            found = names.rename_some(site, handles.split(old.path)[:-1], there, pairs, job._replace(patient=True))
        now = self._ledger.clock()
        self._events.changed(
            Change(wanted[address], "renamed", job.actor.name, result.before, result.sha256, now, address)
            for address, result in found.items()
            if isinstance(result, Saved)
        )
        return {address: _outcome(address, result, wanted[address]) for address, result in found.items()}

    def move_one(
        self, address: Address, new: Address, expected: str | None, job: Job, *, again: bool = False
    ) -> Outcome:
        """Rename within a root, or create and then delete between two: a crash leaves a duplicate, never a loss.

        With `again` the memory had the new name before, so the name need not be one memtui would make.
        """
        source, target = self._rules.writable(address, job.actor), self._rules.writable(new, job.actor)
        if not again:
            self._rules.check_new(target, new)
        if address == new:
            raise ConflictError(f"{address} has that name already.", code="E_EXISTS", hint="Choose another name.")

        result = when_settled(job, lambda job: self.move_within(source, target, address, new, expected, job))
        if isinstance(result, Saved):
            self._tell(new, "renamed", job.actor, result.before, result.sha256, address)
        return Outcome(address, result, new_address=new)

    def move_within(
        self, source: Root, target: Root, address: Address, new: Address, expected: str | None, job: Job
    ) -> Saved | Conflict:
        """Do only the renaming, without checks, retries and events."""
        if source.id != target.id:
            return self._carry(source, target, address, new, expected, job)
        with self._roots.site(source, job.actor) as site:
            return names.rename(site, address, new, expected, job)

    def _carry(
        self, source: Root, target: Root, address: Address, new: Address, expected: str | None, job: Job
    ) -> Saved | Conflict:
        first, second = sorted((source, target), key=self._roots.uid)
        with (
            self._roots.site(first, job.actor, create=True) as one,
            self._roots.site(second, job.actor, create=True) as two,
        ):
            here, there = (one, two) if first.id == source.id else (two, one)
            found = handles.read(here.handle, address, calm=True)
            if job.patient and not found.settled:
                raise StillWritten
            job = job._replace(patient=False)  # what comes next is one change in two steps
            if expected is not None and found.sha != expected:
                return files.refuse(here, address, None, expected, found, job)
            if len(found.data) > target.policy.write_bytes:
                raise too_big(new, len(found.data), target.policy.write_bytes)
            self._rules.check_room(there, target)
            note = CARRIED if self._roots.brought(source, found.sha) else job.note
            arriving = job._replace(operation="created", note=note)
            made = names.create(there, new, found.data, arriving, mode=found.status.st_mode)
            if isinstance(made, Unchanged):
                raise names.taken(new)
            gone: Saved | Conflict | None = None
            try:
                leaving = job._replace(operation="deleted", note=MOVED)
                gone = names.remove(here, address, found.sha, leaving, moved_to=(there.uid, new.path))
            finally:
                if not isinstance(gone, Saved):
                    _uncarry(here, address, there, new, found.sha, job)
            if isinstance(gone, Conflict):
                return gone
            return Saved(new, found.sha, found.sha, str(job.txn.id))

    # --- memories and folders

    @retry_after_repair
    def rename(self, address: Address, new: Address, *, actor: Actor) -> Done:
        """Rename a memory or a folder of memories, also to another root; pins and history follow.

        Of a folder all memories are renamed or none; what is no memory stays. Raises when it was not renamed.
        """
        inside = below(self._roots, address)
        if inside is not None:
            return self._rename_folder(address, new, inside, actor)
        done = self._move_each([(address, new)], actor)
        if done.outcomes[0].error is not None:
            raise done.outcomes[0].error
        return done

    def _rename_folder(self, address: Address, new: Address, inside: Iterable[Address], actor: Actor) -> Done:
        self._refuse_taken(address, new)
        pairs = [(item, Address(new.root, new.path + item.path[len(address.path) :])) for item in inside]
        for item, target in pairs:
            self._rules.writable(item, actor)
            self._rules.check_new(self._rules.writable(target, actor), target)
        if not pairs:
            raise NotFoundError(f"There are no memories in {address}.", hint="Only folders of memories are renamed.")
        label = f"rename {address} to {new}"
        txn = transaction(self._ledger, "rename", actor, label)
        done = self._move_each(pairs, actor, txn=txn)._replace(label=label)
        refused = next((outcome for outcome in done.outcomes if not outcome.ok), None)
        if refused is not None:
            raise self._moved_back(txn, [outcome for outcome in done.outcomes if outcome.ok], refused, actor)
        self._clear(address, actor)
        return done

    def _moved_back(self, txn: Txn, moved: list[Outcome], refused: Outcome, actor: Actor) -> MemtuiError:
        """Undo a partial folder rename; return the error that stopped it."""
        stuck = 0
        for outcome in reversed(moved):
            if outcome.new_address is not None:
                job = Job(txn, actor, "renamed")
                try:
                    back = self.move_one(outcome.new_address, outcome.address, None, job, again=True)
                    stuck += not back.ok
                except MemtuiError:
                    stuck += 1
        if not stuck:
            self._ledger.undo.mark_undone(txn.id)
        error = refused.error or ConflictError(
            f"{refused.address} was changed by another program in that moment.", hint="Try again."
        )
        if stuck:
            error.unharmed = f"{stuck} of the others could not be given their old name again; undo takes them back."
        return error

    @retry_after_repair
    def delete(
        self, addresses: Iterable[Address], *, actor: Actor, expected: Mapping[Address, str | None] | None = None
    ) -> Done:
        """Move memories, and all memories of folders, to the trash as one undo step.

        A memory that has another version than `expected` stays, as a `Conflict`.
        """
        chosen: list[Address] = []
        folders: list[Address] = []
        for address in addresses:
            inside = below(self._roots, address)
            if inside is None:
                chosen.append(address)
            else:
                folders.append(address)
                chosen += inside
        done = self._delete_each(chosen, actor, expected)
        bare = []
        for folder in folders:
            touched = any(item.path.startswith(folder.path + "/") and item.root == folder.root for item in chosen)
            try:
                self._clear(folder, actor)
                if not touched and below(self._roots, folder) is not None:
                    raise _not_empty(folder)
            except MemtuiError as error:
                bare.append(Outcome(folder, None, error))
            else:
                bare += [] if touched else [Outcome(folder, None)]
        return done._replace(outcomes=(*done.outcomes, *bare))

    @retry_after_repair
    def copy(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Copy memories to new names, also in another root, as one undo step; never over a memory."""
        chosen = list(dict(pairs).items())
        self._rules.refuse_read_only()
        what = f"{chosen[0][0]} to {chosen[0][1]}" if len(chosen) == 1 else f"{len(chosen)} memories"
        label = f"copy {what}"
        txn = transaction(self._ledger, "create", actor, label)
        outcomes = each(
            self._events.pace,
            chosen,
            lambda pair: self._copy(*pair, txn, actor),
            lambda pair, error: Outcome(pair[0], None, error, pair[1]),
        )
        return Done(str(txn.id), "create", outcomes, label)

    def _copy(self, address: Address, new: Address, txn: Txn, actor: Actor) -> Outcome:
        source = self._rules.allowed(address.root)
        target = self._rules.writable(new, actor)
        self._rules.check_new(target, new)
        found = handles.read(self._roots.reading(source), address)
        if len(found.data) > target.policy.write_bytes:
            raise too_big(new, len(found.data), target.policy.write_bytes)
        note = CARRIED if self._roots.brought(source, found.sha) else ""
        result = self._make(target, new, found.data, Job(txn, actor, "created", note=note))
        if isinstance(result, Unchanged):
            raise names.taken(new)
        return Outcome(address, result, new_address=new)

    def _refuse_taken(self, address: Address, new: Address) -> None:
        if address == new:
            raise ConflictError(f"{address} has that name already.", code="E_EXISTS", hint="Choose another name.")
        if new.root == address.root and new.path.startswith(address.path + "/"):
            raise RefusedError(
                f"{address} cannot be moved to {new}: a folder cannot be moved inside itself.",
                code="E_NAME",
                hint="Choose a name outside of it.",
            )
        parts = handles.split(new.path)
        try:
            handle = self._roots.reading(self._roots.find(new.root))
            with handle.folder(parts[:-1]) as above:
                fsio.stat_at(above, parts[-1])
            with suppress(NotFoundError), handle.folder(parts) as there:  # else no folder has the name
                if not fsio.list_dir(there):
                    return
        except (NotFoundError, FileNotFoundError):
            return
        except OSError as error:
            raise paths.translate(error, f"Looking at {new}") from error
        raise names.taken(new)

    def _clear(self, address: Address, actor: Actor) -> None:
        root = self._rules.writable(address, actor)
        parts = handles.split(address.path)
        with self._roots.site(root, actor) as site:
            try:
                with site.handle.folder(parts) as folder:
                    clear_below(folder, selected(root.policy, parts))
            except NotFoundError:
                return  # it went with the last of its memories
            site.handle.prune(parts)


def _uncarry(here: Site, address: Address, there: Site, new: Address, sha: str, job: Job) -> None:
    """Remove a copy whose original is still there; on failure it stays as a duplicate."""
    with suppress(MemtuiError):
        handles.read(here.handle, address)
        names.remove(there, new, sha, job._replace(operation="deleted"))


def _bring_back(site: Site, address: Address, data: bytes, job: Job, *, over: bool) -> Saved | Unchanged | Conflict:
    """Restore a stored text; replace another text only with `over`."""
    found = handles.read_if_there(site.handle, address)
    if found is None:
        return names.create(site, address, data, job)
    if not over and found.data != data:
        raise ConflictError(
            f"{address} exists again, with another text.",
            code="E_EXISTS",
            unharmed="Both texts are kept.",
            hint="Rename one, or restore the version over it with --version.",
            details={"current_sha256": found.sha},
        )
    return files.replace(site, address, data, found.sha, job)


def _outcome(address: Address, result: Saved | Conflict | MemtuiError, new: Address | None = None) -> Outcome:
    if isinstance(result, MemtuiError):
        return Outcome(address, None, result)
    return Outcome(address, None if new is None and isinstance(result, Saved) else result, new_address=new)


def _folder(address: Address) -> tuple[str, str]:
    return address.root, address.path.rpartition("/")[0]


def failed(address: Address, error: MemtuiError) -> Outcome:
    """Return the outcome of a memory that was left unchanged."""
    return Outcome(address, None, error)


def label_of(verb: str, addresses: list[Address]) -> str:
    """Return the label of a change of several memories."""
    return f"{verb} {addresses[0]}" if len(addresses) == 1 else f"{verb} {len(addresses)} memories"


def _not_empty(folder: Address) -> RefusedError:
    return RefusedError(
        f"{folder} holds no memories, but other files.",
        code="E_NOT_REGULAR",
        hint="Look into it with another program; memtui deletes memories only.",
    )
