"""All rules of hygiene, and the scanner that applies them to one text: bytes in, findings out.

A finding is a reason to look, no proof; a text without any is not called safe. No finding holds a secret.
Secrets are matched by `memtui.mask`, so that the same are masked and reported.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from memtui.disguise import disguised, found_at, lines_around, lower, undisguised
from memtui.features.hygiene.hidden import HIDDEN
from memtui.features.hygiene.model import SEVERITIES, GuardResult, Hazard, Rule, ScannedText
from memtui.features.hygiene.orders import ORDERS
from memtui.mask import BEGIN, Secret, mask, secrets
from memtui.safe_text import one_line

_SECRETS = (
    ("S01", "a private key: PEM, OpenSSH, PGP, age", "E", "a head without a line of base64 behind it"),
    ("S02", "an AWS key id", "E", "placeholders"),
    ("S03", "an AWS secret", "E", "no word for it within 40 characters, below 4 bits a character"),
    ("S04", "a GitHub token", "E", "too short ones"),
    ("S05", "a GitLab token", "E", "too short ones"),
    ("S06", "a Slack token", "E", "placeholders"),
    ("S07", "a webhook of Slack, Discord or Teams", "E", "addresses without their secret parts"),
    ("S08", "a Stripe key", "E", "placeholders; a test key: W"),
    ("S09", "a key that begins with sk-, as OpenAI's", "E", "placeholders, lower case alone"),
    ("S10", "an Anthropic key", "E", "too short ones"),
    ("S11", "a Google key or token", "E", "too short ones"),
    ("S12", "an Azure key or signature", "E", "too short ones"),
    ("S13", "a token of npm, PyPI, RubyGems, Hugging Face or Replicate", "E", "too short ones"),
    ("S14", "a key of SendGrid, Mailchimp, Mailgun, Twilio, Telegram or Discord", "E", "hex without a word for it"),
    ("S15", "a token of one of eleven services, from DigitalOcean to Heroku", "E", "too short ones"),
    ("S16", "a signed JSON web token", "W", "a head that names no algorithm"),
    ("S17", "a URL with a password", "E", "placeholders"),
    ("S18", "a bearer or basic token", "E", "below 16 characters, placeholders"),
    ("S19", "a variable set to a password, token or key", "E", "placeholders, look-ups"),
    ("S20", "a field set to a secret", "W", "placeholders, hashes, words, below 3 bits a character"),
    ("S21", "a sentence that gives a password", "W", "placeholders, common words"),
    ("S22", "a line of netrc, pgpass or htpasswd", "E", "lines of another form"),
    ("S23", "a session cookie", "W", "no word for it, below 3.5 bits a character"),
    ("S24", "the secret of a one-time password", "E", "what is no base32"),
    ("P03", "a card number", "E", "wrong check digit, numbers for tests"),
    ("P04", "an IBAN or a US social security number", "W", "wrong check digits, no word for it"),
)

DOUBLES = (
    Rule("D01", "memories that say the same", "W", "what an agent makes itself; front matter that differs", "open"),
    Rule("D02", "memories that say nearly the same", "I", "below 80 % of five-word sequences in common", "open"),
    Rule("D03", "an entry that stands in its file before already", "W", "what cannot go by itself", "cut"),
)
"""Rules over several texts or entries, evaluated in `memory_scan`."""
VERSION = 4
"""Raise it when a rule finds something else than before; cached results then expire."""
RULES = (*(Rule(*row, "mask") for row in _SECRETS), *HIDDEN, *ORDERS, *DOUBLES)
"""All rules by family; a number stands twice where one kind of thing is found in two ways."""

_MAX_LISTED = 100
_MAX_FOUND = 10_000
_EXCERPT_CELLS = 100
_AROUND = 16
"""Characters shown on each side of a very short match."""
_BEFORE, _BEHIND = 400, 700
"""Characters before and after the anchor of an order that can belong to it."""
_NEEDS = {rule.needs: None for rule in RULES}


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[a-z0-9_à-öø-ÿ]+", text) is not None


def _one_of(texts: Iterable[str], group: str) -> str:
    """Build an alternation grouped by first characters, which is far quicker than the plain one."""
    rests: dict[str, list[str]] = {}
    for text in texts:
        rests.setdefault(text[0], []).append(re.escape(text[1:]) + (r"\b" if _is_word(text) and len(text) < 4 else ""))
    return "|".join(f"{re.escape(sign)}({group}{'|'.join(after)})" for sign, after in rests.items())


_BEGINS = sorted({text for rule in RULES for text in rule.begins})
_WORDS = re.compile(rf"[^a-z0-9à-öø-ÿ](?:{_one_of({text[:4] for text in _BEGINS if _is_word(text)}, '?:')})")
_TEXTS = re.compile(_one_of([text for text in _BEGINS if not _is_word(text)], "?="))
_KEYS = {rule: frozenset(text[:4] if _is_word(text) else text[0] for text in rule.begins) for rule in RULES}
_MASKED = {rule.id: rule for rule in RULES if rule.fix == "mask"}


class _Place(NamedTuple):
    """A finding with offsets in characters."""

    rule: Rule
    severity: str
    start: int
    end: int
    said: str
    """Empty: show the match itself."""


def scan(data: bytes, *, instructs: bool = False) -> tuple[Hazard, ...]:
    """Return the findings in a text of UTF-8 by offset; they may overlap, and invalid bytes are skipped.

    With `instructs` it holds the user's own rules, which may tell an agent what to do. After the first 100 findings of
    a rule, one covers all further ones.
    """
    text = data.decode("utf-8", "surrogateescape")
    hidden = secrets(text)
    there = {one: one is None or one.search(text) is not None for one in _NEEDS}
    rules = [rule for rule in RULES if rule.pattern and there[rule.needs]]
    found = [*_of_secrets(text, hidden)]
    found += _of_rules(rules, ScannedText(text, instructs=instructs), [(0, len(text))], hidden)
    if disguised(text):
        found += _undisguised(text, {(one.rule.id, one.start) for one in found}, instructs=instructs)
    found.sort(key=lambda one: (one.start, one.end, one.rule.id))
    return tuple(_told(found, text, hidden, plain=text.isascii()))


def added_hazards(before: bytes, after: bytes) -> tuple[Hazard, ...]:
    """Return the findings of severity E or W that a change of a text adds."""
    found = [one for one in scan(after, instructs=True) if one.severity != "I"]
    known = {(one.rule.id, one.lines) for one in scan(before, instructs=True)} if found else set()
    return tuple(one for one in found if (one.rule.id, one.lines) not in known)


def _of_secrets(text: str, hidden: Sequence[Secret]) -> Iterator[_Place]:
    for one in hidden:
        rule = _MASKED[one.rule]
        severity = "W" if one.rule == "S08" and text.startswith("_test_", one.start + 2) else rule.severity
        yield _Place(rule, severity, one.start, one.end, f"{BEGIN}{one.kind}]")


def _of_rules(
    rules: Iterable[Rule], page: ScannedText, parts: Sequence[tuple[int, int]], hidden: Sequence[Secret]
) -> Iterator[_Place]:
    lowered = lower(page.text)
    begun = _begun(lowered, parts) if len(lowered) == len(page.text) else None
    for rule in rules:
        pattern = re.compile(rule.pattern)
        found: Iterator[re.Match[str]]
        if begun is None:
            found = chain.from_iterable(pattern.finditer(page.text, *part) for part in parts)
        elif rule.begins:
            found = _at(
                pattern, page.text, sorted(chain.from_iterable(begun[key] for key in _KEYS[rule] & begun.keys()))
            )
        else:
            spans = (span for part in parts for span in _spans(rule, lowered, part))
            found = chain.from_iterable(pattern.finditer(page.text, *span) for span in spans)
        yield from _some(_judged(rule, page, found, hidden))


def _begun(lowered: str, parts: Sequence[tuple[int, int]]) -> dict[str, list[int]]:
    """Return the offsets at which rules may match, by the first four letters of words and by other first characters."""
    begun: dict[str, list[int]] = {}
    for start, end in parts:
        for word in _WORDS.finditer("\n" + lowered, start, end + 1):
            begun.setdefault(word[0][1:], []).append(word.start())
        for text in _TEXTS.finditer(lowered, start, end):
            begun.setdefault(text[0], []).append(text.start())
    return begun


def _at(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that start at one of these offsets, without overlaps."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)) is not None:
            end = match.end()
            yield match


def _spans(rule: Rule, lowered: str, part: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a part in which a rule can match: those around its anchors."""
    if not rule.anchors:
        yield part
        return
    start = end = 0
    for place in sorted(place for anchor in rule.anchors for place in found_at(lowered, anchor, *part)):
        if place - _BEFORE > end:
            if end:
                yield start, end
            start = place - _BEFORE
        end = place + _BEHIND
    if end:
        yield start, end


