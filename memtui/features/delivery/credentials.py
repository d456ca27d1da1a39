"""Secrets that the settings name: a variable, or a file of the user's own; read when something is sent, kept nowhere.

It is apart so that one place knows what makes a secret unusable, and none shows it.
"""

from __future__ import annotations

import base64
import re
from urllib.parse import parse_qsl, urlsplit

from memtui.config.directories import expand_user
from memtui.config.named import NamedEntry
from memtui.config.read import read_environment
from memtui.config.smallfile import read_small
from memtui.errors import RefusedError
from memtui.features.delivery.message import DeliveryPlace
from memtui.mask import mask

_LIMIT = 8_192
_SHORTEST = 8
"""Characters of a piece of an address that may be a token."""


def place_of(entry: NamedEntry, home: str | None) -> DeliveryPlace:
    """Give a delivery with its secrets.

    Raises:
        RefusedError: `E_CREDENTIAL`: one is not there, is empty, or is in a file that others may read.
    """
    url = entry.text("url")
    place = DeliveryPlace(
        entry.name,
        entry.text("kind"),
        entry.text("to"),
        entry.text("app"),
        _value(entry.name, "secret", entry.text("secret"), home),
        url if url.startswith(("https:", "http:")) else _value(entry.name, "url", url, home),
        entry.text("cool_app"),
    )
    try:
        parts = urlsplit(place.url)
        (parts.hostname or "").encode("idna")
        usable = parts.port != 0 and " " not in place.url and (not place.url or bool(parts.hostname))
        if place.kind == "webhook" and place.secret.startswith("whsec_"):
            base64.b64decode(place.secret[6:], validate=True)
    except ValueError:
        usable = False
    if not usable:
        raise _refused(
            f"the address or the secret of {entry.name} cannot be one.",
            "An address begins with https://; whsec_ with base64.",
        )
    return place


def hidden(text: str, place: DeliveryPlace, token: str) -> str:
    """Take the secrets of a delivery out of what a receiver or a library said, by value, and others by their form."""
    parts = urlsplit(place.url)
    pieces = [
        place.url,
        parts.path,
        parts.query,
        *(value for _, value in parse_qsl(parts.query)),
        *parts.path.split("/"),
    ]
    known = {place.secret, token, *(piece for piece in pieces if len(piece) >= _SHORTEST)} - {""}
    quoted = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return mask(re.sub(quoted, "[masked: secret]", text) if quoted else text).text


def _value(name: str, key: str, reference: str, home: str | None) -> str:
    kind, _, where = reference.partition(":")
    if not reference:
        return ""
    found = read_environment().get(where, "") if kind == "env" else _in_file(name, key, expand_user(where, home))
    found = found.strip()
    if not found or not found.isprintable():
        what = f"the variable {where}" if kind == "env" else where
        raise _refused(f"{what} holds no secret for {name}.{key}.", "Set it where memtui runs.")
    return found


def _in_file(name: str, key: str, path: str) -> str:
    try:
        found = read_small(path, _LIMIT, private=True)
    except OSError as error:
        raise _refused(
            f"{path}, for {name}.{key}, cannot be read: {error.strerror}.", "Put the secret there."
        ) from None
    if found is None:
        raise _refused(f"{path}, for {name}.{key}, is no file of yours alone.", f"Put it there, and chmod 600 {path}")
    return found.decode("utf-8", "replace")


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(message[:1].upper() + message[1:], code="E_CREDENTIAL", unharmed="Nothing was sent.", hint=hint)
