"""A bundle: memories with pins, uses and, on request, history, as a tar file with a list of its contents.

Equal memories give equal bytes, so a bundle can be compared and kept in git. Nothing in it is trusted when it is read:
each text must have the listed sha-256, each path stay below a root, and nothing may be in it unlisted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.engine.disk import handles
from memtui.engine.model import SCOPES, Address, Memory, Version
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.bundles.tarball import MAX_BYTES, MAX_FILES, bad, pack, too_big, unpack
from memtui.features.transfer.plan import refused_for_secrets
from memtui.features.transfer.shape import LINKS

if TYPE_CHECKING:
    from memtui.engine import Engine

LIST = "memtui-bundle.json"
FORMAT, NUMBER = "memtui-bundle", 2
MAX_LIST = 16 * 1024 * 1024
MAX_MEMORIES, MAX_VERSIONS = MAX_FILES, 200_000
_MOST_WORDS = 1_000
_MOST_NUMBER = 1 << 53


class Origin(NamedTuple):
    """The root a memory was in."""

    id: str
    agent: str
    scope: str
    aliases: tuple[str, ...] = ()
    index_file: str | None = None
    """`Policy.index_file` of a root with an index of links; empty: it has none.

    None: not recorded by an older memtui.
    """


class BundledVersion(NamedTuple):
    """One version a memory had."""

    version: Version
    data: bytes


class BundledMemory(NamedTuple):
    """One memory in a bundle."""

    origin: Origin
    path: str
    data: bytes
    pinned: bool = False
    uses: int = 0
    last_used_at: int | None = None
    last_written_at: int | None = None
    history: tuple[BundledVersion, ...] = ()
    """Newest first; includes the current text."""

    @property
    def sha256(self) -> str:
        """Of its text."""
        return sha256(self.data).hexdigest()


class Bundle(NamedTuple):
    """The contents of a bundle."""

    memories: tuple[BundledMemory, ...]
    deleted: tuple[BundledMemory, ...] = ()

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The roots its memories were in."""
        return tuple(dict.fromkeys(memory.origin for memory in (*self.memories, *self.deleted)))


def write(bundle: Bundle) -> bytes:
    """Serialize a bundle; equal ones give equal bytes."""
    memories = sorted(bundle.memories, key=lambda memory: (memory.origin.id, memory.path))
    deleted = sorted(bundle.deleted, key=lambda memory: (memory.origin.id, memory.path))
    origins = sorted(set(bundle.origins), key=lambda one: (*one[:4], one.index_file or ""))
    files: dict[str, bytes] = {}
    shas: set[str] = set()
    listed = []
    for memory in memories:
        name = _file(origins.index(memory.origin), memory.path)
        files[name] = memory.data
        shas.add(memory.sha256)
        listed.append(_listed(memory, name, origins.index(memory.origin)))
    old = {past.version.sha256: past.data for memory in (*memories, *deleted) for past in memory.history}
    for sha in sorted(old.keys() - shas):
        files[f"history/{sha}"] = old[sha]
    document: dict[str, object] = {
        "format": FORMAT,
        "version": NUMBER if deleted else 1,
        "roots": [{key: value for key, value in one._asdict().items() if value is not None} for one in origins],
        "memories": listed,
    }
    if deleted:  # which a memtui that reads only the first version would take for texts that nobody listed
        document["deleted"] = [
            {"root": origins.index(memory.origin), "path": memory.path, "history": _history(memory)}
            for memory in deleted
        ]
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"
    if len(text) > MAX_LIST:
        raise too_big(MAX_LIST)
    data = pack([(LIST, text), *files.items()])
    if len(data) > MAX_BYTES:
        raise too_big(MAX_BYTES)
    return data


def _file(root: int, path: str) -> str:
    """Return the only name a memory's text may have in the tar file."""
    return f"memories/{root + 1}/{path}"


def _listed(memory: BundledMemory, name: str, root: int) -> dict[str, object]:
    return {
        "root": root,
        "path": memory.path,
        "file": name,
        "sha256": memory.sha256,
        "bytes": len(memory.data),
        "pinned": memory.pinned,
        "uses": memory.uses,
        "last_used_at": memory.last_used_at,
        "last_written_at": memory.last_written_at,
        "history": _history(memory),
    }


def _history(memory: BundledMemory) -> list[dict[str, object]]:
    return [
        {
            "sha256": past.version.sha256,
            "bytes": len(past.data),
            "actor": past.version.actor,
            "at": past.version.at,
            "operation": past.version.operation,
            "note": past.version.note,
        }
        for past in memory.history
    ]


