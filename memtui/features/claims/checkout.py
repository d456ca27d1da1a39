"""Checks of claims against a checkout's newest commits; nothing in it is run, and no link followed.

Manifests are read as data: scripts, targets and dependency versions. A claim is outdated when the checked-out commit
and the default branch lack it and a commit removed it. Uncommitted files can only save a claim.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from memtui.config.toml import loads
from memtui.engine.disk import fsio
from memtui.engine.disk.git_objects import CheckoutHistory, CommittedChange, blob, history, state_of
from memtui.features.claims.text import COMMAND, MENTION, PATH, SYMBOL, Claim

if TYPE_CHECKING:
    from memtui.engine.disk.git_objects import GitObjects

OF_COMMANDS = {
    "npm": ("package.json",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
}
"""File names of manifests by the tool that runs their commands."""
_PYTHON = ("pyproject.toml", "requirements.txt", "requirements-dev.txt")
OF_DEPENDENCIES = ("package.json", "Cargo.toml", "go.mod", *_PYTHON)
LARGEST = 262_144
"""Largest manifest in bytes that is read."""
_LONGEST = 10_000
"""Longest line in bytes: the TOML parser needs quadratic time."""
_TARGET = re.compile(r"^([\w./-][\w ./\t-]*+):(?!=)", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*+)[^:\n]*+:(?!=)", re.M)
_ANY = re.compile(r"^-?include\b|^[^#\n%:]*+%[^\n=:]*+:|^\$[({]|^import ", re.M)
_REQUIREMENT = re.compile(r"^[ \t]*+([A-Za-z0-9][\w.-]*+)(?:\[[^\]\n]*+\])?[ \t]*+([^;#\n]*+)", re.M)
_REQUIRED = re.compile(r"^(?:require[ \t]++)?[ \t]*+([\w./~-]++) v(\S++)", re.M)


class Manifest(NamedTuple):
    """Declarations of one manifest."""

    commands: frozenset[tuple[str, str]] = frozenset()
    """Pairs of tool (`npm`, `make`, `just`) and name."""
    versions: Mapping[str, str] = {}
    """Versions as written, by lower-case name."""
    open: bool = False
    """Whether it may declare more than is written in it, or is unreadable."""


def _plain_name(name: str) -> str:
    return name.lower().replace("_", "-")


def major(version: str) -> int | None:
    """Return the major version; None where there is none, or several are allowed."""
    numbers = re.findall(r"(?<![\d.\w])v?(\d{1,9})(?!\d)", version)
    return int(numbers[0]) if len(numbers) == 1 or (numbers and "<" in version) else None


def parse(name: str, data: bytes) -> Manifest:
    """Parse a manifest; `name` is its file name."""
    if len(data) > LARGEST or max(map(len, data.split(b"\n"))) > _LONGEST:
        return Manifest(open=True)
    text = data.decode("utf-8", "replace")
    try:
        if name == "package.json":
            return _package(json.loads(text))
        if name.lower().endswith("makefile"):
            targets = {("make", one) for found in _TARGET.findall(text) for one in found.split()}
            return Manifest(frozenset(targets), open=_ANY.search(text) is not None)
        if name.lower() == "justfile":
            return Manifest(
                frozenset(("just", one) for one in _RECIPE.findall(text)), open=_ANY.search(text) is not None
            )
        if name == "go.mod":
            return Manifest(versions={_plain_name(one): version for one, version in _REQUIRED.findall(text)})
        if name.endswith(".toml"):
            return Manifest(versions=dict(_toml(loads(text))))
        return Manifest(versions=dict(_requirements(text)))
    except (ValueError, RecursionError):
        return Manifest(open=True)


def _package(found: object) -> Manifest:
    if not isinstance(found, dict):
        return Manifest(open=True)
    scripts = found.get("scripts")
    commands = {("npm", str(name)) for name in scripts} if isinstance(scripts, dict) else ()
    versions = {
        _plain_name(str(name)): str(version)
        for kind in ("peerDependencies", "optionalDependencies", "devDependencies", "dependencies")
        if isinstance(group := found.get(kind), dict)
        for name, version in group.items()
    }
    return Manifest(frozenset(commands), versions)


def _requirements(text: str) -> Iterator[tuple[str, str]]:
    for name, version in _REQUIREMENT.findall(text):
        yield _plain_name(name), version.strip()


def _toml(found: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the dependencies of `pyproject.toml` (PEP 621, PEP 735, Poetry) or `Cargo.toml`, at any depth."""
    for key, value in found.items():
        if isinstance(value, dict):
            if key.lower().endswith("dependencies") and key != "optional-dependencies":
                for name, one in value.items():
                    version = one.get("version", "") if isinstance(one, dict) else one
                    yield _plain_name(name), str(version)
            elif key in ("optional-dependencies", "dependency-groups"):
                for group in value.values():
                    yield from _listed(group)
            else:
                yield from _toml(value)
        elif key == "dependencies":
            yield from _listed(value)


def _listed(group: object) -> Iterator[tuple[str, str]]:
    for one in group if isinstance(group, list) else ():
        if isinstance(one, str):
            yield from _requirements(one)


