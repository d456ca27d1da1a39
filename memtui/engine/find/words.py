"""Which texts hold a word, without looking at the texts: every distinct word once, and who has it.

A part of a word is looked for among the distinct words, of which there are few, so a search costs about the same
whether ten texts hold a word or ten thousand lack it. It knows texts by number only.
"""

from __future__ import annotations

from bisect import bisect_right

from memtui.matching import EXACT, INFIX, PREFIX, Term

_POSTING = 8
_TOKEN = 180
"""Bytes that a word costs beside its letters, and each text that has it: about what Python takes."""


class Words:
    """An index of folded texts."""

    def __init__(self) -> None:
        """Begin with no text."""
        self._holders: dict[str, list[int]] = {}
        self._tokens: list[str] = []
        self._starts: list[int] = []
        self._joined: str | None = None
        self.bytes = 0
        """About how much memory it takes."""

    def add(self, number: int, folded: str) -> None:
        """Take in a text from `fold` under a number that was not used before."""
        holders = self._holders
        for word in set(folded.split(" ")):
            found = holders.get(word)
            if found is None:
                holders[word] = [number]
                self._joined = None
                self.bytes += len(word) + _TOKEN
            else:
                found.append(number)
                self.bytes += _POSTING

    def grades(self, form: str) -> dict[int, int]:
        """The texts that hold a part of a word, and how each does: `EXACT`, `PREFIX` or `INFIX`.

        Args:
            form: folded, without a space in it.
        """
        term = Term((form,))
        by_grade: dict[int, list[list[int]]] = {EXACT: [], PREFIX: [], INFIX: []}
        for word in self._with(form):
            grade = term.grade(word)
            if grade is not None:
                by_grade[grade].append(self._holders[word])
        found: dict[int, int] = {}
        for grade in (INFIX, PREFIX, EXACT):  # the best one last, so that it stays
            for holders in by_grade[grade]:
                found.update(dict.fromkeys(holders, grade))
        return found

    def _with(self, form: str) -> list[str]:
        """The distinct words that hold a form."""
        if self._joined is None:
            self._tokens = list(self._holders)
            self._starts = []
            at = 0
            for word in self._tokens:
                self._starts.append(at)
                at += len(word) + 1
            self._joined = " ".join(self._tokens)
        joined, starts, tokens = self._joined, self._starts, self._tokens
        if joined.count(form) > len(tokens) // 4:
            return [word for word in tokens if form in word]
        found = []
        at = joined.find(form)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            found.append(tokens[index])
            at = joined.find(form, starts[index] + len(tokens[index]))
        return found
