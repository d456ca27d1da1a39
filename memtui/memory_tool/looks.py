"""What stands at an address now, for a call that could not be done: to find the right words, or to try again.

Others make and remove folders at the same time; a sentence about what was there a moment ago would be false.
"""

from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.errors import MemtuiError

MEMORIES = "memories"
"""A folder with memories in it."""
EMPTY = "empty"
"""A folder with nothing in it but such folders."""
OTHERS = "others"
"""A folder without memories, but with something else in it, such as hidden files."""
FOLDERS = (MEMORIES, EMPTY, OTHERS)
NOTHING = ""


def at(engine: Engine, address: Address) -> str:
    """Tell what has a name now: `file`, `link`, `other`, or one of the words above."""
    kind = _kind(engine, address)
    if kind != "folder":
        return kind
    try:
        items = engine.folders.items(address.root, address.path).items
    except MemtuiError:
        return NOTHING
    if any(item.shown and item.filled for item in items):
        return MEMORIES
    return OTHERS if any(item.kind != "folder" or not item.shown for item in items) else EMPTY


def is_folder(engine: Engine, address: Address) -> bool:
    """Whether a folder has the name now."""
    return at(engine, address) in FOLDERS


def is_blocked(engine: Engine, address: Address) -> bool:
    """Whether something that is no folder stands in the way to an address."""
    names = address.path.split("/")[:-1]
    above = [Address(address.root, "/".join(names[: count + 1])) for count in range(len(names))]
    return any(_kind(engine, one) in ("file", "link", "other") for one in above)


def _kind(engine: Engine, address: Address) -> str:
    try:
        return engine.folders.kind(address)
    except MemtuiError:
        return NOTHING
