"""Which project a folder belongs to: worktrees of a checkout, slugs of paths, and what session files name.

A `.git` file is part of a checkout, so anybody may have written it: it is believed only when the repository it points
to points back. What session files name is a label for people; nothing is opened, followed or written because of it.
"""

import os
from collections.abc import Container, Iterator
from typing import NamedTuple

from memtui.agents.agent import Transcripts
from memtui.agents.layout import SLUG_LENGTH, id_part, names_in, short_path, slug
from memtui.agents.settings import is_path
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root

ORPHANED = "The project's folder is gone: it was moved, renamed or deleted, and these memories stayed behind."
EMPTIED = "The project's folder is gone, and no memory is left here."
FILES = 6
"""Session files that are read, those with the last names first."""
HEAD_BYTES = 16_384
LINES = 40
_POINTER_BYTES = 4_096
_MOST_WORKTREES = 200


def gone_note(folder: str) -> str:
    """Describe the memories of a project whose folder is gone."""
    return ORPHANED if names_in(folder) else EMPTIED


def other_projects(
    surroundings: Surroundings, template: Root, known: Container[str], transcripts: Transcripts
) -> Iterator[Root]:
    """Yield every project's memories in an agent's folder of projects.

    Args:
        surroundings: where the user stands.
        template: the agent's root of a project, its path the folder that holds one folder for each project.
        known: names of project folders to leave out.
        transcripts: where session files lie in a project's folder.
    """
    decoder = SlugDecoder()
    for name in names_in(template.path):
        folder = os.path.join(template.path, name)
        path = os.path.join(folder, "memory")
        if name in known or not os.path.isdir(path):
            continue
        decoded = decoder.decode(name)
        # What an agent's session files name is for people to read: the root belongs to no project because of it.
        named = () if decoded is not None and len(decoded) == 1 else named_projects(folder, transcripts)
        shown = named or decoded or ()
        note = template.note
        if len(shown) > 1:
            note = f"{note} {len(shown)} folders share them: {', '.join(shown)}."
        gone = not any(map(os.path.isdir, named)) if named else decoded == ()
        yield template._replace(
            id=f"{template.id}:{id_part(name)}",
            path=path,
            label=f"{template.label}, {short_path(shown[0], surroundings.home) if shown else name}",
            project=decoded[0] if decoded and len(decoded) == 1 else None,
            note=gone_note(path) if gone else note,
        )


def named_projects(folder: str, transcripts: Transcripts) -> tuple[str, ...]:
    """Return the projects that session files ran in, for an agent's folder whose name is the slug of a project."""
    names = names_in(folder)
    if names == ("memory",):  # most are looked at for nothing, and there may be thousands
        return ()
    inside = os.path.join(folder, transcripts.inside) if transcripts.inside else folder
    paths = _newest(inside, names_in(inside) if transcripts.inside else names)
    if not paths:
        return ()
    from memtui.agents.reader import BoundedReader

    name, bounds, reader = os.path.basename(folder), (os.path.realpath(folder),), BoundedReader()
    found: dict[str, None] = {}
    for path in paths:
        head = reader.head(path, bounds, limit=HEAD_BYTES)
        if not isinstance(head, str):
            found.update(dict.fromkeys(_named(head.data, name)))
    return tuple(found)


def _newest(folder: str, names: tuple[str, ...]) -> list[str]:
    sessions = [one for one in names if one.endswith(".jsonl")]
    return [os.path.join(folder, one) for one in reversed(sessions[-FILES:])]


def _named(data: bytes, name: str) -> list[str]:
    """Return the projects that the first lines name; a line that is cut, or no object, names none."""
    import json

    found = []
    for line in data.split(b"\n")[:LINES]:
        if b'"cwd"' not in line:
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        cwd = value.get("cwd") if isinstance(value, dict) else None
        project = _fitting(cwd, name) if isinstance(cwd, str) else None
        if project is not None:
            found.append(project)
    return found


def _fitting(cwd: str, name: str) -> str | None:
    """Return the folder at or above a working directory that has this slug, because a session may start in a
    subfolder."""
    if not (is_path(cwd) and os.path.isabs(cwd) and len(cwd) < 4_096):
        return None
    path = os.path.normpath(cwd)
    while True:
        if fits(path, name):
            return path
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent


def fits(path: str, name: str) -> bool:
    """Whether a slug could have been made from a path; a long slug is cut and gets a hash."""
    made = slug(path)
    return made == name if len(made) <= SLUG_LENGTH else name.startswith(made[:SLUG_LENGTH] + "-")


class _Names(NamedTuple):
    by_slug: dict[str, list[str]]
    lengths: tuple[int, ...]
    """The distinct lengths of their slugs."""


