"""The rows of Review: proposals, bursts and changes, how they are filtered, marked and drawn, and loading them.

Apart from the view so that rows have tests without a screen. `load` runs in a thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import BROUGHT, Address, Change, Root
from memtui.engine.proposal import WAITING, Proposal
from memtui.errors import NotFoundError
from memtui.features.actors import KINDS, common_place, taints, who_words
from memtui.features.approvals.decide import VoteStatus, vote_statuses
from memtui.features.changes.bursts import Burst, bursts
from memtui.features.proposals.apply import waiting
from memtui.features.proposals.staged import leavings
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.text import RowStyle, Run, ago, both_ends, count_words, fit
from memtui.ui.list_view import ListRows

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine

BURST, CHANGE, NOTE, PROPOSED, HEAD = "burst", "change", "note", "proposed", "head"
KIND_STYLES = {"modified": "agent", "created": "add", "deleted": "del", "renamed": "agent"}
PART = "without"
"""Prefix of the decision about a change of which only some hunks are taken back: `without 0 2`."""
NO_SIGN = (" ", "dim")
SIGNS = {
    "accepted": ("+", "add"),
    "rejected": ("-", "del"),
    "later": ("~", "dim"),
    "stale": ("!", "warning"),
    "blocked": ("x", "warning"),
    PART: ("/", "del"),
}
"""Sign before a row that is not simply open."""
UNDECIDED = ("open", "blocked", "stale")
BACK = "to be taken back"
"""Words for a rejected change of somebody else, until that is carried out."""
REJECTED = "rejected"
"""Filter word that also shows proposals whose rejection was carried out."""

Key = tuple[object, ...]
Counts = Mapping[Change, tuple[int, int]]


def rejected_hunks(state: str) -> frozenset[int]:
    """Return the hunks of a change to be taken back, by its decision."""
    word, *numbers = state.split()
    return frozenset(map(int, numbers)) if word == PART else frozenset()


def decide_hunk(state: str, hunk: int, count: int, *, out: bool) -> str:
    """Return the decision about a change of `count` hunks after one more hunk is taken back (`out`) or accepted."""
    before = frozenset(range(count)) if state == "rejected" else rejected_hunks(state)
    chosen = before | {hunk} if out else before - {hunk}
    if len(chosen) == count:
        return "rejected"
    if chosen:
        return " ".join([PART, *map(str, sorted(chosen))])
    return "accepted" if state == "accepted" else "open"


class RootNote(NamedTuple):
    """Row about a root."""

    root: Root
    words: str
    about: tuple[str, ...]
    at: int = 0
    """Time in milliseconds; 0: unknown."""
    waits: bool = False
    """Whether opening it shows versions that wait for a review."""


class ReviewData(NamedTuple):
    """Everything the rows are made of."""

    changes: tuple[Change, ...] = ()
    written: Mapping[Address, int] = {}
    notes: tuple[RootNote, ...] = ()
    kept: Mapping[Address, str | None] = {}
    """Present versions of memories that are shown although they are seen."""
    proposals: tuple[Proposal, ...] = ()
    """Proposals that wait, oldest first, and rejected ones."""
    staged: frozenset[str] = frozenset()
    """Ids of rejected proposals that are still in an agent's own folder."""
    decided: Mapping[Change, str] = {}
    taints: Mapping[Address, str] = {}
    """What the session that wrote a change had taken in from outside."""
    votes: Mapping[str, VoteStatus] = {}


