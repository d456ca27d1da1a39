"""Which project an agent's own session files name: the only exact answer to which path a slug was made from.

They are an agent's transcripts, so only the first lines of a few are read, and what they say is a label for people:
nothing is opened, followed or written because of it.
"""

import os

from memtui.agents.folders import SLUG_LENGTH, is_path, names_in, slug

FILES = 6
"""Session files that are looked into, those with the last names first."""
HEAD_BYTES = 16_384
LINES = 40
_BELOW = "chats"
"""Where Qwen Code keeps session files in a project's folder; Claude Code's lie in the folder itself."""


def named_projects(folder: str) -> tuple[str, ...]:
    """Find the projects that session files in a project's folder ran in.

    Args:
        folder: an agent's folder for one project; its name is the slug.

    Returns:
        Absolute paths, each of which has the folder's name as its slug; several when projects share the folder.
    """
    names = names_in(folder)
    if names == ("memory",):  # most are looked at for nothing, and there may be thousands
        return ()
    paths = _newest(folder, names)
    if _BELOW in names:
        below = os.path.join(folder, _BELOW)
        paths += _newest(below, names_in(below))
    if not paths:
        return ()
    from memtui.agents.reading import Reader

    name, bounds, reader = os.path.basename(folder), (os.path.realpath(folder),), Reader()
    found: dict[str, None] = {}
    for path in paths:
        head = reader.head(path, bounds, limit=HEAD_BYTES)
        if not isinstance(head, str):
            found.update(dict.fromkeys(_named(head.data, name)))
    return tuple(found)


def _newest(folder: str, names: tuple[str, ...]) -> list[str]:
    """Give the paths of session files, those with the last names first."""
    sessions = [one for one in names if one.endswith(".jsonl")]
    return [os.path.join(folder, one) for one in reversed(sessions[-FILES:])]


def _named(data: bytes, name: str) -> list[str]:
    """Read what the first lines name; a line that was cut, or is no object, says nothing."""
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
    """Give the folder at or above a working directory that has this slug; a session may start in a subfolder."""
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
    """Whether a project's folder could have been named like this for a path; a long slug is cut and gets a hash."""
    made = slug(path)
    return made == name if len(made) <= SLUG_LENGTH else name.startswith(made[:SLUG_LENGTH] + "-")
