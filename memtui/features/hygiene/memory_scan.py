"""Findings in whole memories: each text scanned once, whatever its name; duplicates and repeated entries; and fixes.

Near duplicates are found by their common five-word sequences (Jaccard index), with the prefix filter of Bayardo, Ma and
Srikant (2007): only the rarest sequences of a text are looked up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from memtui import __version__
from memtui.diff.differences import byte_lines, hunks_of
from memtui.engine.disk import paths, state_file
from memtui.engine.frontmatter import EMPTY, NONE, OK
from memtui.engine.frontmatter.read import split
from memtui.engine.model import BROUGHT, Address, Memory, Root
from memtui.errors import InternalError, MemtuiError
from memtui.features.entries import model
from memtui.features.entries.model import Entry, format_of, parse
from memtui.features.feature import parts
from memtui.features.hygiene.model import Hazard, Rule
from memtui.features.hygiene.scan import DOUBLES, RULES, VERSION, scan
from memtui.given.reach import reviewed, texts
from memtui.mask import BEGIN
from memtui.pointers import references
from memtui.pointers.lines import is_text
from memtui.ui.draw.text import count_words

if TYPE_CHECKING:
    from memtui.engine import Engine

SHINGLE_WORDS = 5
NEAR = 0.8
"""Share of common sequences from which on two texts are near duplicates."""
MAX_GROUP = 20
_MIN_WORDS = 8
_WORD = re.compile(r"\w+")


class ReadMemory(NamedTuple):
    """A memory with its text."""

    row: Memory
    sha256: str
    data: bytes
    type: str
    """`user`, `feedback`, ...; empty where it has none."""

    @property
    def body(self) -> bytes:
        """The text without front matter."""
        return self.data[split(self.data).body :]

    @property
    def key(self) -> tuple[str, str]:
        """Root and type: only memories with the same key are duplicates."""
        return self.row.address.root, self.type


class Doubles(NamedTuple):
    """Memories of one root with the same text: the one to keep, and the others."""

    stays: ReadMemory
    others: tuple[ReadMemory, ...]
    share: float = 1.0
    """Lowest share of common sequences with the one to keep."""


def read_all(
    engine: Engine, roots: Sequence[Root], *, cancelled: Callable[[], bool] = bool
) -> tuple[list[ReadMemory], list[ReadMemory]]:
    """Read the memories that may be tidied up, and the files with many entries."""
    memories: list[ReadMemory] = []
    files: list[ReadMemory] = []
    mine = [root for root in roots if not root.read_only]
    for root, row, data in texts(engine, mine, cancelled=cancelled):
        if (one := removable(root, row, data)) is not None:
            (memories if format_of(root, row.address.path) is None else files).append(one)
    return memories, files


def removable(root: Root, row: Memory, data: bytes) -> ReadMemory | None:
    """Return a memory that may be tidied up, with its text; None for all others."""
    path = row.address.path
    kept = paths.matches(path, (*root.policy.protected, *root.policy.generated))
    if root.read_only or kept or not row.writable or not reviewed(row) or references.is_index(root, path):
        return None
    front, entries = split(data), format_of(root, path)
    if entries is None and (root.kind != "memories" or front.status not in (NONE, OK, EMPTY) or not is_text(data)):
        return None  # files of instructions are people's own
    return ReadMemory(row, row.sha256 or "", data, front.type_at(path))


def repeated_entries(root: Root, file: ReadMemory) -> tuple[list[Entry], bytes]:
    """Return the repeated entries of a file, and the file without them; nothing where one cannot be removed alone."""
    kind = format_of(root, file.row.address.path)
    if kind is None or file.row.pinned:
        return [], b""
    read = parse(file.data, kind)
    seen: set[bytes] = set()
    repeated = []
    for entry in read.entries:
        text = b" ".join(read.text(entry).split())
        if text in seen:
            repeated.append(entry)
        seen.add(text)
    try:
        for entry in reversed(repeated):  # from the end, so that the numbers before stay
            read = parse(model.without(read, read.entries[entry.number - 1]), kind)
    except MemtuiError:
        return [], b""
    return repeated, read.data if repeated else b""


def exact(texts: Iterable[ReadMemory]) -> list[Doubles]:
    """Group memories with equal bodies; pinned ones are never among `others`.

    One whose front matter says more than that of the one to keep, its name aside, is no duplicate.
    """
    groups: dict[tuple[tuple[str, str], bytes], list[ReadMemory]] = {}
    for one in texts:
        if body := plain_body(one.data):
            groups.setdefault((one.key, body), []).append(one)
    found = []
    for members in groups.values():
        first, *rest = sorted(members, key=rank)
        if others := tuple(one for one in rest if not one.row.pinned and not extra_front_matter(first, one)):
            found.append(Doubles(first, others))
    return found


def plain_body(data: bytes) -> bytes:
    """Return a text without front matter and trailing blanks."""
    return b"\n".join(line.rstrip() for line in data[split(data).body :].splitlines()).strip()


def extra_front_matter(stays: ReadMemory, other: ReadMemory) -> list[str]:
    """Return as lines what the front matter of one memory says beyond that of another, names aside.

    Unreadable front matter is returned whole.
    """
    mine, front = split(stays.data).fields, split(other.data)
    if not front.fields:
        head = other.data[: front.body].decode("utf-8", "replace").strip().removeprefix("\ufeff")
        return [] if not head or other.data[: front.body] == stays.data[: split(stays.data).body] else [head]
    new = {key: value for key, value in front.fields.items() if key != "name" and mine.get(key) != value}
    return [str(value) if key == "description" else f"{key}: {value}" for key, value in new.items()]


def rank(one: ReadMemory) -> tuple[bool, int, int, str]:
    """Sort key that puts the memory to keep first: pinned, most used, oldest."""
    return not one.row.pinned, -one.row.uses, one.row.modified_at, str(one.row.address)


def near(texts: Sequence[ReadMemory], *, cancelled: Callable[[], bool] = bool) -> list[Doubles]:
    """Group memories that share at least `NEAR` of their five-word sequences, most similar first."""
    sets = [(one, shingles(one.body.decode("utf-8", "replace"))) for one in sorted(texts, key=rank)]
    common: Counter[int] = Counter()
    for _, found in sets:
        common.update(found)
    heads: dict[tuple[tuple[str, str], int], list[int]] = {}
    groups: dict[int, list[tuple[int, float]]] = {}
    for number, (one, mine) in enumerate(sets):
        if cancelled():
            break
        if not mine:
            continue
        rare = sorted(mine, key=lambda shingle: (common[shingle], shingle))
        prefix = rare[: len(mine) - int(NEAR * len(mine)) + 1]
        met = dict.fromkeys(head for shingle in prefix for head in heads.get((one.key, shingle), ()))
        scored = ((_share(mine, sets[head][1]), -head) for head in met if len(groups.get(head, ())) < MAX_GROUP - 1)
        best = max(scored, default=(0.0, 0))
        if best[0] >= NEAR and not one.row.pinned:
            groups.setdefault(-best[1], []).append((number, best[0]))
            continue
        for shingle in prefix:
            heads.setdefault((one.key, shingle), []).append(number)
    found_groups = [
        Doubles(sets[head][0], tuple(sets[number][0] for number, _ in others), min(share for _, share in others))
        for head, others in groups.items()
    ]
    return sorted(found_groups, key=lambda group: -group.share)


def shingles(text: str) -> frozenset[int]:
    """Return the word sequences of a text as hashes; none for a short text.

    A text without blanks between words is split into characters.
    """
    words = _WORD.findall(normalize("NFKC", text).casefold())
    if words and sum(map(len, words)) > 12 * len(words):
        words = [sign for word in words for sign in word]
    if len(words) < _MIN_WORDS:
        return frozenset()
    return frozenset(
        int.from_bytes(blake2b(" ".join(words[at : at + SHINGLE_WORDS]).encode(), digest_size=8).digest())
        for at in range(len(words) - SHINGLE_WORDS + 1)
    )


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    small, large = sorted((len(one), len(other)))
    if small < NEAR * large:
        return 0.0
    both = len(one & other)
    return both / (small + large - both)


def union(stays: ReadMemory, others: Iterable[ReadMemory]) -> bytes:
    """Return the text to keep with every line it lacks of the others, each after its predecessor there."""
    start = split(stays.data).body
    end = b"\r\n" if b"\r\n" in stays.data else b"\n"
    lines = byte_lines(stays.data[start:])
    for one in others:
        plain = [line.rstrip(b"\r\n") for line in lines]
        known = {line.strip() for line in plain}
        mine = one.body.splitlines()
        for hunk in reversed(hunks_of(plain, mine)):
            new = [line for line in mine[slice(*hunk.after)] if not line.strip() or line.strip() not in known]
            if any(line.strip() for line in new):
                at = hunk.before[1]
                if at and not lines[at - 1].endswith(b"\n"):
                    lines[at - 1] += end
                lines[at:at] = [line + end for line in new]
        text = b"".join(lines)
        besides = [said.encode() for said in extra_front_matter(stays, one) if said.encode() not in text]
        if besides:
            if lines and not lines[-1].endswith(b"\n"):
                lines[-1] += end
            lines += [line + end for line in besides]
    return stays.data[:start] + b"".join(lines)


# --- scanning


_FILE = "texts"
_SIZE = 16
_LARGEST = 2 * 1_048_576
_NAMED = 3
"""Number of duplicates that are named; the others are counted."""
_LEAST = 20
"""Bytes below which equal texts are no duplicates."""
_SAME, _NEAR, _ENTRY = DOUBLES

Finder = Callable[[Memory, bytes], tuple[Hazard, ...]]
"""Finds hazards in the text of a memory by the rules of another feature."""


def all_rules() -> tuple[Rule, ...]:
    """Return the rules of hygiene and those of other features."""
    return (*RULES, *(rule for rules in parts("rules").values() for rule in rules()))


class ScannedMemory(NamedTuple):
    """One memory and what was found in it."""

    row: Memory
    hazards: tuple[Hazard, ...] = ()
    error: MemtuiError | None = None
    """Why it could not be read or scanned."""


class NamedFinding(NamedTuple):
    """One finding with its id."""

    id: str
    """Changes with the lines it is about."""
    kind_id: str
    """The id of all findings of this rule in the root."""
    row: Memory
    hazard: Hazard
    muted: str
    """The reason of a mute; empty when it is not muted."""


def name_findings(engine: Engine, looked: Iterable[ScannedMemory]) -> list[NamedFinding]:
    """Give findings their ids, and say which are muted."""
    mutes, found = engine.changes.mutes.all(), []
    for row, hazards, _ in looked:
        before: Counter[tuple[str, bytes]] = Counter()
        for one in hazards:
            about = one.rule.id, one.lines or one.text.encode()
            again = b"\0%d" % before[about] if before[about] else b""
            before[about] += 1
            own = engine.changes.mutes.name(row.address, one.rule.id, about[1] + again)
            kind = engine.changes.mutes.name(row.address._replace(path=""), one.rule.id)
            why = mutes.get(own) or mutes.get(kind)
            found.append(NamedFinding(own, kind, row, one, why.reason if why is not None else ""))
    return found


def grave(engine: Engine, addresses: Iterable[Address]) -> list[NamedFinding]:
    """Return the findings of severity E in memories that are not muted."""
    rows = tuple(engine.rows.some(addresses).values())
    found = name_findings(engine, MemoryScanner().look(engine, rows, engine.tasks.clock()))
    return [one for one in found if one.hazard.severity == "E" and not one.muted]


def grave_words(engine: Engine, addresses: Iterable[Address]) -> str:
    """Return a warning about grave findings for a question: ` Look first at line 3 of a.md: ...`, or ""."""
    found = grave(engine, addresses)
    if not found:
        return ""
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    first = found[0].hazard
    return f" Look first at line {first.line:,} of {found[0].row.address.name}{more}: {first.rule.what}."


class _Kept(NamedTuple):
    """The cached result for a text."""

    hazards: tuple[Hazard, ...]
    body: bytes
    """Keyed digest of type and body; only texts with the same one are duplicates. Empty for a very short text."""


class _Clean:
    """Cache of texts without findings for the next process: keyed digests only, safe to delete."""

    def __init__(self, engine: Engine) -> None:
        """Load the cache; a damaged one, or one of another version or ledger, counts as empty."""
        self._engine = engine
        self._key = bytes.fromhex(engine.changes.mutes.name(Address("", ""), f"texts {__version__} {VERSION}"))
        try:
            data = state_file.read(engine.state_dir, _FILE, most=_LARGEST)
        except (OSError, ValueError):
            data = b""
        mark, body = data[:_SIZE], data[_SIZE:]
        step = 2 * _SIZE
        whole = mark == self._digest(body)
        starts = range(0, len(body), step) if whole else ()
        self._bodies = {body[at : at + _SIZE]: body[at + _SIZE : at + step] for at in starts}
        self._more = False

    def _digest(self, data: bytes) -> bytes:
        return blake2b(data, key=self._key, digest_size=_SIZE).digest()

    def get(self, key: tuple[object, ...]) -> _Kept | None:
        """Return the result for a text without findings."""
        body = self._bodies.get(self._digest(repr(key).encode()))
        return None if body is None else _Kept((), body.rstrip(b"\0"))

    def keep(self, key: tuple[object, ...], found: _Kept) -> _Kept:
        """Cache a result, and return it with its digest keyed by this ledger."""
        kept = found._replace(body=self._digest(found.body)[:-1] + b"1" if found.body else b"")
        if not found.hazards:
            self._bodies[self._digest(repr(key).encode())] = kept.body.ljust(_SIZE, b"\0")
            self._more = True
        return kept

    def save(self) -> None:
        """Write new results to disk; failures are ignored."""
        if self._more and not self._engine.roots.read_only:
            newest = islice(reversed(self._bodies.items()), _LARGEST // (2 * _SIZE) - 1)
            body = b"".join(one for pair in reversed(tuple(newest)) for one in pair)
            with suppress(OSError):
                state_file.write(self._engine.state_dir, _FILE, self._digest(body) + body)
            self._more = False


class MemoryScanner:
    """Scans memories and caches the results."""

    def __init__(self) -> None:
        self._clean: _Clean | None = None
        self._known: dict[tuple[object, ...], _Kept] = {}
        self._claims: dict[tuple[Address, str | None], tuple[Hazard, ...]] = {}

    def look(
        self,
        engine: Engine,
        rows: Sequence[Memory],
        now: int,
        *,
        around: Sequence[Memory] | None = None,
        alike: bool = False,
        cancelled: Callable[[], bool] = bool,
    ) -> list[ScannedMemory]:
        """Scan memories, and look for duplicates among them; once `cancelled()`, the results so far are returned.

        `around` holds all memories of their roots (None: there are no others). With `alike` near duplicates are found,
        too, for which every text is read.
        """
        self._clean = self._clean or _Clean(engine)
        known = tuple(rows if around is None else around)
        others = [findings(engine, known, now) for findings in parts("findings").values()]
        found: list[ScannedMemory] = []
        bodies: dict[tuple[str, bytes], list[Memory]] = {}
        for row in rows:
            if cancelled():
                self._clean.save()
                return found
            try:
                kept = self._kept(engine, row, others, self._clean)
            except MemtuiError as error:
                found.append(ScannedMemory(row, error=error))
                continue
            except Exception as error:  # noqa: BLE001 - told in its row, whatever it is; the others are not its fault
                state_file.note_fault(engine.state_dir, error, "check")
                found.append(ScannedMemory(row, error=_failed(error)))
                continue
            claims = self._claims.get((row.address, row.sha256), ())
            hazards = sorted((*kept.hazards, *claims), key=lambda one: (one.start, one.end, one.rule.id))
            found.append(ScannedMemory(row, tuple(hazards)))
            if kept.body:
                bodies.setdefault((row.address.root, kept.body), []).append(row)
        self._clean.save()
        suspects = rows if alike else [row for group in bodies.values() if len(group) > 1 for row in group]
        doubles = dict(_doubles(engine, suspects, alike=alike, cancelled=cancelled))
        return [one._replace(hazards=(*one.hazards, *doubles.get(one.row.address, ()))) for one in found]

    def _kept(self, engine: Engine, row: Memory, others: Iterable[Finder], clean: _Clean) -> _Kept:
        root = engine.roots.find(row.address.root)
        key = row.sha256, root.kind, row.trust == BROUGHT, format_of(root, row.address.path)
        place = row.address, row.sha256
        lasting = row.sha256 is not None and key[-1] is None  # doubled entries depend on more than the text
        known = self._known.get(key) if row.sha256 is not None else None
        if known is None and lasting:
            known = clean.get(key)
        if known is not None and place in self._claims:
            return known
        data = engine.read_bytes(row.address)
        self._claims[place] = tuple(one for find in others for one in find(row, data))
        if known is None:
            hazards = (*scan(data, instructs=instructs(root, row, data)), *_entries(root, row, data))
            kind = split(data).type_at(row.address.path).encode()
            body = plain_body(data)
            told = blake2b(kind + b"\0" + body, digest_size=16).digest() if len(body) >= _LEAST else b""
            known = clean.keep(key, _Kept(hazards, told)) if lasting else _Kept(hazards, told)
            self._known[key] = known
        return known

    def renew(self) -> None:
        """Drop results that depend on more than a text: claims about a checkout."""
        self._claims = {}


def _failed(error: Exception) -> MemtuiError:
    return InternalError(
        f"memtui failed on this text ({type(error).__name__}).",
        unharmed="The others were looked at.",
        hint="`memtui doctor` names the place in the program.",
    )


def instructs(root: Root, row: Memory, data: bytes) -> bool:
    """Return whether a text holds the user's own rules: instructions or feedback that no repository brought."""
    own = root.kind != "memories" or split(data).type_at(row.address.path) == "feedback"
    return own and row.trust != BROUGHT


