"""Where the user stands: home, working directory, project and workspace, as one value for discovery.

Agents' modules take this value and never look at the process, so that a test can pass any machine.
"""

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from memtui.config.directories import expand_user
from memtui.config.read import parse_root
from memtui.config.settings import RootEntry, Settings
from memtui.errors import NotFoundError


class Surroundings(NamedTuple):
    """Everything discovery may know; all paths are absolute."""

    home: str | None
    cwd: str
    """The canonical working directory."""
    project: str
    """The canonical project root."""
    checkout: str | None
    """The nearest folder at or above the project with `.git` in it, or None."""
    workspace: str
    """The id of the checkout's workspace: a folder name."""
    data_dir: str
    project_memory: str = "checkout"
    roots: tuple[RootEntry, ...] = ()
    """Roots by hand: those of `--root` first, then those of the settings."""
    variables: tuple[tuple[str, str], ...] = ()
    """The agents' own environment variables that are set and not empty."""
    system_dir: str = "/etc"
    """Where a machine's administrators put agents' settings."""

    def variable(self, name: str) -> str | None:
        """Return an agent's environment variable; None when it is unset or empty."""
        return dict(self.variables).get(name)

    def folder(self, text: str) -> str:
        """Make a path from an agent's setting absolute, as the agent does: `~/`, then the working directory."""
        return os.path.normpath(os.path.join(self.cwd, expand_user(text, self.home)))

    def config_home(self) -> str | None:
        """Return the settings folder that agents share: `$XDG_CONFIG_HOME` when absolute, else `~/.config`."""
        named = self.variable("XDG_CONFIG_HOME")
        if named and os.path.isabs(named):
            return named
        return os.path.join(self.home, ".config") if self.home else None


def surroundings_from(
    settings: Settings, *, cwd: str, project: str | None = None, roots: Sequence[str] = ()
) -> Surroundings:
    """Find out where the user stands.

    Args:
        settings: what `load_settings` returned.
        cwd: the working directory, absolute.
        project: `--project DIR`; None: the nearest folder at or above `cwd` with `.git` in it, else `cwd`.
        roots: the `--root` options, each `NAME=DIR[,agent=KIND][,scope=SCOPE]`.

    Raises:
        UsageError: a `--root` option is malformed.
        NotFoundError: the folder of `--project` does not exist.
    """
    here = os.path.realpath(cwd)
    if project is None:
        checkout = find_checkout(here)
        root = checkout or here
    else:
        root = os.path.realpath(os.path.join(here, expand_user(project, settings.home)))
        if not os.path.isdir(root):
            raise NotFoundError(f"--project: there is no folder {root!r}.", hint="Give the project's folder.")
        checkout = find_checkout(root)
    by_hand = settings.roots
    if roots:
        by_hand = (*(parse_root(text, cwd=here, home=settings.home) for text in roots), *settings.roots)
    return Surroundings(
        home=settings.home,
        cwd=here,
        project=root,
        checkout=checkout,
        workspace=settings.workspace or folder_id(checkout or root),
        data_dir=settings.data_dir,
        project_memory=settings.project_memory,
        roots=by_hand,
        variables=settings.variables,
        system_dir={"darwin": "/Library/Application Support", "win32": r"C:\Program Files"}.get(sys.platform, "/etc"),
    )


def project_at(folder: str) -> str | None:
    """Return the canonical project root of a folder: its checkout, else itself; None when it is no folder."""
    try:
        here = os.path.realpath(folder)
    except FileNotFoundError:
        return None  # it is relative, and the working directory is gone
    return (find_checkout(here) or here) if os.path.isdir(here) else None


def find_checkout(folder: str) -> str | None:
    """Find the nearest folder at or above this one that has an entry `.git` of any kind."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def folder_id(folder: str) -> str:
    """Make a readable, unique folder name from a path: at most 40 characters of its last part, and 12 of its hash."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in os.path.basename(folder))
    return f"{name[:40].lstrip('.-') or '_'}-{sha256(os.fsencode(folder)).hexdigest()[:12]}"
