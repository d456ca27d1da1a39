"""The URIs of memories: `memory:///memories/<scope>/<path>`, percent-encoded, one for each memory and back again.

A URI is text from outside: it is decoded once, and what it names is checked like every other path.
"""

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from memtui.engine.model import Address
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.memory_tool import grammar
from memtui.memory_tool.result import Refusal
from memtui.safe_text import one_line
from memtui.virtual_names import reachable_path

if TYPE_CHECKING:
    from memtui.engine import Engine

PREFIX = "memory://"
TEMPLATE = "memory:///memories/{scope}/{+path}"
"""RFC 6570; the path may hold slashes."""
SCOPES = ("global", "project", "workspace")
LONGEST = 8_192
"""Characters; a path of 1,024 bytes, all of them encoded, is well below."""
_HINT = "Write memory:///memories/<scope>/<path>, as resources/list gives it."
_SHOWN = 400
"""Cells of a refusal."""
_URI = re.compile(r"memory:///memories/([a-z]+)/((?:[^%?#\s]|%[0-9A-Fa-f]{2})+)", re.IGNORECASE)


def uri_of(virtual_path: str) -> str:
    """Give the URI of a virtual path such as `/memories/global/a.md`; undecodable bytes are encoded as they are."""
    return PREFIX + quote(os.fsencode(virtual_path), safe="/")


def uri_of_address(address: Address) -> str | None:
    """Give the URI of a memory; None when it has none, because agents cannot name it."""
    agent, _, scope = address.root.partition(":")
    named = agent == "memtui" and scope in SCOPES and reachable_path(address.path)
    return uri_of(f"/memories/{scope}/{address.path}") if named else None


def virtual_path_of(uri: str) -> str:
    """Give the virtual path a URI names.

    Raises:
        UsageError: it is no URI of a memory.
        RefusedError: `E_NAME`, when it hides a slash.
    """
    found = _URI.fullmatch(uri) if len(uri) <= LONGEST else None
    if found is None or found[1] not in SCOPES or not _utf8(found[2]):
        raise UsageError("That is no URI of a memory.", hint=_HINT)
    if "%2f" in found[2].lower():
        raise RefusedError("A name in a memory's URI holds an encoded slash.", hint="Write / between names.")
    path = os.fsdecode(unquote_to_bytes(found[2]))
    return f"/memories/{found[1]}/{path}"


def address_of(engine: "Engine", uri: str) -> Address:
    """Give the address a URI names in an engine; whether a memory is there is another question.

    Raises:
        UsageError: see `virtual_path_of`.
        RefusedError: the same; and `E_NAME`, when the memory tool refuses the path.
        NotFoundError: `E_NO_ROOT`, when this client has no such scope.
    """
    virtual = virtual_path_of(uri)
    try:
        taken = grammar.parse(virtual).canonical == virtual
    except Refusal as refusal:
        raise RefusedError(f"{one_line(refusal.text, _SHOWN)}.", hint=_HINT) from None
    if not taken:
        raise RefusedError("A name in a memory's URI begins or ends with a space, or is empty.", hint=_HINT)
    _, _, scope, path = virtual.split("/", 3)
    try:
        return Address(engine.roots.find(f"memtui:{scope}").id, path)
    except NotFoundError as error:
        raise NotFoundError(f"There are no memories below /memories/{scope} here.", code=error.code) from None


def _utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
