"""Who a client is: the name it gives when it connects, made safe and short enough to stand in every record."""

from memtui.engine.model import Actor, is_reserved
from memtui.safe_text import visible

LONGEST = 60
"""Characters of a client's name in an actor."""
NAMELESS = "unknown"


def client_name(given: str | None) -> str:
    """Make a client's own name fit for records: visible characters, single spaces, at most `LONGEST` of them.

    Args:
        given: what it said; None, nothing visible, or a name for the person at the keys, makes `unknown`.
    """
    name = visible(" ".join((given or "").split()))
    if not name or is_reserved(name):
        name = NAMELESS
    # What Unicode has not assigned yet may become anything.
    name = "".join(letter if letter.isprintable() else "�" for letter in name)
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


def actor_of(name: str) -> Actor:
    """Give the actor changes and uses are recorded for; it is never a person's."""
    return Actor(f"mcp:{name}")
