"""Steps of undo that are no change of a memory: changes marked as seen, decisions, muted findings.

The engine's undo does not know them; without this a slip of `x` would lose track of what an agent did, and `u` would
take back something other than the user's last action. It is apart from the operations so that the order of steps is
decided in one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Change, Done, PassedOver, Root
from memtui.errors import NotFoundError
from memtui.features.actors import by, who_words
from memtui.ui.draw.text import count_words
from memtui.workbench.bridge import WRITE

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge, Engine


KEPT_STEPS = 100
Projects = Callable[[], Iterable[Root]]
"""Finds the roots of every project; slow."""


class LocalStep(NamedTuple):
    words: str
    """What was done: `2 changes seen`."""
    back: Callable[[Engine, Actor], bool]
    """Undoes it; False where nothing of it is left, as of a decision that was carried out."""
    again: Callable[[Engine, Actor], object]
    then: Callable[[], object] = tuple
    after: str | None = None
    """The engine's next undo at that time: while it is unchanged, this step is the newest."""
    joined: bool = False
    """Part of the engine's step `after`: both are undone and redone together."""


class LocalSteps:
    """The steps of this run; its jobs run in the lane of writes."""

    def __init__(self, began: int = 0) -> None:
        """`began`: when this run started, in milliseconds since the epoch."""
        self._began = began
        self._done: deque[LocalStep] = deque(maxlen=KEPT_STEPS)
        self._undone: deque[LocalStep | str | None] = deque(maxlen=KEPT_STEPS)
        """Steps, and transactions of undone operations, oldest first: redo takes the last."""
        self._left: str | None = None
        """The engine's next undo after the last step here: a different one means that something else was done."""
        self._asked: PassedOver | None = None
        """The warning before an older change is undone; asking again confirms it."""
        self._known = ("", "")
        """What is newer elsewhere, and its folder, that the user went past."""
        self._ends = False
        """Whether a step was done, after which nothing undone earlier is redone."""

    def add(self, engine: Engine, step: LocalStep) -> None:
        """Add a step for what was just done."""
        self._left = engine.undo.next()
        self._done.append(step._replace(after=self._left))
        self._undone.clear()
        self._ends = True

    def mark(
        self, engine: Engine, changes: Iterable[Change], rejected: Iterable[str] = (), *, joined: bool = False
    ) -> int:
        """Mark changes as seen, as they were shown; return how many were not marked before.

        `rejected` proposals are opened again by undo; `joined`: it belongs to the engine's last step.
        """
        chosen, away = tuple(changes), tuple(rejected)
        marks = engine.changes.mark_shown(chosen) if chosen else ()

        def back(engine: Engine, actor: Actor) -> bool:
            engine.changes.unmark(marks)
            _decide(engine, away, "open", actor)
            return True

        def again(engine: Engine, actor: Actor) -> None:
            if chosen:
                engine.changes.mark_shown(chosen)
            _decide(engine, away, "rejected", actor)

        if marks or away:
            counts = ((away, "proposal", "rejected"), (marks, "change", "seen"))
            words = ", ".join(f"{count_words(len(some), what)} {said}" for some, what, said in counts if some)
            self.add(engine, LocalStep(words, back, again, joined=joined))
        return len(marks)

    def mark_memories(self, engine: Engine, addresses: Iterable[Address]) -> int:
        """Mark memories as seen as they are now; return how many were not marked before."""
        wanted = frozenset(addresses)
        count = self.mark(engine, [change for change in engine.changes.unseen() if change.address in wanted])
        return count + engine.changes.mark_seen(tuple(sorted(wanted)))

    def undo(self, engine: Engine, actor: Actor, roots: Projects = tuple) -> Done | LocalStep | PassedOver:
        """Undo whatever is newest: a step here, or an operation.

        Returns `PassedOver`, with nothing undone, when something newer was done where undo cannot reach, or the newest
        step is another's or from before this run: the next call undoes the older one.
        """
        newest = self._look(engine)
        while (step := self._newest(newest)) is not None and not step.joined:
            if self._take_back(engine, step, actor):
                return step
        newest = self._reach(engine, "undo", roots) or newest
        ahead = engine.undo.passed_over()
        newer = (ahead.newer, ahead.folder) if ahead is not None else ("", "")
        if ahead is not None and newer != self._known and ahead != self._asked:
            self._asked = ahead
            return ahead
        other = engine.undo.unexpected(self._began)
        if other is not None and other != self._asked and ahead is None:
            self._asked = other
            return other
        self._asked, self._known = None, newer
        done = engine.undo.undo(actor=actor)
        if any(outcome.ok for outcome in done.outcomes):
            if step is not None:
                self._take_back(engine, step, actor)
                done = done._replace(also=" ".join(filter(None, (done.also, f"Also open again: {step.words}."))))
            if other is not None and other.newer:
                done = done._replace(label=f"{done.label} {by(who_words(other.newer))}")
            self._undone.append(newest)
            done = done._replace(left="")  # what is newer elsewhere was told before
        self._left = engine.undo.next()
        return done

    def redo(self, engine: Engine, actor: Actor, roots: Projects = tuple) -> Done | LocalStep:
        """Redo what was undone last; raises `NotFoundError` (`E_NOTHING_TO_UNDO`) once something else was done."""
        self._look(engine)
        if self._undone and isinstance(step := self._undone[-1], LocalStep):
            return self._do_again(engine, step, actor)
        if not self._undone and self._ends:
            raise NotFoundError(
                "There is nothing to redo: something was done after the last undo.", code="E_NOTHING_TO_UNDO"
            )
        self._reach(engine, "redo", roots)
        done = engine.undo.redo(actor=actor)
        self._left = engine.undo.next()
        if self._undone:
            self._follow(self._undone.pop(), self._left)
        if self._undone and isinstance(step := self._undone[-1], LocalStep) and step.joined:
            self._do_again(engine, step, actor)
        return done

    def _newest(self, after: str | None) -> LocalStep | None:
        return self._done[-1] if self._done and self._done[-1].after == after else None

    def _take_back(self, engine: Engine, step: LocalStep, actor: Actor) -> bool:
        self._done.pop()
        took = step.back(engine, actor)
        if took:
            self._undone.append(step)
        return took

    def _do_again(self, engine: Engine, step: LocalStep, actor: Actor) -> LocalStep:
        step.again(engine, actor)
        self._undone.pop()
        self._done.append(step)
        return step

    def _reach(self, engine: Engine, kind: str, roots: Projects) -> str | None:
        """Open what a step between two projects reached into; return the engine's next undo if there was one."""
        if next(engine.undo.beyond(kind), None) is None:
            return None
        from memtui.features.moved_projects.moves import open_next

        if not open_next(engine, kind, roots):
            return None
        self._left = engine.undo.next()
        return self._left

    def _look(self, engine: Engine) -> str | None:
        """Return the engine's next undo; after something new, nothing undone earlier is redone."""
        newest = engine.undo.next()
        if newest != self._left:
            self._undone.clear()
            self._ends, self._left = False, newest
        return newest

    def _follow(self, old: object, new: str | None) -> None:
        """Move steps to the new transaction of a redone operation."""
        for index, step in enumerate(self._undone):
            if isinstance(step, LocalStep) and step.after == old:
                self._undone[index] = step._replace(after=new)


