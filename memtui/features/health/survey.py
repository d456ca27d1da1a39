"""Health checks of all indexes of the given roots, cached until an index or its memories change."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.loaded_text import hidden_entries, line_of
from memtui.engine.disk.paths import Patterns
from memtui.engine.model import Address, Listing, Memory, Policy, Root
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.health import checks
from memtui.features.health.checks import LINKS, CheckedIndex
from memtui.features.health.model import BROKEN, HIDDEN, IndexFinding, IndexReport
from memtui.pointers import links
from memtui.pointers.lines import home_of, index_of, is_text, measure
from memtui.pointers.links import Pointer, parse_index

if TYPE_CHECKING:
    from memtui.engine import Engine

HIDES = "goose"
"""The format of entries in which a later entry can hide an earlier one."""
LATER = "a later entry of this file has the same tags, so the agent gets only that one"
NEW_TAGS = "Give one of them other tags, or make one entry of both: enter opens the file."
READ_ONLY = "This folder is only read."
OFF = "The agent loads nothing of this folder now, switched off {where}: a fix counts once it is on."


class IndexChecker:
    """Checks indexes and caches the reports."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, tuple[IndexReport, ...]]] = {}

    def look(
        self,
        engine: Engine,
        roots: Sequence[Root],
        listing: Listing | None = None,
        *,
        outdated: Callable[[], bool] | None = None,
    ) -> tuple[IndexReport, ...]:
        """Return a report for each index of these roots, and for each missing one that has memories to name.

        Args:
            listing: a current list of their memories; None: list them.
            outdated: polled between roots; once true, the rest is skipped.
        """
        wanted = [root for root in roots if is_looked_at(root)]
        if not wanted:
            return ()
        if listing is None:
            listing = engine.rows.list([root.id for root in wanted])
        rows: dict[str, dict[str, Memory]] = {root.id: {} for root in wanted}
        for row in listing.items:
            if not row.missing and row.address.root in rows:
                rows[row.address.root][row.address.path] = row
        statuses = {status.root.id: status for status in listing.roots}
        found: list[IndexReport] = []
        for root in wanted:
            if outdated is not None and outdated():
                break
            status, here = statuses.get(root.id), rows[root.id]
            why = READ_ONLY if root.read_only or (status is not None and not status.writable) else ""
            parts = tuple(
                (path, row.sha256 if _is_part(root.policy, path) else row.description) for path, row in here.items()
            )
            key = hash((root, why, parts))
            known = self._known.get(root.id)
            if known is None or known[0] != key:
                off = OFF.format(where=root.switched_off) if root.switched_off else ""
                reports = tuple(report._replace(off=off) for report in _look(engine, root, here, why))
                known = self._known[root.id] = (key, reports)
            found += known[1]
        return tuple(found)


def has_index(root: Root) -> bool:
    """Return whether a root's layout has an index that memtui can check."""
    policy = root.policy
    limits = (policy.index_lines, policy.index_bytes, policy.index_units)
    return policy.index_file is not None and (policy.index_format == LINKS or any(limits))


def is_looked_at(root: Root) -> bool:
    """Return whether a root can have findings: it has an index, or files whose entries can hide one another."""
    return has_index(root) or any(kind == HIDES for _, kind in root.policy.entries)


class _Text(NamedTuple):
    """An index, or one of its overflow files."""

    data: bytes
    sha256: str | None
    pointers: tuple[Pointer, ...]


NO_TEXT = "it is not UTF-8 text, so the agent may not read what it names"
NO_FIX = "Save it as UTF-8 with an editor that knows its encoding."
_MISSING = _Text(b"", None, ())


def _look(engine: Engine, root: Root, rows: Mapping[str, Memory], why: str) -> Iterator[IndexReport]:
    """Check a root with these memories by path; `why` tells why nothing in it can be fixed."""
    policy = root.policy
    linked = policy.index_format == LINKS
    texts: dict[str, _Text] = {}
    waiting = sorted(filter(policy.is_index, rows))
    for path in waiting:  # files with the rest of one come to its end as they are found
        address = Address(root.id, path)
        try:
            snapshot = engine.read(address)
        except MemtuiError as error:
            yield _unread(address, policy, error)
            continue
        if not is_text(snapshot.bytes):
            broken = IndexFinding(BROKEN, address, None, path, NO_TEXT, why=NO_FIX)
            yield IndexReport(address, snapshot.sha256, measure(b"", policy), policy, (broken,), code="E_TEXT")
            continue
        texts[path] = _Text(snapshot.bytes, snapshot.sha256, parse_index(snapshot.bytes, path, rows) if linked else ())
        home = path if policy.is_index(path) else index_of(path)
        rests = {one for one in _named(texts[path]) if one is not None and index_of(one) == home}
        waiting += [one for one in sorted(rests & rows.keys()) if one not in waiting]
    named = frozenset().union(*map(_named, texts.values()), *(_imported(policy, *one) for one in texts.items()))
    orphans = by_index(policy, rows, named) if linked else {}
    found = {path: texts.get(path, _MISSING) for path in {*texts, *(orphans.keys() - rows.keys())}}
    yield from _reports(engine, root, rows, why, found, orphans)
    for path in sorted(rows):
        if policy.format_of(path) == HIDES and rows[path].sha256 is not None:
            yield from _hidden(engine, root, Address(root.id, path))


