"""Looks through one text by every rule: bytes in, findings out.

A finding is a reason to look and no proof; a text without any is not called safe. No finding holds a secret.
"""

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from memtui.features.hygiene.model import SEVERITIES, Hazard, Rule, Scanned
from memtui.features.hygiene.orders import ORDERS
from memtui.features.hygiene.rules import RULES
from memtui.mask import BEGIN, Secret, disguised, mask, secrets, undisguised
from memtui.safe_text import one_line

_MOST = 100
"""Findings of one rule that are told one by one."""
_ENOUGH = 10_000
"""Findings of one rule behind which nothing more is looked for: the text is full of them."""
_SHOWN = 100
"""Cells of what a finding shows."""
_AROUND = 16
"""Characters shown on each side of a place that is too short to tell anything."""
_BEFORE, _BEHIND = 400, 700
"""Characters around the anchor of an order in which all of it stands."""
_MASKED = {rule.id: rule for rule in RULES if rule.fix == "mask"}


class _Place(NamedTuple):
    """A finding, in characters."""

    rule: Rule
    severity: str
    start: int
    end: int
    said: str
    """Empty: what stands there."""


def scan(data: bytes, *, instructs: bool = False) -> tuple[Hazard, ...]:
    """Find what somebody should look at.

    Args:
        data: a text in UTF-8; bytes that are none are left alone.
        instructs: these are rules of the user's own, which may tell an agent what to do.

    Returns:
        In the order of their places, which may meet. Of one rule the first 100, and one that covers those behind them;
        behind 10,000 of a rule nothing more is looked for by it.
    """
    text = data.decode("utf-8", "surrogateescape")
    hidden = secrets(text)
    page, plain = Scanned(text, instructs=instructs), text.isascii()
    lowered = text.lower()
    found = [*_of_secrets(text, hidden)]
    for rule in RULES:
        if rule.pattern and (rule.plain or not plain):
            found += _some(_of_rule(rule, page, lowered, hidden))
    if disguised(text):
        found += _undisguised(text, {(one.rule.id, one.start) for one in found}, instructs=instructs)
    found.sort(key=lambda one: (one.start, one.end, one.rule.id))
    return tuple(_told(found, text, hidden, plain=plain))


def newly(before: bytes, after: bytes) -> tuple[Hazard, ...]:
    """Find what a person wrote that somebody should look at, without what stood there before and what harms nobody."""
    found = [one for one in scan(after, instructs=True) if one.severity != "I"]
    known = {(one.rule.id, one.lines) for one in scan(before, instructs=True)} if found else set()
    return tuple(one for one in found if (one.rule.id, one.lines) not in known)


def _of_secrets(text: str, hidden: Sequence[Secret]) -> Iterator[_Place]:
    for one in hidden:
        rule = _MASKED[one.rule]
        severity = "W" if one.rule == "S08" and text.startswith("_test_", one.start + 2) else rule.severity
        yield _Place(rule, severity, one.start, one.end, f"{BEGIN}{one.kind}]")


