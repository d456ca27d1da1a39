"""What others do: changes, seen marks, the audit, the watch."""

from memtui.clients.names import nearest
from memtui.engine import now_ms
from memtui.engine.model import APPROVALS, Change, Changes, Health
from memtui.errors import UsageError
from memtui.features.changes.writers import in_words, writers
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.output import Column
from memtui.wire.times import parse_time, rfc3339

_NAMED = 10
"""Actors that are named when somebody looked for one that is none of them."""


def changes(call: Call) -> int:
    """List what others changed."""
    engine, args = call.engine, call.args
    scope, agent = args.text("scope"), args.text("agent")
    engine.watch.reconcile()
    kept = {root.id for root in engine.roots.all() if scope in (None, root.scope) and agent in (None, root.agent)}
    found = [change for change in engine.changes.unseen() if change.address.root in kept]
    if call.out.json:
        call.out.document(
            values.listing(values.change(each) | {"writers": list(_writers(call, each))} for each in found)
        )
        return outcomes.DONE
    if not found and call.out.terminal:
        call.out.say("Nothing that you have not seen.")
    call.out.table(
        (Column("KIND"), Column("ADDRESS"), Column("BY"), Column("NOW", "sha", optional=True), Column("AGE", "age")),
        [(change.kind, _moved(change), _by(call, change), change.after or "", change.at) for change in found],
    )
    return outcomes.DONE


def _writers(call: Call, change: Change) -> tuple[str, ...]:
    return writers(change, call.engine.history.of(change.address))


def _by(call: Call, change: Change) -> str:
    """Who did it: for a program the last one, as in `actor`; for a person everybody in turn."""
    return in_words(_writers(call, change), change.kind) if call.out.terminal else change.actor


def _moved(change: Change) -> str:
    return f"{change.address} (was {change.old_address})" if change.old_address else str(change.address)


def seen(call: Call) -> int:
    """Mark as seen."""
    texts = call.args.texts("addresses")
    if bool(texts) == call.args.flag("all"):
        raise UsageError("memtui seen needs addresses or --all.", hint="`memtui changes` lists what is not seen yet.")
    call.engine.watch.reconcile()
    chosen = [call.engine.roots.resolve(text) for text in texts] if texts else None
    waiting = {change.address for change in call.engine.changes.unseen()}
    count = len(waiting if chosen is None else waiting.intersection(chosen))
    if count:
        memories = "1 memory" if count == 1 else f"{count:,} memories"
        call.approve(
            "mark what others wrote as seen",
            f"Mark what others wrote in {memories} as seen by you?",
            "in the workbench by the keys x and X in the changes",
        )
    count = call.engine.changes.mark_seen(chosen)
    call.out.fact({"seen": count}, f"{count} marked as seen")
    return outcomes.DONE


def log(call: Call) -> int:
    """List the audit."""
    args = call.args
    text = args.text("since")
    since = None if text is None else parse_time(text, now_ms())
    if text is not None and since is None:
        raise UsageError(f"{text!r} is not a time.", hint="Write 2h, 3d, 2026-11-20 or 2026-11-20T09:30:00Z.")
    address = args.text("address")
    limit = args.number("limit", 200)
    records = call.engine.history.audit(
        actor=args.text("actor"),
        since=since,
        address=None if address is None else call.engine.roots.resolve(address),
        limit=limit + 1,
    )
    truncated, records = len(records) > limit, records[:limit]
    if not records:
        _tell_actors(call, args.text("actor"))
    if call.out.json:
        call.out.document(values.listing(map(values.audit, records), truncated=truncated))
        return outcomes.DONE
    if not records and call.out.terminal and not args.text("actor"):
        call.out.say("Nothing recorded.")
    call.out.table(
        (
            Column("AGE", "age"),
            Column("BY"),
            Column("WHAT"),
            Column("END"),
            Column("ADDRESS"),
            Column("FROM", "sha", optional=True),
            Column("TO", "sha", optional=True),
            Column("NOTE", flexible=True, optional=True),
        ),
        [
            (
                each.at,
                each.actor,
                f"approval: {each.operation}" if each.operation in APPROVALS else each.operation,
                each.state,
                f"{each.address} -> {each.new_address}" if each.new_address else str(each.address).removesuffix("/"),
                each.before,
                each.after,
                each.note,
            )
            for each in records
        ],
    )
    if truncated:
        call.out.say("There is more; --limit shows it.")
    return outcomes.DONE


def _tell_actors(call: Call, wanted: str | None) -> None:
    """Say which actors there are when one was asked for by a name that nobody has."""
    if wanted is None:
        return
    known = call.engine.history.actors()
    if wanted in known:
        call.out.say(f"Nothing of {wanted} is recorded there.")
    elif not known:
        call.out.say("Nothing is recorded yet.")
    else:
        near = nearest(wanted, known)
        more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
        call.out.say(f"No actor is called {wanted!r}. There are: {', '.join(near[:_NAMED])}{more}.")


def watch(call: Call) -> int:
    """Print batches of changes until interrupted."""
    from queue import SimpleQueue

    batches: SimpleQueue[Changes] = SimpleQueue()

    def health(value: Health) -> None:
        batches.put(Changes(health=value))

    # What is there now is known before the first line says that the watch stands: whatever comes after it is a change.
    found = call.engine.watch.reconcile()
    if found != Changes():
        batches.put(found)
    watching = call.engine.watch.start(batches.put, health)
    left = call.args.number("count", 0)
    try:
        while True:
            batch = batches.get()
            _print(call, batch)
            if left and batch.changes:
                left -= 1
                if not left:
                    return outcomes.DONE
    finally:
        watching.stop()


def _print(call: Call, batch: Changes) -> None:
    if not call.out.readable:
        call.out.json_line(values.changes(batch))
        return
    if batch.health is not None:
        call.out.say(f"{batch.health.state} {batch.health.reason}".rstrip())
    moment = rfc3339(now_ms())[11:19]
    for change in batch.changes:
        call.out.line(f"{moment}  {change.kind:8}  {change.actor}  {_moved(change)}")
    for notice in batch.notices:
        call.out.line(f"{moment}  {notice.kind}: {notice.text}", "warn")
    call.out.flush()
