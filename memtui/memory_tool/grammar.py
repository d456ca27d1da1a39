"""Virtual paths: `/memories/<scope>/<path>`, judged from left to right; the disk is not asked.

It exists so that every command refuses the same paths in the same words, before anything is looked at.
"""

from typing import NamedTuple

from memtui.memory_tool.result import Refusal, shown
from memtui.virtual_names import problem

ROOT = "/memories"
SCOPES = ("global", "project", "workspace")
"""In the order in which they are always shown."""


class Place(NamedTuple):
    """What a virtual path names."""

    given: str
    """The path as it came, for messages."""
    scope: str | None
    """None: `/memories` itself."""
    parts: tuple[str, ...] = ()
    """Below the scope; empty for the scope itself."""
    doubt: str = ""
    """Why nothing may be given this path; what has it already can still be reached, because it is listed."""

    @property
    def path(self) -> str:
        """The path below the scope."""
        return "/".join(self.parts)

    @property
    def canonical(self) -> str:
        """The path as memtui writes it."""
        return "/".join((ROOT, *([self.scope] if self.scope else []), *self.parts))


def parse(given: str) -> Place:
    """Read a virtual path.

    Args:
        given: what the model wrote; spaces around it and slashes at its end mean nothing.

    Raises:
        Refusal: it breaks a rule.
    """
    text, what = given.strip().rstrip("/"), f"Invalid memory path '{shown(given)}'"
    if not text.startswith(ROOT):
        raise Refusal(f"{what}: paths must start with /memories/ (e.g. /memories/global/notes.md)")
    rest = text[len(ROOT) :]
    if not rest:
        return Place(given, None)
    if not rest.startswith("/"):
        raise Refusal(f"{what}: expected /memories/<scope>/...")
    scope, *parts = rest[1:].split("/")
    if scope not in SCOPES:
        raise Refusal(f"Invalid memory scope '{shown(scope)}': expected one of {', '.join(SCOPES)}")
    problems = [found for found in map(problem, parts) if found[0]]
    doubt = f"{what}: {problems[0][0]}" if problems else ""
    if any(hard for _, hard in problems):
        raise Refusal(doubt)
    return Place(given, scope, tuple(parts), doubt)
