"""The changes of others as rows, what is said of each, and what is asked of the engine for them.

It is apart from the view so that what is listed, where a row went and what a difference says have tests without a
screen. What reads the engine runs in a thread; every line that is drawn was made safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import BROUGHT, Address, Change, Root
from memtui.engine.proposal import WAITING, Proposal
from memtui.errors import NotFoundError
from memtui.features.actors import KINDS, common_place, taints, who_words
from memtui.features.approvals.decide import VoteStatus
from memtui.features.changes.bursts import Burst, bursts
from memtui.features.changes.parts import PART
from memtui.features.proposals.apply import waiting
from memtui.features.proposals.staged import leavings
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import RowStyle, ago
from memtui.ui.draw.words import both_ends, count_words, fit
from memtui.ui.rows import ListRows

if TYPE_CHECKING:
    from memtui.engine import Engine

BURST, CHANGE, NOTE, PROPOSED, HEAD = "burst", "change", "note", "proposed", "head"
"""Kinds of rows."""
KIND_STYLES = {"modified": "agent", "created": "add", "deleted": "del", "renamed": "agent"}
NO_SIGN = (" ", "dim")
SIGNS = {
    "accepted": ("+", "add"),
    "rejected": ("-", "del"),
    "later": ("~", "dim"),
    "stale": ("!", "warning"),
    "blocked": ("x", "warning"),
    PART: ("/", "del"),
}
"""What stands before a row that is not simply open."""
UNDECIDED = ("open", "blocked", "stale")
"""States in which a person has yet to decide."""
BACK = "to be taken back"
"""What a change of somebody else is that was rejected, until that is carried out."""
REJECTED = "rejected"
"""The word of the filter that shows proposals which were rejected and carried out, too."""

Key = tuple[object, ...]
"""What a row is, across reloads."""
Counts = Mapping[Change, tuple[int, int]]
"""Lines that came and went, where they were counted."""


class RootNote(NamedTuple):
    """A row about a root."""

    root: Root
    words: str
    """The row."""
    about: tuple[str, ...]
    """Sentences beside it."""
    at: int = 0
    """When, in milliseconds; 0: nobody knows."""
    waits: bool = False
    """Versions wait for a review, and are shown when it is opened."""


class ReviewData(NamedTuple):
    """What the engine knows of what others did."""

    changes: tuple[Change, ...] = ()
    written: Mapping[Address, int] = {}
    """When files say they were written, in milliseconds."""
    notes: tuple[RootNote, ...] = ()
    kept: Mapping[Address, str | None] = {}
    """What memories hold now that are shown although they are seen."""
    proposals: tuple[Proposal, ...] = ()
    """What is suggested and waits, the oldest first; and what was rejected."""
    staged: frozenset[str] = frozenset()
    """Ids of those that were rejected, and are still in an agent's own folder."""
    decided: Mapping[Change, str] = {}
    """What is decided about changes, and not carried out."""
    taints: Mapping[Address, str] = {}
    """What the session that wrote a change had taken in from outside before."""
    votes: Mapping[str, VoteStatus] = {}
    """How votes stand about proposals that others agree to as well."""


class ReviewItem(NamedTuple):
    """One row."""

    kind: str
    burst: Burst | None = None
    change: Change | None = None
    note: RootNote | None = None
    alone: bool = False
    """A change that is its whole burst, and so says who and when."""
    at: int = 0
    """When it was made."""
    proposal: Proposal | None = None

    @property
    def key(self) -> Key:
        """What it is."""
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
        """What an operation on this row works on."""
        if self.change is not None:
            return (self.change,)
        return self.burst.changes if self.burst is not None else ()

    def heads(self) -> bool:
        """Whether it is no change within a burst."""
        return self.kind != CHANGE or self.alone


def burst_key(burst: Burst) -> Key:
    """What a burst is while it grows."""
    return burst.who, burst.start, burst.moved