def _judged(
    rule: Rule, page: ScannedText, found: Iterable[re.Match[str]], hidden: Sequence[Secret]
) -> Iterator[_Place]:
    for match in found:
        verdict = rule.judge(page, match) if rule.judge is not None else GuardResult()
        if verdict is None or (
            rule.id == "H11" and any(one.start < match.end() and match.start() < one.end for one in hidden)
        ):
            continue
        yield _Place(rule, verdict.severity or rule.severity, *match.span(), verdict.said)


def _undisguised(text: str, known: Container[tuple[str, int]], *, instructs: bool) -> Iterator[_Place]:
    """Yield the orders that appear once look-alike letters are folded."""
    plain, places, others = undisguised(text)
    parts = lines_around(plain, others, _BEHIND, _BEFORE)
    for one in _of_rules(ORDERS, ScannedText(plain, instructs=instructs), parts, ()):
        start = places[one.start]
        if (one.rule.id, start) not in known:
            yield one._replace(start=start, end=places[one.end], said=one.said or plain[one.start : one.end])


def _some(places: Iterator[_Place]) -> Iterator[_Place]:
    """Yield the first findings of a rule, and one of the gravest severity for all further ones."""
    rest: list[_Place] = []
    for number, place in enumerate(places):
        if number < _MAX_LISTED:
            yield place
        else:
            rest.append(place)
        if number == _MAX_FOUND:
            break
    if rest:
        full = len(rest) > _MAX_FOUND - _MAX_LISTED  # what was not looked at may be as grave as the rule says
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
        yield Hazard(
            one.rule, one.severity, byte, end, line, one_line(said.strip(), _EXCERPT_CELLS), lines=digests[span]
        )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _quoted(text: str, place: _Place, hidden: Sequence[Secret]) -> str:
    """Return an excerpt without secrets, with context if it is short."""
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
    end = min(end, start + 20 * _EXCERPT_CELLS)
    pieces = [lead]
    for one in hidden:
        if one.start < end and start < one.end:
            pieces += [text[start : max(start, one.start)], f"{BEGIN}{one.kind}]"]
            start = one.end
    return "".join((*pieces, text[start : max(start, end)], tail))
