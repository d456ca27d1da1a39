"""Everything that changes a memory, and taking it back. Each is one step of `memtui undo`."""

import os
import sys

from memtui.engine.model import BROUGHT, Address, Done, Version
from memtui.errors import MemtuiError, NotFoundError, RefusedError, StorageError, UsageError
from memtui.wire import outcomes, places, results, values
from memtui.wire.call import Call

_READ_LIMIT = 4 * 1_048_576
"""Bytes of input read at all; every root's own limit is lower."""


def create(call: Call) -> int:
    """Make a new memory."""
    address = call.engine.roots.resolve(call.args.need("address"))
    text = given_text(call)
    return results.saved(call.out, call.engine.memories.create(address, text, actor=call.actor), word="created")


def save(call: Call) -> int:
    """Save a memory, compare-and-set."""
    address = call.engine.roots.resolve(call.args.need("address"))
    expected = call.args.need("expect")
    text = given_text(call)
    return results.saved(
        call.out,
        call.engine.save(address, text, expected_sha256=None if expected == "absent" else expected, actor=call.actor),
    )


def given_text(call: Call) -> bytes:
    """Read the text a command is given, from a file or standard input.

    Raises:
        UsageError: there is none, or there are two.
        MemtuiError: it cannot be read, or it is too big to be anybody's memory.
    """
    file, dash = call.args.text("file"), call.args.text("source")
    if file is not None and dash is not None:
        raise UsageError("The text is given twice.", hint="Give either `-` or --file FILE.")
    if file not in (None, "-"):
        return _read_file(file)
    if sys.stdin is None or (file is None and dash is None and sys.stdin.isatty()):
        raise UsageError("There is no text.", hint="Give --file FILE, or `-` and the text on standard input.")
    return _limited(sys.stdin.buffer.read(_READ_LIMIT + 1), "The text on standard input")


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return _limited(file.read(_READ_LIMIT + 1), path)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", hint="Give the file's path with --file.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from None


def _limited(data: bytes, what: str) -> bytes:
    if len(data) > _READ_LIMIT:
        raise RefusedError(f"{what} is over {_READ_LIMIT:,} bytes.", code="E_TOO_BIG", details={"limit": _READ_LIMIT})
    return data


def rm(call: Call) -> int:
    """Move memories to the trash."""
    addresses = [call.engine.roots.resolve(text) for text in call.args.texts("addresses")]
    if call.args.flag("alone"):
        with call.followed():
            done = call.engine.memories.delete(addresses, actor=call.actor)
        return results.done(call.out, done)
    from memtui.pointers import carry

    with call.followed():
        done = carry.trash(call.engine, addresses, actor=call.actor)
    return results.done(call.out, done)


def restore(call: Call) -> int:
    """Bring back a deleted memory or an old version."""
    address = call.engine.roots.resolve(call.args.need("address"))
    version = call.args.text("version")
    if call.args.flag("alone"):
        value = call.engine.memories.restore(address, version=version, actor=call.actor)
        return results.saved(call.out, value, word="restored")
    from memtui.pointers import restore as restoring

    found = restoring.restore(call.engine, address, version=version, actor=call.actor)
    status = results.saved(call.out, found.result, word="restored")
    results.beside(call.out, found.also, found.left)
    return status


def undo(call: Call) -> int:
    """Take back changes."""
    return _steps(call, back=True)


def redo(call: Call) -> int:
    """Make undone changes again."""
    return _steps(call, back=False)


def _steps(call: Call, *, back: bool) -> int:
    finished: list[Done] = []
    try:
        for _ in range(call.args.number("steps", 1)):
            _reach(call, "undo" if back else "redo")
            step = call.engine.undo.undo if back else call.engine.undo.redo
            with call.followed():
                finished.append(step(actor=call.actor))
    except MemtuiError as error:
        if not finished:
            raise
        status = results.all_done(call.out, finished)
        if error.code == "E_NOTHING_TO_UNDO":
            count = sum(any(outcome.ok for outcome in value.outcomes) for value in finished)
            verb = "undo" if back else "redo"
            call.out.say(f"{count} {'undone' if back else 'redone'}; there is nothing more to {verb}.")
            return status
        call.out.error(error)
        return status or outcomes.exit_code(error)
    return results.all_done(call.out, finished)


