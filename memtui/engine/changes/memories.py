"""The verbs on memories and folders of them, and copies.

A folder is no memory and has no history; it exists as long as something is in it. That is settled here, so that no
front leaves empty folders behind, moves a folder into itself or mixes two. It is apart so that only a command that uses
it loads it.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from memtui.engine.changes.change import Changer
from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.paths import Selection
from memtui.engine.ledger.audit import Txn
from memtui.engine.look.library import below, kind_of, selected
from memtui.engine.model import Actor, Address, Change, Done, Outcome, Saved, Unchanged
from memtui.engine.part import each, mode, retry_after_repair, too_big, transaction
from memtui.engine.save import names
from memtui.engine.save.files import CARRIED, Job
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError


class Memories(Changer):
    """Changes memories; a folder changes memory by memory, as one undo step."""

    @retry_after_repair
    def rename(self, address: Address, new: Address, *, actor: Actor) -> Done:
        """Rename a memory or a folder of memories, also to another root; pins and history follow.

        Of a folder all memories are renamed or none; what is no memory stays. Raises when it was not renamed.
        """
        inside = below(self._roots, address)
        if inside is not None:
            return self._rename_folder(address, new, inside, actor)
        done = self.move_each([(address, new)], actor)
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
        fsio.close(found.handle)
        if len(found.data) > target.policy.write_bytes:
            raise too_big(new, len(found.data), target.policy.write_bytes)
        with self._roots.site(target, actor, create=True) as site:
            self._rules.check_room(site, target)
            job = Job(txn, actor, "created", note=CARRIED if self._roots.brought(source, found.sha) else "")
            result = names.create(site, new, found.data, job, mode=mode(target))
        if isinstance(result, Unchanged):
            raise names.taken(new)
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
                    _clear_below(folder, selected(root.policy, parts))
            except NotFoundError:
                return  # it went with the last of its memories
            site.handle.prune(parts)


class _Level(NamedTuple):
    name: str
    identity: tuple[int, int]
    rest: list[tuple[str, Selection]]


def _clear_below(folder: int, selection: Selection | None) -> None:
    """Remove the empty folders in a folder, innermost first; those a layout does not show are left alone.

    Iterative, with one open handle: thousands of folders may be nested.
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
    """Open a folder relative to a handle, which is closed."""
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