class ReviewItem(NamedTuple):
    """One row."""

    kind: str
    burst: Burst | None = None
    change: Change | None = None
    note: RootNote | None = None
    alone: bool = False
    """Whether a change is its whole burst, and so says who and when."""
    at: int = 0
    proposal: Proposal | None = None

    @property
    def key(self) -> Key:
        """Identity across reloads."""
        if self.proposal is not None:
            return PROPOSED, self.proposal.id
        if self.kind == HEAD:
            return HEAD, self.alone
        if self.change is not None:
            return CHANGE, self.change.address
        if self.burst is not None:
            return BURST, *burst_key(self.burst)
        return NOTE, *((self.note.root.id, self.note.waits) if self.note is not None else ())

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that an operation on this row works on."""
        if self.change is not None:
            return (self.change,)
        return self.burst.changes if self.burst is not None else ()

    def heads(self) -> bool:
        """Whether it is not a change within a burst."""
        return self.kind != CHANGE or self.alone


def burst_key(burst: Burst) -> Key:
    """Return the identity of a burst while it grows."""
    return burst.who, burst.start, burst.moved


class ReviewRows(ListRows[ReviewItem]):
    """All changes and proposals, and the rows that are shown of them."""

    def __init__(self) -> None:
        super().__init__(lambda item: item.key, self._text)
        self.matching: tuple[Change, ...] = ()
        """Changes that pass the filter, also in closed bursts."""
        self.groups = 0
        self.below: Callable[[Change], bool] | None = None
        """Restriction to a folder or scope."""
        self.kept: dict[Address, Change] = {}
        """Partly taken back changes, which are shown until they are let go."""
        self.proposals: tuple[Proposal, ...] = ()
        self.rejected: set[str] = set()
        """Ids of rejected proposals that stay listed until that is carried out."""
        self._known = ReviewData()
        self.votes: Mapping[str, VoteStatus] = {}
        self._open: dict[Key, bool] = {}
        """Which bursts are open: by the user, or when first shown."""

    def update(self, loaded: ReviewData) -> None:
        """Take in newly loaded data."""
        self._known, self.votes = loaded, loaded.votes
        for address, sha256 in loaded.kept.items():
            kept = self.kept.get(address)
            if kept is not None and sha256 in (None, kept.before):
                del self.kept[address]
            elif kept is not None:
                self.kept[address] = kept._replace(after=sha256)
        there = {change.address for change in loaded.changes}
        more = (kept for address, kept in self.kept.items() if address not in there)
        self.rejected |= loaded.staged
        proposed = (ReviewItem(PROPOSED, at=one.at, proposal=one) for one in loaded.proposals)
        self.load((*proposed, *(ReviewItem(CHANGE, change=one) for one in (*loaded.changes, *more))))

    @property
    def all_keys(self) -> set[Hashable]:
        """Keys of all that passes the filter, also in closed bursts."""
        return _keys(self.matching) | {(PROPOSED, one.id) for one in self.proposals}

    def keep(self, change: Change) -> None:
        """Go on showing a partly taken back change until it is let go."""
        self.kept[change.address] = change

    def release(self, addresses: Iterable[Address] | None = None) -> None:
        """Stop keeping these changes; None: all."""
        for address in tuple(self.kept) if addresses is None else tuple(addresses):
            self.kept.pop(address, None)

    def filter(self, words: Iterable[str]) -> None:
        """Show only changes and proposals that have all of these words, in any case."""
        super().filter(words)
        wanted = [item for item in self.shown if item.proposal is not None and self._shows(item.proposal)]
        proposed = wanted if self.below is None else []
        self.proposals = tuple(item.proposal for item in proposed if item.proposal is not None)
        found = (item.change for item in self.shown if item.change is not None)
        self.matching = tuple(change for change in found if self.below is None or self.below(change))
        times = self._known.written
        groups = bursts(self.matching, written=times)
        self.groups = len(groups)
        whole = not self.words and self.below is None
        items = [ReviewItem(NOTE, note=one, at=one.at) for one in self._known.notes] if whole else []
        for burst in groups:
            if len(burst.changes) == 1:
                items.append(ReviewItem(CHANGE, burst, burst.changes[0], alone=True, at=burst.end))
                continue
            items.append(ReviewItem(BURST, burst, at=burst.end))
            if self.is_open(burst):
                for change in burst.changes:
                    at = min(change.at, times.get(change.address, change.at))
                    items.append(ReviewItem(CHANGE, burst, change, at=at))
        if proposed:  # the heads say where one group ends and the other begins
            items = [ReviewItem(HEAD, alone=True), *proposed, *([ReviewItem(HEAD), *items] if items else [])]
        self.shown = tuple(items)

    def _shows(self, one: Proposal) -> bool:
        return one.state != REJECTED or one.id in self.rejected or REJECTED in self.words

    @property
    def of_all(self) -> str:
        """Words for how many the filter leaves: `3 of 1,200`."""
        every = sum(item.proposal is None or self._shows(item.proposal) for item in self.all)
        return f"{len(self.matching) + len(self.proposals):,} of {every:,}"

    # Decisions

    def decision(self, change: Change) -> str:
        """Return `accepted`, `rejected`, `open`, or `PART` with numbers of hunks."""
        return self._known.decided.get(change, "open")

    def taint(self, item: ReviewItem) -> str:
        """Return what the session that wrote a change had taken in from outside."""
        return self._known.taints.get(item.change.address, "") if item.change is not None else ""

    def states(self, item: ReviewItem) -> tuple[str, ...]:
        """Return the decisions about all a row stands for."""
        if item.proposal is not None:
            return (item.proposal.state,)
        return tuple(map(self.decision, item.changes))

    def undecided(self, item: ReviewItem) -> bool:
        """Whether a row waits for a decision; an open burst leaves that to the rows below it."""
        opened = item.kind == BURST and item.burst is not None and self.is_open(item.burst)
        return not opened and any(state in UNDECIDED for state in self.states(item))

    def sign(self, item: ReviewItem) -> Run:
        """Return the sign before a row, with its style."""
        states = set(self.states(item))
        return SIGNS.get(states.pop().partition(" ")[0], NO_SIGN) if len(states) == 1 else NO_SIGN

    def _text(self, item: ReviewItem) -> str:
        change, proposal = item.change, item.proposal
        waits = "waiting" if self.undecided(item) else ""
        if proposal is not None:
            said = f"{' '.join(proposal.targets)} {proposal.by} {proposal.kind} {proposal.state} {proposal.why}"
            return f"{said} {waits}"
        if change is None:
            return ""
        who, taint = who_words(change.actor, change.address.root), self.taint(item)
        outside = f"tainted after {taint}" if taint else ""
        return f"{change.address} {change.old_address or ''} {who} {change.actor} {change.kind} {outside} {waits}"

    # Folds

    def is_open(self, burst: Burst) -> bool:
        """Whether a burst's changes are shown; a burst keeps that while it grows."""
        return self._open.setdefault(burst_key(burst), not burst.mass) or bool(self.words)

    def set_open(self, found: Iterable[Burst], *, wide: bool) -> None:
        """Open or close bursts."""
        self._open |= {burst_key(burst): wide for burst in found}
        self.filter(self.words)

    def group_of(self, item: ReviewItem) -> int:
        """Return the row of the closed burst that holds a change; -1 where there is none."""
        change = item.change
        if change is None or any(one.key == item.key for one in self.shown):
            return -1
        rows = (index for index, one in enumerate(self.shown) if change.address in {it.address for it in one.changes})
        return next(rows, -1)

    def open_for(self, name: str) -> None:
        """Open the burst that holds the change with this row name."""
        for item in self.shown if name else ():
            burst = item.burst if item.kind == BURST else None
            if burst is not None and any(str(ReviewItem(CHANGE, change=one).key) == name for one in burst.changes):
                if not self.is_open(burst):
                    self.set_open((burst,), wide=True)
                return

    # Marks

    def chosen(self, index: int) -> tuple[Change, ...]:
        """Return all marked changes, else those of a row."""
        return tuple(change for item in self.targets(index) for change in item.changes)

    def toggle(self, index: int) -> None:
        """Mark what a row stands for, or unmark it."""
        row = self.shown[index : index + 1]
        here = keys_of(row)
        self.marks = self.marks - here if here <= self.marks else self.marks | here

    def mark_all(self) -> None:
        """Mark everything that passes the filter, or nothing when all is marked."""
        here = self.all_keys
        self.marks = set() if here <= self.marks else self.marks | here

    def mark_range(self, first: int, last: int, base: Iterable[Hashable]) -> None:
        """Mark the changes between two rows, and what was marked before."""
        low, high = sorted((first, last))
        between = (item for item in self.shown[low : high + 1] if item.change or item.proposal)
        self.marks = {item.key for item in between}.union(base)

    def marked(self, item: ReviewItem) -> bool:
        """Whether all a row stands for is marked."""
        if item.proposal is not None:
            return item.key in self.marks
        return bool(self.marks) and bool(item.changes) and _keys(item.changes) <= self.marks