def _entries(root: Root, row: Memory, data: bytes) -> Iterator[Hazard]:
    one = removable(root, row, data)
    for entry in repeated_entries(root, one)[0] if one is not None else ():
        yield Hazard(_ENTRY, _ENTRY.severity, entry.start, entry.end, entry.line, entry.title)


def _doubles(
    engine: Engine, rows: Iterable[Memory], *, alike: bool, cancelled: Callable[[], bool]
) -> Iterator[tuple[Address, tuple[Hazard, ...]]]:
    read: list[ReadMemory] = []
    for row in rows:
        root = engine.roots.find(row.address.root)
        if cancelled() or format_of(root, row.address.path) is not None:
            continue
        try:
            one = removable(root, row, engine.read_bytes(row.address))
        except MemtuiError:
            continue  # that it cannot be read is said already
        if one is not None:
            read.append(one)
    same = exact(read)
    gone = {one.row.address for group in same for one in group.others}
    left = near([one for one in read if one.row.address not in gone], cancelled=cancelled) if alike else []
    found: dict[Address, tuple[Hazard, ...]] = {}
    for rule, groups in ((_SAME, same), (_NEAR, left)):
        for group in groups:
            others = [str(one.row.address) for one in group.others]
            more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
            said = f"{', '.join(others[:_NAMED])}{more}"
            address, data = group.stays.row.address, group.stays.data
            hazard = Hazard(rule, rule.severity, split(data).body, len(data), 1, said)
            found[address] = (*found.get(address, ()), hazard)
    yield from found.items()


