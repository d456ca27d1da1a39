"""Values that the parts of observations exchange: derived and stored cards, their sources, and session progress."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.ledger.touches import SessionCursor
from memtui.engine.observation import NORMAL

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings

SESSION = "session"
"""Kind of cards made from agents' sessions; their root is 0."""

TYPES = (
    *("correction", "decision", "preference", "constraint"),
    *("fix", "error", "change", "plan", "fact", "summary", "note"),
)
"""Card types, the most valuable first: ties between equally good search results follow this order."""
_FRONT_MATTER_TYPES = {"feedback": "preference", "user": "preference", "project": "fact", "reference": "fact"}


def type_of(given: object, otherwise: str = "fact") -> str:
    """Map a written type to a card type; an unknown word gives `note`."""
    word = str(given or "").strip().casefold()
    return word if word in TYPES else _FRONT_MATTER_TYPES.get(word, "note") if word else otherwise


class DerivedCard(NamedTuple):
    """A card as the rules derive it, with secrets masked and private spans cut in every field."""

    first: str
    """Folded first line of the entry; empty when the card is the whole file."""
    text: str
    """Whole entry, folded; only hashed, never stored."""
    span: tuple[int, int]
    """Start and end in the file, in bytes."""
    type: str
    title: str
    narrative: str
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    """Most frequent first."""
    files: tuple[str, ...]
    masked: int
    cut: int
    at: int | None = None
    """Milliseconds, when the text dates itself."""


class CardState(NamedTuple):
    """Name of a card and what was decided about it."""

    name: bytes
    state: int = NORMAL
    deleted: bool = False
    adrift: bool = False
    """Whether it is withheld because a lost decision in its file may have meant it."""
    patch: str = ""
    emptied: bool = False
    """Whether its text was removed because it was deleted long ago."""


class Card(NamedTuple):
    """A card as it is stored."""

    id: int
    """Project, second and sequence number in one integer; see `store.schema`."""
    name: bytes
    source: int
    kind: str
    """`memory`, `note` or `session`."""
    root: int
    """Ledger id of the root; 0 for a session."""
    path: str
    address: str
    """Address at the time it was derived."""
    agent: str
    span: str
    """`start-end` in bytes: of the entry, or of the line of a session."""
    anchor: bytes
    text_key: bytes
    type: str
    title: str
    narrative: str
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files: tuple[str, ...]
    note: str
    tokens: int
    """Estimated cost of exactly what `answers.detail` returns."""
    masked: int
    cut: int
    brought: bool
    """Whether it came with a checkout and nobody has reviewed it."""
    state: int = NORMAL
    deleted: bool = False
    adrift: bool = False
    patch: str = ""
    was: str = ""
    """Derived values of the fields that a person edited, as a JSON object."""

    @property
    def at(self) -> int:
        """Time of the event in milliseconds, to the second."""
        return time_of_id(self.id)

    @property
    def withheld(self) -> bool:
        """Whether agents may not read it."""
        return self.state != NORMAL or self.deleted or self.brought

    @property
    def word(self) -> str:
        """Name for people: 16 letters and digits."""
        return public_id_of(self.name)


def time_of_id(number: int) -> int:
    """Return the time encoded in a card id, in milliseconds."""
    return (number >> 12 & (1 << 34) - 1) * 1_000


def public_id_of(name: bytes) -> str:
    """Return a card's name for people: 16 letters and digits."""
    from base64 import b32encode

    return b32encode(name).decode().lower()


def new_card(
    derived: DerivedCard,
    name: bytes,
    anchor: bytes,
    text_key: bytes,
    kind: str,
    place: tuple[int, str],
    address: str,
    agent: str,
    at: int,
) -> Card:
    """Return a derived card as one to store; its project and number are not set yet."""
    number = at // 1_000 << 12  # the day is shown and counted in its tokens
    span = f"{derived.span[0]}-{derived.span[1]}"
    return Card(
        *(number, name, 0, kind, *place, address, agent, span, anchor, text_key, derived.type, derived.title),
        *(derived.narrative, derived.facts, derived.concepts, derived.files, "", 0, derived.masked, derived.cut, False),
    )


class CardSource(NamedTuple):
    """A file from which cards were derived."""

    root: int
    path: str
    sha: bytes
    brought: bool
    failed: str = ""


class SessionProgress(NamedTuple):
    """How far a session file was read, and the state that the next read needs."""

    agent: str
    covers: tuple[str, ...] = ()
    """Projects whose turns were read; empty: all."""
    began: int = 0
    """Time of the first event in milliseconds: of copies of an event the oldest file keeps the card."""
    size: int = 0
    written: int = 0
    """Modification time in nanoseconds when the whole file had been read."""
    settled: bool = False
    """Whether the last turn has its cards because the session was idle long enough."""
    whole: bool = False
    """Whether it is always read from the beginning because it holds private text."""
    interrupted: bool = False
    cursor: SessionCursor | None = None
    """Start of the last turn; None: the beginning of the file."""

    def packed(self) -> str:
        """Serialize to JSON."""
        values = self._asdict()
        if self.cursor is not None:
            values["cursor"] = self.cursor._asdict() | {"head": self.cursor.head.hex(), "tail": self.cursor.tail.hex()}
        return json.dumps(values)

    @classmethod
    def of(cls, packed: str) -> SessionProgress:
        """Parse the output of `to_json`."""
        values = json.loads(packed)
        if cursor := values.pop("cursor"):
            digests = {name: bytes.fromhex(cursor[name]) for name in ("head", "tail")}
            values["cursor"] = SessionCursor(**cursor | digests)
        return cls(**values | {"covers": tuple(values["covers"])})


class SessionScope(NamedTuple):
    """Settings and location that decide which sessions may be read."""

    settings: Settings
    place: Surroundings

    def now(self) -> SessionScope:
        """Return a copy with the settings file read again."""
        from memtui.config.read import reread

        return self._replace(settings=reread(self.settings))

    @property
    def allowed(self) -> bool:
        """Whether session cards may exist."""
        if self.settings.transcripts_keep != "cards":
            return False  # asked at every search, and most who ask keep none: the readers of sessions stay unopened
        from memtui.transcripts.sessions import keeps_cards

        return keeps_cards(self.settings, self.place)
