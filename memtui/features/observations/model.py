"""What the parts of observations exchange, as values: a card as it is derived, as it is kept, and where it belongs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.ledger.touches import SessionCursor
from memtui.engine.observation import NORMAL

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings

SESSION = "session"
"""The kind of cards made of agents' sessions; they belong to no root, for which their root is 0."""

TYPES = (
    *("correction", "decision", "preference", "constraint"),
    *("fix", "error", "change", "plan", "fact", "summary", "note"),
)
"""What a card can be, those first that are worth most when a search finds several alike."""
_GIVEN = {"feedback": "preference", "user": "preference", "project": "fact", "reference": "fact"}
"""Types that agents give memories in front matter, as types of cards."""


def type_of(given: object, otherwise: str = "fact") -> str:
    """The type of a card by what somebody wrote: our own words, those of agents; any other word makes a note."""
    word = str(given or "").strip().casefold()
    return word if word in TYPES else _GIVEN.get(word, "note") if word else otherwise


class Derived(NamedTuple):
    """One card as rules make it of a text; secrets are masked and private spans cut in every field."""

    first: str
    """The folded first line of its entry, by which the entry is found again; empty: the card is the whole file."""
    text: str
    """The whole entry as it was written, folded; only hashed, never kept."""
    span: tuple[int, int]
    """Its bytes in the file."""
    type: str
    title: str
    """At most 120 characters on one line."""
    narrative: str
    """All of it, at most `rules.LONGEST` characters."""
    facts: tuple[str, ...]
    """At most 12 of 240 characters."""
    concepts: tuple[str, ...]
    """At most 12 of 60 characters, in order of how often they occur."""
    files: tuple[str, ...]
    """Paths it names, at most 24."""
    masked: int
    """Secrets that were masked."""
    cut: int
    """Spans that were cut because their writer marked them."""
    at: int | None = None
    """When it happened, in milliseconds, where it says so itself."""


class Placed(NamedTuple):
    """What a card is called, and what decisions say about it."""

    name: bytes
    state: int = NORMAL
    deleted: bool = False
    adrift: bool = False
    """Whether it is withheld because a mark in its file is on nothing any more, and it may be what was meant."""
    patch: str = ""
    emptied: bool = False
    """Whether it was deleted so long ago that its text went."""


class Card(NamedTuple):
    """One card as it is kept."""

    id: int
    """Project, second and number in one: see `store.schema`."""
    name: bytes
    source: int
    kind: str
    """`memory`, `note` or `session`."""
    root: int
    """The ledger's id; 0 for a session."""
    path: str
    address: str
    """As it was called when it was derived."""
    agent: str
    span: str
    """`start-end`, bytes of the file: of the entry, or of the line of a session."""
    anchor: bytes
    text_key: bytes
    type: str
    title: str
    narrative: str
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files: tuple[str, ...]
    note: str
    """What a person added."""
    tokens: int
    """Estimated, of exactly what `answers.detail` gives."""
    masked: int
    cut: int
    brought: bool
    """Whether it came with a checkout and nobody reviewed it."""
    state: int = NORMAL
    deleted: bool = False
    adrift: bool = False
    patch: str = ""
    was: str = ""
    """What rules had made of the fields that a person edited, as a JSON object."""

    @property
    def at(self) -> int:
        """When it happened, in milliseconds, to the second."""
        return at_of(self.id)

    @property
    def withheld(self) -> bool:
        """Whether no agent may be given it."""
        return self.state != NORMAL or self.deleted or self.brought

    @property
    def word(self) -> str:
        """Its name for people: 16 letters and digits."""
        return word_of(self.name)


def at_of(number: int) -> int:
    """When the card of an id happened, in milliseconds, to the second."""
    return (number >> 12 & (1 << 34) - 1) * 1_000


def word_of(name: bytes) -> str:
    """A card's name for people: 16 letters and digits."""
    from base64 import b32encode

    return b32encode(name).decode().lower()


class CardSource(NamedTuple):
    """A file of which cards were derived."""

    root: int
    path: str
    sha: bytes
    brought: bool
    failed: str = ""
    """Why there are none, as a sentence."""


class SessionRead(NamedTuple):
    """How far the cards of a session file go, and what the next look at it has to know."""

    agent: str
    covers: tuple[str, ...] = ()
    """Projects whose turns were looked at; none: all."""
    began: int = 0
    """When its first event was, in milliseconds: of files with the same event the oldest has its cards."""
    size: int = 0
    written: int = 0
    """Bytes and nanoseconds of the file when all of it was looked at."""
    settled: bool = False
    """Whether the last turn has its cards, because nobody went on with it for a while."""
    whole: bool = False
    """Whether it is read from its beginning each time, because something in it is marked as private."""
    interrupted: bool = False
    """Whether the turn before the place was stopped by a person."""
    cursor: SessionCursor | None = None
    """Where its last turn begins; None: at the beginning of the file."""

    def packed(self) -> str:
        """All of it as JSON."""
        values = self._asdict()
        if self.cursor is not None:
            values["cursor"] = self.cursor._asdict() | {"head": self.cursor.head.hex(), "tail": self.cursor.tail.hex()}
        return json.dumps(values)

    @classmethod
    def of(cls, packed: str) -> SessionRead:
        """Read what `packed` gave."""
        values = json.loads(packed)
        if cursor := values.pop("cursor"):
            digests = {name: bytes.fromhex(cursor[name]) for name in ("head", "tail")}
            values["cursor"] = SessionCursor(**cursor | digests)
        return cls(**values | {"covers": tuple(values["covers"])})


class SessionReach(NamedTuple):
    """Which sessions somebody may read, and have cards of."""

    settings: Settings
    """As they are now."""
    place: Surroundings
    """Where they stand."""

    def now(self) -> SessionReach:
        """The same, by what the settings file says now."""
        from memtui.config.read import reread

        return self._replace(settings=reread(self.settings))

    @property
    def allowed(self) -> bool:
        """Whether there may be any cards of sessions."""
        if self.settings.transcripts_keep != "cards":
            return False  # asked at every search, and most who ask keep none: the readers of sessions stay unopened
        from memtui.transcripts.sessions import keeps_cards

        return keeps_cards(self.settings, self.place)
