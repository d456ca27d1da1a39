"""What becomes of memories on their way to another agent, drawn before it is done; and doing it as one step.

The plan that is shown is the very one that is done, so nothing can be written that was not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from memtui.agents.table import title_of
from memtui.engine.model import Address, Done, Root
from memtui.features.transfer.model import ADDED, KEPT, LOST, MAPPED, IndexChange, Item, Plan
from memtui.features.transfer.plan import Wish, apply, differs, plan
from memtui.ui.draw.pages import words_page
from memtui.ui.draw.spans import Line
from memtui.workbench.bridge import WRITE
from memtui.workbench.views.difference import Look, compare

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtui.workbench.browse.browser import BrowserScreen

Pairs = tuple[tuple[Address, Address], ...]
GROUP = "transfer"
_STYLES = {MAPPED: "good", ADDED: "good", KEPT: "description", LOST: "warning"}


def translates(pairs: Iterable[tuple[Address, Address]], roots: Mapping[str, Root]) -> bool:
    """Whether any of these memories needs more than a copy of its bytes to be at home where it goes."""
    return any(
        old.root in roots and new.root in roots and differs(roots[old.root], roots[new.root]) for old, new in pairs
    )


def reader_words(pairs: Iterable[tuple[Address, Address]], roots: Mapping[str, Root]) -> str:
    """Whose shape they get: `in the shape of Serena`."""
    titles = dict.fromkeys(title_of(roots[new.root].agent) for _, new in pairs if new.root in roots)
    return f"in the shape of {' and '.join(titles)}"


class Translating:
    """Plans transfers in the background, and does them."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def work_out(self, pairs: Pairs, *, moving: bool, fit: bool, then: Callable[[Plan], None]) -> None:
        """Plan a transfer; of several that are asked for in a row only the last one arrives."""
        self._screen.bridge.run(
            lambda engine: plan(engine, pairs, Wish(moving, fit=fit)),
            then,
            what="work out what is mapped",
            latest=GROUP,
        )

    def do(self, wanted: Plan) -> None:
        """Do what was shown, and tell it."""
        from memtui.workbench.browse.verbs import addresses_of, where

        screen, bridge = self._screen, self._screen.bridge
        pairs = tuple((item.old, item.new) for item in wanted.going)

        def done(result: Done) -> None:
            bridge.refresh(addresses_of(result) | {one.address for one in wanted.indexes})
            past = "moved" if wanted.moving else "copied"
            screen.verbs.report(result, past, after=f" to {where(pairs)}; u takes it back")
            screen.go_when_there(pairs[0][1])

        bridge.run(
            lambda engine: apply(engine, wanted, actor=bridge.actor),
            done,
            what=wanted.words,
            otherwise=partial(screen.show_error, wanted.words),
            lane=WRITE,
        )


def details(wanted: Plan, item: Item | None, look: Look) -> list[Line]:
    """Draw what becomes of one memory, and what is written besides."""
    lines: list[Line] = []
    if item is not None and not item.problem:
        for note in item.notes:
            for number, part in enumerate(words_page(f"{note.kind}: {note.text}", width=look.width)):
                text = part.runs[0][0]
                lines.append([(text if not number else "  " + text, _STYLES.get(note.kind, "dim"))])
        if any(note.kind == LOST for note in item.notes):
            keeps = "history keeps it (H)" if wanted.moving else "the original keeps it"
            lines.append([(f" What is left behind is not lost: {keeps}.", "dim")])
        if not item.changed:
            lines.append([(" The text goes as it is.", "dim")])
        lines += _difference(item.before, item.after, look)
    lines += index_details(wanted.indexes, look)
    if wanted.rest:
        lines += [[], *(list(part.runs) for part in words_page(wanted.rest, style="warning", width=look.width))]
    return lines


def index_details(indexes: Iterable[IndexChange], look: Look) -> list[Line]:
    """Draw what indexes get."""
    lines: list[Line] = []
    for change in indexes:
        lines += [[], [(f" {change.address}", "heading"), (f"  {change.what}", "good")]]
        for note in change.notes:
            lines += [list(part.runs) for part in words_page(note, style="description", width=look.width)]
        lines += _difference(change.before, change.after, look)
    return lines


def _difference(before: bytes, after: bytes, look: Look) -> list[Line]:
    return [list(line.runs) for line in compare(before, after, look)[1]] if before != after else []
