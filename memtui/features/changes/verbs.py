"""The verbs `changes`, `seen` and `watch`."""

from memtui.engine import now_ms
from memtui.engine.model import Change, Changes, Health
from memtui.errors import UsageError
from memtui.features.actors import who_words
from memtui.features.changes.bursts import in_words, writers
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.output import Column
from memtui.wire.times import rfc3339


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
        (
            Column("KIND"),
            Column("ADDRESS", flexible=True, names=True),
            Column("BY"),
            Column("NOW", "sha", optional=True),
            Column("AGE", "age"),
        ),
        [(change.kind, _moved(change), _by(call, change), change.after or "", change.at) for change in found],
    )
    return outcomes.DONE


def _writers(call: Call, change: Change) -> tuple[str, ...]:
    return writers(change, call.engine.history.of(change.address))


def _by(call: Call, change: Change) -> str:
    """Name the last writer for a program, every writer in turn for a person."""
    if not call.out.terminal:
        return change.actor
    names = [who_words(actor, change.address.root) for actor in _writers(call, change)]
    return in_words(tuple(dict.fromkeys(names)), change.kind)


def _moved(change: Change) -> str:
    return f"{change.address} (was {change.old_address})" if change.old_address else str(change.address)


def seen(call: Call) -> int:
    """Mark changes as seen."""
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
    if call.out.json or not call.out.terminal:
        call.out.json_line(values.changes(batch))
        return
    if batch.health is not None:
        call.out.say(f"{batch.health.state} {batch.health.reason}".rstrip())
    moment = rfc3339(now_ms())[11:19]
    for change in batch.changes:
        call.out.line(f"{moment}  {change.kind:8}  {who_words(change.actor, change.address.root)}  {_moved(change)}")
    for notice in batch.notices:
        call.out.line(f"{moment}  {notice.kind}: {notice.text}", "warn")
    call.out.flush()
