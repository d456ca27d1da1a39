"""The rows of a list: all there are, those that have the words of the filter, and those that are marked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class ListRows(Generic[T]):
    """ListRows of one kind."""

    def __init__(self, key: Callable[[T], Hashable], text: Callable[[T], str] = str) -> None:
        """Take what a row is across reloads, and the text in which the filter looks for its words."""
        self.key = key
        self.text = text
        self.all: tuple[T, ...] = ()
        self.shown: tuple[T, ...] = ()
        self.words: tuple[str, ...] = ()
        """The filter, in small letters."""
        self.marks: set[Hashable] = set()
        """The keys of marked rows."""
        self.range: tuple[int, frozenset[Hashable]] | None = None
        """Where a range of marks began, and what was marked before; None while moving marks nothing."""

    def load(self, items: Iterable[T]) -> None:
        """Take in the rows there are now; what is gone is no longer marked."""
        self.all = tuple(items)
        self.marks &= {self.key(item) for item in self.all}
        self.filter(self.words)

    def filter(self, words: Iterable[str]) -> None:
        """Show only rows that have all of these words, in any case."""
        self.words = tuple(word.casefold() for word in words)
        self.shown = tuple(item for item in self.all if self.has_words(self.text(item)))

    def has_words(self, text: str) -> bool:
        """Whether a text has all words of the filter."""
        text = text.casefold() if self.words else ""
        return all(word in text for word in self.words)

    @property
    def of_all(self) -> str:
        """How many rows the filter leaves: `3 of 1,200`."""
        return f"{len(self.shown):,} of {len(self.all):,}"

    def targets(self, index: int) -> tuple[T, ...]:
        """What an operation works on: everything marked, also what the filter hides, else the row."""
        if self.marks:
            return tuple(item for item in self.all if self.key(item) in self.marks)
        return self.shown[index : index + 1]

    def toggle(self, index: int) -> None:
        """Mark a row, or take its mark away."""
        self.marks ^= {self.key(item) for item in self.shown[index : index + 1]}

    def mark_range(self, first: int, last: int, base: Iterable[Hashable]) -> None:
        """Mark what lies between two rows, and what was marked before."""
        low, high = sorted((first, last))
        self.marks = {self.key(item) for item in self.shown[low : high + 1]}.union(base)

    def mark_all(self) -> None:
        """Mark everything that is shown, or nothing when all of it is marked."""
        here = {self.key(item) for item in self.shown}
        self.marks = set() if here <= self.marks else self.marks | here
