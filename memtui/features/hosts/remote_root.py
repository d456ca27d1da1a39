"""Memories of another machine: listed once, read when opened, saved guarded.

Every answer is hostile: only valid names, of roots that were listed, and texts by a digest computed here.
"""

from __future__ import annotations

import getpass
import re
import socket
from binascii import Error, a2b_base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256

from memtui.engine import now_ms
from memtui.engine.disk import handles
from memtui.engine.model import Address, Conflict, Memory, Root, Saved, Snapshot, Unchanged
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.hosts.machines import RemoteHost
from memtui.features.hosts.remote_call import ask, retry_guarded
from memtui.wire.outcomes import Json
from memtui.wire.times import parse_time

MAX_ROWS = 5_000
"""Rows accepted from one machine."""
SCOPE = "hosts"
"""The scope of its roots in the tree."""
_SHA = re.compile(r"[0-9a-f]{64}")
_NAME_LIMIT = 100
_DESCRIPTION = 200


def ssh_name() -> str:
    """Return the actor of changes there that no agent asks for: this user on this machine."""
    name = f"ssh:{getpass.getuser()}@{socket.gethostname()}"
    return "".join(one if one.isprintable() else "_" for one in name)[:_NAME_LIMIT]


def list_memories(host: RemoteHost) -> tuple[tuple[Root, ...], tuple[Memory, ...]]:
    """List the memories of another machine, and their roots: `@build:memtui:global`. Raises as `ask`."""
    items = ask(host, (*_project(host), "ls")).get("items")
    found = [
        _row(host.name, one) for one in (items if isinstance(items, list) else [])[:MAX_ROWS] if isinstance(one, dict)
    ]
    rows = tuple(row for row in found if row is not None)
    ids = dict.fromkeys(row.address.root for row in rows)
    return tuple(root_of(host.name, one) for one in ids), rows


def root_of(host: str, root_id: str) -> Root:
    """Return the root of a machine that has this id here."""
    return Root(root_id, f"/{root_id}", SCOPE, SCOPE, root_id, host=host)


def _row(host: str, item: Json) -> Memory | None:
    root, path, digest = (item.get(key) for key in ("root", "path", "sha256"))
    if not (isinstance(root, str) and isinstance(path, str) and 0 < len(root) <= _NAME_LIMIT and "/" not in root):
        return None
    if not (isinstance(digest, str) and _SHA.fullmatch(digest)):
        return None
    try:
        handles.split(path)
    except MemtuiError:
        return None
    size, pinned = item.get("bytes"), item.get("pinned") is True
    texts = {key: str(item.get(key) or "")[:_DESCRIPTION] for key in ("modified_at", "description", "agent", "actor")}
    at = parse_time(texts["modified_at"], 0) or 0
    return Memory(
        Address(f"@{host}:{root}", path),
        SCOPE,
        texts["agent"],
        size if isinstance(size, int) and 0 <= size < 1 << 40 else 0,
        at,
        digest,
        texts["description"],
        pinned,
        actor=texts["actor"] or "outside",
    )


def _project(host: RemoteHost) -> tuple[str, ...]:
    return ("--project", host.project) if host.project else ()


