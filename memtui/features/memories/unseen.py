"""Find folders that look like memories and belong to no root.

It looks at names, and reads an index where there is one: a repository may have brought any of it, so nothing is
believed, no link is followed, and the look ends after so many levels, names and seconds, and says so.
"""

import os
import re
import shlex
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memtui.agents.layout import ancestors, names_in, short_path
from memtui.agents.reader import BoundedReader, Head, is_within
from memtui.agents.table import KNOWN
from memtui.config.surroundings import Surroundings, folder_id
from memtui.engine.model import Policy, Root
from memtui.pointers.links import parse_index

LEVELS = 4
"""Depth of folders; a copy of an agent's own folder begins anew."""
NAMES = 20_000
SECONDS = 1.0
INDEX_BYTES = 65_536
CALLED = ("memory", "memories", "memory-bank", "memory_bank", "agent-memory", "agent-memory-local", "team-memory")
"""Names of folders of memories, in any case."""
BANKS = ("memory-bank", "memory_bank")
INDEX = "MEMORY.md"
PERSONAS = frozenset({"SOUL.md", "IDENTITY.md"})
"""Beside a MEMORY.md they show an OpenClaw workspace."""
PERSON = "USER.md"
"""Beside a MEMORY.md and without `PERSONAS` it shows memories of Hermes."""
LETTA = "letta"
"""Its memories have a folder `system` with a `persona.md`."""
ABOUT = frozenset({"readme.md", "changelog.md", "contributing.md", "license.md", "agents.md", "claude.md", "skill.md"})
"""Markdown that lies beside anything."""
_MADE = ("target", "build", "dist", "coverage", ".tox", ".cache", ".next", ".gradle", ".mypy_cache", ".pytest_cache")
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "venv", ".venv", "vendor", ".git", ".hg", *_MADE))
"""Folders of others' code, and of what is made from code."""
_HOMES = {
    name: one.id
    for one in KNOWN
    for name in (*one.in_project, *one.at_home)
    if name.startswith(".") and "/" not in name
}
"""Agents by their folder in the home folder or in a project, of which there may be copies."""


class Lookalike(NamedTuple):
    """One folder that looks like memories."""

    path: str
    """Absolute."""
    name: str
    """Its path in the checkout, or a shortened one; may hold hostile text."""
    agent: str
    """The layout it seems to follow, as `agent=` of a root by hand; empty: none."""
    in_checkout: bool

    @property
    def option(self) -> str:
        """The shell option that shows it as a root."""
        name = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "notes"
        return f"--root {shlex.quote(f'{name}={self.path}' + (f',agent={self.agent}' if self.agent else ''))}"

    @property
    def words(self) -> str:
        """One sentence on what it is and how it becomes a root."""
        return f"{self.name} looks like memories, and no root shows it: {self.how}"

    @property
    def how(self) -> str:
        """How it becomes a root."""
        return f"{self.option} adds it to one command, [[roots]] in config.toml to all."

    @property
    def root(self) -> Root:
        """A read-only root that shows it."""
        return Root(
            f"files:unseen:{folder_id(self.path)}",
            self.path,
            "files",
            "project",
            f"In no root, {self.name}",
            Policy(ignore=(".DS_Store", ".git")),
            read_only=True,
            in_checkout=self.in_checkout,
            note=f"It looks like memories and is no root, so it is only shown: {self.how}",
        )


class Unseen(NamedTuple):
    """The folders that were found."""

    folders: tuple[Lookalike, ...] = ()
    ended: str = ""
    """Why not everything was searched, in one sentence; empty when it was."""


def look(surroundings: Surroundings, roots: Iterable[Root], clock: Callable[[], float] = time.monotonic) -> Unseen:
    """Search the checkout, and the folders right in hidden folders of the home folder."""
    one = _Look(surroundings, roots, clock)
    found = tuple(one.all())
    return Unseen(found, one.ended)


