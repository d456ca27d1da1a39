"""A made-up machine for discovery: a home, a project, agents' folders, and what discovery says about them."""

import os
from collections.abc import Iterator
from pathlib import Path

from memtui.agents.discovery import discover
from memtui.config.read import load_settings
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.engine.model import Root


class Machine:
    """One home folder and one checkout; everything else is added by the test."""

    def __init__(self, home: Path, folder: Path) -> None:
        """Make the checkout `app`, beside the home folder."""
        self.home = home
        self.folder = folder
        self.app = folder / "app"
        (self.app / ".git").mkdir(parents=True)
        self.environ = {"HOME": str(home), "MEMTUI_HOME": str(folder / "own")}

    def write(self, path: str, text: str = "x\n") -> Path:
        """Write a file: below home when the path begins with `~/`, else below the machine's folder."""
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def path(self, path: str) -> Path:
        """Give the place of a path, as `write` reads it."""
        return self.home / path[2:] if path.startswith("~/") else self.folder / path

    def surroundings(self, cwd: str = "app", *roots: str, project: str | None = None, **environ: str) -> Surroundings:
        """Stand in a folder."""
        settings = load_settings({**self.environ, **environ})
        found = surroundings_from(settings, cwd=str(self.path(cwd)), project=project, roots=roots)
        return found._replace(system_dir=str(self.folder / "etc"))

    def roots(
        self, cwd: str = "app", *roots: str, all_projects: bool = False, only_roots: bool = False, **environ: str
    ) -> dict[str, Root]:
        """Discover, and give the roots by id, after checking what holds for every discovery."""
        before = set(snapshot(self.folder))
        found = discover(self.surroundings(cwd, *roots, **environ), all_projects=all_projects, only_roots=only_roots)
        assert set(snapshot(self.folder)) == before, "discovery changed the disk"
        names = [name for root in found for name in (root.id, *root.aliases)]
        assert len(names) == len(set(names)), names
        for root in found:
            assert os.path.isabs(root.path)
            assert root.label
            assert "/" not in root.id
            assert (
                root.agent == "memtui"
                or root.id in {text.partition("=")[0] for text in roots}
                or Path(root.path).is_dir()
            )
        return {root.id: root for root in found}

    def moved(self, variable: str, folder: str) -> dict[str, Root]:
        """Discover while a variable of an agent's names another folder."""
        self.environ[variable] = str(self.path(folder))
        return self.roots()


NATIVE = ["memtui:global", "memtui:project", "memtui:workspace"]


def snapshot(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """Everything below a folder: path, mode, size and time of change."""
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        yield str(path), state.st_mode, state.st_size, state.st_mtime_ns
