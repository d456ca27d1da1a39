"""`memtui pin`, `unpin` and `pins`."""

from typing import NamedTuple

from memtui.agents.known.mux import Kept, kept
from memtui.engine.model import BROUGHT, Address, Memory, UseCount
from memtui.errors import MemtuiError, NotFoundError
from memtui.given.reach import withheld
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import own_roots

PIN, SET, COUNT, SAME = "pin", "pinned", "count", "same"
_WORDS = {PIN: "would be pinned", SET: "pinned already", COUNT: "not pinned there", SAME: "nothing new"}


class KeptMemory(NamedTuple):
    """What the agent recorded of a memory."""

    memory: Memory
    kept: Kept

    @property
    def state(self) -> str:
        """The effect of taking it over."""
        if self.kept.pinned:
            return SET if self.memory.pinned else PIN
        return COUNT if self.risen else SAME

    @property
    def risen(self) -> bool:
        """Whether the agent counted more uses."""
        return self.kept.uses > self.memory.uses


def pins(call: Call) -> int:
    """Show an agent's own pins and uses, or take them over."""
    found, absent, gone = _look(call)
    write = call.args.flag("write")
    fresh = [one.memory.address for one in found if one.state == PIN]
    risen = [one for one in found if one.risen]
    status, txn, counted = outcomes.DONE, None, 0
    if write and fresh:
        done = call.engine.pins.set(fresh, pinned=True, actor=call.actor)
        txn = done.txn
        failures = [failed for failed in map(results.failure, done.outcomes) if failed is not None]
        for failed in failures:
            call.out.error(failed)
        status = outcomes.exit_code(failures[0]) if failures else status
    if write and risen:
        counted = call.engine.pins.take_uses(
            UseCount(one.memory.address, one.kept.uses, one.kept.last_used_at, one.kept.last_written_at)
            for one in risen
        )
    if call.out.json:
        answer = values.listing(map(_json, found))
        call.out.document(answer | {"written": write, "txn": txn, "counted": counted, "absent": absent, "gone": gone})
        return status
    _table(call, found)
    _tell(call, len(fresh), len(risen), absent, gone)
    return status


def _look(call: Call) -> tuple[list[KeptMemory], int, int]:
    """Return the memories with records, and the numbers of those in roots that are not open and of missing ones."""
    engine = call.engine
    found: dict[Address, KeptMemory] = {}
    absent = gone = 0
    for one in kept(call.session.surroundings):
        try:
            root = engine.roots.find(one.root)
        except NotFoundError:
            absent += 1
            continue
        try:
            memory = engine.rows.get(Address(root.id, one.path))
        except MemtuiError:  # deleted since, or no name of a memory at all
            gone += 1
            continue
        found.setdefault(memory.address, KeptMemory(memory, one))
    return sorted(found.values(), key=lambda one: (not one.kept.pinned, one.memory.address)), absent, gone


def _json(one: KeptMemory) -> Json:
    return {
        "address": str(one.memory.address),
        "state": one.state,
        "pinned": one.memory.pinned,
        "uses": one.memory.uses,
        "kept": {
            "pinned": one.kept.pinned,
            "uses": one.kept.uses,
            "last_used_at": values.when(one.kept.last_used_at),
            "last_written_at": values.when(one.kept.last_written_at),
        },
    }


def _table(call: Call, found: list[KeptMemory]) -> None:
    written = call.args.flag("write")
    said = {**_WORDS, PIN: "pinned"} if written else _WORDS
    call.out.table(
        (
            Column("MEMORY", flexible=True),
            Column("PIN"),
            Column("USES", "number"),
            Column("THERE", "number"),
            Column("LAST USED", "age", optional=True),
        ),
        [
            (str(one.memory.address), said[one.state], one.memory.uses, one.kept.uses, one.kept.last_used_at)
            for one in found
        ],
    )


def _tell(call: Call, fresh: int, risen: int, absent: int, gone: int) -> None:
    out = call.out
    if call.args.flag("write"):
        out.say(f"{fresh} pinned, counts: {risen}." + (" memtui undo takes the pins off." if fresh else ""))
    elif fresh or risen:
        agent = call.args.need("agent")
        out.say(f"{fresh} would be pinned, counts taken over: {risen}. To do so: memtui pins {agent} --write")
    else:
        out.say("There is nothing to take over.")
    if absent:
        out.say(f"Of other projects, or of workspaces that are not open: {absent}. --all-projects opens them.")
    if gone:
        out.say(f"Of memories that are no longer there: {gone}.")


def pin(call: Call) -> int:
    """Pin memories."""
    return _set_pinned(call, pinned=True)


def unpin(call: Call) -> int:
    """Unpin memories."""
    return _set_pinned(call, pinned=False)


def _set_pinned(call: Call, *, pinned: bool) -> int:
    addresses = [call.engine.roots.resolve(text) for text in call.args.texts("addresses")]
    rows = [call.engine.rows.get(address) for address in addresses]  # a mistyped name is said
    status = results.done(call.out, call.engine.pins.set(addresses, pinned, actor=call.actor))
    for root in dict.fromkeys(row.address.root for row in rows if pinned and row.trust == BROUGHT):
        call.out.say(
            f"Agents are given no text before you review it: g a in the workbench, or memtui roots --accept {root}"
        )
    typed = dict(zip(addresses, call.args.texts("addresses"), strict=True))
    hidden = withheld(call.engine)
    kept = {row.address for row in rows if hidden(row.address, row.sha256) and not call.agent}
    said = {one: text for one, text in typed.items() if one in kept or not one.root.startswith("memtui:")}
    if pinned and said:
        _tell_effects(call, said)
    return status


def _tell_effects(call: Call, typed: dict[Address, str]) -> None:
    """Print the effect of pins and what would help; `typed` has the names as typed."""
    from memtui.features.pins.effect import pin_effects

    session = call.session
    for one in pin_effects(call.engine, session.settings, session.surroundings, own_roots(session), typed):
        name = typed[one.address]
        words = [f"{name}: {one.words}." if one.given else f"{name} is not given: {one.words}."]
        words += [f"memtui install {one.client} --write"] if one.client else []
        call.out.say(" ".join(words))
        if one.below is not None and one.below.fix is not None:
            root = call.engine.roots.find(one.address.root)
            line = f"memtui health {min((root.id, *root.aliases), key=len)} --fix below --line {one.below.line}"
            call.out.say(f"The line for it in {one.below.address.path} is not loaded. To move it up: {line}")
