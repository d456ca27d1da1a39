"""Steps of undo that are no change of a memory: what was marked as seen, decided or muted.

The engine's undo does not know them; without this a slip of `x` would lose track of what an agent did, and `u` would
take back something else than what the user did last. It is apart from the operations so that what counts as newest is
read in one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Change, Done, PassedOver, Root
from memtui.errors import NotFoundError
from memtui.features.actors import by, who_words
from memtui.ui.draw.words import count_words
from memtui.workbench.bridge import WRITE

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge, Engine


KEPT_STEPS = 100
Projects = Callable[[], Iterable[Root]]
"""Finds the roots of every project; slow."""


class Step(NamedTuple):
    """What was done at once."""

    words: str
    """What: `2 changes seen`."""
    back: Callable[[Engine, Actor], bool]
    """Takes it back; False where nothing of it is left, as of a decision that was carried out."""
    again: Callable[[Engine, Actor], object]
    then: Callable[[], object] = tuple
    """Called on the event loop after either."""
    after: str | None = None
    """What the engine's undo would have taken back then: while it still would, this is the newest step."""
    joined: bool = False
    """It is a part of the engine's step `after`: both are taken back at once, and done again."""


class SeenSteps:
    """The steps of this run; its jobs run one after the other in the lane of writes."""

    def __init__(self, began: int = 0) -> None:
        """Take when this run began, in milliseconds since the epoch."""
        self._began = began
        self._done: deque[Step] = deque(maxlen=KEPT_STEPS)
        self._undone: deque[Step | str | None] = deque(maxlen=KEPT_STEPS)
        """Steps, and operations by the transaction that was taken back, in the order of time: redo takes the last."""
        self._left: str | None = None
        """What undo would take back after the last step here: something else means that somebody did something."""
        self._asked: PassedOver | None = None
        """What the user was last told before an older change is taken back; asking again for it is a yes."""
        self._known = ("", "")
        """What is newer elsewhere, and its folder, that the user went past."""
        self._ends = False
        """A step was done: what was undone before it is not done again."""

    def add(self, engine: Engine, step: Step) -> None:
        """Have undo take back what was just done."""
        self._left = engine.undo.next()
        self._done.append(step._replace(after=self._left))
        self._undone.clear()
        self._ends = True

    def mark(
        self, engine: Engine, changes: Iterable[Change], rejected: Iterable[str] = (), *, joined: bool = False
    ) -> int:
        """Mark changes as they were shown; returns how many were not marked before.

        Args:
            engine: where.
            changes: which.
            rejected: proposals that were rejected with it, to be open again when it is taken back.
            joined: it belongs to the engine's last step.
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
            self.add(engine, Step(words, back, again, joined=joined))
        return len(marks)

    def mark_memories(self, engine: Engine, addresses: Iterable[Address]) -> int:
        """Mark memories as they are now; returns how many were not marked before."""
        wanted = frozenset(addresses)
        count = self.mark(engine, [change for change in engine.changes.unseen() if change.address in wanted])
        return count + engine.changes.mark_seen(tuple(sorted(wanted)))

    def undo(self, engine: Engine, actor: Actor, roots: Projects = tuple) -> Done | Step | PassedOver:
        """Take back whatever is newest: a step here, or an operation.

        Args:
            engine: where it was done.
            actor: who does it.
            roots: finds those of every project, for a step that went from one to another.

        Returns:
            What was taken back. `PassedOver`, and nothing was, when something newer was done where undo cannot reach:
            to be told first; the next call takes the older one back. So it is with a step that somebody else did, or
            that was done before this run.
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

    def redo(self, engine: Engine, actor: Actor, roots: Projects = tuple) -> Done | Step:
        """Do again whatever was undone last; nothing once something else was done. See `undo`.

        Raises:
            NotFoundError: `E_NOTHING_TO_UNDO`.
        """
        self._look(engine)
        if self._undone and isinstance(step := self._undone[-1], Step):
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
        if self._undone and isinstance(step := self._undone[-1], Step) and step.joined:
            self._do_again(engine, step, actor)
        return done

    def _newest(self, after: str | None) -> Step | None:
        return self._done[-1] if self._done and self._done[-1].after == after else None

    def _take_back(self, engine: Engine, step: Step, actor: Actor) -> bool:
        self._done.pop()
        took = step.back(engine, actor)
        if took:
            self._undone.append(step)
        return took

    def _do_again(self, engine: Engine, step: Step, actor: Actor) -> Step:
        step.again(engine, actor)
        self._undone.pop()
        self._done.append(step)
        return step

    def _reach(self, engine: Engine, kind: str, roots: Projects) -> str | None:
        """Open what a step between two projects reached into; returns what undo would take back if there was one."""
        if next(engine.undo.beyond(kind), None) is None:
            return None
        from memtui.features.moved_projects.repoint import open_next

        if not open_next(engine, kind, roots):
            return None
        self._left = engine.undo.next()
        return self._left

    def _look(self, engine: Engine) -> str | None:
        """Return what undo would take back; what was undone before something new is not done again."""
        newest = engine.undo.next()
        if newest != self._left:
            self._undone.clear()
            self._ends, self._left = False, newest
        return newest

    def _follow(self, old: object, new: str | None) -> None:
        """An operation that is done again is another transaction: marks that came after it come after that one."""
        for index, step in enumerate(self._undone):
            if isinstance(step, Step) and step.after == old:
                self._undone[index] = step._replace(after=new)


def _decide(engine: Engine, numbers: Iterable[str], state: str, actor: Actor) -> None:
    """Decide once more about proposals, where nobody decided anything else since."""
    before = "rejected" if state == "open" else "open"
    ids = [number for number in numbers if engine.proposals.get(number).state == before]
    if ids:
        from memtui.features.proposals.apply import decide

        decide(engine, ids, state, actor=actor, tidy=False)


class SeenChanges:
    """Marks for the screens: asks the bridge and says what happened."""

    def __init__(self, bridge: Bridge, say: Callable[[str, str], None]) -> None:
        """Take what runs jobs, and what shows one line: its text and its level."""
        self._bridge = bridge
        self._say = say
        self.steps = SeenSteps(bridge.started)

    def changes(self, changes: Iterable[Change], then: Callable[[], None] | None = None) -> None:
        """Say that the user has looked at changes as they were shown."""
        chosen = tuple(changes)

        def marked(count: int) -> None:
            words = f"Seen: {count_words(count, 'change')}. u takes it back."
            self._say(words if count else "You have already seen that.", "name")
            if then is not None:
                then()

        self._bridge.run(
            lambda engine: self.steps.mark(engine, chosen), marked, what="mark changes as seen", lane=WRITE
        )

    def memories(self, addresses: Iterable[Address], name: str) -> None:
        """Say that the user has looked at memories as they are now."""
        targets = tuple(addresses)

        def marked(count: int) -> None:
            words = f"Seen: {count_words(count, 'change')}. u takes it back."
            self._say(words if count else "There is nothing unseen here.", "name")

        self._bridge.run(
            lambda engine: self.steps.mark_memories(engine, targets),
            marked,
            what=f"mark {name} as seen",
            lane=WRITE,
        )

    def report(self, step: Step, *, undone: bool) -> None:
        """Say what became of a step."""
        self._say(
            f"Undid: {step.words}. U does it again." if undone else f"Did again: {step.words}. u undoes it.", "good"
        )
        step.then()
