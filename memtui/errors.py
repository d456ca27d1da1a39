"""The error tree: every refusal memtui can give, with a stable code, one sentence and the next step.

An expected outcome of a guarded save (somebody else was first) is the value `Conflict`, not an exception. This module
imports nothing of ours, so that every room can raise without learning about another.
"""

CODES = {
    "E_USAGE": "the command or call is malformed",
    "E_QUERY": "the search text cannot be used",
    "E_CONFLICT": "the memory is no longer the version the edit started from",
    "E_EXISTS": "something already has that name",
    "E_CLASH": "the name differs from an existing one only by case or Unicode form",
    "E_DECIDED": "somebody decided about it already",
    "E_NOT_FOUND": "no memory, version or draft at that address",
    "E_NO_ROOT": "no such root",
    "E_NOTHING_TO_UNDO": "there is nothing left to undo or redo",
    "E_NAME": "the name breaks a rule",
    "E_NAME_TOO_LONG": "a name component is longer than 255 bytes",
    "E_PATH_TOO_DEEP": "more than 20 components",
    "E_PATH_TOO_LONG": "the path is longer than 1,024 bytes",
    "E_RESERVED": "the name is reserved by git or by Windows",
    "E_SYMLINK": "a symbolic link is in the way, and links inside a root are never followed",
    "E_NOT_REGULAR": "not a regular file",
    "E_HARDLINK": "the file has a second name elsewhere, so replacing it would split them",
    "E_OTHER_DEVICE": "another file system is mounted there",
    "E_SAME_ROOT": "two roots are the same folder",
    "E_ROOT_REPLACED": "the root folder was replaced by another one",
    "E_ROOT_MISSING": "the root folder does not exist",
    "E_TOO_BIG": "over the size limit",
    "E_TOO_MANY": "the scope is full",
    "E_TEXT": "the text cannot be stored as UTF-8, or the file is not text",
    "E_MASKED": "the edit would change a secret that is masked for whoever makes it",
    "E_SECRET": "the text holds a secret, which agents or others would be given",
    "E_READ_ONLY": "the root, or memtui itself, is read-only",
    "E_PERSON": "only a person may do this, at a terminal of their own",
    "E_ACCESS": "this client may read here, but not change anything",
    "E_UNREVIEWED": "the version came with a checkout, and nobody has reviewed it",
    "E_PROTECTED": "the agent's layout protects this memory",
    "E_CURRENT_VERSION": "the current version of a memory cannot be redacted",
    "E_SHARED": "something else keeps the text that is to be redacted",
    "E_REDACTED": "the text of this version was removed on request",
    "E_DISABLED": "switched off in the settings",
    "E_EXTRA": "an optional part of memtui is not installed",
    "E_EDITOR": "the editor cannot be started, or it failed",
    "E_PERMISSION": "the operating system refuses access",
    "E_BUNDLE": "the file is no bundle of memories, or a damaged or hostile one",
    "E_ENTRY": "the memory holds no entries, or the text cannot be one entry of it",
    "E_PATCH": "an edit of an observation has a field it cannot have",
    "E_FRONTMATTER": "the front matter cannot be edited safely",
    "E_FRONTMATTER_UNSAFE": "the front matter uses anchors, aliases, tags, merge keys or excessive nesting",
    "E_FRONTMATTER_TOO_BIG": "the front matter is over its limit",
    "E_WORKER": "the worker is missing, cannot be run safely, or gave no answer",
    "E_REPLY": "a worker's reply breaks a rule",
    "E_LOCKED": "another process is writing to this root",
    "E_SCHEDULE": "the schedule cannot be made, or what it runs failed",
    "E_DELIVERY": "a message was not sent, or nobody knows whether it was",
    "E_CREDENTIAL": "a secret that the settings name is not there, or others may read it",
    "E_BUDGET": "a budget is spent",
    "E_HOST": "the other machine is not one that the settings name, or ssh does not trust it",
    "E_REMOTE": "the other machine gave no answer that can be used",
    "E_QUEUE_FULL": "too many tasks wait in the lane of this workspace",
    "E_TASK": "there is no such task, or it cannot be that any more",
    "E_TURN": "the session executes another turn, or this one is not where it should be",
    "E_OFFLINE": "the other machine, or the team's server, is not in reach",
    "E_STOPPED": "the user stopped a change of many memories before it came to this one",
    "E_DISK_FULL": "no space left",
    "E_IO": "the disk reported an error",
    "E_STORE": "memtui's own ledger cannot be used",
    "E_CHAIN": "a record of the journal is not as it was written",
    "E_STORE_DAMAGED": "a stored version does not match its checksum",
    "E_CONFIG": "the configuration cannot be read",
    "E_INTERNAL": "a fault in memtui",
}
"""Every code and its meaning; a test compares `docs/errors.md` with this table."""


class MemtuiError(Exception):
    """A refusal or failure that can be shown to a person as it is.

    `code` is a stable key of `CODES`. `message` says what happened and may hold hostile text, which whoever draws it
    makes safe; `unharmed` what was not touched, `hint` what to do next: a sentence each. `details` are JSON values for
    machines.
    """

    code = "E_INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        unharmed: str = "Nothing was changed.",
        hint: str = "",
        details: dict[str, str | int | float | bool | None] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        if self.code not in CODES:
            raise ValueError(f"unknown error code {self.code!r}")
        self.message = message
        self.unharmed = unharmed
        self.hint = hint
        self.details = details or {}

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.code}: {self.message}", self.unharmed, self.hint) if part)


class UsageError(MemtuiError):
    """The call itself is malformed."""

    code = "E_USAGE"


class ConflictError(MemtuiError):
    """Somebody else's version or name is in the way."""

    code = "E_CONFLICT"


class NotFoundError(MemtuiError):
    """No such root, memory, version or draft."""

    code = "E_NOT_FOUND"


class RefusedError(MemtuiError):
    """A rule says no: a name, a limit, a policy, read-only."""

    code = "E_NAME"


class BusyError(MemtuiError):
    """Another process holds the lock."""

    code = "E_LOCKED"


class StorageError(MemtuiError):
    """The disk or the ledger failed."""

    code = "E_IO"


class MendedError(StorageError):
    """A damaged ledger was met in the middle of a change, and repaired: the change can be repeated now."""

    code = "E_STORE"

    def __init__(self) -> None:
        super().__init__(
            "The ledger was damaged when the change was to be recorded, and is mended now.",
            unharmed="The memory on disk is as it was.",
            hint="Try again.",
        )


class InternalError(MemtuiError):
    """A fault in memtui."""

    code = "E_INTERNAL"


def how_to_add(extra: str) -> str:
    """Return the command that installs an extra, wherever memtui came from."""
    return f"python3 -m pip install 'memtui[{extra}]'"


def missing_extra(what: str, extra: str) -> UsageError:
    """Return the refusal of a feature whose packages are not installed."""
    return UsageError(
        f"{what} needs memtui[{extra}], which is not installed.",
        code="E_EXTRA",
        hint=f"Install it with the Python that runs memtui: {how_to_add(extra)}",
    )
