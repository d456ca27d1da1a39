"""Decisions of a person about cards; the ledger is written first, so after a kill the next reader applies them."""

from __future__ import annotations

import json
from base64 import b32decode
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from memtui import markers
from memtui.engine import Engine
from memtui.engine.ledger.observations import remove_files
from memtui.engine.model import TYPES as MEMORY_TYPES
from memtui.engine.model import Actor, Address, Done, Root
from memtui.engine.observation import REDACTED, STATES, SUPPRESSED, ObservationMark
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memtui.features.observations import find, rules
from memtui.features.observations.derive import apply_decisions
from memtui.features.observations.find import CardAccess
from memtui.features.observations.model import BESIDE, TYPES, Card
from memtui.features.observations.store import generations
from memtui.features.transfer.model import slug_of
from memtui.features.transfer.plan import MemoryFields, NewPlan, plan_new
from memtui.features.typed_address import Target

PATCH_LIMITS = {"title": 160, "type": 20, "note": 2_000}
_BLANKS = str.maketrans("\n\t", "  ")


def decision_for(engine: Engine, look: CardAccess, word: str) -> ObservationMark:
    """Return the decision about a card, or a new one, updated to the card's current place.

    `word` is the card's name or a prefix of it, or the name of a decision that is adrift. Raises as `find.by_name`.
    """
    try:
        card = find.by_name(look, word)
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
        root=card.root, path=card.path, anchor=card.anchor, text_key=card.text_key, beside=_neighbour_keys(look, card)
    )


def _neighbour_keys(look: CardAccess, card: Card) -> bytes:
    keys = look.reader.texts_of(card.source) if card.root else []
    twins = [card.text_key[:BESIDE]] * (keys.count(card.text_key) - 1)
    return b"".join(sorted([*({key[:BESIDE] for key in keys} - {card.text_key[:BESIDE]}), *twins]))


def set_state(engine: Engine, marks: Sequence[ObservationMark], word: str, *, actor: Actor, reason: str = "") -> None:
    """Set cards to `normal`, `private` or `suppressed`, as one undo step.

    Proposals based on a card that becomes withheld are withdrawn. Raises `E_REDACTED`, and ConflictError when somebody
    decided otherwise meanwhile.
    """
    if word not in STATES[:REDACTED]:
        raise UsageError(f"{word!r} is no state.", hint=f"One of {', '.join(STATES[:REDACTED])}.")
    state = STATES.index(word)
    _put(engine, [mark._replace(state=state) for mark in marks], actor, ("make", f" {word}"), reason)


def delete(engine: Engine, marks: Sequence[ObservationMark], *, actor: Actor, reason: str = "") -> None:
    """Hide cards everywhere; their memories stay. Raises as `set_state`."""
    now = engine.tasks.clock()
    _put(engine, [mark._replace(deleted_at=now) for mark in marks], actor, ("delete", ""), reason)


def restore(engine: Engine, marks: Sequence[ObservationMark], *, actor: Actor, reason: str = "") -> None:
    """Restore deleted cards with their state and edits. Raises as `set_state`."""
    if any(mark.deleted_at is None for mark in marks):
        raise RefusedError("This observation is not deleted.", code="E_NOT_FOUND")
    _put(engine, [mark._replace(deleted_at=None) for mark in marks], actor, ("bring back", ""), reason)


def edit(engine: Engine, mark: ObservationMark, patch: Mapping[str, object], *, actor: Actor) -> None:
    """Write over title, type or note of a card (`E_PATCH`); an empty text restores the derived value."""
    fields = {**(json.loads(mark.patch) if mark.patch else {}), **_checked(patch)}
    kept = {name: value for name, value in sorted(fields.items()) if value}
    packed = json.dumps(kept, ensure_ascii=False) if kept else ""  # a redaction looks for its words in it
    _put(engine, [mark._replace(patch=packed)], actor, ("edit", ""), "")


def _checked(patch: Mapping[str, object]) -> dict[str, str]:
    checked = {}
    for name, value in patch.items():
        wrong = ""
        if name not in PATCH_LIMITS:
            wrong = f"there is no field {name!r}"
        elif not isinstance(value, str) or not value.translate(_BLANKS if name == "note" else {}).isprintable():
            wrong = f"{name} has to be a text on one line"
        elif len(value) > PATCH_LIMITS[name]:
            wrong = f"{name} has {len(value):,} characters, and {PATCH_LIMITS[name]:,} are the most"
        elif name == "type" and value and value not in TYPES:
            wrong = f"{value!r} is no type; one of {', '.join(TYPES)}"
        elif markers.cut(value).no_memory:
            wrong = f"{name} says that nothing of it is to be kept"
        if wrong or not isinstance(value, str):
            raise UsageError(f"The observation cannot be edited like this: {wrong}.", code="E_PATCH")
        checked[name] = rules.clean(value).strip()
    return checked


