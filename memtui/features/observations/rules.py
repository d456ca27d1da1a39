"""Rules that derive the cards of a memory from its bytes, deterministically.

Secrets and marked spans may cross a border, so they are cut before the file is divided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui import markers, mask
from memtui.engine.frontmatter.read import read_as_shown
from memtui.features.entries.formats import lines as lines_of
from memtui.features.entries.model import Entry, parse
from memtui.features.observations.model import DerivedCard, type_of
from memtui.matching import fold
from memtui.wire.times import parse_time

SECTION_BYTES = 6_000
MAX_CARDS = 2_000
MAX_TEXT = 12_000
TITLE_CHARS, FACT_CHARS, CONCEPT_CHARS = 120, 240, 60
MAX_FACTS, MAX_CONCEPTS, MAX_FILES = 12, 12, 24
_HEADING = re.compile(rb"#{1,2}[ \t]+\S")
_HEAD = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s*)+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\S")
_WHY = re.compile(r"\s*[*_]*(?:why|how to apply)[*_]*:", re.IGNORECASE)
_ENDS = (". ", "! ", "? ", "。", "！", "？")
_TAG = re.compile(r"#(?<![\w#&/]#)([^\W\d][\w-]{1,40})")
_CODE = re.compile(r"`([^`\n]{2,60})`")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_STRONG = re.compile(r"(?<![\w*])(\*{1,3})(?![\s*])(.+?)(?<![\s*])\1(?![\w*])")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[a-z]{1,40}[A-Z]\w{1,40}|[A-Za-z]\w{0,40}_\w{1,40}")
_NOTE = re.compile(r"##[ \t]+(\d{4}-\d\d-\d\dT[\d:.]+Z)[ \t]+(\w+)((?:[ \t]+#[\w-]+)*)[ \t]*$")
_PATH = re.compile(r"(?<![\w/:.@~-])(?:[\w.@-]{1,80}+/){1,20}+[\w.@-]{1,80}")
_FILE = re.compile(r"[\w@-][\w.@-]{0,80}\.[A-Za-z]\w{0,7}")


class FileCards(NamedTuple):
    """Cards of one file."""

    items: tuple[DerivedCard, ...]
    more: int = 0
    """Entries beyond `MAX_CARDS`, which have no card."""


class _Piece(NamedTuple):
    start: int
    end: int
    first: str
    title: str
    tags: tuple[str, ...]


def derive(data: bytes, kind: str | None) -> FileCards:
    """Derive the cards of a memory; `kind` is a key of `entries.formats.FORMATS`, or None for a single memory."""
    text = data.decode("utf-8", "replace")
    cut, secrets = markers.cut(text), mask.secrets(text)
    if kind is None:
        pieces = list(_sections(data))
    else:
        entries = parse(data, kind).entries
        pieces = [_Piece(one.start, one.end, _line(data, one), one.title, one.tags) for one in entries]
    made: list[DerivedCard] = []
    unkept = at = chars = 0
    fields, given_type, tags = _front_matter(cut.text.encode("utf-8", "replace"))
    spans = [(start, end, markers.PRIVATE) for start, end in cut.spans]
    spans += [(one.start, one.end, f"{mask.BEGIN}{one.kind}]") for one in secrets]
    for piece in pieces[:MAX_CARDS]:
        start = chars + len(data[at : piece.start].decode("utf-8", "replace"))
        raw = data[piece.start : piece.end].decode("utf-8", "replace")
        at, chars = piece.end, start + len(raw)
        left, here = _replace_spans(raw, start, spans)
        again = markers.cut(left)
        if again.no_memory:
            unkept += 1
            continue
        # What is left of a part may be a secret that it was not beside the others.
        again_masked = mask.mask(again.text) if secrets or again.text != text else mask.Masked(text, ())
        counts = (here[1] + len(again_masked.secrets), here[0] + len(again.spans))
        title, own = ("", ()) if any(counts) else (piece.title, piece.tags)  # these were read before anything was cut
        named = fields[0] if kind is None and not piece.first else title
        head = (named, given_type if kind is None else "", (*own, *tags), fields[1] if kind is None else "")
        card = _card(piece, raw, again_masked.text, head, counts)
        made.append(_note_card(card) if kind == "notes" else card)
    if cut.no_memory and (kind is None or not unkept):
        return FileCards(())  # it stands where no entry is, or the file is one
    return FileCards(tuple(made), max(0, len(pieces) - MAX_CARDS))


def _note_card(card: DerivedCard) -> DerivedCard:
    head, _, body = card.narrative.partition("\n")
    found = _NOTE.match(head)
    if found is None:
        return card
    time, kind, tags = found.groups()
    lines = [line for line in body.splitlines() if line.strip()]
    concepts = tuple(dict.fromkeys((*_TAG.findall(tags), *(one for one in card.concepts if one not in head))))
    return card._replace(
        type=type_of(kind),
        title=_title("", lines),
        narrative=body.strip(),
        facts=_facts(lines),
        concepts=concepts[:MAX_CONCEPTS],
        at=parse_time(time, 0),
    )


def _line(data: bytes, entry: Entry) -> str:
    first = next((line for line in data[entry.start : entry.end].splitlines() if line.strip()), b"")
    return fold(first.decode("utf-8", "replace")) or "-"


def _sections(data: bytes) -> Iterator[_Piece]:
    """Yield a memory as one piece; when it is long, one piece per heading and the text before the first."""
    starts = [0]
    if len(data) > SECTION_BYTES:
        body = read_as_shown(data).body
        starts += [
            at for at, end, fenced in lines_of(data, body) if not fenced and _HEADING.match(data, at, end) and at
        ]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(data)
        head = data[start:end].split(b"\n", 1)[0].decode("utf-8", "replace") if number else ""
        if data[start:end].strip() or len(starts) == 1:
            yield _Piece(start, end, fold(head) if len(starts) > 1 else "", head.lstrip("# ").strip(), ())


def _front_matter(data: bytes) -> tuple[tuple[str, str], str, tuple[str, ...]]:
    head = read_as_shown(data)
    name = head.fields.get("title") or head.fields.get("name") or ""
    about, tags = head.fields.get("description") or "", head.fields.get("tags") or ()
    some = tags if isinstance(tags, Sequence) and not isinstance(tags, str) else str(tags).split(",")
    return (
        (clean(str(name)), clean(str(about))),
        type_of(head.fields.get("type") or "", ""),
        tuple(filter(None, (clean(str(tag)).strip() for tag in some[:MAX_CONCEPTS]))),
    )


def clean(text: str) -> str:
    """Mask the secrets of a short text and cut what its writer marked."""
    return mask.mask(markers.cut(text).text).text if text else ""


def _replace_spans(raw: str, start: int, spans: Iterable[tuple[int, int, str]]) -> tuple[str, tuple[int, int]]:
    """Replace spans of the whole text in a part of it; also count the private spans and secrets replaced."""
    end = start + len(raw)
    here = sorted((max(a, start), min(b, end), said) for a, b, said in spans if a < end and b > start)
    pieces, at = [], start
    private = 0
    for first, last, said in here:
        if last <= at:
            continue
        pieces += [raw[at - start : max(first, at) - start], said]
        at, private = last, private + (said == markers.PRIVATE)
    return "".join((*pieces, raw[at - start :])), (private, len(here) - private)


def _card(
    piece: _Piece, raw: str, text: str, head: tuple[str, str, tuple[str, ...], str], counts: tuple[int, int]
) -> DerivedCard:
    named, given, tags, about = head
    body = text
    if not piece.first:
        encoded = text.encode("utf-8", "replace")
        body = encoded[read_as_shown(encoded).body :].decode("utf-8", "replace")
    body = body.strip().removeprefix("\ufeff")
    lines = [line for line in body.splitlines() if line.strip()]
    masked, cut = counts
    title = _title(named if piece.first else about or named, lines)
    for said in (about, "" if piece.first else named):
        if said and fold(said) not in fold(f"{title}\n{body}"):
            body = f"{said}\n\n{body}"
    return DerivedCard(
        piece.first,
        fold(raw),
        (piece.start, piece.end),
        given or "fact",
        title,
        body[:MAX_TEXT],
        _facts(lines),
        _concepts(body, lines, tags),
        _files(body),
        masked,
        cut,
    )


def compose_card(
    body: str,
    kind: str,
    span: tuple[int, int],
    *,
    title: str,
    same: str,
    files: tuple[str, ...],
    counts: tuple[int, int],
) -> DerivedCard:
    """Build a card from text without secrets and private spans; cards with equal `same` count as equal."""
    lines = [line for line in body.splitlines() if line.strip()]
    facts, concepts = _facts(lines), _concepts(body, lines, ())
    shown = _title(title, lines)
    return DerivedCard("", fold(same), span, kind, shown, body, facts, concepts, files or _files(body), *counts)


def _title(given: str, lines: Sequence[str]) -> str:
    found = given.strip() or next(filter(None, (_strip_prefix(line).strip() for line in lines)), "")
    return _short(_strip_markdown(found), TITLE_CHARS) or "(empty)"


def _strip_markdown(line: str) -> str:
    text = _STRONG.sub(r"\2", _SPAN.sub(r"\2", _strip_prefix(line)[: 8 * TITLE_CHARS])).strip("*` \t")
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "_" != text[1] else text


def _strip_prefix(line: str) -> str:
    head = _HEAD.match(line)
    return line[head.end() :] if head is not None else line


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    space = kept.rfind(" ")
    return f"{kept[:space] if space > most // 2 else kept}…"


def _facts(lines: Sequence[str]) -> tuple[str, ...]:
    some = [line for line in lines if _ITEM.match(line) or _WHY.match(line)]
    if not some:
        prose = " ".join(" ".join(line for line in lines if not line.lstrip().startswith("#")).split())[:MAX_TEXT]
        for end in _ENDS:
            prose = prose.replace(end, f"{end.rstrip()}\n")
        some = prose.split("\n")
    found: dict[str, None] = {}
    for one in some:
        if len(found) < MAX_FACTS and (fact := _short(_strip_prefix(one), FACT_CHARS)):
            found[fact] = None
    return tuple(found)


def _concepts(body: str, lines: Sequence[str], tags: Sequence[str]) -> tuple[str, ...]:
    found = [*tags, *_TAG.findall(body)]
    found += [_strip_markdown(line) for line in lines if line.startswith("#")]
    found += [one.strip() for one in _CODE.findall(body)]
    mixed = " ".join([run for run in body.split() if "_" in run or not run.islower()])
    found += [word for word in _WORD.findall(mixed) if ("_" in word or not word.islower()) and _NAME.fullmatch(word)]
    counted = Counter(one for one in found if 1 < len(one) <= CONCEPT_CHARS and mask.BEGIN.strip() not in one)
    return tuple(word for word, _ in counted.most_common(MAX_CONCEPTS))


def _files(body: str) -> tuple[str, ...]:
    """Return the paths that a text names: those with a folder, and file names in code spans."""
    paths = _PATH.findall(" ".join([word for word in body.split() if "/" in word])) if "/" in body else []
    found = [one.rstrip(".") for one in paths if _FILE.fullmatch(one.rstrip(".").rpartition("/")[2])]
    found += [one for one in _CODE.findall(body) if _FILE.fullmatch(one) and one[0] != "."]
    return tuple(dict.fromkeys(found))[:MAX_FILES]
