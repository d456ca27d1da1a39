"""Redaction: clearing a stored text for good, in everything memtui keeps.

A text is stored once for all memories that had it, so clearing it for one clears it for all; that needs `everywhere`.
It is apart so that only a command that uses it loads it.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256

from memtui.engine.disk import fsio, handles, state_file, unsaved
from memtui.engine.find import index
from memtui.engine.ledger.erasure import Quotes, TextHolder
from memtui.engine.look.catalog import forget_rows
from memtui.engine.model import Actor, Address, Unerased, Version
from memtui.engine.observation import REDACTED, ObservationMark
from memtui.engine.part import EnginePart, retry_after_repair, transaction
from memtui.errors import RefusedError, UsageError

_COPIES = 4 * 1_048_576


class Redaction(EnginePart):
    """Clears versions, and everything else that holds their texts."""

    def redact(self, address: Address, sha256: str, *, reason: str, actor: Actor, everywhere: bool = False) -> Version:
        """Redact one version; see `redact_all`."""
        (version,) = self.redact_all([(address, sha256)], reason=reason, actor=actor, everywhere=everywhere)
        return version

    @retry_after_repair
    def redact_all(
        self, versions: Iterable[tuple[Address, str]], *, reason: str, actor: Actor, everywhere: bool = False
    ) -> tuple[Version, ...]:
        """Clear stored texts for good, in every file memtui keeps, and keep their records; all or none.

        Labels, notes, reasons and conflicts that quote one are cleared too. `unerased` tells afterwards what is left to
        do. With `everywhere` also what other memories, drafts or editors' copies hold is cleared.

        Raises:
            RefusedError: `E_CURRENT_VERSION`, `E_PERSON`, or `E_SHARED`: something else holds a text, and nothing is
                cleared.
        """
        approver = self._rules.approver
        approver.require("redact a version")
        wanted = list(dict.fromkeys(versions))
        roots = {root.id: root for root in (self._rules.writable(address, actor) for address, _ in wanted)}
        if not reason.strip():
            raise UsageError("A redaction needs a reason.", hint="Say why with --reason.")
        found = [(address, self._roots.uid(roots[address.root]), prefix) for address, prefix in wanted]
        named = [
            (address, uid, self._ledger.versions.find_version(uid, address.path, sha)) for address, uid, sha in found
        ]
        shas = {sha for _, _, sha in named}
        with contextlib.ExitStack() as held:
            sites = {
                root.id: held.enter_context(self._roots.site(root, actor))
                for root in sorted(roots.values(), key=self._roots.uid)
            }
            for address, _, sha in named:
                _refuse_current(sites[address.root].handle, address, sha)
            with self._ledger.transaction():
                quotes = self._ledger.erasure.quotes(shas)
                if quotes.within(reason):
                    raise UsageError("The reason holds a part of the text itself.", hint="Say it in other words.")
                copies = list(self._copies(shas, quotes))
                if not everywhere:
                    self._refuse_shared(named, [path for path, _ in copies])
                self._ledger.origins.catch_up(shas=shas)
                self._ledger.erasure.redact(shas, reason)
                self._record(named, approver.note(reason), actor)
        for _, remove in copies:
            remove()
        forget_rows(self._ledger.directory)
        state_file.forget(self._ledger.directory, quotes.within)
        unsaved.forget_bases(self._ledger.directory, partial(_holds, shas, quotes))
        self._ledger.erasure.erase()
        index.empty(self._ledger.directory)
        self._ledger.observations.drop_files()
        return tuple(
            next(one for one in self._ledger.versions.history(uid, address.path) if one.sha256 == sha)
            for address, uid, sha in named
        )

    def redact_observation(self, mark: ObservationMark, *, reason: str, actor: Actor) -> ObservationMark:
        """Redact an observation for good, here and in backups; raises as `ObservationTable.put`."""
        self._rules.approver.require("redact an observation")
        if not reason.strip():
            raise UsageError("A redaction needs a reason.", hint="Say why with --reason.")
        done = self._ledger.observations.put(mark._replace(state=REDACTED), actor=actor.name, reason=reason)
        self._ledger.erasure.erase()
        return done

    def require_person(self, act: str) -> None:
        """Refuse with `E_PERSON` an act that no agent may do, as in `see what is withheld`."""
        self._rules.approver.require(act)

    def unerased(self) -> Unerased:
        """Return what may still hold redacted texts: freed bytes not overwritten yet, and damaged ledgers."""
        pending = self._ledger.erasure.unerased() or index.is_spilled(self._ledger.directory)
        return Unerased(pending, tuple(self._ledger.erasure.damaged()))

    def drop_damaged(self, path: str) -> None:
        """Delete a damaged copy of the ledger that `unerased` named."""
        self._rules.approver.require("delete a damaged ledger")
        self._rules.refuse_read_only()
        self._ledger.erasure.drop_damaged(path)

    def _refuse_shared(self, named: Iterable[tuple[Address, int, str]], copies: list[str]) -> None:
        by_sha: dict[str, list[tuple[int, str]]] = {}
        for address, uid, sha in named:
            by_sha.setdefault(sha, []).append((uid, address.path))
        keepers = [one for sha, memories in by_sha.items() for one in self._ledger.erasure.keepers(sha, memories)]
        names = [self._name(keeper) for keeper in dict.fromkeys(keepers)]
        names += [f"an editor's copy, {path}" for path in copies]
        if not names:
            return
        count = f"{len(names)} other{'s' * (len(names) > 1)}"
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise RefusedError(
            f"The text is still kept by {count}: {'; '.join(names[:3])}{more}.",
            code="E_SHARED",
            unharmed="Nothing is redacted yet.",
            hint="Give --everywhere to clear what memtui keeps of it there, too. Files of memories stay as they are.",
            details={"kept_by": "\n".join(names)},
        )

    def _name(self, keeper: TextHolder) -> str:
        names = self._roots.names()
        folders = self._ledger.activity.folders()
        name = str(Address(names.get(keeper.root, folders[keeper.root]), keeper.path))
        return f"the unsaved text of {name}" if keeper.draft else name

    def _record(self, named: list[tuple[Address, int, str]], reason: str, actor: Actor) -> None:
        label = f"redact {named[0][0]}" if len(named) == 1 else f"redact {len(named)} versions"
        txn = transaction(self._ledger, "redact", actor, label)
        for address, uid, sha in named:
            self._ledger.audit.intend(
                txn.id,
                uid,
                address.path,
                actor=actor.name,
                operation="redacted",
                before=sha,
                after=sha,
                state="done",
                note=reason,
            )
        self._ledger.undo.mark_undone(txn.id)

    def _copies(self, shas: set[str], quotes: Quotes) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield editors' copies and draft files that hold a text, each with the function that removes it."""
        # Nothing else: with one folder for everything, the user's memories lie in the state folder, too.
        with contextlib.suppress(FileNotFoundError):
            yield from _files(os.path.join(self._ledger.directory, unsaved.COPIES), shas, quotes)
        for draft in unsaved.holding(self._ledger.directory, partial(_holds, shas, quotes)):
            yield draft.place, partial(unsaved.remove, draft)