# --- fixes


LABELS = {
    "mask": "take it out, and leave [removed] there",
    "strip": "take out the characters",
    "cut": "cut it",
    "set": "say what is so now",
}
_KEPT = {"H02": re.compile(r"[^\u202A-\u202E\u2066-\u2069]+"), "H06": re.compile(r"[\r\u2028\u2029]")}
"""What is kept of the match: text between direction marks, and line ends in another spelling."""
_MAX_VERSIONS = 100


def fix_edit(engine: Engine, address: Address, data: bytes, one: Hazard) -> tuple[int, int, bytes] | None:
    """Return start, end and replacement of a fix in `data`; None where a person has to decide."""
    kind, start, end = one.rule.fix, one.start, one.end
    if kind == "mask":
        return start, end, f"[removed: {one.text.removeprefix(BEGIN).rstrip(']')}]".encode()
    if kind == "strip":
        kept = _KEPT.get(one.rule.id)
        text = data[start:end].decode("utf-8", "surrogateescape")
        new = "".join(kept.findall(text)) if kept else ""
        return start, end, (new if one.rule.id == "H02" else "\n" * len(new)).encode("utf-8", "surrogateescape")
    if kind == "set" and one.new is not None:
        return start, end, one.new.encode("utf-8", "surrogateescape")
    if kind != "cut":
        return None
    if one.rule.id == "D03":
        file = removable(engine.roots.find(address.root), engine.rows.get(address), data)
        left = repeated_entries(engine.roots.find(address.root), file)[1] if file is not None else b""
        return (0, len(data), left) if left else None
    if one.rule.id == "H07":
        return start, end, b""
    line_end = data.find(b"\n", max(start, end - 1))
    return data.rfind(b"\n", 0, start) + 1, len(data) if line_end < 0 else line_end + 1, b""


def remaining_copies(engine: Engine, address: Address, value: bytes) -> tuple[str, ...]:
    """Return sentences about the places where a removed secret still is."""
    count = 0
    for version in engine.history.of(address)[:_MAX_VERSIONS]:
        try:
            count += value in engine.history.read(address, version.sha256)
        except MemtuiError:
            continue  # redacted, or not kept: it is not there
    count = max(count, 1)  # what is written over is kept
    until = "that is" if count == 1 else "they are"
    said = [f"It stays in {count_words(count, 'version')} of its history until {until} redacted: H, d r."]
    if engine.rows.get(address).trust:
        said.append("It stays in git where it was committed.")
    return (*said, "Change the secret itself, where it is used.")
