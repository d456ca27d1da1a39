"""The verbs `cp` and `mv`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtui.diff.differences import unified_file
from memtui.engine.model import Address
from memtui.errors import NotFoundError, UsageError
from memtui.features.transfer.model import IndexChange, Note, Transfer, TransferPlan, below
from memtui.features.transfer.plan import TransferOptions, apply, differs, plan, refused_for_secrets, secrets_of
from memtui.pointers import references
from memtui.wire import outcomes, places, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.values import text_of

CHANGED = {True: "front matter mapped", False: "as it is"}


class Route(NamedTuple):
    """What goes where."""

    pairs: tuple[tuple[Address, Address], ...]
    fit: bool
    """No name was typed, so names get the ending that the target reads."""


def cp(call: Call) -> int:
    """Copy memories; raises `E_SECRET` when a secret would go to another root without --secrets."""
    route = _route(call, call.args.texts("old"), call.args.need("new"))
    secrets = call.args.text("secrets")
    if secrets is None and not call.args.flag("dry_run") and (found := secrets_of(call.engine, route.pairs)):
        raise refused_for_secrets(found, "--secrets mask copies without them, --secrets keep as it is.")
    if call.args.flag("dry_run") or secrets == "mask" or _translates(call, route):
        return _transfer(call, route, moving=False)
    return results.done(call.out, call.engine.memories.copy(route.pairs, actor=call.actor))


def mv(call: Call) -> int:
    """Rename or move memories or a folder."""
    engine, olds, new = call.engine, call.args.texts("old"), call.args.need("new")
    if len(olds) == 1 and not call.args.flag("dry_run"):
        old = _address(call, olds[0])
        if old.path and not differs(
            engine.roots.find(old.root), engine.roots.find(places.target(engine, old, new).root)
        ):
            return _rename(call, ((old, places.target(engine, old, new)),))
    route = _route(call, olds, new)
    if call.args.flag("dry_run") or _translates(call, route):
        return _transfer(call, route, moving=True)
    return _rename(call, route.pairs)


def _rename(call: Call, pairs: Sequence[tuple[Address, Address]]) -> int:
    rename = references.rename_alone if call.args.flag("alone") else references.rename
    with call.out.progress(call.engine.pace.progress):
        done = rename(call.engine, pairs, actor=call.actor)
    return results.done(call.out, done)


def _address(call: Call, text: str) -> Address:
    found = places.place(call.engine, text)
    if found.roots is None or len(found.roots) != 1:
        raise UsageError(f"{text!r} is more than one root.", hint="Name one; `memtui roots` lists them.")
    return Address(found.roots[0], found.path)


def _route(call: Call, olds: Sequence[str], new: str) -> Route:
    engine = call.engine
    sources = [_address(call, text) for text in olds]
    rows = [row.address for row in engine.rows.list([source.root for source in sources]).items if not row.missing]
    known = frozenset(rows)
    into = places.folder(engine, new)
    named = into is None
    if named and len(sources) > 1:
        raise UsageError(f"{len(sources)} cannot have the one name {new!r}.", hint="End it in `/` to name a folder.")
    target = engine.roots.resolve(new) if into is None else into
    pairs: list[tuple[Address, Address]] = []
    for source, text in zip(sources, olds, strict=True):
        here = below(source, target, rows, keep=not named)
        if not here:
            raise NotFoundError(f"There is no {text}.", hint="`memtui ls` lists the memories there are.")
        pairs += here
    whole = len(sources) == 1 and sources[0] in known
    return Route(tuple(dict(pairs).items()), fit=not (named and whole))


def _translates(call: Call, route: Route) -> bool:
    if call.args.flag("as_is") and call.args.flag("alone"):
        return False
    engine = call.engine
    return any(differs(engine.roots.find(old.root), engine.roots.find(new.root)) for old, new in route.pairs)


def _transfer(call: Call, route: Route, *, moving: bool) -> int:
    args, out = call.args, call.out
    options = TransferOptions(
        moving, args.flag("as_is"), args.flag("alone"), route.fit, masked=args.text("secrets") == "mask"
    )
    wanted = plan(call.engine, route.pairs, options)
    if args.flag("dry_run"):
        if out.json:
            out.document(_plan_json(wanted))
        else:
            _show(call, wanted)
            out.say(f"Would {wanted.words}. Nothing was written." if wanted.going else "Nothing would be written.")
        return outcomes.DONE
    done = apply(call.engine, wanted, actor=call.actor)
    if not out.json:
        _notes(call, wanted)
    return results.done(out, done)


def _show(call: Call, wanted: TransferPlan) -> None:
    out = call.out
    out.table(
        (Column("MEMORY", flexible=True), Column("TO", flexible=True), Column("WHAT", flexible=True, wraps=True)),
        [
            (str(item.old), str(item.new), f"stays: {item.problem}" if item.problem else CHANGED[item.changed])
            for item in wanted.items
        ],
    )
    for item in wanted.going:
        out.diff(diff(str(item.new), item.before, item.after, secrets=out.secrets))
    for change in wanted.indexes:
        out.diff(diff(str(change.address), change.before, change.after, secrets=out.secrets))
    out.flush()
    _notes(call, wanted)
    for sentence in (wanted.also, wanted.rest):
        if sentence:
            out.say(sentence.rstrip(".") + ".")


def _notes(call: Call, wanted: TransferPlan) -> None:
    many = len(wanted.items) > 1
    tell_notes(call, [(item.new.path if many else "", item.notes) for item in wanted.going], wanted.indexes)


def tell_notes(call: Call, memories: Iterable[tuple[str, Iterable[Note]]], indexes: Iterable[IndexChange]) -> None:
    """Print notes on memories (name or empty, notes) and indexes."""
    for name, notes in memories:
        for note in notes:
            call.out.say(f"{f'{name}: ' if name else ''}{note.kind}: {note.text}.")
    for change in indexes:
        # One that only follows a renaming is in the sum of what was carried along.
        for sentence in change.notes if change.what or change.before == change.after else ():
            call.out.say(f"{change.address}: {sentence.rstrip('.')}.")


def _plan_json(value: TransferPlan) -> Json:
    return {
        "written": False,
        "txn": None,
        "operation": "move" if value.moving else "copy",
        "also": value.also,
        "left": value.rest,
        "items": [_item_json(one) for one in value.items],
        "indexes": [index_json(one) for one in value.indexes],
    }


def _item_json(value: Transfer) -> Json:
    return {
        "address": str(value.old),
        "new_address": str(value.new),
        "ok": not value.problem,
        "problem": value.problem or None,
        "changed": value.changed,
        "notes": notes_json(value.notes),
        "diff": whole_diff(str(value.new), value.before, value.after),
    }


def index_json(value: IndexChange) -> Json:
    """Convert a change of an index to JSON."""
    return {
        "address": str(value.address),
        "what": value.what,
        "notes": list(value.notes),
        "diff": whole_diff(str(value.address), value.before, value.after),
    }


def notes_json(values: tuple[Note, ...]) -> list[Json]:
    """Convert notes to JSON."""
    return [{"kind": note.kind, "text": note.text} for note in values]


def whole_diff(name: str, before: bytes, after: bytes) -> str:
    """Return `diff` as one text."""
    return text_of(diff(name, before, after))


def diff(name: str, before: bytes, after: bytes, *, secrets: bool = False) -> list[str]:
    """Compare two texts as `diff -u` does; empty when they are equal."""
    return unified_file(name, before or None, after, secrets=secrets)