def read(data: bytes) -> Bundle:
    """Parse a bundle, trusting nothing; raises `E_BUNDLE`, `E_TOO_BIG`."""
    files = unpack(data)
    if LIST not in files:
        raise bad(f"it holds no {LIST}")
    document = _document(files[LIST])
    origins = [_origin(one) for one in _rows(document, "roots", MAX_MEMORIES)]
    rest = {name: text for name, text in files.items() if name != LIST}
    shas = {name: sha256(text).hexdigest() for name, text in rest.items()}
    by_sha = {shas[name]: text for name, text in rest.items()}
    named: set[str] = set()
    memories: list[BundledMemory] = []
    seen: set[tuple[Origin, str]] = set()
    versions = 0
    for row in _rows(document, "memories", MAX_MEMORIES):
        memory, name = _memory(row, origins, rest, shas, by_sha)
        if (memory.origin, memory.path) in seen or name in named:
            raise bad(f"{memory.path!r} is listed twice")
        seen.add((memory.origin, memory.path))
        named.add(name)
        versions += len(memory.history)
        if versions > MAX_VERSIONS:
            raise bad(f"it lists more than {MAX_VERSIONS:,} versions")
        memories.append(memory)
    deleted: list[BundledMemory] = []
    for row in _rows(document, "deleted", MAX_MEMORIES) if "deleted" in document else ():
        origin, path = _place(row, origins)
        history = tuple(_past(one, by_sha) for one in _rows(row, "history", MAX_VERSIONS))
        versions += len(history)
        if (origin, path) in seen or versions > MAX_VERSIONS:
            raise bad(f"{path!r} is listed twice, or has too many versions")
        seen.add((origin, path))
        deleted.append(BundledMemory(origin, path, b"", history=history))
    used = {past.version.sha256 for memory in (*memories, *deleted) for past in memory.history}
    for name in rest:
        if name not in named and not (name == f"history/{shas[name]}" and shas[name] in used):
            raise bad(f"its list does not name {name!r} in it")
    return Bundle(tuple(memories), tuple(deleted))


