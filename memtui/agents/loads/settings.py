"""Agents' own settings as far as they change what is loaded: small files, read as data, believed only where harmless.

A setting of a repository may leave a file out of the list; it can never add a place that is read. A file that is there
and says nothing that can be read is taken as empty, and that is told.
"""

import os
from typing import NamedTuple

from memtui.agents.folders import json_value
from memtui.agents.reading import is_within
from memtui.config.smallfile import read_small

TEXTS = 50
"""So many values of one list are taken."""
DEPTH = 500
"""Brackets that are open at once."""
UNSET = "None of its settings is known here."


class File(NamedTuple):
    """One file of settings."""

    path: str
    values: dict[str, object]
    text: str = ""
    """Of one that is not parsed as a whole."""
    problem: str = ""
    """Why it is taken as empty though it is there: one sentence for people."""


def read_json(path: str, inside: str | None = None) -> File:
    """Read a JSON object, also one with comments.

    Args:
        path: absolute.
        inside: the checkout or project that brought it, which no link may lead out of; None: it is the user's own.
    """
    data, problem = _read(path, inside)
    found = json_value(data) if data else None
    if data and not isinstance(found, dict):
        problem = f"It is no JSON object. {UNSET}"
    return File(path, found if isinstance(found, dict) else {}, problem=problem)


def read_json5(path: str, inside: str | None = None) -> File:
    """Read an object that may have bare keys and other quotes, of which only a few texts are looked for.

    Args:
        path: as of `read_json`.
        inside: as of `read_json`.
    """
    file = read_text(path, inside)
    if file.text.strip() and "{" not in file.text:
        return file._replace(text="", problem=f"It is no JSON object. {UNSET}")
    if _is_deep(file.text):
        return file._replace(problem="It is nested too deeply to be read whole. The agent may refuse it.")
    return file


def read_toml(path: str, inside: str | None = None) -> File:
    """Read a TOML file; see `read_json`."""
    data, problem = _read(path, inside)
    if not data:
        return File(path, {}, problem=problem)
    from memtui.config import toml

    try:
        return File(path, toml.loads(data.decode()))
    except UnicodeDecodeError:
        return File(path, {}, problem=f"It is no TOML: it is not UTF-8. {UNSET}")
    except toml.NotTomlError as error:
        return File(path, {}, problem=f"It is no TOML: {error}. {UNSET}")


def read_text(path: str, inside: str | None = None) -> File:
    """Read a file of which only a few lines are looked at; see `read_json`."""
    data, problem = _read(path, inside)
    return File(path, {}, text=data.decode("utf-8", "replace"), problem=problem)


def below(settings: dict[str, object], key: str) -> dict[str, object]:
    """Give a table inside a table; empty when it is none."""
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def last(files: tuple[File, ...], *keys: str) -> tuple[object, str]:
    """Give the value of the last file that has one, and the path of that file; None and no path when none has."""
    for file in reversed(files):
        value: object = file.values
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return value, file.path
    return None, ""


def problems(files: tuple[File, ...]) -> tuple[tuple[str, str], ...]:
    """Give the files that are taken as empty, each with the reason."""
    return tuple((file.path, file.problem) for file in files if file.problem)


def texts(value: object) -> tuple[str, ...]:
    """Give the texts of a list, or the one text."""
    if isinstance(value, str):
        return (value,)
    return tuple(text for text in value[:TEXTS] if isinstance(text, str)) if isinstance(value, list) else ()


def file_names(value: object) -> tuple[str, ...]:
    """Give those texts of a list that are plain names of files, without a folder or a pattern."""
    return tuple(text for text in texts(value) if text not in ("", ".", "..") and not set("/\\*\0") & set(text))


def _is_deep(text: str) -> bool:
    depth = 0
    for sign in text:
        if sign in "[{":
            depth += 1
            if depth > DEPTH:
                return True
        elif sign in "]}":
            depth -= 1
    return False


def _read(path: str, inside: str | None = None) -> tuple[bytes, str]:
    real = os.path.realpath(path)
    if inside is not None and not is_within(real, (os.path.realpath(inside),)):
        return b"", ""  # what leads out of a checkout is told where its folder is
    try:
        data = read_small(real)
    except OSError:
        return b"", f"The system refuses to read it. {UNSET}"
    if data is None:
        return b"", f"It is no regular file, or too large. {UNSET}" if os.path.lexists(real) else ""
    return data, ""
