"""What tests of a folder with indexes have in common."""

from pathlib import Path

from memtui.engine.model import Address, Policy

INDEXED = Policy(index_file="MEMORY.md", index_format="links")


def disk(folder: Path) -> dict[str, bytes]:
    """Every file."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def at(path: str, root: str = "notes") -> Address:
    """An address."""
    return Address(root, path)
