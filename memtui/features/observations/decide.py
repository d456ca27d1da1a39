"""What a person decides about cards: who may be given one, what it is called, whether it is shown at all.

The ledger is written first and the cards after it, so a kill in between leaves a decision that the next look applies.
Whoever calls has asked a person before.
"""

from __future__ import annotations

import json
from base64 import b32decode
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from memtui import markers
from memtui.engine import Engine
from memtui.engine.ledger.observations import remove_files
from memtui.engine.model import Actor
from memtui.engine.observation import REDACTED, STATES, SUPPRESSED, ObservationMark
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.observations import find, rules
from memtui.features.observations.derive import apply_decisions
from memtui.features.observations.find import CardLook
from memtui.features.observations.model import TYPES, Card
from memtui.features.observations.names import BESIDE
from memtui.features.observations.store import generations

LIMITS = {"title": 160, "type": 20, "note": 2_000}
"""Characters of what a person may write over a card."""


def mark_of(engine: Engine, look: CardLook, word: str) -> ObservationMark:
    """The decision about a card, or a new one, as it would be found again now.

    Args:
        engine: of the person.
        look: what they may see.
        word: the card's name or the beginning of it; of a decision that is adrift, its name.

    Raises:
        NotFoundError, UsageError: as `find.named`.
    """
    try:
        card = find.named(look, word)
    except NotFoundError:
        with suppress(ValueError):
            adrift = engine.observations.mark(b32decode(word.strip().upper()))
            if adrift is not None:
                return adrift
        raise
    known = engine.observations.mark(card.name)
    state = min(card.state, SUPPRESSED)  # what another decision withholds is not released by an edit
    made = known or ObservationMark(card.name, 0, card.root, card.path, card.anchor, card.text_key, b"", state)
    return made._replace(
        root=card.root, path=card.path, anchor=card.anchor, text_key=card.text_key, beside=_beside(look, card)
    )


def _beside(look: CardLook, card: Card) -> bytes:
    keys = look.reader.texts_of(card.source) if look.reader is not None and card.root else []
    twins = [card.text_key[:BESIDE]] * (keys.count(card.text_key) - 1)
    return b"".join(sorted([*({key[:BESIDE] for key in keys} - {card.text_key[:BESIDE]}), *twins]))


def set_state(engine: Engine, marks: Sequence[ObservationMark], word: str, *, actor: Actor, reason: str = "") -> None:
    """Give cards another state, as one step of undo: `normal`, `private` or `suppressed`.

    What is proposed because of a card that is withheld then is withdrawn for good.

    Raises:
        UsageError: there is no such state. RefusedError: `E_REDACTED`, one is redacted.
        ConflictError: somebody decided otherwise meanwhile.
    """
    if word not in STATES[:REDACTED]:
        raise UsageError(f"{word!r} is no state.", hint=f"One of {', '.join(STATES[:REDACTED])}.")
    state = STATES.index(word)
    _put(engine, [mark._replace(state=state) for mark in marks], actor, ("make", f" {word}"), reason)


def delete(engine: Engine, marks: Sequence[ObservationMark], *, actor: Actor, reason: str = "") -> None:
    """Take cards away from every door; their memories stay as they are. Raises as `set_state`."""
    now = engine.tasks.clock()
    _put(engine, [mark._replace(deleted_at=now) for mark in marks], actor, ("delete", ""), reason)


def restore(engine: Engine, marks: Sequence[ObservationMark], *, actor: Actor, reason: str = "") -> None:
    """Bring deleted cards back, each with its state and what was written over it. Raises as `set_state`."""
    if any(mark.deleted_at is None for mark in marks):
        raise RefusedError("This observation is not deleted.", code="E_NOT_FOUND")
    _put(engine, [mark._replace(deleted_at=None) for mark in marks], actor, ("bring back", ""), reason)