def redact(engine: Engine, mark: ObservationMark, *, actor: Actor, reason: str) -> bool:
    """Clear a card's text for good, in every file of cards and in the decisions.

    Returns whether no byte is left; otherwise another process is reading, and the next one that derives finishes it.
    """
    engine.redaction.redact_observation(mark, reason=reason, actor=actor)
    table = engine.observations
    with generations.alone(table) as held:
        if held:  # files that a dead process was building, or that were damaged; whoever builds one now applies this
            remove_files(table.directory, lambda number: number != table.generation())
    return apply(engine)


def clear_sessions(engine: Engine, *, now: int) -> tuple[int, bool]:
    """Remove all session cards and their decisions for good; return how many, and whether no byte is left."""
    table = engine.observations
    with generations.alone(table, wait=True), generations.translated(), closing(generations.writer(table)) as writer:
        count = writer.clear_sessions(now)
        table.forget_sessions()
        remove_files(table.directory, lambda number: number != table.generation())
        return count, writer.erase()


def _put(engine: Engine, marks: Sequence[ObservationMark], actor: Actor, said: tuple[str, str], reason: str) -> None:
    """Store decisions as one undo step, with a label that names no card, because it may be redacted later."""
    what = f"{len(marks)} observations"
    if len(marks) == 1:
        root = engine.roots.names().get(marks[0].root, "")
        what = f"an observation of {f'{root}/{marks[0].path}' if marks[0].root else 'a session'}"
    engine.changes.observed.put(marks, actor=actor, label=f"{said[0]} {what}{said[1]}", reason=reason)
    apply(engine)


def apply(engine: Engine) -> bool:
    """Apply decisions to the cards in use; return whether nothing is left to overwrite."""
    with generations.in_use(engine.observations) as writer:
        if writer is None:
            return True  # the cards are derived anew, by what is decided now
        apply_decisions(engine, writer)
        return not writer.meta("scrub_due")


def adrift(engine: Engine) -> list[ObservationMark]:
    """Return the withholding decisions that no longer match a card."""
    table = engine.observations
    with generations.in_use(table) as writer:
        if writer is None:
            return []
        known = {name for name, _ in writer.keys_of([mark.name for mark in table.marks()])}
        sources = writer.sources()
    return [one for one in table.marks() if one.withholds and one.name not in known and (one.root, one.path) in sources]


# --- a memory made of a card


def memory_place(card: Card, roots: Mapping[str, Root]) -> str | None:
    """Return the default address for a memory made of a card; None when no root is writable."""
    writable = [id_ for id_, root in roots.items() if root.kind == "memories" and not root.read_only]
    found = next((id_ for id_ in ("memtui:project", "memtui:global", *writable) if id_ in writable), None)
    return None if found is None else f"{found}/{slug_of(card.title)}.md"


def plan_memory(engine: Engine, card: Card, text: str, roots: Mapping[str, Root]) -> NewPlan:
    """Plan the memory for a typed address; raises UsageError, RefusedError, or ConflictError `E_EXISTS`."""
    first = next(iter(roots))
    target = Target(Address(first, ""), "", 0, "new").read(text, roots)
    if target.problem:
        root = roots.get(text.strip().partition("/")[0])
        if root is not None and root.read_only:
            raise RefusedError(target.problem, code="E_READ_ONLY", hint="Name another root.")
        raise UsageError(target.problem)
    folder, _, name = target.address.path.rpartition("/")
    kind = card.type if card.type in MEMORY_TYPES else ""
    body = f"{card.narrative.strip()}\n" + (f"\n{card.note.strip()}\n" if card.note.strip() else "")
    sheet = MemoryFields(name, card.title, kind, f"{body}\nFrom observation {card.word}, {card.address}.\n")
    return plan_new(engine, roots[target.address.root], folder, sheet)


def write_memory(engine: Engine, made: NewPlan, *, actor: Actor) -> Done:
    """Write the plan as one undo step; on any failure nothing is written."""
    done = engine.together.do(made.steps, actor=actor, label=f"make {made.address} of an observation")
    for one in done.outcomes:
        if not one.ok:
            raise one.error or ConflictError(f"{made.address} was changed in that moment.", hint="Try it again.")
    return done
