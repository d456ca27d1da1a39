"""The rows of a list: all of them, those that match the filter, and those that are marked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class ListRows(Generic[T]):
    """Rows of one type."""

    def __init__(self, key: Callable[[T], Hashable], text: Callable[[T], str] = str) -> None:
        """`key` identifies a row across reloads; `text` is what the filter searches."""
        self.key = key
        self.text = text
        self.all: tuple[T, ...] = ()
        self.shown: Sequence[T] = ()
        self.words: tuple[str, ...] = ()
        self.marks: set[Hashable] = set()
        self.range: tuple[int, frozenset[Hashable]] | None = None
        """The row where a range of marks began, and the marks before it; None: no range is open."""

    def load(self, items: Iterable[T]) -> None:
        """Replace the rows; marks of rows that are gone are dropped."""
        self.all = tuple(items)
        self.marks &= {self.key(item) for item in self.all}
        self.filter(self.words)

    def filter(self, words: Iterable[str]) -> None:
        """Show only rows with all of these words, in any case."""
        self.words = tuple(word.casefold() for word in words)
        self.shown = tuple(item for item in self.all if self.has_words(self.text(item)))

    def has_words(self, text: str) -> bool:
        """Whether a text has all words of the filter."""
        text = text.casefold() if self.words else ""
        return all(word in text for word in self.words)

    @property
    def of_all(self) -> str:
        """The number of matching rows: `3 of 1,200`."""
        return f"{len(self.shown):,} of {len(self.all):,}"

    def targets(self, index: int) -> tuple[T, ...]:
        """Return what an operation works on: all marked rows, even if filtered out, else the row at `index`."""
        if self.marks:
            return tuple(item for item in self.all if self.key(item) in self.marks)
        return tuple(self.shown[index : index + 1])

    def toggle(self, index: int) -> None:
        self.marks ^= {self.key(item) for item in self.shown[index : index + 1]}

    def mark_range(self, first: int, last: int, base: Iterable[Hashable]) -> None:
        """Mark the rows between two, and those of `base`."""
        low, high = sorted((first, last))
        self.marks = {self.key(item) for item in self.shown[low : high + 1]}.union(base)

    def mark_all(self) -> None:
        here = {self.key(item) for item in self.shown}
        self.marks = set() if here <= self.marks else self.marks | here
