"""The decisions of one conflict: what was chosen where, what is still open, and the text that comes out.

It is kept apart from the screen so that no key or resize can change a decision, and so that a third writer's text can
come in without losing those that still fit. Nothing here writes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

EQUAL, YOURS, AGENT, SAME, CONFLICT = "equal", "yours", "agent", "same", "conflict"
"""Kinds of chunks: unchanged, changed by one side only, changed alike by both, changed differently by both."""

CHOICES = {
    "yours": "YOURS",
    "agent": "AGENT",
    "both": "both, YOURS first",
    "both_agent": "both, AGENT first",
    "base": "BASE",
    "edited": "edited",
}
"""What can be decided for a chunk, and how it is said."""

Lines = tuple[str, ...]
"""Whole lines, each with its line end."""


class Chunk(NamedTuple):
    """A run of lines of the three texts that belong together."""

    kind: str
    base: Lines
    yours: Lines
    agent: Lines
    base_line: int = 0
    """Where it starts in each text, lines from 0."""
    yours_line: int = 0
    agent_line: int = 0


class Decision(NamedTuple):
    """What is to stand in the place of a chunk."""

    choice: str
    """A key of `CHOICES`, or `open` for one that was reopened."""
    text: Lines = ()
    """For `edited`: the lines."""


class Counts(NamedTuple):
    """How far the decisions are."""

    open: int
    """Conflicts without a decision."""
    conflicts: int
    """All of them."""
    merged: int
    """Chunks only one side changed, merged without asking."""


_OPEN = Decision("open")
_AUTOMATIC = {YOURS: Decision("yours"), SAME: Decision("yours"), AGENT: Decision("agent")}


class MergeSession:
    """One three-way merge and every decision about it; undo is unlimited."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        """Start with nothing decided.

        Args:
            chunks: the three texts in pieces, in order and complete: their `yours` lines joined are YOURS, and so on.
        """
        self.chunks: tuple[Chunk, ...] = tuple(chunks)
        self._decisions: dict[int, Decision] = {}
        self._undo: list[dict[int, Decision]] = []
        self._redo: list[dict[int, Decision]] = []
        self.again: frozenset[int] = frozenset()
        """Chunks that were decided before a third writer came, and have to be decided again."""

    # --- what is decided

    def decision(self, index: int) -> Decision:
        """Return what stands for a chunk now; `open` when nobody decided yet."""
        chunk = self.chunks[index]
        return self._decisions.get(index) or _AUTOMATIC.get(chunk.kind, _OPEN)

    def is_open(self, index: int) -> bool:
        """Whether a chunk waits for a decision."""
        return self.chunks[index].kind != EQUAL and self.decision(index).choice == "open"

    @property
    def hunks(self) -> tuple[int, ...]:
        """Every chunk in which something changed, by its index."""
        return tuple(index for index, chunk in enumerate(self.chunks) if chunk.kind != EQUAL)

    @property
    def open(self) -> tuple[int, ...]:
        """Every chunk that waits for a decision, by its index."""
        return tuple(index for index in self.hunks if self.is_open(index))

    @property
    def counts(self) -> Counts:
        """Open, all conflicts, and merged without asking."""
        conflicts = [index for index in self.hunks if self._counts_as_conflict(index)]
        return Counts(len(self.open), len(conflicts), len(self.hunks) - len(conflicts))

    def _counts_as_conflict(self, index: int) -> bool:
        return self.chunks[index].kind == CONFLICT or index in self._decisions

    def decide(self, indexes: Iterable[int], choice: str, text: Lines = ()) -> None:
        """Decide some chunks, as one step of undo.

        Args:
            indexes: which.
            choice: a key of `CHOICES`, or `open` to reopen.
            text: the lines, for `edited`.
        """
        if choice not in CHOICES and choice != "open":
            raise ValueError(choice)
        self._undo.append(dict(self._decisions))
        self._redo.clear()
        self._decisions.update(dict.fromkeys(indexes, Decision(choice, text)))

    def undo(self) -> bool:
        """Take the last decision back; False when there is none."""
        if not self._undo:
            return False
        self._redo.append(dict(self._decisions))
        self._decisions = self._undo.pop()
        return True

    def redo(self) -> bool:
        """Decide again what was taken back; False when there is nothing."""
        if not self._redo:
            return False
        self._undo.append(dict(self._decisions))
        self._decisions = self._redo.pop()
        return True

    # --- what comes out

    def lines(self, index: int) -> Lines:
        """Return what stands for a chunk; nothing while it is open."""
        chunk = self.chunks[index]
        match self.decision(index).choice if chunk.kind != EQUAL else "base":
            case "yours":
                return chunk.yours
            case "agent":
                return chunk.agent
            case "both":
                return _joined(chunk.yours, chunk.agent)
            case "both_agent":
                return _joined(chunk.agent, chunk.yours)
            case "base":
                return chunk.base
            case "edited":
                return self.decision(index).text
        return ()

    @property
    def result(self) -> str:
        """The merged text; open chunks are missing in it."""
        return "".join(_whole_lines([self.lines(index) for index in range(len(self.chunks))]))

    def sources(self) -> Mapping[str, int]:
        """Count the lines of the result by where they come from: yours, agent, both, edited, base."""
        counts: dict[str, int] = {}
        for index in self.hunks:
            choice = {"both_agent": "both"}.get(self.decision(index).choice, self.decision(index).choice)
            counts[choice] = counts.get(choice, 0) + len(self.lines(index))
        return {choice: count for choice, count in counts.items() if choice != "open"}

    def replaced(self, text: str) -> MergeSession:
        """Start a session whose only place is the whole file, decided as this text."""
        base = tuple(line for chunk in self.chunks for line in chunk.base)
        yours = tuple(line for chunk in self.chunks for line in chunk.yours)
        agent = tuple(line for chunk in self.chunks for line in chunk.agent)
        whole = MergeSession([Chunk(CONFLICT, base, yours, agent)])
        whole.decide([0], "edited", split_lines(text))
        return whole

    # --- a third writer

    def carry_over(self, chunks: Iterable[Chunk]) -> MergeSession:
        """Start again with a third writer's text, and keep each decision whose texts are all as they were."""
        fresh = MergeSession(chunks)
        before: dict[tuple[Lines, Lines, Lines], list[Decision]] = {}
        for index in self.hunks:
            if index in self._decisions:
                before.setdefault(_texts(self.chunks[index]), []).append(self._decisions[index])
        for index in fresh.hunks:
            if waiting := before.get(_texts(fresh.chunks[index])):
                fresh._decisions[index] = waiting.pop(0)
        lost = any(waiting for waiting in before.values())
        fresh.again = frozenset(fresh.open) if lost else frozenset()
        return fresh

    # --- the whole text with markers, for an editor

    def with_markers(self) -> str:
        """Write the result with open conflicts between markers, all three texts shown."""
        parts: list[Lines] = []
        for index in range(len(self.chunks)):
            if not self.is_open(index):
                parts.append(self.lines(index))
                continue
            chunk = self.chunks[index]
            ours, base, theirs, end = (f"{_mark(sign, self.chunks)}" for sign in "<|=>")
            marked: Lines = (f"{ours} YOURS\n", *_ended(chunk.yours), f"{base} BASE\n", *_ended(chunk.base))
            parts.append((*marked, f"{theirs}\n", *_ended(chunk.agent), f"{end} AGENT\n"))
        return "".join(_whole_lines(parts))

    def has_markers(self, text: str) -> bool:
        """Whether an edited text still holds a marker that `with_markers` wrote, which means it is still open."""
        names = (("<", "YOURS"), ("|", "BASE"), (">", "AGENT"))
        marks = {f"{_mark(sign, self.chunks)} {name}" for sign, name in names}
        return any(line.rstrip() in marks for line in text.split("\n"))


