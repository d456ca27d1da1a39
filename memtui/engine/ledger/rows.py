"""How the tables of the ledger read rows into values, and write values into rows."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

import apsw

from memtui.errors import StorageError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Row = tuple[Any, ...]
    Reader = TypeVar("Reader", bound=Callable[..., Any])
else:
    Row = tuple

Value = str | bytes | int | float | None

_KINDS: dict[str, tuple[type, ...]] = {"i": (int,), "r": (int, float), "t": (str,), "b": (bytes,)}
_READ: dict[str, tuple[str, Callable[[Any], object]]] = {
    "p": ("b", os.fsdecode),
    "h": ("b", bytes.hex),
    "f": ("i", bool),
}


def damaged(error: Exception | str) -> StorageError:
    """A record makes no sense."""
    return StorageError(
        f"A record in the ledger is damaged: {error}.",
        code="E_STORE_DAMAGED",
        unharmed="All memories on disk are as they were.",
        hint="Run `memtui doctor`.",
    )


def checked(read: Reader) -> Reader:
    """Let a method that reads records say that one is damaged, whatever a flipped bit has made of its values."""

    @wraps(read)
    def reading(*values: Any, **options: Any) -> Any:
        try:
            return read(*values, **options)
        except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
            raise damaged(error) from error

    return reading  # type: ignore[return-value]


def values_of(rows: list[Row], kinds: str) -> list[Row]:
    """Refuse rows with a cell of another kind, and give paths, digests and flags as what they stand for.

    Args:
        rows: as SQLite gave them; each combination of types is looked at once.
        kinds: what their cells are, a letter each: `i` a whole number, `r` a number, `t` text, `b` bytes, `p` a path,
            `h` a digest (given in hex), `f` a flag; in capitals: or nothing. Without any, all is given as it is.

    Raises:
        StorageError: `E_STORE_DAMAGED`, when a cell is something else.
    """
    if not kinds:
        return rows
    plain = "".join(_READ[kind][0] if kind in _READ else kind for kind in kinds.lower())
    for types in {tuple(map(type, row)) for row in rows}:
        for number, (found, kind, given) in enumerate(zip(types, plain, kinds, strict=True)):
            if found not in _KINDS[kind] and not (given.isupper() and found is type(None)):
                raise damaged(f"cell {number + 1} of a row is {found.__name__}")
    if plain == kinds.lower():
        return rows
    reads = [_READ[kind][1] if kind in _READ else None for kind in kinds.lower()]
    return [
        tuple(cell if read is None or cell is None else read(cell) for read, cell in zip(reads, row, strict=True))
        for row in rows
    ]


def key_of(sha: str | None) -> bytes | None:
    """A SHA-256 as the ledger holds it."""
    return bytes.fromhex(sha) if sha else None


def path_of(name: str | None) -> bytes | None:
    """A path as the ledger holds it."""
    return None if name is None else os.fsencode(name)


def insert(db: apsw.Connection, table: str, /, **values: Any) -> int:
    """Add a row, in a transaction; returns its number."""
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", (*values.values(),)
    )
    return db.last_insert_rowid()
