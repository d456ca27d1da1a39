"""The verbs on memories and on folders of them, and copies.

A folder is no memory and has no history; it is there as long as something is in it. It is settled here, so that no
front leaves empty folders behind, moves a folder into itself or mixes two of them.
It is apart so that only a command that uses it loads it.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from memtui.engine.changes.change import Changer
from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.paths import Selection
from memtui.engine.ledger.audit import Txn
from memtui.engine.look.folder_listing import below, kind_of, selected
from memtui.engine.model import Actor, Address, Change, Done, Outcome, Saved, Unchanged
from memtui.engine.part import each, mode, retry_after_repair, too_big, transaction
from memtui.engine.save import files
from memtui.engine.save.commit import CARRIED, Job
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError


class Memories(Changer):
    """Changes memories; a folder of them changes memory by memory, as one undo step."""

    @retry_after_repair
    def rename(self, address: Address, new: Address, *, actor: Actor, expected_sha256: str | None = None) -> Done:
        """Rename a memory or a folder of memories, within a root or to another one; pins and history follow.

        A folder keeps what is not listed as a memory, and all of its memories are renamed or none.

        Raises:
            MemtuiError: it was not renamed.
        """
        inside = below(self._roots, address)
        if inside is not None:
            return self._rename_folder(address, new, inside, actor)
        done = self.move_each([(address, new)], actor, expected_sha256)
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
        done = self.move_each(pairs, actor, txn=txn)._replace(label=label)
        refused = next((outcome for outcome in done.outcomes if not outcome.ok), None)
        if refused is not None:
            raise self._moved_back(txn, [outcome for outcome in done.outcomes if outcome.ok], refused, actor)
        self._clear(address, actor)
        return done

    def _moved_back(self, txn: Txn, moved: list[Outcome], refused: Outcome, actor: Actor) -> MemtuiError:
        """Take the rest of a renaming back of which a part could not be done; returns why it could not."""
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
        """Move memories, or all memories of folders, to the trash as one undo step, with an outcome for each.

        Args:
            addresses: which.
            actor: who does it.
            expected: the versions that are meant; a memory that has another one by now stays, as a `Conflict`.
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
        done = self.delete_each(chosen, actor, expected)
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
        """Make copies under other names, within a root or in another one, as one undo step; never over a memory.

        Args:
            pairs: what is copied, and under which name.
            actor: who does it.

        Returns:
            An outcome for each; its error where there is no copy.
        """
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
        found = handles.read(self._roots.reading(source), paths.split(address.path), address)
        fsio.close(found.handle)
        if len(found.data) > target.policy.write_bytes:
            raise too_big(new, len(found.data), target.policy.write_bytes)
        with self._roots.site(target, actor, create=True) as site:
            self._rules.check_room(site, target)
            job = Job(txn, actor, "created", note=CARRIED if self._roots.brought(source, found.sha) else "")
            result = files.create(site, new, found.data, job, mode=mode(target))
        if isinstance(result, Unchanged):
            raise files.taken(new)
        assert isinstance(result, Saved)
        self._events.changed([Change(new, "created", actor.name, None, result.sha256, self._ledger.clock())])
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
        target = self._roots.find(new.root)
        try:
            handle = self._roots.reading(target)
            with handle.folder(paths.split(new.path)[:-1]) as above:
                fsio.stat_at(above, new.name)
            with handle.folder(paths.split(new.path)) as there:
                taken = bool(fsio.list_dir(there))
        except (NotFoundError, FileNotFoundError) as error:
            taken = isinstance(error, NotFoundError) and error.code == "E_NOT_FOUND" and self._is_file(new)
        except OSError as error:
            raise paths.translate(error, f"Looking at {new}") from error
        if taken:
            raise files.taken(new)

    def _is_file(self, address: Address) -> bool:
        """Whether a name is taken by something that is no folder."""
        parts = paths.split(address.path)
        try:
            with self._roots.reading(self._roots.find(address.root)).folder(parts[:-1]) as above:
                fsio.stat_at(above, parts[-1])
        except (NotFoundError, OSError):
            return False  # there is no such folder above either: whoever makes it finds out
        return True

    def _clear(self, address: Address, actor: Actor) -> None:
        """Remove what is left of a folder whose memories are gone, as far as it is empty."""
        root = self._rules.writable(address, actor)
        parts = paths.split(address.path)
        with self._roots.site(root, actor) as site:
            if site.ledger.audit.unended.get(site.uid):
                return  # recovery has to look into these folders first
            try:
                with site.handle.folder(parts) as folder:
                    _clear_below(folder, selected(root.policy, parts))
            except NotFoundError:
                return  # it went with the last of its memories
            site.handle.prune(parts)


class _Level(NamedTuple):
    """One folder on the way down."""

    name: str
    identity: tuple[int, int]
    rest: list[tuple[str, Selection]]
    """The folders in it that were not looked into yet."""


def _clear_below(folder: int, selection: Selection | None) -> None:
    """Remove the empty folders in a folder, from the innermost out; those a layout does not show are left alone.

    One handle is open at a time and nothing calls itself: thousands of folders may lie in each other.
    """
    if selection is None:
        return
    handle = fsio.open_dir(folder, ".")
    try:
        levels = [_level("", handle, selection)]
        while True:
            level = levels[-1]
            if level.rest:
                name, inside = level.rest.pop()
                with suppress(OSError):  # it may not be looked into, or went: nothing is lost when it stays
                    handle = _step_to(handle, name)
                    levels.append(_level(name, handle, inside))
                continue
            levels.pop()
            if not levels:
                return
            handle = _step_to(handle, "..")
            if _identity(handle) != levels[-1].identity:
                return  # somebody moved it meanwhile: what is around it now is none of ours
            with suppress(OSError):  # something is in it, or it may not be removed
                fsio.remove_dir(handle, level.name)
    except OSError:
        return  # nothing is lost when the rest of the empty folders stays
    finally:
        fsio.close(handle)


def _step_to(handle: int, name: str) -> int:
    """Open a folder from an open one, which is closed then."""
    found = fsio.open_dir(handle, name)
    fsio.close(handle)
    return found


def _level(name: str, handle: int, selection: Selection) -> _Level:
    identity = _identity(handle)
    try:
        entries = fsio.list_dir(handle)
    except OSError:
        entries = []  # it may not be listed: nothing is lost when it stays
    inside = ((entry.name, selection.folder(entry.name)) for entry in entries if kind_of(entry) == "folder")
    return _Level(name, identity, [(below, some) for below, some in inside if some is not None])


def _identity(handle: int) -> tuple[int, int]:
    status = fsio.fstat(handle)
    return status.st_dev, status.st_ino


def _not_empty(folder: Address) -> RefusedError:
    return RefusedError(
        f"{folder} holds no memories, but other files.",
        code="E_NOT_REGULAR",
        hint="Look into it with another program; memtui deletes memories only.",
    )
