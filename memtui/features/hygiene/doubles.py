"""Memories with the same or nearly the same text, and entries that are repeated in one file.

Near duplicates are found by their common five-word sequences (Jaccard index), with the prefix filter of Bayardo, Ma and
Srikant (2007): only the rarest sequences of a text are looked up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from memtui.diff.hunks import byte_lines, hunks_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter import EMPTY, NONE, OK
from memtui.engine.frontmatter.read import split
from memtui.engine.model import Memory, Root
from memtui.errors import MemtuiError
from memtui.features.entries import model
from memtui.features.entries.model import Entry, format_of, parse
from memtui.given.reach import reviewed, texts
from memtui.pointers import references
from memtui.pointers.lines import is_text

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
