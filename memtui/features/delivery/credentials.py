"""Secrets of deliveries, read from a variable or a private file when something is sent, and stored nowhere.

Apart from sending so that one place knows what makes a secret unusable, and none shows it.
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
from memtui.features.delivery.vendors import DeliveryTarget
from memtui.mask import mask

_MAX_BYTES = 8_192
_MIN_TOKEN = 8
"""Shortest part of an address, in characters, that may be a token."""


def target_of(entry: NamedEntry, home: str | None) -> DeliveryTarget:
    """Resolve a delivery of the settings with its secrets.

    Raises RefusedError: `E_CREDENTIAL`: a secret is missing, empty, unusable, or in a file that others may read.
    """
    url = entry.text("url")
    target = DeliveryTarget(
        entry.name,
        entry.text("kind"),
        entry.text("to"),
        entry.text("app"),
        _value(entry.name, "secret", entry.text("secret"), home),
        url if url.startswith(("https:", "http:")) else _value(entry.name, "url", url, home),
        entry.text("cool_app"),
    )
    try:
        parts = urlsplit(target.url)
        (parts.hostname or "").encode("idna")
        usable = parts.port != 0 and " " not in target.url and (not target.url or bool(parts.hostname))
        if target.kind == "webhook" and target.secret.startswith("whsec_"):
            base64.b64decode(target.secret[6:], validate=True)
    except ValueError:
        usable = False
    if not usable:
        raise _refused(
            f"the address or the secret of {entry.name} cannot be one.",
            "An address begins with https://; whsec_ with base64.",
        )
    return target


def redact(text: str, target: DeliveryTarget, token: str) -> str:
    """Mask the secrets of a delivery in an error message, by value, and other secrets by their form."""
    parts = urlsplit(target.url)
    values = (value for _, value in parse_qsl(parts.query))
    pieces = [target.url, parts.path, parts.query, *values, *parts.path.split("/")]
    known = {target.secret, token, *(piece for piece in pieces if len(piece) >= _MIN_TOKEN)} - {""}
    pattern = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return mask(re.sub(pattern, "[masked: secret]", text) if pattern else text).text


def _value(name: str, key: str, reference: str, home: str | None) -> str:
    kind, _, where = reference.partition(":")
    if not reference:
        return ""
    secret = read_environment().get(where, "") if kind == "env" else _from_file(name, key, expand_user(where, home))
    secret = secret.strip()
    if not secret or not secret.isprintable():
        source = f"the variable {where}" if kind == "env" else where
        raise _refused(f"{source} holds no secret for {name}.{key}.", "Set it where memtui runs.")
    return secret


def _from_file(name: str, key: str, path: str) -> str:
    try:
        data = read_small(path, _MAX_BYTES, private=True)
    except OSError as error:
        raise _refused(
            f"{path}, for {name}.{key}, cannot be read: {error.strerror}.", "Put the secret there."
        ) from None
    if data is None:
        raise _refused(f"{path}, for {name}.{key}, is no file of yours alone.", f"Put it there, and chmod 600 {path}")
    return data.decode("utf-8", "replace")


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(message[:1].upper() + message[1:], code="E_CREDENTIAL", unharmed="Nothing was sent.", hint=hint)