def _mark(sign: str, chunks: Sequence[Chunk]) -> str:
    """A marker that no line of the three texts begins with."""
    length = 7
    lines = [line for chunk in chunks for side in (chunk.base, chunk.yours, chunk.agent) for line in side]
    while any(line.startswith(other * length) for line in lines for other in "<|=>"):
        length += 1
    return sign * length


def split_lines(text: str) -> Lines:
    """Split at `\\n` only, line ends kept, so that joining gives the same text."""
    lines = text.split("\n")
    return tuple([line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else []))


def _texts(chunk: Chunk) -> tuple[Lines, Lines, Lines]:
    return chunk.base, chunk.yours, chunk.agent


def _joined(first: Lines, second: Lines) -> Lines:
    """Put one side after the other; a last line without its end gets one, so that no two lines run together."""
    return (*_ended(first), *second) if second else first


def _ended(lines: Lines) -> Lines:
    if not lines or lines[-1].endswith("\n"):
        return lines
    end = "\r\n" if len(lines) > 1 and lines[0].endswith("\r\n") else "\n"
    return (*lines[:-1], lines[-1] + end)


def _whole_lines(parts: Sequence[Lines]) -> list[str]:
    """Join chunks; a chunk that lost its place at the end of the file gets the line end it was without."""
    filled = [part for part in parts if part]
    lines: list[str] = []
    for number, part in enumerate(filled):
        lines.extend(part if number == len(filled) - 1 else _ended(part))
    return lines