def edit(engine: Engine, mark: ObservationMark, patch: Mapping[str, object], *, actor: Actor) -> None:
    """Write over the title, the type, or a note of a card; an empty text takes that back.

    Raises:
        UsageError: `E_PATCH`, a field is unknown, of the wrong kind or too long. And as `set_state`.
    """
    fields = {**(json.loads(mark.patch) if mark.patch else {}), **_checked(patch)}
    kept = {name: value for name, value in sorted(fields.items()) if value}
    packed = json.dumps(kept, ensure_ascii=False) if kept else ""  # a redaction looks for its words in it
    _put(engine, [mark._replace(patch=packed)], actor, ("edit", ""), "")


def _checked(patch: Mapping[str, object]) -> dict[str, str]:
    checked = {}
    for name, value in patch.items():
        wrong = ""
        if name not in LIMITS:
            wrong = f"there is no field {name!r}"
        elif not isinstance(value, str) or (not value.isprintable() and not (name == "note" and _is_text(value))):
            wrong = f"{name} has to be a text on one line"
        elif len(value) > LIMITS[name]:
            wrong = f"{name} has {len(value):,} characters, and {LIMITS[name]:,} are the most"
        elif name == "type" and value and value not in TYPES:
            wrong = f"{value!r} is no type; one of {', '.join(TYPES)}"
        elif markers.cut(value).no_memory:
            wrong = f"{name} says that nothing of it is to be kept"
        if wrong or not isinstance(value, str):
            raise UsageError(f"The observation cannot be edited like this: {wrong}.", code="E_PATCH")
        checked[name] = rules.clean(value).strip()
    return checked


def _is_text(value: str) -> bool:
    return all(sign.isprintable() or sign in "\n\t" for sign in value)


def redact(engine: Engine, mark: ObservationMark, *, actor: Actor, reason: str) -> bool:
    """Take a card's text away for good, down to the bytes of every file of cards and of what was decided.

    Returns:
        Whether no byte is left; else another process reads just now, and the next one that derives finishes it.

    Raises:
        RefusedError: `E_PERSON`, `E_REDACTED`. UsageError: there is no reason.
    """
    engine.redaction.redact_observation(mark, reason=reason, actor=actor)
    table = engine.observations
    with generations.alone(table) as held:
        if held:  # files that a dead process was building, or that were damaged; whoever builds one now applies this
            remove_files(table.directory, lambda number: number != table.generation())
    return apply(engine)


def clear_sessions(engine: Engine, *, now: int) -> tuple[int, bool]:
    """Take out all cards of sessions, for good, and what was decided about them; what happened by now has none again.

    Returns:
        How many, and whether no byte is left, as `redact`.
    """
    table = engine.observations
    with generations.alone(table, wait=True), generations.translated(), closing(generations.writer(table)) as writer:
        count = writer.clear_sessions(now)
        table.forget_sessions()
        remove_files(table.directory, lambda number: number != table.generation())
        return count, writer.erase()


def _put(engine: Engine, marks: Sequence[ObservationMark], actor: Actor, said: tuple[str, str], reason: str) -> None:
    """Decide, as one step of undo whose label names no card: that one may be redacted later."""
    what = f"{len(marks)} observations"
    if len(marks) == 1:
        root = engine.roots.names().get(marks[0].root, "")
        what = f"an observation of {f'{root}/{marks[0].path}' if marks[0].root else 'a session'}"
    engine.changes.observed.put(marks, actor=actor, label=f"{said[0]} {what}{said[1]}", reason=reason)
    apply(engine)


def apply(engine: Engine) -> bool:
    """Apply what was decided to the cards in use; says whether nothing is left to overwrite."""
    with generations.in_use(engine.observations) as writer:
        if writer is None:
            return True  # the cards are derived anew, by what is decided now
        apply_decisions(engine, writer)
        return not writer.meta("scrub_due")


def adrift(engine: Engine) -> list[ObservationMark]:
    """Decisions that withhold something and are about no card any more: a person has to look."""
    table = engine.observations
    with generations.in_use(table) as writer:
        if writer is None:
            return []
        known = {name for name, _ in writer.keys_of([mark.name for mark in table.marks()])}
        sources = writer.sources()
    return [one for one in table.marks() if one.withholds and one.name not in known and (one.root, one.path) in sources]
