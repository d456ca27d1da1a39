"""Making a memory of a card, in the format of the target folder's agent, as one undo step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.model import TYPES, Actor, Address, Done, Root
from memtui.errors import ConflictError, RefusedError, UsageError
from memtui.features.observations.model import Card
from memtui.features.transfer.model import slug_of
from memtui.features.transfer.plan import MemoryFields, plan_new
from memtui.features.transfer.plan import NewPlan as NewPlan
from memtui.features.typed_address import Target
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page

if TYPE_CHECKING:
    from memtui.engine import Engine


def place_of(card: Card, roots: Mapping[str, Root]) -> str | None:
    """Return the default address for a memory made of a card; None when no root is writable."""
    writable = [id_ for id_, root in roots.items() if root.kind == "memories" and not root.read_only]
    found = next((id_ for id_ in ("memtui:project", "memtui:global", *writable) if id_ in writable), None)
    return None if found is None else f"{found}/{slug_of(card.title)}.md"


def plan(engine: Engine, card: Card, text: str, roots: Mapping[str, Root]) -> NewPlan:
    """Plan the memory for a typed address; raises UsageError, RefusedError, or ConflictError `E_EXISTS`."""
    first = next(iter(roots))
    target = Target(Address(first, ""), "", 0, "new").read(text, roots)
    if target.problem:
        root = roots.get(text.strip().partition("/")[0])
        if root is not None and root.read_only:
            raise RefusedError(target.problem, code="E_READ_ONLY", hint="Name another root.")
        raise UsageError(target.problem)
    folder, _, name = target.address.path.rpartition("/")
    kind = card.type if card.type in TYPES else ""
    body = f"{card.narrative.strip()}\n" + (f"\n{card.note.strip()}\n" if card.note.strip() else "")
    sheet = MemoryFields(name, card.title, kind, f"{body}\nFrom observation {card.word}, {card.address}.\n")
    return plan_new(engine, roots[target.address.root], folder, sheet)


def preview(made: NewPlan, width: int, *, plain: bool) -> Page:
    """Draw every byte that would be written."""
    page: list[PageLine] = []
    for change in made.changes:
        what = "a line in" if change.before else "is written with"
        page += words_page(
            f"{change.address} {what}:" if not change.before else f"{what} {change.address}:", width=width
        )
        page += text_page(change.after, width, plain=plain)
    return tuple(page)


def write(engine: Engine, made: NewPlan, *, actor: Actor) -> Done:
    """Write the plan as one undo step; on any failure nothing is written."""
    done = engine.together.do(made.steps, actor=actor, label=f"make {made.address} of an observation")
    for one in done.outcomes:
        if not one.ok:
            raise one.error or ConflictError(f"{made.address} was changed in that moment.", hint="Try it again.")
    return done
