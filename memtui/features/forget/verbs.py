"""`memtui forget`: always preview, then remove what is chosen as one undo step, or for good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.diff.differences import unified_file
from memtui.engine import now_ms
from memtui.engine.find.rank import given_texts
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import Address
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.features.forget.candidates import Candidate, named, search
from memtui.features.forget.work import ForgetPlan, Forgotten, item_json, plan_forget, suggestion
from memtui.features.tasks.lanes import refuse_off
from memtui.telemetry import tell
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column

if TYPE_CHECKING:
    from memtui.engine import Engine

MAX_BY_WORDS = 100
_LOOKED_AT = 200
"""Memories searched for older texts to redact."""
OUT_OF_REACH = "Not cleared: agents' own session files, git, bundles and copies elsewhere."


def forget(call: Call) -> int:
    """Preview what matches, and forget what is chosen."""
    args, engine = call.args, call.engine
    ids, words = args.texts("id"), args.texts("query")
    if bool(ids) is bool(words):
        raise UsageError("Say what to forget, by words or by ids.", hint="memtui forget WORDS shows what there is.")
    roots = [root for root in call.session.roots if args.text("scope") in (None, root.scope)]
    person = not call.actor.name.startswith("agent:")
    found = named(engine, ids, person=person) if ids else search(engine, roots, " ".join(words), person=person)
    wanted = plan_forget(engine, found)
    write = bool(ids) or args.flag("yes")
    if write:
        refuse_off(call.settings, "forget")
    if write and not ids and len(wanted.going) > MAX_BY_WORDS:
        raise RefusedError(
            f"{len(wanted.going):,} entries say this; at most {MAX_BY_WORDS} go by words alone.",
            code="E_TOO_MANY",
            hint="Give more words, or --id for each.",
        )
    if not call.out.json:
        _show(call, wanted, person=person)
    if not write or not wanted.steps:
        return _shown(call, wanted, person=person)
    if not person:
        return _proposed(call, wanted)
    return _carry_out(call, wanted)


def _show(call: Call, wanted: ForgetPlan, *, person: bool) -> None:
    columns = (Column("ID"), Column("LINE", "number", optional=True), Column("SAYS", flexible=True))
    chosen = (*wanted.going, *wanted.staying)
    call.out.table(columns, [(one.id, one.line, one.title) for one in chosen])
    for change in wanted.changes if call.out.terminal else ():
        call.out.diff(_diff(change, secrets=call.out.secrets, person=person))
    call.out.flush()
    for one in wanted.staying:
        call.out.say(f"{one.id} stays: {one.stays}.")


def _shown(call: Call, wanted: ForgetPlan, *, person: bool) -> int:
    if call.out.json:
        call.out.document(plan_json(wanted, None, person=person))
    elif not wanted.going:
        call.out.say("Nothing to forget.")
    else:
        count = len(wanted.going)
        what = "it" if count == 1 else f"all {count:,}"
        call.out.say(f"Nothing was changed. --yes forgets {what}, --id ID one of them.")
        results.beside(call.out, wanted.rest)
    return outcomes.DONE


def _carry_out(call: Call, wanted: ForgetPlan) -> int:
    engine, clears, reason = call.engine, call.args.flag("redact"), call.args.text("reason") or ""
    if clears:
        if not reason.strip():
            raise UsageError("Clearing a text for good needs a reason.", hint="Say why with --reason.")
        call.out.say(OUT_OF_REACH)
        call.approve(
            "clear a text for good",
            f"{wanted.label.capitalize()}, and clear every stored version that holds it for good?",
            "in the workbench in its versions (H) by the keys d r",
        )
    began = now_ms()
    done = engine.together.do(wanted.steps, actor=call.actor, label=wanted.label)
    for failed in filter(None, map(results.failure, done.outcomes)):
        raise failed
    fields = {"trigger": "manual", "status": "completed", "patches_count": len(wanted.going)}
    tell(call.settings.telemetry, "forget", (began, now_ms()), fields)
    # Only now: a text that memtui never saw before is stored by the change itself.
    stored = stored_versions(engine, wanted.going) if clears else []
    if stored:
        _redact(call, stored, reason)
    if call.out.json:
        call.out.document(plan_json(wanted, done.txn, person=True) | {"redacted": len(stored)})
        return outcomes.DONE
    for one in wanted.going:
        call.out.line_of("forgot", one.id)
    what = "1 stored version" if len(stored) == 1 else f"{len(stored):,} stored versions"
    beside = f"Cleared {what} for good" if clears else "`memtui undo` takes it back"
    results.beside(call.out, wanted.also, wanted.rest, beside)
    return outcomes.DONE


def _proposed(call: Call, wanted: ForgetPlan) -> int:
    (stored,) = call.engine.proposals.add((suggestion(call.engine, wanted, call.actor.name),))
    if call.out.json:
        answer = {"proposal": stored.id, "state": stored.state, "note": stored.note}
        call.out.document(plan_json(wanted, None, person=False) | answer)
        return outcomes.DONE
    call.out.line_of("proposed", stored.id, *stored.targets)
    results.beside(call.out, stored.note, "An agent runs this command, so a person decides: memtui review")
    return outcomes.DONE


def stored_versions(engine: Engine, going: Iterable[Candidate]) -> list[tuple[Address, str]]:
    """Return the stored versions that contain what goes; of a whole memory, all of them."""
    found: dict[tuple[Address, str], None] = {}
    for one in going:
        whole = one.entry is None
        data = one.text.encode("utf-8", "surrogateescape")
        needle = (data[frontmatter.split(data).body :] if whole else data).strip().lstrip(b"-* ")
        words = " ".join(
            "".join(sign if sign.isalnum() else " " for sign in needle.decode("utf-8", "replace")).split()[:8]
        )
        hits = engine.search.once(words, limit=_LOOKED_AT, versions=True)[0] if words else ()
        for address in dict.fromkeys([one.address, *(hit.memory.address for hit in hits)]):
            mine = address == one.address
            for version in engine.history.of(address):
                if version.redacted or (not mine and _is_current(engine, address, version.sha256)):
                    continue
                if (mine and whole) or needle in engine.history.read(address, version.sha256):
                    found[address, version.sha256] = None
    return list(found)


def _is_current(engine: Engine, address: Address, sha: str) -> bool:
    try:
        return engine.read(address).sha256 == sha
    except MemtuiError:
        return False  # it is not there any more


def _redact(call: Call, versions: Sequence[tuple[Address, str]], reason: str) -> None:
    redaction = call.engine.redaction
    try:
        redaction.redact_all(versions, reason=reason, actor=call.actor)
    except RefusedError as error:
        if error.code != "E_SHARED" or not call.agrees(f"{error.message} Clear it there, too?"):
            error.unharmed = "It is forgotten, and its stored versions stay."
            raise
        redaction.redact_all(versions, reason=reason, actor=call.actor, everywhere=True)
    left = redaction.unerased()
    if left.pending or left.damaged:
        call.out.say("Bytes of it are still to be overwritten; memtui doctor names where.")


def _diff(change: Forgotten, *, person: bool, secrets: bool = False) -> list[str]:
    texts = [change.before, change.after]
    return unified_file(str(change.address), *(texts if person else given_texts(*texts)), secrets=secrets)


def plan_json(wanted: ForgetPlan, txn: str | None, *, person: bool) -> Json:
    """Return a plan as JSON; `txn` is None for a preview."""
    return values.listing(map(item_json, (*wanted.going, *wanted.staying))) | {
        "written": txn is not None,
        "txn": txn,
        "changes": [
            {
                "address": str(one.address),
                "removed": one.after is None,
                "diff": values.text_of(_diff(one, person=person)),
            }
            for one in wanted.changes
        ],
        "also": wanted.also,
        "left": wanted.rest,
    }
