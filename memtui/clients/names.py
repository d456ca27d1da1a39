"""The names of MCP clients: the one a user writes, for every one that a client gives when it connects.

A client that could escape its entry of the `[access]` table by a longer name would make the table worthless.
"""

from collections.abc import Iterable

from memtui.agents import table

KNOWN = {one.client[0]: one.client for one in table.KNOWN if one.client}
"""The clients memtui can be installed in, and how the names they give begin."""

_DOORS = ("mcp:", "http:", "agent:")


def canonical(name: str) -> str:
    """Give the name the `[access]` table knows a client by.

    Args:
        name: what the client calls itself, such as `codex-mcp-client` or `Visual Studio Code - Insiders`; or what the
            user calls it, also as an actor (`mcp:codex`).

    Returns:
        A key of `KNOWN` when it is one of those; else the name in lower case, with `-` for spaces and `_`.
    """
    plain = name.strip().lower()
    for door in _DOORS:
        plain = plain.removeprefix(door)
    plain = "-".join(plain.replace("_", " ").replace("-", " ").split())
    for client, beginnings in KNOWN.items():
        if any(plain == beginning or plain.startswith(f"{beginning}-") for beginning in beginnings):
            return client
    return plain


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Order names by how much they resemble one: those of the same client first, then by their letters."""
    from difflib import SequenceMatcher

    plain = canonical(name)

    def likeness(other: str) -> tuple[bool, bool, float]:
        client = canonical(other)
        return client == plain, plain in other.lower(), SequenceMatcher(None, plain, client).ratio()

    return sorted(known, key=likeness, reverse=True)


def meant(name: str) -> str | None:
    """Give the known client that a name is probably a slip for; None when it is one, or resembles none."""
    from difflib import get_close_matches

    plain = canonical(name)
    if plain in KNOWN:
        return None
    near = get_close_matches(plain, KNOWN, 1, 0.85)
    return near[0] if near else None