class _Look:
    """One search, with its remaining limits."""

    def __init__(self, surroundings: Surroundings, roots: Iterable[Root], clock: Callable[[], float]) -> None:
        self._around, self._clock = surroundings, clock
        self._top = surroundings.checkout or surroundings.project
        folders, self._files = _claims(roots)
        self._covered = {surroundings.data_dir, *folders}
        """Folders with all that is in them: those that roots show, and those that were found."""
        home = surroundings.home or ""
        self._skipped = {os.path.join(home, name) for one in KNOWN for name in one.at_home} if home else set()
        self._until = clock() + SECONDS
        self._left = NAMES
        self.ended = ""

    def all(self) -> Iterator[Lookalike]:
        waiting = deque([(self._top, 0, "")])
        home = self._around.home
        if home and home != self._top:
            hidden = (os.path.join(home, name) for name in names_in(home) if name.startswith("."))
            paths = (os.path.join(folder, name) for folder in hidden for name in CALLED)
            waiting.extend((path, LEVELS, path) for path in paths if os.path.isdir(path) and not os.path.islink(path))
        while waiting and not self.ended:
            path, level, called = waiting.popleft()
            if not self._covered.isdisjoint((path, *ancestors(path))):
                continue
            files, folders = self._names(path)
            agent = self._judge(path, files, called)
            if agent is not None:
                folder = called or path
                if agent == LETTA:
                    folder = os.path.dirname(path) if "persona.md" in files else path
                self._covered.add(folder)
                yield self._lookalike(folder, agent)
                continue
            for name in folders:
                below = os.path.join(path, name)
                if level < LEVELS and name not in _SKIPPED and below not in self._skipped:
                    deeper = 1 if name in _HOMES else level + 1
                    waiting.append((below, deeper, called or (below if name.lower() in CALLED else "")))

    def _names(self, folder: str) -> tuple[list[str], list[str]]:
        """List the files and the folders in a folder; both sorted, links left out."""
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left < 0:
                        self.ended = f"Looking for memories that no root shows ended after {NAMES:,} names."
                        break
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
        except OSError:  # gone, or out of reach: there is nothing to be named
            return [], []
        if self._clock() > self._until:
            self.ended = f"Looking for memories that no root shows ended after {SECONDS:g} s."
        return sorted(files), sorted(folders)

    def _judge(self, path: str, files: list[str], called: str) -> str | None:
        """Return the layout a folder follows (empty: unknown); None when it does not look like memories."""
        if os.path.basename(path) == "system" and "persona.md" in files:
            return LETTA
        if os.path.lexists(os.path.join(path, "system", "persona.md")) and INDEX in files:
            return LETTA
        around = self._agent_around(path)
        endings = (".md", ".txt") if around == "goose" else (".md",)
        texts = [name for name in files if name.lower().endswith(endings) and name.lower() not in ABOUT]
        texts = [name for name in texts if os.path.join(path, name) not in self._files]
        is_mostly_text = bool(texts) and 2 * len(texts) >= len(files)
        if INDEX in files and os.path.join(path, INDEX) not in self._files:
            if PERSONAS.intersection(files):
                return "openclaw"
            if PERSON in files:
                return "hermes"
            if (is_mostly_text or path != self._top) and self._names_others(path, files):
                return around or "claude-code"
        if not called or not is_mostly_text:
            return None
        return around or ("cline" if os.path.basename(called).lower() in BANKS else "")

    def _names_others(self, path: str, files: list[str]) -> bool:
        """Whether the index of a folder names files beside it."""
        head = BoundedReader().head(os.path.join(path, INDEX), (os.path.realpath(path),), limit=INDEX_BYTES)
        known = frozenset(files) - {INDEX}
        return isinstance(head, Head) and any(one.path in known for one in parse_index(head.data, INDEX, known))

    def _agent_around(self, path: str) -> str:
        parts = os.path.relpath(path, self._top).split(os.sep) if is_within(path, (self._top,)) else []
        return next((_HOMES[part] for part in reversed(parts) if part in _HOMES), "")

    def _lookalike(self, path: str, agent: str) -> Lookalike:
        inside = is_within(path, (self._top,))
        name = os.path.relpath(path, self._top) if inside else short_path(path, self._around.home)
        name = os.path.basename(path) if name == "." else name
        return Lookalike(path, name, agent, inside and self._around.checkout is not None)


def _claims(roots: Iterable[Root]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return what roots show: whole folders, and single files."""
    folders: list[str] = []
    files: set[str] = set()
    for root in roots:
        real = os.path.realpath(root.path)
        if root.policy.include is None:
            folders.append(real)
        for name in root.policy.include or ():
            if name.endswith("/"):
                folders.append(os.path.join(real, name.rstrip("/")))
            else:
                files.add(os.path.join(real, name))
    return tuple(folders), frozenset(files)