def _holds(shas: set[str], quotes: Quotes, data: bytes) -> bool:
    return sha256(data).hexdigest() in shas or quotes.within(data.decode("utf-8", "replace"))


def _files(path: str, shas: set[str], quotes: Quotes) -> Iterator[tuple[str, Callable[[], None]]]:
    with fsio.closing(fsio.open_root(path)) as folder:
        for entry in fsio.list_dir(folder):
            inner = os.path.join(path, entry.name)
            if entry.is_dir(follow_symlinks=False):
                yield from _files(inner, shas, quotes)
            elif entry.is_file(follow_symlinks=False) and entry.name != unsaved.ABOUT:
                with fsio.closing(fsio.open_file(folder, entry.name)) as opened:
                    data = fsio.read_all(opened, min(fsio.fstat(opened).st_size, _COPIES))
                if _holds(shas, quotes, data):
                    yield inner, partial(_remove, path, entry.name)


def _remove(folder_path: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError), fsio.closing(fsio.open_root(folder_path)) as folder:
        fsio.unlink(folder, name)


def _refuse_current(handle: handles.RootHandle, address: Address, sha: str) -> None:
    found = handles.read_if_there(handle, address)
    if found is not None and found.sha == sha:
        raise RefusedError(
            f"{sha[:12]} is the current version of {address}.",
            code="E_CURRENT_VERSION",
            hint="Save a text without the secret first, then redact this version.",
        )
