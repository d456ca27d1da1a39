"""Check tables with names of the user's own; a secret in one is refused without being repeated.

Apart because a command without such tables loads none of it.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from memtui.config.named import NAMED, NamedEntry, NamedKey, NamedValue

_NAME_LIMIT = 100
_REFERENCE = re.compile(r"(env:[A-Za-z_][A-Za-z0-9_]*|file:(/|~/)[^\0]+)")
_HOURS = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:-]*")
_HOST_HINT = "Write letters, digits, `.`, `_`, `-`, `@` and `:`, with no `-` at the beginning."
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that a plain `http:` address may lead to."""
BUDGETS = "channel:NAME, channel:*, jobs, org"


class NamedError(ValueError):
    """What is wrong with an entry, and what to do."""

    def __init__(self, key: str, what: str, hint: str) -> None:
        """Keep the dotted key, a sentence and a way out; neither holds a secret."""
        super().__init__(what)
        self.key, self.what, self.hint = key, what, hint


def entry(table: str, name: str, given: object) -> NamedEntry:
    """Check one entry; `NamedError` when a key or a value is not known, or is a secret itself."""
    place, keys = f"{table}.{name}", {one.key: one for one in NAMED[table][1]}
    if not name.strip() or not name.isprintable() or len(name) > _NAME_LIMIT:
        raise NamedError(table, f"{name!r} cannot be a name.", f"Use 1 to {_NAME_LIMIT} visible characters.")
    if table == "budgets" and name not in ("jobs", "org") and not name.startswith("channel:"):
        raise NamedError(place, f"{name!r} is nothing that has a budget.", f"There are: {BUDGETS}.")
    if table == "hosts" and not _HOST.fullmatch(name):
        raise NamedError(place, f"{name!r} cannot be a host's name.", _HOST_HINT)
    if not isinstance(given, dict):
        raise NamedError(
            place, f"{place} is not a table.", f"Write [{place}], and below it lines like {next(iter(keys))} = ..."
        )
    for key in given:
        if key not in keys:
            raise NamedError(f"{place}.{key}", f"{place} has no key {key!r}.", f"There are: {', '.join(keys)}.")
    for key in keys.values():
        if key.needed and key.key not in given:
            raise NamedError(place, f"{place} has no {key.key!r}.", f"Add it: {key.text}")
    return NamedEntry(table, name, tuple((key, _value(place, keys[key], value)) for key, value in given.items()))


def _value(place: str, key: NamedKey, value: object) -> NamedValue:
    name = f"{place}.{key.key}"
    if key.kind == "yes/no" and isinstance(value, bool):
        return value
    if key.kind == "number" and isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 10**15:
        return value
    if key.kind == "texts" and isinstance(value, list) and value and all(map(_is_text, value)):
        return tuple(value)
    if key.kind not in ("yes/no", "number", "texts") and isinstance(value, str) and _is_text(value):
        wrong = _wrong(key, value)
        if not wrong:
            return value
        raise NamedError(name, f"{name} {wrong[0]}.", wrong[1])
    shown = "not what it must be" if key.kind in ("secret", "url") else repr(value)
    wanted = {"yes/no": "true or false", "number": "a whole number above 0", "texts": "a list of texts in quotes"}
    raise NamedError(name, f"{name} is {shown}.", f"Write {wanted.get(key.kind, 'text in quotes')}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _wrong(key: NamedKey, value: str) -> tuple[str, str] | None:
    """Return what is wrong with a text, as the end of a sentence, and a way out."""
    if key.choices and value not in key.choices:
        return f"is {value!r}", f"There are: {', '.join(key.choices)}."
    if key.kind == "hours" and not _HOURS.fullmatch(value):
        return f"is {value!r}", "Write hours such as 22:00-07:00."
    if key.kind == "host" and not _HOST.fullmatch(value):
        return f"is {value!r}", _HOST_HINT
    if key.kind == "zone" and not is_zone(value):
        return f"is {value!r}", "Write a time zone such as Europe/Berlin."
    if key.kind == "secret" and not _REFERENCE.fullmatch(value):
        return "holds a value and not where it is", "Write env:NAME or file:PATH; the value stays out of the settings."
    if key.kind == "url" and not _REFERENCE.fullmatch(value):
        return _wrong_url(value)
    return None


def _wrong_url(value: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address", "Write one that begins with https://."
    if not host or parts.scheme not in ("https", "http") or (parts.scheme == "http" and host not in LOOPBACK):
        return "is no address that begins with https://", "Only https is sent to, or http on this machine itself."
    if parts.query or parts.fragment or "@" in parts.netloc or any(map(_looks_secret, parts.path.split("/"))):
        return "holds what looks like a token", "Put the whole address into a variable or a file: env:NAME, file:PATH."
    return None


def _looks_secret(part: str) -> bool:
    return bool(_TOKEN.fullmatch(part)) and any(c.isdigit() for c in part)


def is_zone(name: str) -> bool:
    """Whether this machine knows a time zone."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return False
    except KeyError:
        return False
    return True