def _hidden(engine: Engine, root: Root, address: Address) -> Iterator[IndexReport]:
    try:
        snapshot = engine.read(address)
    except MemtuiError as error:
        yield _unread(address, root.policy, error)
        return
    found = [
        IndexFinding(HIDDEN, address, line_of(snapshot.bytes, gap.start), address.path, LATER, why=NEW_TAGS)
        for gap in hidden_entries(snapshot.bytes)
    ]
    if found:
        yield IndexReport(address, snapshot.sha256, measure(b"", root.policy), root.policy, tuple(found))


def _unread(address: Address, policy: Policy, error: MemtuiError) -> IndexReport:
    return IndexReport(address, None, measure(b"", policy), policy, problem=error.message, code=error.code)


def _reports(
    engine: Engine,
    root: Root,
    rows: Mapping[str, Memory],
    why: str,
    texts: Mapping[str, _Text],
    orphans: Mapping[str, Sequence[str]],
) -> Iterator[IndexReport]:
    """Check every file of every index, an index before its overflow files."""
    policy = root.policy
    memories = {path: row.description for path, row in rows.items()}
    rebuilt = Patterns(policy.generated)
    # A file with the rest of an index is opened, and not loaded at the start.
    unlimited = policy._replace(index_lines=None, index_bytes=None, index_units=None, pointer_chars=None)
    named: dict[str, frozenset[str | None]] = {}
    homes = {path: path if policy.is_index(path) else index_of(path) for path in texts}
    rests: dict[str, dict[str, bytes]] = {home: {} for home in homes.values()}
    for path, home in homes.items():
        if path != home:
            rests[home][path] = texts[path].data
    spare = {one: row.sha256 for one, row in rows.items() if row.sha256 and one not in texts and index_of(one)}
    for path in sorted(texts, key=lambda path: (homes[path], len(path), path)):  # the longer its number, the later
        text, home = texts[path], homes[path]
        pointed = {one for pointer in text.pointers for one in pointer.readings if one is not None}
        present = frozenset(one for one in pointed - memories.keys() if _is_there(engine, Address(root.id, one)))
        index = CheckedIndex(
            Address(root.id, path),
            text.data,
            policy if home == path else unlimited,
            memories,
            present,
            tuple(orphans.get(path, ())),
            why,
            rebuilt.match(path),
            rests.get(path, {}),
            named.get(home, frozenset()),
            {one: sha for one, sha in spare.items() if index_of(one) == path},
            text.sha256,
        )
        named[home] = index.named | _named(text)
        yield checks.check(index)


def _named(text: _Text) -> frozenset[str | None]:
    return frozenset(pointer.path for pointer in text.pointers)


def _imported(policy: Policy, path: str, text: _Text) -> frozenset[str | None]:
    if not policy.index_imports:
        return frozenset()
    return frozenset(link.path for link in links.parse_links(text.data, path) if link.kind == "import")


def _is_part(policy: Policy, path: str) -> bool:
    """Return whether the content of a file matters: a possible index, overflow file, or file with hidden entries."""
    return policy.is_index(path) or policy.is_index(index_of(path)) or policy.format_of(path) == HIDES


def by_index(policy: Policy, rows: Mapping[str, Memory], named: Container[str | None]) -> dict[str, list[str]]:
    """Group the memories that no index names by the index that has to name them."""
    name = (policy.index_file or "").rpartition("/")[2]
    suffix = name.rpartition(".")[2]
    found: dict[str, list[str]] = {}
    for path in sorted(rows):
        if path in named or path in policy.whole or policy.is_index(path) or not path.endswith("." + suffix):
            continue
        if rows[path].sha256 is None:
            continue  # a link, a pipe: what memtui does not read, the agent is not sent to; its own row says why
        home = home_of(policy.index_file or "", path, rows)
        if home:
            found.setdefault(home, []).append(path)
    return found


def _is_there(engine: Engine, address: Address) -> bool:
    try:
        return bool(engine.folders.kind(address._replace(path=address.path.rstrip("/"))))
    except NotFoundError:
        return False
    except MemtuiError:
        return True  # there is something, though it may not be opened: that its row or `ls` tells
