"""What several agents' layouts share: slugs of paths and back, folders that may be missing, an agent's own settings.

Everything here reads names and small files as data. It runs no program, follows nothing a repository wrote, and
treats "missing" and "not allowed" alike: discovery shows what is there and never fails because of what is not.
"""

import os
from hashlib import sha256

from memtui.config.smallfile import read_small

SLUG_LENGTH = 200
"""Agents cut longer slugs and add a hash of their own making."""


def slug(path: str) -> str:
    """Name a folder for a path as Claude Code and Qwen Code do: everything but ASCII letters and digits is a dash.

    Characters beyond the basic plane become two dashes, because those agents count UTF-16 units.
    """
    if path.isascii() and path.replace("/", "").isalnum():
        return path.replace("/", "-")
    return "".join(c if c.isascii() and c.isalnum() else "-" if ord(c) < 0x10000 else "--" for c in path)


def is_folder(path: str) -> bool:
    """Whether a folder is there; a link to one counts, because the user chose where it lies."""
    return os.path.isdir(path)


def has_any(folder: str, paths: tuple[str, ...]) -> bool:
    """Whether any of these paths exists below the folder."""
    return any(os.path.lexists(os.path.join(folder, path)) for path in paths)


def names_in(folder: str) -> tuple[str, ...]:
    """Give the sorted names in a folder; none when it is missing, unreadable or no folder."""
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


def short_path(path: str, home: str | None) -> str:
    """Shorten a path for a label: the home folder becomes `~`."""
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def id_part(name: str) -> str:
    """Make a folder's name fit for a root id: what cannot be printed is replaced, with a hash to tell them apart."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else "_" for c in name) + "-" + sha256(os.fsencode(name)).hexdigest()[:8]


def agent_setting(path: str, *keys: str) -> str | None:
    """Read one text from an agent's own JSON settings.

    Args:
        path: the settings file of the user or the machine, never one inside a repository.
        keys: the way to the value.

    Returns:
        The text; None when the file, the key or a readable value is missing.
    """
    value = agent_value(path, *keys)
    return value if isinstance(value, str) and is_path(value) else None


def agent_names(path: str, *keys: str) -> tuple[str, ...]:
    """Read a file name, or a list of them, from an agent's own JSON settings; what leads out of a folder is no name."""
    value = agent_value(path, *keys)
    names: object = [value] if isinstance(value, str) else value
    found = (name.strip() for name in (names if isinstance(names, list) else ()) if isinstance(name, str))
    return tuple(dict.fromkeys(filter(is_name, found)))


def agent_value(path: str, *keys: str) -> object:
    """Read one value from an agent's own JSON file; None when anything on the way to it is missing or unreadable."""
    try:
        data = read_small(path)
    except OSError:
        return None
    if data is None or keys[-1].encode() not in data:  # importing json costs more than most commands' work
        return None
    value = json_value(data)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def json_value(data: bytes) -> object:
    """Read an agent's JSON, in which some agents allow comments; None when it is none."""
    import json

    try:
        return json.loads(data)
    except RecursionError:
        return None
    except ValueError:
        if b"/" not in data and b"," not in data:  # neither a comment nor a comma too many
            return None
    from memtui.config import jsonc
    from memtui.errors import UsageError

    try:
        return jsonc.parse(data.decode())
    except (UsageError, UnicodeDecodeError):
        return None


def is_name(text: str) -> bool:
    """Whether a text from an agent's file names a file in a folder or below it, and nothing outside."""
    parts = text.split("/")
    return is_path(text) and "\\" not in text and not {"", ".", ".."}.intersection(parts)


def is_path(text: str) -> bool:
    """Whether a text from an agent's file can be a path at all: not empty, without NUL, and fit for the file system."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
