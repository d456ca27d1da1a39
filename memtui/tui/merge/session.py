"""The decisions of one conflict: what was chosen where, what is still open, and the text that comes out.

It is kept apart from the screen so that no key or resize can change a decision, and so that a third writer's text can
come in without losing those that still fit. The merging itself is `curation/merge.py`; nothing here writes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.curation.lines import split_lines
from memtui.curation.merge import (
    BASE,
    BOTH,
    BOTH_EQUAL,
    BOTH_THEIRS_FIRST,
    CONFLICT,
    SAME,
    THEIRS,
    YOURS,
    Choice,
    Edited,
    Hunk,
    Lines,
    Merge,
    carried_over,
    merge3,
)

CHOICES = {
    YOURS: "YOURS",
    THEIRS: "AGENT",
    BOTH: "both, YOURS first",
    BOTH_THEIRS_FIRST: "both, AGENT first",
    BASE: "BASE",
    "edited": "edited",
}
"""What can be decided for a place, and how it is said."""

_AUTOMATIC = {YOURS: YOURS, BOTH_EQUAL: YOURS, THEIRS: THEIRS}
"""What stands for a change of one side only while nobody decides otherwise."""


class Counts(NamedTuple):
    """How far the decisions are."""

    open: int
    """Places without a decision."""
    merged: int
    """Places merged without asking."""


def text_of(data: bytes) -> str:
    """Decode any bytes so that `bytes_of` gives them back."""
    return data.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    """Encode what `text_of` decoded, or what was typed."""
    return text.encode(errors="surrogateescape")


class MergeSession:
    """One three-way merge and every decision about it; undo is unlimited."""

    def __init__(self, merge: Merge, decided: Mapping[int, Choice] | None = None) -> None:
        """Start with nothing decided, or with these decisions."""
        self._merge = merge
        self._decided: dict[int, Choice] = dict(decided or {})
        self._reopened: frozenset[int] = frozenset()
        self._undo: list[tuple[dict[int, Choice], frozenset[int]]] = []
        self._redo: list[tuple[dict[int, Choice], frozenset[int]]] = []
        self.again: frozenset[int] = frozenset()
        """Places that were decided before a third writer came, and have to be decided again."""

    @classmethod
    def of(cls, base: bytes, yours: bytes, agent: bytes) -> MergeSession:
        """Merge three texts."""
        return cls(merge3(text_of(base), text_of(yours), text_of(agent)))

    # --- what is decided

    @property
    def chunks(self) -> tuple[Hunk, ...]:
        """The three texts in pieces, in order and complete."""
        return self._merge.hunks

    @property
    def hunks(self) -> tuple[int, ...]:
        """Every place in which something changed, by its index in `chunks`."""
        return tuple(index for index, chunk in enumerate(self.chunks) if chunk.kind != SAME)

    def choice(self, index: int) -> str:
        """Return what stands for a place, a key of `CHOICES`; empty while it is open."""
        if index in self._reopened:
            return ""
        chosen = self._decided.get(index, _AUTOMATIC.get(self.chunks[index].kind, ""))
        return "edited" if isinstance(chosen, Edited) else chosen

    def is_open(self, index: int) -> bool:
        """Whether a place waits for a decision."""
        return self.chunks[index].kind != SAME and not self.choice(index)

    @property
    def open(self) -> tuple[int, ...]:
        """Every place that waits for a decision."""
        return tuple(index for index in self.hunks if self.is_open(index))

    @property
    def counts(self) -> Counts:
        """How many are open, and how many were merged without asking."""
        touched = self._reopened | frozenset(self._decided)
        merged = [index for index in self.hunks if self.chunks[index].kind != CONFLICT and index not in touched]
        return Counts(len(self.open), len(merged))

    def decide(self, indexes: Iterable[int], choice: str, text: str = "") -> None:
        """Decide some places, as one step of undo.

        Args:
            indexes: which.
            choice: a key of `CHOICES`, or nothing to reopen.
            text: the lines, for `edited`.
        """
        if choice not in CHOICES and choice:
            raise ValueError(choice)
        self._undo.append((dict(self._decided), self._reopened))
        self._redo.clear()
        for index in indexes:
            if choice:
                self._decided[index] = Edited(text) if choice == "edited" else choice
                self._reopened -= {index}
            else:
                self._decided.pop(index, None)
                self._reopened |= {index}

    def undo(self) -> bool:
        """Take the last decision back; False when there is none."""
        if not self._undo:
            return False
        self._redo.append((dict(self._decided), self._reopened))
        self._decided, self._reopened = self._undo.pop()
        return True

    def redo(self) -> bool:
        """Decide again what was taken back; False when there is nothing."""
        if not self._redo:
            return False
        self._undo.append((dict(self._decided), self._reopened))
        self._decided, self._reopened = self._redo.pop()
        return True

    # --- what comes out

    def lines(self, index: int) -> Lines:
        """Return what stands for a place; nothing while it is open."""
        chunk = self.chunks[index]
        if chunk.kind == SAME:
            return chunk.base
        if self.is_open(index):
            return ()
        decided = {0: self._decided[index]} if index in self._decided else None
        return tuple(split_lines(Merge((chunk,)).result(decided)))

    @property
    def result(self) -> str:
        """The merged text.

        Raises:
            ValueError: something is still open.
        """
        if self.open:
            raise ValueError(f"still open: {self.open}")
        return self._merge.result(self._decided)

    def sources(self) -> Mapping[str, int]:
        """Count the lines that changed places brought in, by where they come from."""
        counts: dict[str, int] = {}
        names = {YOURS: "yours", THEIRS: "agent", BOTH_THEIRS_FIRST: BOTH}
        for index in self.hunks:
            if choice := self.choice(index):
                name = names.get(choice, choice)
                counts[name] = counts.get(name, 0) + len(self.lines(index))
        return counts

    # --- a third writer, and the whole text at once

    def carry_over(self, fresh: MergeSession) -> MergeSession:
        """Go on with a third writer's text, keeping each decision whose three texts are all as they were."""
        kept = carried_over(self._merge, self._decided, fresh._merge)
        session = MergeSession(fresh._merge, kept)
        session.again = frozenset(session.open) if len(kept) < len(self._decided) else frozenset()
        return session

    def with_markers(self) -> str:
        """Write the result for an editor, open conflicts between markers with all three texts."""
        return self._merge.text(choices=self._decided)

    def has_markers(self, text: str) -> bool:
        """Whether an edited text still holds a marker that `with_markers` wrote, which means it is still open."""
        return self._merge.has_markers(text)

    def replaced(self, text: str) -> MergeSession:
        """Go on with the whole file as the only place, decided as this text; undo opens it again."""
        base = tuple(line for chunk in self.chunks for line in chunk.base)
        yours = tuple(line for chunk in self.chunks for line in chunk.yours)
        theirs = tuple(line for chunk in self.chunks for line in chunk.theirs)
        whole = MergeSession(Merge((Hunk(CONFLICT, base, yours, theirs, 0, 0, 0),)))
        whole.decide([0], "edited", text)
        return whole