_MAX_MANIFESTS = 100
"""Manifests that are read; in a checkout with more, commands and dependencies are not checked."""
_MAX_VERSIONS = 100
_MAX_MANIFEST_BYTES = 4 * 1_048_576
_MAX_MOVES = 10
_CACHE_SIZE = 2


class Gone(NamedTuple):
    """The removal of something a memory claims."""

    at: int
    """Time of the removing commit, in milliseconds."""
    commit: str
    now: str = ""
    """The replacement, such as the new path or version; empty when unknown."""


_cache: OrderedDict[tuple[str, ...], Checkout] = OrderedDict()


def look(path: str) -> Checkout | None:
    """Return the checkout around a folder, cached by commit; None without a readable one."""
    key = state_of(path)
    found = _cache.pop(key, None)
    if found is None and key:
        read = history(path)
        found = Checkout(*read) if read is not None else None
    if found is not None:
        _cache[key] = found
        while len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    return found


class Checkout:
    """One checkout as its newest commits have it."""

    def __init__(self, past: CheckoutHistory, objects: GitObjects) -> None:
        self.past = past
        self._objects = objects
        self._now, self._default = _by_name(past.names), _by_name(past.default)
        self._changed = _by_name(past.changes)
        self._left = _MAX_MANIFEST_BYTES
        self._offers: dict[bytes, Manifest] = {}
        self._lost_symbols: Mapping[str, CommittedChange] | None = None
        self._committed: dict[tuple[str, ...], tuple[Manifest, ...]] = {}

    def gone(self, claim: Claim) -> Gone | None:
        """Return the commit that ended a claim; None when it holds, never held, or is unknown."""
        if claim.kind == PATH:
            return self._path_gone(claim.name)
        if claim.kind == SYMBOL:
            return self._symbol_gone(claim.name)
        if claim.kind == COMMAND:
            wanted = (claim.more, claim.name)
            return self._lost(OF_COMMANDS[claim.more], lambda one: wanted in one.commands)
        return self._dependency_gone(_plain_name(claim.name), claim)

    def _dependency_gone(self, name: str, claim: Claim) -> Gone | None:
        files, number = OF_DEPENDENCIES, int(claim.more.partition(".")[0])
        said = {one.versions[name] for one in self._offered(files) if name in one.versions}
        majors = set(map(major, said))
        # Where versions are open, or there are several, nobody knows which is meant.
        if number in majors or None in majors or len(majors) > 1 or (claim.kind == MENTION and not said):
            return None
        found = self._lost(files, lambda one: major(one.versions.get(name, "")) == number)
        return found._replace(now=_plain_version(min(said))) if found is not None and said else found

    def _symbol_gone(self, name: str) -> Gone | None:
        if self._lost_symbols is None:
            past = self.past
            now = [sha for names in (past.names, past.default) for path, sha in names.items() if _is_source(path)]
            changes = [one for path, some in past.changes.items() if _is_source(path) for one in some]
            changes.sort(key=lambda one: -one.at)
            self._lost_symbols = lost_symbols(lambda sha: blob(self._objects, sha), now, changes)
        change = self._lost_symbols.get(name)
        if change is None or name.encode() in (self._small(change.path) or b""):
            return None  # what is not committed yet may bring it back
        return Gone(change.at, change.commit)

    # --- paths

    def _path_gone(self, path: str) -> Gone | None:
        if _matching(self._now, path) or _matching(self._default, path):
            return None
        ended = [self.past.changes[one][0] for one in _matching(self._changed, path)]
        if not ended or any(one.new is not None for one in ended):
            return None
        last = max(ended, key=lambda one: one.at)
        if any(self._on_disk(one.path) for one in ended):
            return None
        return Gone(last.at, last.commit, self._moved(last) or self._renamed(last))

    def _moved(self, change: CommittedChange) -> str:
        """Follow the commits that moved a file unchanged."""
        path, commit = change.path, change.commit
        for _ in range(_MAX_MOVES):
            new = self.past.moved.get((path, commit))
            if new is None:
                return ""
            if new in self.past.names:
                return new
            path, commit = new, self.past.changes[new][0].commit
        return ""

    def _renamed(self, gone: CommittedChange) -> str:
        """Return the only file of this name, if the removing commit also added it."""
        found = self._now.get(gone.path.rpartition("/")[2], ())
        if len(found) != 1 or found[0].endswith("/"):
            return ""
        made = any(one.commit == gone.commit and one.old is None for one in self.past.changes.get(found[0], ()))
        return found[0] if made else ""

    def _on_disk(self, path: str) -> bool:
        with suppress(OSError), self._folder_of(path) as (folder, name):
            fsio.stat_at(folder, name)
            return True
        return False

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a name by handle, through no link; raises OSError."""
        *above, name = path.rstrip("/").split("/")
        with fsio.closing(fsio.open_root(self.past.checkout)) as top:
            if not above:
                yield top, name
                return
            with fsio.closing(fsio.open_beneath(top, tuple(above))) as folder:
                yield folder, name

    def _small(self, path: str) -> bytes | None:
        with (
            suppress(OSError),
            self._folder_of(path) as (folder, name),
            fsio.closing(fsio.open_file(folder, name)) as one,
        ):
            status = fsio.fstat(one)
            if fsio.is_regular(status) and status.st_size < LARGEST:
                return fsio.read_all(one, status.st_size)
        return None

    # --- manifests

    def _lost(self, files: tuple[str, ...], holds: Callable[[Manifest], bool]) -> Gone | None:
        """Return the commit since which no manifest of these names has something."""
        if any(one.open or holds(one) for one in self._offered(files)):
            return None
        changes = [change for path in _paths(self._changed, files) for change in self.past.changes[path]]
        changes.sort(key=lambda one: -one.at)
        for change in changes[:_MAX_VERSIONS]:
            if holds(self._parsed(change.path, change.old)) and not holds(self._parsed(change.path, change.new)):
                # What is not committed yet may bring it back.
                back = any(map(holds, self._on_disk_offered(files)))
                return None if back else Gone(change.at, change.commit)
        return None

    def _offered(self, files: tuple[str, ...]) -> tuple[Manifest, ...]:
        if files not in self._committed:
            here, there = _paths(self._now, files), _paths(self._default, files)
            known = {(path, self.past.names[path]) for path in here}
            known |= {(path, self.past.default[path]) for path in there}
            none = Manifest(open=True)
            many = len(known) > _MAX_MANIFESTS
            self._committed[files] = (none,) if many else tuple(self._parsed(*one, missing=none) for one in known)
        return self._committed[files]

    def _on_disk_offered(self, files: tuple[str, ...]) -> Iterator[Manifest]:
        for path in _paths(self._now, files):
            data = self._small(path)
            if data is not None:
                yield parse(path.rpartition("/")[2], data)

    def _parsed(self, path: str, sha: bytes | None, *, missing: Manifest = Manifest()) -> Manifest:  # noqa: B008
        if sha is None:
            return missing
        if sha not in self._offers:
            data = blob(self._objects, sha)
            if data is None or len(data) > self._left:
                return missing
            self._left -= len(data)
            self._offers[sha] = parse(path.rpartition("/")[2], data)
        return self._offers[sha]

    # --- lines

    def came(self, path: str, part: bytes) -> tuple[int, bool] | None:
        """Return when a part of a file's text was added, in milliseconds, and whether that is exact.

        Not exact: it was there by then. None: it is not in the newest commit.
        """
        if part not in (blob(self._objects, self.past.names.get(path)) or b""):
            return None
        for change in self.past.changes.get(path, ()):
            if part not in (blob(self._objects, change.old) or b""):
                return change.at, True
        return self.past.since, False


def _by_name(paths: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[path.rstrip("/").rpartition("/")[2]].append(path)
    return dict(found)


def _paths(known: Mapping[str, list[str]], files: Iterable[str]) -> list[str]:
    return [path for name in files for path in known.get(name, ()) if not path.endswith("/")]


def _matching(known: Mapping[str, list[str]], path: str) -> list[str]:
    """Return the paths that equal this one or end in it."""
    found = known.get(path.rpartition("/")[2], ())
    return [one for one in found if one.rstrip("/") == path or one.rstrip("/").endswith("/" + path)]


def _plain_version(version: str) -> str:
    return version.lstrip("^~=v> ").partition(",")[0].strip()


# Names in source: whole files are read, so nothing of it is done before a memory names a symbol

_SOURCE = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|exs?|scala|sql|sh|vue|svelte|proto)\Z"
)
_WORD = re.compile(rb"[A-Za-z_]\w{3,99}")
_MAX_SOURCE_FILES = 20_000
_MAX_SOURCE_BYTES = 64 * 1_048_576
_SECONDS = 2.0

Read = Callable[[bytes | None], bytes | None]
"""Reads a blob by name; None where there is none or it is unreadable."""


def lost_symbols(read: Read, now: Iterable[bytes], changes: Iterable[CommittedChange]) -> dict[str, CommittedChange]:
    """Map each name that vanished from all source to the newest change that removed it.

    Args:
        now: the blobs of all source files, in any order.
        changes: of source files, the newest first.

    Returns:
        Nothing when there is more source than is read.
    """
    shas = set(now)
    here: set[bytes] = set()
    end, left = monotonic() + _SECONDS, _MAX_SOURCE_BYTES
    if len(shas) > _MAX_SOURCE_FILES:
        return {}
    for sha in shas:
        data = read(sha)
        left -= len(data or b"")
        if data is None or left < 0 or monotonic() > end:
            return {}
        here.update(_WORD.findall(data))
    lost: dict[str, CommittedChange] = {}
    end, left = monotonic() + _SECONDS, _MAX_SOURCE_BYTES
    for change in changes:
        old, new = read(change.old) or b"", read(change.new) or b""
        left -= len(old) + len(new)
        if left < 0 or monotonic() > end:
            break
        for word in {*_WORD.findall(old)} - here - {*_WORD.findall(new)}:
            lost.setdefault(word.decode(), change)
    return lost


def _is_source(path: str) -> bool:
    return _SOURCE.search(path) is not None