class ReviewRows(ListRows[ReviewItem]):
    """All changes, and the rows that are shown of them: bursts, and the changes of those that are open."""

    def __init__(self) -> None:
        super().__init__(lambda item: item.key, self._text)
        self.passing: tuple[Change, ...] = ()
        """Everything the filter lets through, also in closed bursts."""
        self.groups = 0
        """How many bursts they are."""
        self.below: Callable[[Change], bool] | None = None
        """Only these are shown: what lies in one folder or scope."""
        self.kept: dict[Address, Change] = {}
        """Changes of which the user took a part back: they are shown until they are let go."""
        self.proposals: tuple[Proposal, ...] = ()
        """Those that pass the filter."""
        self.rejected: set[str] = set()
        """Ids of those that were rejected, and stay in the list until that is carried out."""
        self._known = ReviewData()
        self.votes: Mapping[str, VoteStatus] = {}
        self._open: dict[Key, bool] = {}
        """What the user opened or closed, and what was open when it was first shown."""

    def update(self, loaded: ReviewData) -> None:
        """Take in what the engine knows now."""
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
    def everything(self) -> set[Hashable]:
        """The keys of all that passes the filter, also in closed bursts."""
        return _keys(self.passing) | {(PROPOSED, one.id) for one in self.proposals}

    def keep(self, change: Change) -> None:
        """Go on showing a change of which a part was taken back until it is let go, also while it is as it was."""
        self.kept[change.address] = change

    def let_go(self, addresses: Iterable[Address] | None = None) -> None:
        """Show no longer what was kept, once others are taken in; None: nothing of it."""
        for address in tuple(self.kept) if addresses is None else tuple(addresses):
            self.kept.pop(address, None)

    def filter(self, words: Iterable[str]) -> None:
        """Show only changes that have all of these words, in any case, below their bursts."""
        super().filter(words)
        wanted = [item for item in self.shown if item.proposal is not None and self._shows(item.proposal)]
        proposed = wanted if self.below is None else []
        self.proposals = tuple(item.proposal for item in proposed if item.proposal is not None)
        found = (item.change for item in self.shown if item.change is not None)
        self.passing = tuple(change for change in found if self.below is None or self.below(change))
        times = self._known.written
        groups = bursts(self.passing, written=times)
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
        """How many changes the filter leaves: `3 of 1,200`."""
        every = sum(item.proposal is None or self._shows(item.proposal) for item in self.all)
        return f"{len(self.passing) + len(self.proposals):,} of {every:,}"

    # Decisions

    def decision(self, change: Change) -> str:
        """What is decided about a change: `accepted`, `rejected`, `open`, or `PART` with numbers of hunks."""
        return self._known.decided.get(change, "open")

    def taint(self, item: ReviewItem) -> str:
        """What the session that wrote a change had taken in from outside before; empty for nothing."""
        return self._known.taints.get(item.change.address, "") if item.change is not None else ""

    def states(self, item: ReviewItem) -> tuple[str, ...]:
        """What is decided about all a row stands for."""
        if item.proposal is not None:
            return (item.proposal.state,)
        return tuple(map(self.decision, item.changes))

    def undecided(self, item: ReviewItem) -> bool:
        """Whether somebody has yet to decide about a row; of an open group about the rows below it."""
        opened = item.kind == BURST and item.burst is not None and self.is_open(item.burst)
        return not opened and any(state in UNDECIDED for state in self.states(item))

    def sign(self, item: ReviewItem) -> Run:
        """What stands before a row, and its style."""
        states = set(self.states(item))
        return SIGNS.get(states.pop().partition(" ")[0], NO_SIGN) if len(states) == 1 else NO_SIGN

    def _text(self, item: ReviewItem) -> str:
        """Where the filter looks for its words."""
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
        """Whether its changes are shown; one that was shown open stays so when it grows."""
        return self._open.setdefault(burst_key(burst), not burst.mass) or bool(self.words)

    def set_open(self, found: Iterable[Burst], *, wide: bool) -> None:
        """Open or close bursts."""
        self._open |= {burst_key(burst): wide for burst in found}
        self.filter(self.words)

    def group_of(self, item: ReviewItem) -> int:
        """The row of the burst that holds a change which is no row now; -1 where there is none."""
        change = item.change
        if change is None or any(one.key == item.key for one in self.shown):
            return -1
        rows = (index for index, one in enumerate(self.shown) if change.address in {it.address for it in one.changes})
        return next(rows, -1)

    # Marks

    def chosen(self, index: int) -> tuple[Change, ...]:
        """What an operation works on: all marked changes, else those of a row."""
        return tuple(change for item in self.targets(index) for change in item.changes)

    def toggle(self, index: int) -> None:
        """Mark what a row stands for, or take its marks away."""
        row = self.shown[index : index + 1]
        here = keys_of(row)
        self.marks = self.marks - here if here <= self.marks else self.marks | here

    def mark_all(self) -> None:
        """Mark everything that passes the filter, or nothing when all of it is marked."""
        here = self.everything
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
    """The keys of all that rows stand for."""
    rows = tuple(rows)
    return _keys(change for row in rows for change in row.changes) | {row.key for row in rows if row.proposal}


def _keys(changes: Iterable[Change]) -> set[Hashable]:
    return {ReviewItem(CHANGE, change=one).key for one in changes}


# What a row says


def row_runs(
    item: ReviewItem, width: int, look: RowStyle, *, opened: bool, counts: Counts, sign: Run = NO_SIGN, taint: str = ""
) -> list[Run]:
    """Draw a row, without the sign of the cursor and the mark.

    Args:
        item: the row.
        width: cells there are.
        look: the clock, and whether only ASCII is drawn.
        opened: whether the changes of a burst are shown.
        counts: lines that came and went.
        sign: what is decided about it.
        taint: what the session that wrote it had taken in from outside before.
    """
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
    """The writer in a column of its own."""
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
    """Say what a burst is: how many, what happened to them, and where."""
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


def load(engine: Engine, kept: Iterable[Address] = ()) -> ReviewData:
    """Read everything the inbox lists, and what is in memories that it goes on showing."""
    changes = engine.changes.unseen()
    proposals = waiting(engine, (*WAITING, "accepted", REJECTED))
    rejected = [one for one in proposals if one.state == REJECTED]
    return ReviewData(
        changes,
        engine.rows.written_at(change.address for change in changes if change.after is not None),
        root_notes(engine, changes),
        {address: _now(engine, address) for address in kept},
        tuple(one for one in proposals if one.evidence),
        frozenset(one.id for one in rejected if one.evidence and leavings(engine, [one])),
        engine.changes.chosen(changes),
        taints(engine, changes),
    )


def _now(engine: Engine, address: Address) -> str | None:
    try:
        return engine.rows.get(address).sha256
    except NotFoundError:
        return None


def root_notes(engine: Engine, changes: Iterable[Change]) -> tuple[RootNote, ...]:
    """Find what is to be said of roots; `changes` are listed one by one, and so not counted again."""
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
