"""Bringing an index under its agent's line without losing a word: the rest goes to a second file, which a line names.

Pure. Nothing is written anew but that line: what goes is a span of the very file, so that no byte of it can differ.
Where it is enough, only blank lines below blank lines go.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from types import MappingProxyType

from memtui.engine.model import Policy
from memtui.features.health.model import Edit, Fix, Piece, apply_edits
from memtui.pointers.cutline import measure
from memtui.pointers.index import Pointer, parse
from memtui.pointers.lines import Span, is_entry, spans, style_of, text_of, write_entry
from memtui.pointers.prose import prose
from memtui.pointers.rest import borders, rest_name, surplus
from memtui.pointers.targets import written

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
    """Work out how all of an index is loaded: without needless blank lines, else with its rest in another file.

    Args:
        data: the index, which is longer than its agent loads.
        path: its own path.
        policy: what the layout says of it.
        known: the paths there are below the root.
        rests: files it names for its rest already, and what is in them.
        spare: files for its rest that it does not name, and their versions: one that holds the very rest is named.

    Returns:
        The fix and nothing, or None and why there is none.
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
        above = parse(data[: starts[at]], path)
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
    """Give what a file holds once a part of an index went to it; one that ends with it has it already.

    That is so after memtui was killed between the two files.

    Args:
        data: the index.
        piece: which part.
        held: what is in the file already.
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
    """The rest at the end of a file that what stays names already, where it has room."""
    for name in dict.fromkeys(pointer.path for pointer in reversed(above)):
        if name is not None and name in rests:
            piece = Piece(name, start, len(data), sha256(rests[name]).hexdigest())
            if len(filled(data, piece, rests[name])) <= policy.write_bytes:
                return (piece,)
    return ()


def _new(data: bytes, starts: Sequence[int], path: str, policy: Policy, taken: Container[str]) -> tuple[Piece, ...]:
    """The rest in new files, each small enough to be written; nothing when it cannot be parted so."""
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
    """The file that holds a part already, instead of a new one."""
    sha = sha256(data[piece.start : piece.end]).hexdigest() if piece.sha256 is None and spare else None
    found = next((name for name in sorted(spare) if spare[name] == sha), None)
    return piece if found is None else piece._replace(path=found, sha256=sha)


def _free(path: str, taken: Container[str]) -> Iterator[str]:
    return (name for number in count(1) if (name := rest_name(path, number)).casefold() not in taken)


def _lines(
    data: bytes, lines: Sequence[Span], path: str, policy: Policy, above: Sequence[Pointer], pieces: Sequence[Piece]
) -> bytes:
    """A line for each file that none names yet, written as the file writes its own."""
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
    """Whether each line is what it was where it is then: no more and no less of it is code or a comment."""
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
    """The lines of a file as links are looked for in them."""
    return [text.strip() for _, text in prose(data)]


def _words(pieces: Sequence[Piece]) -> str:
    names = [piece.path.rpartition("/")[2] for piece in pieces]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