def keys_of(rows: Iterable[ReviewItem]) -> set[Hashable]:
    """Return the keys of all that rows stand for."""
    rows = tuple(rows)
    return _keys(change for row in rows for change in row.changes) | {row.key for row in rows if row.proposal}


def _keys(changes: Iterable[Change]) -> set[Hashable]:
    return {ReviewItem(CHANGE, change=one).key for one in changes}


# What a row says


def row_runs(
    item: ReviewItem, width: int, look: RowStyle, *, opened: bool, counts: Counts, sign: Run = NO_SIGN, taint: str = ""
) -> list[Run]:
    """Draw a row, without cursor and mark; `taint` is what the session that wrote it had taken in from outside."""
    if item.note is not None:
        return [(one_line(f"  {item.note.words}", width, ascii_tokens=look.ascii), "warning")]
    if item.change is None and item.burst is not None:
        return _burst_runs(item.burst, width, look, sign, opened=opened)
    assert item.change is not None
    assert item.burst is not None
    lead: list[Run] = [(f"  {sign[0]} ", sign[1])]
    if item.alone:
        who = _who(item.burst, width, look)
        lead = [(f"{sign[0]} ", sign[1]), (f"{ago(item.at, look.now):>4} ", "dim"), (who, "strong")]
    return _change_runs(item.change, lead, width, look, counts, taint)


def _who(burst: Burst, width: int, look: RowStyle) -> str:
    return fit(burst.who, 14 if width < 100 else 20, plain=look.ascii) + " "