class RemoteRoot:
    """One root of another machine."""

    def __init__(self, root: Root, host: RemoteHost, saved: Callable[[Snapshot | None, Snapshot], object]) -> None:
        """Keep its root in the tree, its machine, and a callback for saves: the snapshot before, and the new one."""
        self.root, self._host, self._saved = root, host, saved
        self._kept: dict[Address, Snapshot] = {}
        self._lost: dict[Address, str] = {}
        """Digests of texts that were sent without an answer."""

    def kept(self, address: Address) -> Snapshot | None:
        """Return what was read or saved last."""
        return self._kept.get(address)

    def read(self, address: Address) -> Snapshot:
        """Read a memory there; out of reach, return what was read last. Raises as `ask`."""
        try:
            return self._ask(address)
        except BusyError:
            if (kept := self._kept.get(address)) is None:
                raise
            return kept

    def _ask(self, address: Address) -> Snapshot:
        try:
            answer = ask(self._host, (*_project(self._host), "view", "--", self._theirs(address)))
        except RefusedError as error:
            if error.code == NotFoundError.code:
                self._kept.pop(address, None)
                raise NotFoundError(error.message) from None
            raise
        text, packed = answer.get("text"), answer.get("base64")
        try:
            data = text.encode() if isinstance(text, str) else a2b_base64(str(packed).encode(), strict_mode=True)
        except (Error, UnicodeEncodeError):
            raise StorageError(f"{self._host.name} gave no text for {address}.", code="E_REMOTE") from None
        return self._keep(address, data)

    def _keep(self, address: Address, data: bytes) -> Snapshot:
        self._kept[address] = found = Snapshot(address, data, sha256(data).hexdigest(), now_ms())
        return found

    def _theirs(self, address: Address) -> str:
        return f"{address.root.removeprefix(f'@{self._host.name}:')}/{address.path}"

    def save(self, address: Address, data: bytes, expected: str | None) -> Saved | Unchanged | Conflict:
        """Save as `write` does, and report it to the callback."""
        before = self._kept.get(address)
        done = self.write(address, data, expected)
        if isinstance(done, Saved):
            self._saved(before, self._kept[address])
        return done

    def write(self, address: Address, data: bytes, expected: str | None) -> Saved | Unchanged | Conflict:
        """Save a text if the memory still is the expected version; takes effect once, also when answers are lost.

        Raises BusyError: `E_OFFLINE`: out of reach; nothing is sent later by itself. MemtuiError: what `ask` raises.
        """
        ours, wanted, project = sha256(data).hexdigest(), expected or "absent", _project(self._host)
        theirs = self._theirs(address)
        words = (*project, "--actor", ssh_name(), "save", f"--expect={wanted}", "--file=-", "--", theirs)

        def once() -> Json:
            if self._lost.get(address) == ours:
                refuse_taken_back(self._host, project, theirs, wanted, ours)
            self._lost[address] = ours
            return ask(self._host, words, given=data)

        try:
            done = retry_guarded(once)
        except BusyError as error:
            if error.code != "E_OFFLINE":
                raise
            host = self._host
            unharmed = "It may have arrived; to save it again saves it once."
            raise BusyError(
                error.message, code=error.code, unharmed=unharmed, hint=f"Look whether this works: {host.shown}"
            ) from None
        except MemtuiError as error:
            self._lost.pop(address, None)
            if error.code != ConflictError.code:
                raise
            now = None
            with suppress(NotFoundError):
                now = self._ask(address).sha256
            if now == expected:
                raise
            return Conflict(address, now, expected, ours, "")
        self._lost.pop(address, None)
        self._keep(address, data)
        return Unchanged(address, ours) if done.get("result") == "unchanged" else Saved(address, ours, expected, "")

    def change(self, words: Sequence[str], places: Sequence[Address], expected: str | None) -> None:
        """Run a verb on memories of this root, if the first one still is the expected version (None: any).

        Raises ConflictError: it is another version. MemtuiError: what `ask` raises.
        """
        if expected is not None and self._ask(places[0]).sha256 != expected:
            raise ConflictError(f"{places[0]} changed meanwhile.", unharmed="It stays as it is on that machine.")
        named = map(self._theirs, places)
        ask(self._host, (*_project(self._host), "--actor", ssh_name(), *words, "--", *named), given=b"")


def refuse_taken_back(host: RemoteHost, words: Sequence[str], address: str, expected: str, ours: str) -> None:
    """Refuse to repeat a save whose answer was lost when its text was saved and undone there meanwhile.

    `words` are global options, `expected` is a digest or `absent`, `ours` the digest of the text. Raises ConflictError.
    """
    try:
        items = ask(host, (*words, "history", "--", address)).get("items")
    except RefusedError as error:
        if error.code != NotFoundError.code:
            raise
        return
    versions = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    if ours == expected or all(one.get("sha256") != ours for one in versions):
        return
    newest = "absent" if versions[0].get("operation") == "deleted" else versions[0].get("sha256")
    if newest == expected:
        raise ConflictError(
            f"The connection to {host.name} was lost during the save, and {address} is again what you expect.",
            unharmed="Your text is in its history there: it was saved and taken back, or is an older one.",
            hint=f"memtui --on {host.name} history {address}; save it again if it is still wanted.",
        )
