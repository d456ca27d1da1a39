"""Outdated claims of a memory as findings, from its text, its checkout and the age of its lines.

A claim is reported when a commit ended it after the line was written, a day ago or before the newest commit, and not
during a merge or rebase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b

from memtui.diff.differences import byte_lines
from memtui.engine import Engine
from memtui.engine.disk import fsio, git
from memtui.engine.model import Address, Memory, Root
from memtui.features.claims import checkout, text
from memtui.features.claims.checkout import Checkout, Gone
from memtui.features.claims.rules import COMMAND, DEPENDENCY, GONE, LINK, MOVED, PAST, RELATIVE, SYMBOL, UNOPENED
from memtui.features.claims.text import Claim, TextLine
from memtui.features.hygiene.model import Hazard, Rule
from memtui.mask import mask
from memtui.phrases import day_words
from memtui.pointers import links
from memtui.safe_text import one_line

DAY_MS = 86_400_000
SETTLED_MS = 3_600_000
"""Age from which on lines are checked."""
RELATIVE_DAYS = 14
UNOPENED_DAYS, SESSIONS = 90, 10
"""Days without an opening, and sessions that must have loaded a memory, to call it unopened."""
_EXCERPT_CELLS = 100
_UNTIL = re.compile(
    r"(?i)\b(?:until|till|valid (?:to|through)|expires(?: on)?|bis(?: zum)?|jusqu['’]au|hasta(?: el)?)"
    r" ((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\b"
)
_SINCE = re.compile(r"(?i)\b(?:since|from|between|seit|von|depuis|desde)\b")
_NOWADAYS = ("today", "heute", "aujourd'hui", "hoy", "今天")
"""Words that often mean no particular day."""
_PLAIN = re.compile(r"[\w.@+/-]{1,400}")
"""Characters that a path or version may have to be written into a memory: untrusted ones could carry orders."""
_RENAMES = 10
_LINKS = 1_000
"""Missing link targets that are looked up per text."""


def finder(engine: Engine, rows: Iterable[Memory], now: int) -> Callable[[Memory, bytes], tuple[Hazard, ...]]:
    """Return a function that finds outdated claims in one memory; its cached checkouts are for one pass.

    Args:
        rows: all memories of the roots.
        now: milliseconds since the epoch.
    """
    checkouts: dict[str, Checkout | None] = {}
    known = frozenset(row.address for row in rows if not row.missing)

    def checkout_of(root: Root) -> Checkout | None:
        place = root.path if root.in_checkout else root.project
        if place is None:
            return None
        if place not in checkouts:
            resting = not git.at_work(place, now, moved_ms=0)
            checkouts[place] = checkout.look(place) if resting else None
        return checkouts[place]

    unopened: dict[str, frozenset[str]] = {}

    def is_unopened(root: Root, row: Memory) -> bool:
        spared = row.pinned or root.kind != "memories" or root.policy.is_index(row.address.path)
        if spared or max(row.modified_at, row.last_used_at or 0) > now - UNOPENED_DAYS * DAY_MS:
            return False
        if root.id not in unopened:
            since = now - UNOPENED_DAYS * DAY_MS
            unopened[root.id] = engine.touches.never_opened(engine.roots.uid(root), since, SESSIONS)
        return row.address.path in unopened[root.id]

    def find(row: Memory, data: bytes) -> tuple[Hazard, ...]:
        root = engine.roots.find(row.address.root)
        page = _Page(engine, row, data, checkout_of(root), now)
        found = [*_claims(page), *_days(page), *_links(page, known)]
        if is_unopened(root, row):
            found.append(_hazard(UNOPENED, (0, len(data)), 0, f"not opened for {UNOPENED_DAYS} days", None))
        return tuple(sorted(found, key=lambda one: (one.start, one.rule.id)))

    return find


class _Page:
    """One memory, its lines and their age."""

    def __init__(self, engine: Engine, row: Memory, data: bytes, around: Checkout | None, now: int) -> None:
        self.engine, self.row, self.data, self.around, self.now = engine, row, data, around, now
        self.text = data.decode("utf-8", "surrogateescape")
        self.lines = byte_lines(data)
        self._at = 0, 0
        """Last offset in characters and in bytes; offsets are converted in rising order."""

    def came(self, parts: Iterable[bytes], *, whole: bool) -> dict[bytes, tuple[int, bool]]:
        """Return when lines, or parts of them, were added in milliseconds, and whether that is exact."""
        parts, address, around = tuple(parts), self.row.address, self.around
        known = self.engine.history.line_times(address, parts, whole=whole)
        found = {part: known.get(part, (self.row.modified_at, False)) for part in parts}
        path = fsio.real_path(self.engine.roots.find(address.root).path) + "/" + address.path
        if around is not None and path.startswith(around.past.checkout + "/"):
            for part, (at, sure) in found.items():
                committed = around.came(path[len(around.past.checkout) + 1 :], part) if not sure else None
                if committed is not None and committed[0] < at:
                    found[part] = committed
        return found

    def hazard(self, rule: Rule, start: int, end: int, line: int, said: str, new: str | None = None) -> Hazard:
        """Build a finding from offsets in characters."""
        sign, byte = self._at if self._at[0] <= start else (0, 0)
        self._at = start, byte + len(self.text[sign:start].encode("utf-8", "surrogateescape"))
        size = len(self.text[start:end].encode("utf-8", "surrogateescape"))
        return self.placed(rule, (self._at[1], self._at[1] + size), line, said, new)

    def placed(self, rule: Rule, span: tuple[int, int], line: int, said: str, new: str | None) -> Hazard:
        """Build a finding from offsets in bytes, identified by its words and line."""
        about = self.lines[line].rstrip(b"\r\n") + b"\0" + self.data[slice(*span)]
        return _hazard(rule, span, line, said, new)._replace(lines=blake2b(about, digest_size=16).digest())


def _hazard(rule: Rule, span: tuple[int, int], line: int, said: str, new: str | None) -> Hazard:
    return Hazard(rule, rule.severity, *span, line + 1, one_line(mask(said).text, _EXCERPT_CELLS), new)


def _claims(page: _Page) -> Iterator[Hazard]:
    around = page.around
    if around is None:
        return
    said = text.claims(page.text, page.row.address.name, around.past.checkout)
    every = [(claim, gone) for claim in said if (gone := around.gone(claim)) is not None]
    every = [(claim, gone) for claim, gone in every if page.now - gone.at >= DAY_MS or gone.commit != around.past.head]
    # When the claim came, not its line: whoever mends another part of a line says nothing about this one.
    came = page.came((_written(page, claim) for claim, _ in every), whole=False) if every else {}
    for claim, gone in every:
        at, _ = came[_written(page, claim)]
        if at < gone.at and page.now - at >= SETTLED_MS:
            rule = {text.PATH: MOVED if gone.now else GONE, text.COMMAND: COMMAND, text.SYMBOL: SYMBOL}.get(
                claim.kind, DEPENDENCY
            )
            yield _told(page, claim, gone, rule)


def _written(page: _Page, claim: Claim) -> bytes:
    return page.text[claim.start : claim.end].encode("utf-8", "surrogateescape")


def _told(page: _Page, claim: Claim, gone: Gone, rule: Rule) -> Hazard:
    written = page.text[claim.start : claim.end]
    when = f"{gone.commit[:8]}, {_day(gone.at)}"
    if not gone.now:
        return page.hazard(rule, claim.start, claim.end, claim.line, f"{written} is gone since {when}")
    kept = written[: len(written) - len(claim.more)] if rule is DEPENDENCY else ""
    new = kept + gone.now if _PLAIN.fullmatch(gone.now) else None
    said = f"{written} is {gone.now} since {when}"
    return page.hazard(rule, claim.start, claim.end, claim.line, said, new)


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%d")


def _days(page: _Page) -> Iterator[Hazard]:
    today = _day(page.now)
    every = tuple(text.lines(page.text, page.row.address.name))
    told = [line for line in every if not line.code and day_words(line.text, page.now)]
    came = page.came((page.lines[line.number] for line in told), whole=True) if told else {}
    for line in every:
        for until in _UNTIL.finditer(line.text):
            spared = text.in_quotes(line, until.start()) or _SINCE.search(line.text[: until.start()])
            if until[1] < today and not spared:
                end = line.start + len(line.text)
                yield page.hazard(PAST, line.start, end, line.number, f"{until[0]} is past")
    for line in told:
        yield from _relative(page, line, *came[page.lines[line.number]])


def _relative(page: _Page, line: TextLine, came: int, sure: bool) -> Iterator[Hazard]:
    if page.now - came < RELATIVE_DAYS * DAY_MS:
        return
    for found in day_words(line.text, came):
        start, end = line.start + found.start, line.start + found.end
        said = page.text[start:end]
        if not text.in_quotes(line, found.start) and said.lower() not in _NOWADAYS:
            said += f" is {found.day}" if sure else f", written on {_day(came)} or before"
            yield page.hazard(RELATIVE, start, end, line.number, said, found.day if sure else None)


def _links(page: _Page, known: Container[Address]) -> Iterator[Hazard]:
    here = page.row.address
    if page.engine.roots.find(here.root).policy.is_index(here.path) or not links.may_link(page.data):
        return  # what an index names in vain is told with what else is wrong with it
    at = line = 0
    seen: dict[str, str | None] = {}
    for link in links.parse_links(page.data, here.path):
        if link.path is None or link.kind == links.IMPORT:
            continue
        means = links.name_readings(link.target, here.path) if link.kind == links.NAME else (link.path,)
        if any(path is not None and Address(here.root, path) in known for path in means):
            continue
        if link.path not in seen and len(seen) < _LINKS:
            seen[link.path] = _followed(page.engine, Address(here.root, link.path))
        now = seen.get(link.path)
        if now is None:
            continue
        line, at = line + page.data.count(b"\n", at, link.at), link.at
        new = _as_written(now, here.path, link) if Address(here.root, now) in known else None
        said = f"{link.target} is {now} now" if new is not None else f"{link.target} was deleted"
        end = at + len(link.target.encode("utf-8", "surrogateescape"))
        yield page.placed(LINK, (at, end), line, said, new)


def _followed(engine: Engine, address: Address) -> str | None:
    """Return the current path of a memory that once had this address, or its own path when it was deleted.

    None when no memory ever had it.
    """
    at = address
    for _ in range(_RENAMES):
        records = engine.history.audit(address=at, limit=20)
        if not records and at == address:
            return None
        moved = next((one for one in records if one.operation == "renamed" and one.address == at), None)
        if moved is None or moved.new_address is None or moved.new_address.root != at.root:
            break
        at = moved.new_address
    return at.path


def _as_written(path: str, here: str, link: links.Link) -> str | None:
    if link.kind == links.LINK:
        return links.written(path, here, link.target, angled=link.angled)
    bare = links.relative(path, here) if link.kind == links.NAME else path
    new = bare if link.target.endswith(links.MARKDOWN) else links.without_ending(bare)
    return new if link.kind == links.MEM or links.resolve_name(new, here) == path else None
