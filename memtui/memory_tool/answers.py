"""Rights of a client in each scope, and error messages for models.

Messages name virtual paths only, so that no physical path reaches a model.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.errors import CODES, MemtuiError
from memtui.mask import BEGIN
from memtui.memory_tool.call import CHAT, ROOT, SCOPES, VirtualPath, shown


class Rights(NamedTuple):
    """Readable and writable scopes, in the order agents see them."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """One sentence; empty when every readable scope is writable."""
        if not self.writable:
            return "You may only read memories, not change them."
        if self.writable == self.readable:
            return ""
        others = [scope for scope in self.readable if scope not in self.writable]
        return f"You may write in {places(self.writable)}; {places(others)} you may only read."


MAX_BYTES = 102_400
MAX_FILES = 1_000

ESCAPES = "Path escapes the memory root (symlinks are not allowed to point outside)"
NAMES = ("E_NAME", "E_NAME_TOO_LONG", "E_PATH_TOO_LONG", "E_PATH_TOO_DEEP", "E_RESERVED")
"""Codes of refusals that concern the name alone."""
FAILED = "Memory operation failed: "
MISSING = "No memory file or directory at {path}"
NO_FILE = "No memory file at {path}"
IS_DIRECTORY = "{path} is a directory, not a file"
NO_MEMORIES = "{path} holds no memories, only hidden or other files, which are left alone; use another path"
NOT_TEXT = "{path} is not a UTF-8 text file; cannot edit it"
UNSTEADY = f"{FAILED}another program keeps changing {{path}}; view it, then try again"
TOO_BIG_TO_KEEP = "{path} is too large to be kept in history, so it is not deleted here; ask the user to"
MASKED = (
    f"{FAILED}a part of {{path}} that you see as {BEGIN}...] is a secret of the user's, and this would change it"
    " (E_MASKED). Nothing was changed; edit the text around it, or ask the user"
)
OVER_CAP = (
    f"{{path}} exceeds the {MAX_BYTES}-byte memory file cap"
    " (likely edited outside memtui, bypassing write caps); shrink or delete it"
)


def about(template: str, place: VirtualPath) -> str:
    """Fill the path of a call into a message."""
    return template.format(path=shown(place.given))


def read_only(scope: str, writable: tuple[str, ...]) -> str:
    """Write why a client may not change a scope, and which scopes it may change."""
    instead = f" You may write in {places(writable)}." if writable else ""
    return f"The {scope} memory scope is read-only for this agent; only 'view' is allowed.{instead}"


def taken(place: VirtualPath, *, directory: bool) -> str:
    """Write that `create` may not use a name."""
    kind = "directory" if directory else "file"
    return f"A {kind} already exists at {shown(place.given)}. To overwrite a file, delete it first, then create it."


def failed(error: MemtuiError, place: VirtualPath, writable: tuple[str, ...]) -> str:
    """Write an error of the engine for a model; its own words only where they hold no path but the given one."""
    path = shown(place.given)
    match error.code:
        case "E_ACCESS" | "E_READ_ONLY":
            return read_only(place.scope or "global", writable)
        case "E_SYMLINK" | "E_OTHER_DEVICE":
            return ESCAPES
        case "E_TOO_MANY":
            return f"The {place.scope} memory scope is full ({MAX_FILES} files); delete unused files first"
        case "E_TOO_BIG":
            return about(OVER_CAP, place)
        case "E_NOT_FOUND" | "E_ROOT_MISSING":
            return about(MISSING, place)
        case "E_NOT_REGULAR":
            return f"{path} is neither a file nor a directory; use another path"
        case "E_CLASH":
            return (
                f"A name that differs from {path} only by upper and lower case or in its Unicode form exists already;"
                " use that name or another"
            )
        case "E_PROTECTED":
            return f"{path} is protected: only the user changes it"
        case "E_HARDLINK":
            return f"{path} has a second name elsewhere and cannot be changed here; create a new file instead"
        case "E_TEXT":
            return f"{FAILED}the text or the name holds a character that has no UTF-8 form; remove it"
        case "E_LOCKED":
            return f"{FAILED}another program is writing to this scope; try again in a moment"
        case code if code in NAMES:
            return f"Invalid memory path '{path}': {_reason(error)}"
    return f"{FAILED}{CODES[error.code]}. Nothing was lost; try again, or tell the user"


def _reason(error: MemtuiError) -> str:
    _, colon, reason = error.message.rpartition(" is refused: ")
    return shown(reason.removesuffix(".")) if colon else CODES[error.code]


def rights(engine: Engine) -> Rights:
    """Return the rights of an engine's client."""
    return Rights(_scopes(engine.roots.all()), _scopes(engine.roots.changeable()))


def _scopes(roots: Iterable[Root]) -> tuple[str, ...]:
    names = {name for root in roots for name in (root.id, *root.aliases)}
    return tuple(scope for scope in (*SCOPES, CHAT) if f"memtui:{scope}" in names)


def places(scopes: "tuple[str, ...] | list[str]") -> str:
    """Name scopes by their paths: `/memories/global and /memories/workspace`."""
    named = [f"{ROOT}/{scope}" for scope in scopes]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
