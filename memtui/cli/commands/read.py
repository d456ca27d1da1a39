"""One memory's text and its versions: view, history, diff."""

from memtui.engine.model import Address
from memtui.errors import NotFoundError
from memtui.wire import outcomes, places, values
from memtui.wire.call import Call
from memtui.wire.output import Column

_AGENTS = ("agent:", "mcp:", "http:")


def view(call: Call) -> int:
    """Print a memory, or a version of one."""
    text = call.args.need("address")
    bare, sha = places.version(text)
    if sha is not None:
        address = call.engine.roots.resolve(bare)
        try:
            data = call.engine.history.read(address, sha)
        except NotFoundError:
            if call.out.json or not _named(call, text):
                raise
        else:
            return _show(
                call, data, {"address": str(address), "sha256": _whole(call, address, sha), "bytes": len(data)}
            )
    snapshot = call.engine.read(call.engine.roots.resolve(text))
    if call.options.actor.name.startswith(_AGENTS):
        call.engine.pins.record_use(snapshot.address, actor=call.options.actor)
    if call.out.json:
        call.out.document(values.content(snapshot))
        return outcomes.DONE
    return _show(call, snapshot.bytes, {})


def _named(call: Call, text: str) -> bool:
    """Whether a memory's own name ends like a version."""
    address = call.engine.roots.resolve(text)
    return any(row.address == address for row in call.engine.rows.list((address.root,)).items)


def _whole(call: Call, address: Address, sha: str) -> str:
    """Return the whole sha for the beginning of one."""
    if len(sha) == 64:
        return sha
    return next((each.sha256 for each in call.engine.history.of(address) if each.sha256.startswith(sha)), sha)


def _show(call: Call, data: bytes, fields: dict[str, object]) -> int:
    if call.out.json:
        call.out.document(fields | values.text_or_base64(data))
    elif call.out.terminal:
        text = data.decode("utf-8", "surrogateescape")
        call.out.text(text if text.endswith("\n") or not text else text + "\n")
    else:
        call.out.raw(data)
    return outcomes.DONE


def history(call: Call) -> int:
    """List versions."""
    address = call.engine.roots.resolve(call.args.need("address"))
    versions = call.engine.history.of(address)
    if call.out.json:
        call.out.document(values.listing(map(values.version, versions)))
        return outcomes.DONE
    if not versions and call.out.terminal:
        call.out.say("No version was recorded yet.")
    call.out.table(
        (
            Column("VERSION", "sha"),
            Column("WHAT"),
            Column("BY"),
            Column("SIZE", "size"),
            Column("AGE", "age"),
            Column("NOTE", flexible=True),
        ),
        [
            (each.sha256, each.operation, each.actor, each.bytes, each.at, _note(each.note, redacted=each.redacted))
            for each in versions
        ],
    )
    return outcomes.DONE


def _note(note: str, *, redacted: bool) -> str:
    return ", ".join(part for part in ("redacted" * redacted, note) if part)


def diff(call: Call) -> int:
    """Show what changed between two versions."""
    engine = call.engine
    address = engine.roots.resolve(call.args.need("address"))
    newer = call.args.text("to")
    if newer is None:
        snapshot = engine.read(address)
        new, after = snapshot.sha256, snapshot.bytes
    else:
        new, after = _whole(call, address, newer), engine.history.read(address, newer)
    older = call.args.text("from") or _before(call, address, new)
    old = _whole(call, address, older) if older else None
    before = engine.history.read(address, old) if old else b""
    lines = _unified(before, after, f"{address}@{old[:12] if old else 'nothing'}", f"{address}@{new[:12]}")
    if call.out.json:
        fields: dict[str, object] = {"address": str(address), "from": old, "to": new, "same": before == after}
        call.out.document(fields | {"diff": values.text_of(lines)})
        return outcomes.DONE
    call.out.diff(lines)
    if not lines and call.out.terminal:
        call.out.say("No difference.")
    return outcomes.DONE


def _before(call: Call, address: Address, new: str) -> str | None:
    """Choose what to compare with: what the user last saw, else the version before."""
    seen = call.engine.changes.seen_version(address)
    if seen is not None and seen != new:
        return seen
    shas = [each.sha256 for each in call.engine.history.of(address) if not each.redacted]
    if new in shas:
        shas = shas[shas.index(new) + 1 :]
    return next((sha for sha in shas if sha != new), None)


def _unified(before: bytes, after: bytes, old_name: str, new_name: str) -> list[str]:
    """Compare line by line; only a line feed ends a line, so that every other difference shows."""
    from difflib import unified_diff

    old, new = (data.decode("utf-8", "surrogateescape").split("\n") for data in (before, after))
    unfinished = [lines[-1] != "" for lines in (old, new)]
    old, new = ([*lines[:-1], lines[-1] + "\0"] if lines[-1] else lines[:-1] for lines in (old, new))
    shown: list[str] = []
    for line in unified_diff(old, new, old_name, new_name, lineterm=""):
        if any(unfinished) and line.endswith("\0"):
            shown += [line[:-1], "\\ No newline at end of file"]
        else:
            shown.append(line)
    return shown
