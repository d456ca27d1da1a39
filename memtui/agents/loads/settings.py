"""Agents' own settings as far as they change what is loaded: small files, read as data, believed only where harmless.

A setting of a repository may leave a file out of the list; it can never add a place that is read.
"""

import os

from memtui.agents.reading import is_within
from memtui.config.smallfile import read_small

TEXTS = 50
"""So many values of one list are taken."""


def read_json(path: str, inside: str | None = None) -> dict[str, object]:
    """Read a JSON object; empty when there is none that can be read.

    Args:
        path: absolute.
        inside: the checkout or project that brought it, which no link may lead out of; None: it is the user's own.
    """
    data = _read(path, inside)
    if not data:
        return {}
    import json

    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_toml(path: str) -> dict[str, object]:
    """Read a TOML file; empty when there is none that can be read."""
    data = _read(path)
    if not data:
        return {}
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return {}


def below(settings: dict[str, object], key: str) -> dict[str, object]:
    """Give a table inside a table; empty when it is none."""
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    """Give the texts of a list, or the one text."""
    if isinstance(value, str):
        return (value,)
    return tuple(text for text in value[:TEXTS] if isinstance(text, str)) if isinstance(value, list) else ()


def file_names(value: object) -> tuple[str, ...]:
    """Give those texts of a list that are plain names of files, without a folder or a pattern."""
    return tuple(text for text in texts(value) if text not in ("", ".", "..") and not set("/\\*\0") & set(text))


def _read(path: str, inside: str | None = None) -> bytes:
    real = os.path.realpath(path)
    if inside is not None and not is_within(real, (os.path.realpath(inside),)):
        return b""
    try:
        return read_small(real) or b""
    except OSError:
        return b""