def _document(data: bytes) -> Mapping[str, object]:
    if len(data) > MAX_LIST:
        raise bad(f"its list has more than {MAX_LIST:,} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise bad("its list is damaged") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise bad("its list describes something else")
    if not 1 <= _count(found, "version") <= NUMBER:
        raise bad("a newer memtui wrote it")
    return found


def _rows(holder: Mapping[str, object], key: str, most: int) -> Iterable[Mapping[str, object]]:
    rows = holder.get(key)
    if not isinstance(rows, list) or len(rows) > most:
        raise bad(f"its list of {key} is damaged or too long")
    for row in rows:
        if not isinstance(row, dict):
            raise bad(f"its list of {key} is damaged")
        yield row


def _word(row: Mapping[str, object], key: str, *, most: int = _MOST_WORDS, empty: bool = True) -> str:
    value = row.get(key)
    if not isinstance(value, str) or len(value) > most or not (value or empty):
        raise bad(f"{key} is damaged in its list")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad(f"{key} is damaged in its list") from None
    return value


def _count(row: Mapping[str, object], key: str) -> int:
    value = row.get(key)
    if type(value) is not int or not 0 <= value < _MOST_NUMBER:
        raise bad(f"{key} is damaged in its list")
    return value


def _time(row: Mapping[str, object], key: str) -> int | None:
    return None if row.get(key) is None else _count(row, key)


def _origin(row: Mapping[str, object]) -> Origin:
    aliases = row.get("aliases")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise bad("aliases is damaged in its list")
    scope = _word(row, "scope")
    if scope not in SCOPES:
        raise bad(f"it has a scope {scope!r}")
    index = _word(row, "index_file") if "index_file" in row else None
    return Origin(_word(row, "id", empty=False), _word(row, "agent"), scope, tuple(aliases), index)


def _memory(
    row: Mapping[str, object],
    origins: list[Origin],
    files: Mapping[str, bytes],
    shas: Mapping[str, str],
    by_sha: Mapping[str, bytes],
) -> tuple[BundledMemory, str]:
    origin, path = _place(row, origins)
    name = _word(row, "file", most=4_096, empty=False)
    if name not in files:
        raise bad(f"{path!r} is not in it")
    if name != _file(_count(row, "root"), path):
        raise bad(f"{name!r} is not where a text of {path!r} is")
    data = files[name]
    if shas[name] != row.get("sha256") or len(data) != _count(row, "bytes"):
        raise bad(f"{path!r} is not the text its list says")
    pinned = row.get("pinned")
    if not isinstance(pinned, bool):
        raise bad("pinned is damaged in its list")
    history = tuple(_past(one, by_sha) for one in _rows(row, "history", MAX_VERSIONS))
    uses, used, written = _count(row, "uses"), _time(row, "last_used_at"), _time(row, "last_written_at")
    return BundledMemory(origin, path, data, pinned, uses, used, written, history), name


def _place(row: Mapping[str, object], origins: list[Origin]) -> tuple[Origin, str]:
    number, path = _count(row, "root"), _word(row, "path", most=4_096, empty=False)
    try:
        handles.split(path)
    except MemtuiError as error:
        raise bad(error.message.rstrip(".")) from None
    if number >= len(origins):
        raise bad(f"{path!r} is not in it")
    return origins[number], path


def _past(row: Mapping[str, object], by_sha: Mapping[str, bytes]) -> BundledVersion:
    sha = _word(row, "sha256")
    if sha not in by_sha or len(by_sha[sha]) != _count(row, "bytes"):
        raise bad(f"version {sha[:12]!r} is not in it")
    version = Version(
        sha,
        len(by_sha[sha]),
        _word(row, "actor", empty=False),
        _count(row, "at"),
        _word(row, "operation"),
        note=_word(row, "note"),
    )
    return BundledVersion(version, by_sha[sha])


class Exported(NamedTuple):
    """Contents of an export."""

    bundle: Bundle
    left: tuple[tuple[Address, str], ...]

    @property
    def versions(self) -> int:
        """Number of versions in it."""
        return sum(len(memory.history) for memory in (*self.bundle.memories, *self.bundle.deleted))


def collect(
    reader: Engine, rows: Iterable[Memory], *, history: bool, deleted: Iterable[Address] = (), secrets: str = ""
) -> Exported:
    """Read memories for a bundle, and the deletions of others; raises `NotFoundError` when there is none.

    `secrets` is `keep`, `mask` (older versions with one stay out), `leave` such memories out, or empty: undecided,
    which raises `E_SECRET`.
    """
    packed: list[BundledMemory] = []
    left: list[tuple[Address, str]] = []
    secret: list[Address] = []
    for row in rows:
        try:
            row.address.path.encode()
            data = reader.read(row.address).bytes
        except UnicodeEncodeError:
            left.append((row.address, "Its name is not UTF-8."))
            continue
        except MemtuiError as error:
            left.append((row.address, error.message))
            continue
        past = _kept_versions(reader, row.address) if history else ()
        if secrets != "keep" and (_has_secret(data) or any(_has_secret(one.data) for one in past)):
            secret.append(row.address)
            if secrets != "mask":
                left += [(row.address, "It holds a secret.")] if secrets else []
                continue
            data, past = mask.shown_bytes(data), tuple(one for one in past if not _has_secret(one.data))
        packed.append(
            BundledMemory(
                _origin_of(reader, row.address),
                row.address.path,
                data,
                row.pinned,
                row.uses,
                row.last_used_at,
                row.last_written_at,
                past,
            )
        )
    gone, told = _deleted(reader, tuple(deleted), keep=secrets == "keep")
    secret += told
    if secret and not secrets:
        hint = "--secrets mask exports them without their secrets, --secrets keep as they are."
        raise refused_for_secrets(secret, hint)
    if not packed and not gone:
        raise NotFoundError("There is no memory to export.", hint="`memtui ls` lists what there is.")
    return Exported(Bundle(tuple(packed), tuple(gone)), tuple(left))


def _deleted(reader: Engine, deleted: Sequence[Address], *, keep: bool) -> tuple[list[BundledMemory], list[Address]]:
    """Return the included deletions, without versions with secrets unless `keep`; and whose had one."""
    gone, told = [], []
    for address in deleted:
        history = _kept_versions(reader, address)
        clean = history if keep else tuple(past for past in history if not _has_secret(past.data))
        told += [address] if clean != history else []
        gone += [BundledMemory(_origin_of(reader, address), address.path, b"", history=clean)] if clean else []
    return gone, told


def _has_secret(data: bytes) -> bool:
    return bool(mask.secrets(data.decode("utf-8", "replace")))


def _origin_of(reader: Engine, address: Address) -> Origin:
    root = reader.roots.find(address.root)
    index = root.policy.index_file if root.policy.index_format == LINKS else None
    return Origin(root.id, root.agent, root.scope, root.aliases, index or "")


def _kept_versions(reader: Engine, address: Address) -> tuple[BundledVersion, ...]:
    found = []
    for version in reader.history.of(address):
        if version.redacted:
            continue
        try:
            data = reader.history.read(address, version.sha256)
        except MemtuiError:
            continue  # redacted, or no longer kept: its text is nowhere, so there is nothing to take along
        found.append(BundledVersion(Version(*version[:5], note=version.note), data))
    return tuple(found)