class SlugDecoder:
    """Turns slugs back into the folders they were made from, by walking the folders that exist.

    A slug does not say which dashes were slashes, so it may fit several folders, or none. Listings are cached, so that
    hundreds of slugs below one home cost one look at each folder.
    """

    most_folders = 2_000
    """Folders listed in all; slugs that would need more stay undecoded."""
    most_for_one = 300
    """Steps for one slug: folders that are links to themselves have endless paths."""
    most_answers = 4

    def __init__(self) -> None:
        self._listed: dict[str, _Names] = {}
        self._folders: dict[str, bool] = {}
        self._steps = 0

    def decode(self, text: str) -> tuple[str, ...] | None:
        """Return at most four existing folders with this slug, sorted; None when they cannot be determined."""
        if not text.startswith("-") or len(text) > SLUG_LENGTH or os.sep != "/":
            return None
        self._steps = 0
        found, told = self._walk("/", text[1:])
        return tuple(sorted(found)) if told or found else None

    def _walk(self, folder: str, rest: str) -> tuple[list[str], bool]:
        """Find the folders below `folder` whose slug is `rest`, and whether the search was complete."""
        self._steps += 1
        listed = self._list(folder) if self._steps <= self.most_for_one else None
        if listed is None:
            return [], False
        found: list[str] = []
        told = True
        most = len(rest)
        lead = folder if folder == "/" else folder + "/"
        for end in listed.lengths:  # a name ends at a dash, any dash, or at the end
            if end > most or (end < most and rest[end] != "-"):
                continue
            for name in listed.by_slug.get(rest[:end], ()):
                path = lead + name
                if len(found) >= self.most_answers or not self._is_folder(path):
                    continue
                if end == most:
                    found.append(path)
                    continue
                below, all_of_them = self._walk(path, rest[end + 1 :])
                found += below[: self.most_answers - len(found)]
                told = told and all_of_them
        return found, told

    def _is_folder(self, path: str) -> bool:
        known = self._folders.get(path)
        if known is None:
            known = self._folders[path] = os.path.isdir(path)
        return known

    def _list(self, folder: str) -> "_Names | None":
        """Return the names in a folder; None when enough folders were listed."""
        if folder not in self._listed:
            if len(self._listed) >= self.most_folders:
                return None
            made: dict[str, list[str]] = {}
            for name in names_in(folder):
                made.setdefault(slug(name), []).append(name)
            self._listed[folder] = _Names(made, tuple(sorted(set(map(len, made)))))
        return self._listed[folder]


def main_checkout(checkout: str) -> str:
    """Return the canonical path of the main checkout of a worktree; `checkout` itself when it is none."""
    entry = os.path.join(checkout, ".git")
    if os.path.isdir(entry):
        return checkout
    git_dir = _pointer(entry, checkout, b"gitdir:")
    if git_dir is None:
        return checkout
    git_dir = os.path.realpath(git_dir)
    back = _pointer(os.path.join(git_dir, "gitdir"), git_dir)
    common = _pointer(os.path.join(git_dir, "commondir"), git_dir)
    if back is None or common is None or not _is_same(back, entry):
        return checkout
    above = os.path.dirname(git_dir)  # without links, and so is every folder around it
    common = common if above == os.path.join(common, "worktrees") else os.path.realpath(common)
    main = os.path.dirname(common)
    inside = above == os.path.join(common, "worktrees")
    return main if inside and os.path.basename(common) == ".git" and os.path.isdir(main) else checkout


def _is_same(path: str, other: str) -> bool:
    return path == other or os.path.realpath(path) == os.path.realpath(other)


def _pointer(path: str, base: str, prefix: bytes = b"") -> str | None:
    """Read a one-line file that holds a path; relative ones are taken from `base`."""
    try:
        data = read_small(path, _POINTER_BYTES)
    except OSError:
        return None
    if data is None or not data.startswith(prefix):
        return None
    target = data[len(prefix) :].strip()
    if not target or b"\n" in target or b"\0" in target:
        return None
    return os.path.normpath(os.path.join(base, os.fsdecode(target)))


def worktrees(checkout: str) -> tuple[str, ...]:
    """Return the canonical paths of a main checkout's worktrees, sorted; those whose folder is gone are left out."""
    folder = os.path.join(checkout, ".git", "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_MOST_WORKTREES]
    except OSError:
        return ()
    found = set()
    for name in names:
        entry = _pointer(os.path.join(folder, name, "gitdir"), os.path.join(folder, name))
        place = os.path.dirname(os.path.realpath(entry)) if entry is not None else None
        if place is not None and main_checkout(place) == checkout:
            found.add(place)
    return tuple(sorted(found))