def _spans(rule: Rule, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a rule can match; those of orders are around their anchors."""
    if not rule.anchors:
        yield 0, len(text)
    elif rule not in ORDERS or len(lowered) != len(text):
        if any(anchor in lowered for anchor in rule.anchors):
            yield 0, len(text)
    else:
        beside = sorted(_places(lowered, rule.beside))
        start = end = 0
        for place in sorted(_places(lowered, rule.anchors)):
            if rule.beside:
                at = bisect_left(beside, place - _BEFORE)
                if at == len(beside) or beside[at] > place + _BEHIND:
                    continue
            if place - _BEFORE > end:
                if end:
                    yield start, end
                start = place - _BEFORE
            end = place + _BEHIND
        if end:
            yield start, end


def _places(text: str, words: Iterable[str]) -> Iterator[int]:
    """Where words begin in a text."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at
            at = text.find(word, at + 1)


def _of_rule(rule: Rule, page: Scanned, lowered: str, hidden: Sequence[Secret]) -> Iterator[_Place]:
    pattern = re.compile(rule.pattern)
    for match in chain.from_iterable(pattern.finditer(page.text, *span) for span in _spans(rule, page.text, lowered)):
        verdict = rule.judge(page, match)
        if verdict is None or (
            rule.id == "H11" and any(one.start < match.end() and match.start() < one.end for one in hidden)
        ):
            continue
        yield _Place(rule, verdict.severity or rule.severity, *match.span(), verdict.said)


def _undisguised(text: str, known: Container[tuple[str, int]], *, instructs: bool) -> Iterator[_Place]:
    """Orders that the text holds for a reader to whom letters of another width are letters."""
    plain, places = undisguised(text)
    page, lowered = Scanned(plain, instructs=instructs), plain.lower()
    for rule in ORDERS:
        for one in _some(_of_rule(rule, page, lowered, ())):
            start = places[one.start]
            if (rule.id, start) not in known:
                yield one._replace(start=start, end=places[one.end], said=one.said or plain[one.start : one.end])


def _some(places: Iterator[_Place]) -> Iterator[_Place]:
    """Pass the first on; one place of the gravest severity stands for all that follow."""
    rest: list[_Place] = []
    for number, place in enumerate(places):
        if number < _MOST:
            yield place
        else:
            rest.append(place)
        if number == _ENOUGH:
            break
    if rest:
        full = len(rest) > _ENOUGH - _MOST  # what was not looked at may be as grave as the rule says
        gravest = min((rest[0].rule.severity if full else "I", *(one.severity for one in rest)), key=SEVERITIES.index)
        said = f"{len(rest):,} more of these{' or many more' * full} from here on"
        by_hand = rest[0].rule._replace(fix="open")  # what lies between them has nothing wrong with it
        yield rest[0]._replace(rule=by_hand, severity=gravest, end=rest[-1].end, said=said)


def _told(found: Iterable[_Place], text: str, hidden: Sequence[Secret], *, plain: bool) -> Iterator[Hazard]:
    at = byte = 0
    line = 1
    digests: dict[tuple[int, int], bytes] = {}
    for one in found:
        line += text.count("\n", at, one.start)
        byte += one.start - at if plain else _size(text[at : one.start])
        at = one.start
        end = byte + (one.end - at if plain else _size(text[at : one.end]))
        said = mask(one.said).text if one.said else _quoted(text, one, hidden)
        first = text.rfind("\n", 0, one.start) + 1
        last = text.find("\n", one.end - 1)
        span = first, len(text) if last < 0 else last
        if span not in digests:
            whole = text[slice(*span)].rstrip("\r").encode("utf-8", "surrogateescape")
            digests[span] = blake2b(whole, digest_size=16).digest()
        yield Hazard(one.rule, one.severity, byte, end, line, one_line(said.strip(), _SHOWN), lines=digests[span])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _quoted(text: str, place: _Place, hidden: Sequence[Secret]) -> str:
    """What stands at a place, without the secrets that reach into it, and with its neighbours if it is short."""
    start, end = place.start, place.end
    lead = tail = ""
    if end - start < _AROUND:
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        last = len(text) if last < 0 else last
        if start - first > _AROUND:  # whole words, where one is near
            lead, first = "…", start - _AROUND + max(text[start - _AROUND - 1 : start].find(" "), 0)
        if last - end > _AROUND:
            cut = text[end : end + _AROUND + 1].rfind(" ")
            tail, last = "…", end + (cut if cut > 0 else _AROUND)
        start, end = first, last
    end = min(end, start + 20 * _SHOWN)
    pieces = [lead]
    for one in hidden:
        if one.start < end and start < one.end:
            pieces += [text[start : max(start, one.start)], f"{BEGIN}{one.kind}]"]
            start = one.end
    return "".join((*pieces, text[start : max(start, end)], tail))