def _reach(call: Call, kind: str) -> None:
    """Open the folders of the next step if it went from one project to another: nobody stands in both."""
    if next(call.engine.undo.beyond(kind), None) is None:
        return
    from memtui.features.moved_projects import repoint
    from memtui.wire.session import other_projects

    repoint.open_next(call.engine, kind, lambda: other_projects(call.session))


def pin(call: Call) -> int:
    """Pin memories."""
    return _set_pinned(call, pinned=True)


def unpin(call: Call) -> int:
    """Take the pin off."""
    return _set_pinned(call, pinned=False)


def _set_pinned(call: Call, *, pinned: bool) -> int:
    addresses = [call.engine.roots.resolve(text) for text in call.args.texts("addresses")]
    rows = [call.engine.rows.get(address) for address in addresses]  # a mistyped name is said
    status = results.done(call.out, call.engine.pins.set(addresses, pinned, actor=call.actor))
    for root in dict.fromkeys(row.address.root for row in rows if pinned and row.trust == BROUGHT):
        call.out.say(
            f"Agents are given no text before you review it: g a in the workbench, or memtui roots --accept {root}"
        )
    return status


def redact(call: Call) -> int:
    """Clear the texts of stored versions."""
    versions = [_version(call, text) for text in call.args.texts("addresses")]
    cleared = _redact(call, versions)
    rows = [values.version(one) for one in cleared]
    if call.out.json:
        call.out.document(rows[0] if len(rows) == 1 else values.listing(rows))
    else:
        for (address, _), one in zip(versions, cleared, strict=True):
            call.out.line(f"redacted {address}@{one.sha256[:12]}")
    _finish_redacting(call)
    return outcomes.DONE


def _version(call: Call, text: str) -> tuple[Address, str]:
    bare, sha = places.version(text)
    if sha is None:
        raise UsageError("memtui redact needs ADDRESS@SHA.", hint=f"`memtui history {bare}` lists the versions.")
    return call.engine.roots.resolve(bare), sha


def _redact(call: Call, versions: list[tuple[Address, str]]) -> tuple[Version, ...]:
    """Clear them; when something else keeps a text, only with one more yes."""
    reason, actor = call.args.need("reason"), call.actor
    names = [f"{address}@{sha[:12]}" for address, sha in versions]
    what = f"{', '.join(names[:3])} and {len(names) - 3} more" if len(names) > 3 else ", ".join(names)
    where = f"in the workbench in the versions of {versions[0][0]} (H) by the key X"
    call.approve("redact a version", f"Clear the text of {what} for good?", where)
    try:
        return call.engine.redaction.redact_all(
            versions, reason=reason, actor=actor, everywhere=call.args.flag("everywhere")
        )
    except RefusedError as error:
        if error.code != "E_SHARED" or not call.agrees(f"{error.message} Clear it there, too?"):
            raise
    return call.engine.redaction.redact_all(versions, reason=reason, actor=actor, everywhere=True)


def _finish_redacting(call: Call) -> None:
    """Say what redacted texts may still be in, and delete damaged ledgers one by one when that is wanted."""
    left = call.engine.redaction.unerased()
    if left.pending:
        call.out.say("Pending: freed bytes of the ledger are not overwritten yet; the next start of memtui does it.")
    for path in left.damaged:
        name = os.path.basename(path)
        if call.args.flag("damaged") or call.agrees(f"{name} is damaged and may hold the text, too. Delete it?"):
            call.engine.redaction.drop_damaged(path)
            call.out.say(f"Deleted {name}.")
        else:
            call.out.say(f"{name} is damaged, stays, and may hold the text: --damaged deletes it.")


def workspace(call: Call) -> int:
    """Show or remove the workspace's memories."""
    from memtui.cli.commands.list import show

    mine = tuple(root.id for root in call.engine.roots.all() if root.agent == "memtui" and root.scope == "workspace")
    found = call.engine.rows.list(mine)
    if call.args.text("action") is None:
        return show(call, list(found.items), truncated=found.truncated)
    addresses = [row.address for row in found.items]
    if not addresses:
        raise NotFoundError(
            f"There are no memories in the workspace {os.path.basename(call.engine.roots.find(mine[0]).path)!r}.",
            hint="Run it in the checkout, or name the workspace with MEMTUI_WORKSPACE.",
        )
    return results.done(call.out, call.engine.memories.delete(addresses, actor=call.actor))
