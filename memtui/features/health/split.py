"""Splitting of an index that is too long: its rest moves unchanged to an overflow file, which a new line names.

If it is enough, only redundant blank lines are removed.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from types import MappingProxyType

from memtui.engine.model import Policy
from memtui.features.health.model import Edit, Fix, Piece, apply_edits
from memtui.pointers.lines import (
    Span,
    borders,
    is_entry,
    measure,
    rest_name,
    spans,
    style_of,
    surplus,
    text_of,
    write_entry,
)
from memtui.pointers.links import Pointer, parse_index, prose, written

HOOK = "more of this index: open it when no line above fits"
NO_PLACE = "It cannot be split here: a paragraph or a block of code runs across the line."
MISREAD = "In a file of its own the rest would not be read as it is here: a comment or a block of code has no end."
NO_ROOM = "What the agent loads has no room for a line that names a second file."


def split(
    data: bytes,
    path: str,
    policy: Policy,
    known: Iterable[str],
    rests: Mapping[str, bytes],
    spare: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Fix | None, str]:
    """Return a fix after which all of an index is loaded, or None and the reason.

    Args:
        known: existing paths below the root.
        rests: contents of the overflow files it names.
        spare: versions of overflow files it does not name; one that already holds the rest is used.
    """
    lines, cut = spans(data), measure(data, policy).cut
    blank = tuple(Edit(*lines[number]) for number in surplus(data, lines))
    if blank and measure(apply_edits(data, blank), policy).cut is None:
        return Fix("take out blank lines below blank lines", blank), ""
    places = borders(data, lines)[1:]  # what comes first stays
    heads = [number for number in places if cut is not None and number <= cut]
    starts = [lines[number].start for number in places]
    taken = frozenset(map(str.casefold, known))
    why = NO_PLACE
    for at in range(len(heads) - 1, -1, -1):
        above = parse_index(data[: starts[at]], path)
        pieces = _appended(data, starts[at], policy, above, rests) or _new(data, starts[at:], path, policy, taken)
        pieces = tuple(_there(data, piece, spare) for piece in pieces)
        if not pieces:
            break
        why = NO_ROOM
        line = _lines(data, lines[: heads[at]], path, policy, above, pieces)
        edit = Edit(starts[at], len(data), line)
        after = apply_edits(data, (edit,))
        if measure(after, policy).cut is None:
            if not _reads_the_same(data, after, pieces, rests):
                return None, MISREAD
            return Fix(f"move the rest to {_words(pieces)}", (edit,), pieces=pieces), ""
    return None, why


def filled(data: bytes, piece: Piece, held: bytes) -> bytes:
    """Return the contents of a file after a part of an index is appended, unless it already ends with that part.

    It does after a crash between the two writes.
    """
    part = data[piece.start : piece.end]
    head = held.removesuffix(part)
    if part and head != held and (not head or head.endswith(b"\n")):
        return held
    lead = b"" if not held or held.endswith(b"\n") else b"\r\n" if b"\r\n" in held else b"\n"
    return held + lead + part


def _appended(
    data: bytes, start: int, policy: Policy, above: Sequence[Pointer], rests: Mapping[str, bytes]
) -> tuple[Piece, ...]:
    """Append the rest to an overflow file that is named above the cut, if it has room."""
    for name in dict.fromkeys(pointer.path for pointer in reversed(above)):
        if name is not None and name in rests:
            piece = Piece(name, start, len(data), sha256(rests[name]).hexdigest())
            if len(filled(data, piece, rests[name])) <= policy.write_bytes:
                return (piece,)
    return ()


def _new(data: bytes, starts: Sequence[int], path: str, policy: Policy, taken: Container[str]) -> tuple[Piece, ...]:
    """Move the rest to new files of writable size; nothing when it cannot be divided so."""
    names = _free(path, taken)
    found = []
    begin = last = starts[0]
    for end in (*starts[1:], len(data)):
        if end - begin > policy.write_bytes:
            found.append(Piece(next(names), begin, last))
            begin = last
        last = end
    found.append(Piece(next(names), begin, len(data)))
    sizes = [piece.end - piece.start for piece in found]
    return tuple(found) if min(sizes) > 0 and max(sizes) <= policy.write_bytes else ()


def _there(data: bytes, piece: Piece, spare: Mapping[str, str]) -> Piece:
    """Use an existing file with the same content instead of a new one."""
    sha = sha256(data[piece.start : piece.end]).hexdigest() if piece.sha256 is None and spare else None
    found = next((name for name in sorted(spare) if spare[name] == sha), None)
    return piece if found is None else piece._replace(path=found, sha256=sha)


def _free(path: str, taken: Container[str]) -> Iterator[str]:
    return (name for number in count(1) if (name := rest_name(path, number)).casefold() not in taken)


def _lines(
    data: bytes, lines: Sequence[Span], path: str, policy: Policy, above: Sequence[Pointer], pieces: Sequence[Piece]
) -> bytes:
    """Return the lines for files that are not named yet, in the index's style."""
    numbers = dict.fromkeys(pointer.line for pointer in above if is_entry(text_of(data, lines[pointer.line])))
    style = style_of(data, lines, list(numbers))
    found = []
    named = {pointer.path for pointer in above}
    for step, piece in enumerate(one for one in pieces if one.path not in named):
        target = written(piece.path, path, "") or piece.path
        name = piece.path.rpartition("/")[2]
        found.append(write_entry(style, target, name, HOOK, limit=policy.pointer_chars, step=step).encode() + style.end)
    return b"".join(found)


def _reads_the_same(data: bytes, after: bytes, pieces: Sequence[Piece], rests: Mapping[str, bytes]) -> bool:
    """Return whether no line becomes, or stops being, code or a comment."""
    lines, left = _read(data), _read(after)
    kept = data.count(b"\n", 0, pieces[0].start)
    if left != lines[:kept] + [line.strip() for line in after[pieces[0].start :].split(b"\n")]:
        return False
    for piece in pieces:
        whole = filled(data, piece, rests.get(piece.path, b""))
        at = whole.count(b"\n", 0, len(whole) - (piece.end - piece.start))
        first, count_ = data.count(b"\n", 0, piece.start), data.count(b"\n", piece.start, piece.end)
        if _read(whole)[at : at + count_] != lines[first : first + count_]:
            return False
    return True


def _read(data: bytes) -> list[bytes]:
    return [text.strip() for _, text in prose(data)]


def _words(pieces: Sequence[Piece]) -> str:
    names = [piece.path.rpartition("/")[2] for piece in pieces]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