def _burst_runs(burst: Burst, width: int, look: RowStyle, sign: Run, *, opened: bool) -> list[Run]:
    arrow = ("v" if opened else ">") if look.ascii else ("▾" if opened else "▸")
    lead: list[Run] = [
        (arrow, "dim"),
        sign,
        (f"{ago(burst.end, look.now):>4} ", "dim"),
        (_who(burst, width, look), "strong"),
    ]
    used = sum(cell_width(text) for text, _ in lead)
    return [*lead, (one_line(look.named(burst_words(burst)), max(width - used, 1), ascii_tokens=look.ascii), "name")]


def burst_words(burst: Burst) -> str:
    """Say how many changes a burst has, what happened, and where."""
    if burst.moved is not None:
        old, new = burst.moved
        return f"{len(burst.changes):,} renamed: {visible(old.path) or '.'}/ -> {visible(new.path) or '.'}/"
    kinds = Counter(change.kind for change in burst.changes)
    parts = ", ".join(f"{kinds[kind]:,} {word}" for kind, word in KINDS.items() if kinds[kind])
    place = common_place([change.address for change in burst.changes])
    return f"{parts}{f'  in {visible(place)}' if place else ''}"


def _change_runs(change: Change, lead: list[Run], width: int, look: RowStyle, counts: Counts, taint: str) -> list[Run]:
    kind: Run = (f"{KINDS[change.kind]:<7} ", KIND_STYLES[change.kind])
    came, went = counts.get(change, (0, 0))
    tail = f"  +{came} -{went}" if came or went else ""
    used = sum(cell_width(text) for text, _ in lead) + len(kind[0]) + len(tail)
    name = look.named(str(change.address))
    left = min(width // 3, width - used - cell_width(name) - 2)  # the name comes first
    after = one_line(f"after {taint}", left, ascii_tokens=look.ascii) if left >= 12 else "tainted"
    said = f"  {after}" if taint else ""
    room = max(width - used - cell_width(said), 8)
    if change.old_address is not None:
        name += f" (was {change.old_address.path})" if room > 40 else ""
    shown = both_ends(name, room, plain=look.ascii)
    space = " " * max(room - cell_width(shown), 0)
    return [*lead, kind, (shown, "name"), (space, "dim"), (said, "warning"), (tail, "dim")]


# What is asked of the engine


def load(engine: Engine, kept: Iterable[Address] = (), settings: Settings | None = None) -> ReviewData:
    """Load everything Review lists, the present versions of `kept` memories, and votes as the settings ask for them."""
    changes = engine.changes.unseen()
    proposals = waiting(engine, (*WAITING, "accepted", REJECTED))
    rejected = [one for one in proposals if one.state == REJECTED]
    shown = tuple(one for one in proposals if one.evidence)
    return ReviewData(
        changes,
        engine.rows.written_at(change.address for change in changes if change.after is not None),
        root_notes(engine, changes),
        {address: _now(engine, address) for address in kept},
        shown,
        frozenset(one.id for one in rejected if one.evidence and leavings(engine, [one])),
        engine.changes.chosen(changes),
        taints(engine, changes),
        vote_statuses(engine, settings, shown) if settings is not None else {},
    )


def _now(engine: Engine, address: Address) -> str | None:
    try:
        return engine.rows.get(address).sha256
    except NotFoundError:
        return None


def root_notes(engine: Engine, changes: Iterable[Change]) -> tuple[RootNote, ...]:
    """Return the rows about roots; versions listed in `changes` are not counted again."""
    listed = {change.address for change in changes}
    return (*_gone(engine), *_waiting(engine, listed))


def _gone(engine: Engine) -> Iterable[RootNote]:
    for root, memories, at in engine.rows.vanished():
        held = count_words(memories, "memory")
        was = "was" if memories == 1 else "were"
        about = (
            f"The folder of {root.id} is not there: {root.path}",
            f"It held {held}. None of them counts as deleted, and every text is kept in history.",
            "When the folder is back, so are they.",
        )
        yield RootNote(root, f"folder gone: {root.label or root.id}, {held} {was} in it", about, at)


def _waiting(engine: Engine, listed: set[Address]) -> Iterable[RootNote]:
    for root in engine.roots.all():
        rows = engine.rows.list([root.id]).items if root.in_checkout else ()
        count = sum(row.trust == BROUGHT and row.address not in listed for row in rows)
        if count:
            words = f"{count_words(count, 'version')} not reviewed: {root.label or root.id}"
            about = (
                "They came with the checkout: nobody wrote them here or reviewed them, and looking is no review.",
                "Agents are given their names alone until then.",
                "enter shows them, and reviews them.",
            )
            yield RootNote(root, words, about, waits=True)
