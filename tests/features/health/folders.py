"""Folders with an index, as an agent keeps them, behind a real engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Policy, Root
from memtui.features.health.model import IndexReport
from memtui.features.health.survey import IndexChecker

ME = Actor("cli")

LINKS = Policy(
    index_file="MEMORY.md",
    index_format="links",
    index_lines=200,
    index_bytes=25_000,
    index_uncounted=("front-matter", "comments"),
    pointer_chars=150,
    whole=("MEMORY.md",),
)
"""One memory a file, and an index that names them."""


def memory(description: str) -> str:
    """A memory with a description."""
    return f"---\ndescription: {description}\n---\n\nText.\n"


def entry(path: str, hook: str = "a hook") -> str:
    """A line of an index."""
    return f"- [{path}]({path}) — {hook}\n"


class Folders:
    """Some roots below a temporary folder."""

    def __init__(self, base: Path, policies: Mapping[str, Policy] | None = None) -> None:
        self.base = base
        self.policies = dict(policies or {"notes": LINKS})
        for name in self.policies:
            (base / name).mkdir(parents=True, exist_ok=True)

    def lay(self, files: Mapping[str, str | bytes], root: str = "notes") -> None:
        """Write files, byte for byte as given."""
        for name, text in files.items():
            path = self.base / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def held(self, name: str = "MEMORY.md", root: str = "notes") -> bytes:
        """What a file holds."""
        return (self.base / root / name).read_bytes()

    def disk(self) -> dict[str, bytes]:
        """Every file."""
        found = sorted(path for path in self.base.rglob("*") if path.is_file() and "state" not in path.parts)
        return {str(path.relative_to(self.base)): path.read_bytes() for path in found}

    def roots(self) -> list[Root]:
        """The roots."""
        return [Root(name, str(self.base / name), policy=policy) for name, policy in self.policies.items()]

    def engine(self, **options: bool) -> Engine:
        """An engine on them."""
        return Engine.open(self.roots(), state_dir=str(self.base / "state"), **options)  # type: ignore[arg-type]

    def look(self) -> tuple[IndexReport, ...]:
        """What is wrong."""
        with self.engine() as engine:
            return IndexChecker().look(engine, engine.roots.all())


def kinds(reports: Iterable[IndexReport]) -> list[tuple[str, int | None, str]]:
    """Kind, line and path of every finding."""
    return [(one.kind, one.line, one.path) for report in reports for one in report.findings]


def at(path: str, root: str = "notes") -> Address:
    """An address."""
    return Address(root, path)
