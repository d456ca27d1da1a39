"""Exit statuses of error codes, and errors as JSON."""

from memtui.errors import MemtuiError

Json = dict[str, object]
"""A JSON object: str keys; values are str, int, float, bool, None, lists and objects of them."""

DONE, FAULT, USAGE, CONFLICT, NOT_FOUND, REFUSED, BUSY, STORAGE, FOUND = range(9)
BROKEN_PIPE = 141
INTERRUPTED = 130

EXIT = {
    "E_INTERNAL": FAULT,
    "E_USAGE": USAGE,
    "E_QUERY": USAGE,
    "E_PATCH": USAGE,
    "E_CONFIG": USAGE,
    "E_SCHEDULE": USAGE,
    "E_CONFLICT": CONFLICT,
    "E_EXISTS": CONFLICT,
    "E_CLASH": CONFLICT,
    "E_DECIDED": CONFLICT,
    "E_NOT_FOUND": NOT_FOUND,
    "E_NO_ROOT": NOT_FOUND,
    "E_ROOT_MISSING": NOT_FOUND,
    "E_NOTHING_TO_UNDO": NOT_FOUND,
    "E_TASK": NOT_FOUND,
    "E_LOCKED": BUSY,
    "E_QUEUE_FULL": BUSY,
    "E_TURN": BUSY,
    "E_STOPPED": BUSY,
    "E_OFFLINE": BUSY,
    "E_DISK_FULL": STORAGE,
    "E_IO": STORAGE,
    "E_DELIVERY": STORAGE,
    "E_REMOTE": STORAGE,
    "E_STORE": STORAGE,
    "E_STORE_DAMAGED": STORAGE,
    "E_CHAIN": STORAGE,
}
"""Exit status of each code; any other code is a refusal (`REFUSED`)."""

MEANING = {
    DONE: "done",
    FAULT: "a fault of memtui's own",
    USAGE: "the command was malformed, or the configuration cannot be read",
    CONFLICT: "a conflict: somebody else's version or name is in the way",
    NOT_FOUND: "no such memory, version or root",
    REFUSED: "refused by a rule: a name, a limit, a policy, read-only",
    BUSY: "busy: another process holds the lock",
    STORAGE: "storage: the disk or the ledger failed, or `doctor` found an error",
    FOUND: "`check` found something to look at",
    INTERRUPTED: "interrupted",
    BROKEN_PIPE: "the reader of the output went away",
}


def exit_code(error: MemtuiError) -> int:
    """Return the exit status of an error."""
    return EXIT.get(error.code, REFUSED)


def error_fields(error: MemtuiError) -> Json:
    """Turn an error into the fields that every machine front shows."""
    fields: Json = {"code": error.code, "message": error.message, "hint": error.hint, "unharmed": error.unharmed}
    for key, value in error.details.items():
        fields.setdefault(key, value)
    return fields


def error_document(error: MemtuiError) -> Json:
    """Turn an error into the document that a command prints."""
    return {"error": error_fields(error)}