def _decide(engine: Engine, numbers: Iterable[str], state: str, actor: Actor) -> None:
    """Set the state of proposals, where nobody decided otherwise since."""
    before = "rejected" if state == "open" else "open"
    ids = [number for number in numbers if engine.proposals.get(number).state == before]
    if ids:
        from memtui.features.proposals.apply import decide

        decide(engine, ids, state, actor=actor, tidy=False)


class LocalUndo:
    """Marks changes as seen for the screens, and says what happened."""

    def __init__(self, bridge: Bridge, say: Callable[[str, str], None]) -> None:
        self._bridge = bridge
        self._say = say
        self.steps = LocalSteps(bridge.started)

    def changes(self, changes: Iterable[Change], then: Callable[[], None] = lambda: None) -> None:
        chosen = tuple(changes)
        nothing = "You have already seen that."
        self._mark(lambda engine: self.steps.mark(engine, chosen), "mark changes as seen", nothing, then)

    def memories(self, addresses: Iterable[Address], name: str) -> None:
        """Mark memories as seen as they are now."""
        targets = tuple(addresses)
        nothing = "There is nothing unseen here."
        self._mark(lambda engine: self.steps.mark_memories(engine, targets), f"mark {name} as seen", nothing)

    def _mark(
        self, job: Callable[[Engine], int], what: str, nothing: str, then: Callable[[], None] = lambda: None
    ) -> None:
        def marked(count: int) -> None:
            self._say(f"Seen: {count_words(count, 'change')}. u takes it back." if count else nothing, "name")
            then()

        self._bridge.run(job, marked, what=what, lane=WRITE)

    def report(self, step: LocalStep, *, undone: bool) -> None:
        self._say(
            f"Undid: {step.words}. U does it again." if undone else f"Did again: {step.words}. u undoes it.", "good"
        )
        step.then()
