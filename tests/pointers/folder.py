"""What tests of a folder with indexes have in common."""

from collections.abc import Callable, Iterable
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Address, Listing, Policy

INDEXED = Policy(index_file="MEMORY.md", index_format="links")


def disk(folder: Path) -> dict[str, bytes]:
    """Every file."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def at(path: str, root: str = "notes") -> Address:
    """An address."""
    return Address(root, path)


def with_missing(engine: Engine) -> Callable[..., Listing]:
    """Lists as the engine does, and beside each memory one of which nobody knows whether it is there: `held.md`."""
    listed = engine.rows.list

    def held(root_ids: Iterable[str] | None = None) -> Listing:
        found = listed(root_ids)
        more = [row._replace(address=row.address._replace(path="held.md"), missing=True) for row in found.items]
        return found._replace(items=(*found.items, *more))

    return held
