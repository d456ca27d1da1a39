"""What an agent is given without asking, printed: for a look, for a script, for an agent's session-start hook."""

from memtui.errors import UsageError
from memtui.features.hot_set import as_json
from memtui.features.hot_set.assemble import PARTS, build
from memtui.features.hot_set.model import Context
from memtui.wire import outcomes
from memtui.wire.call import LOCK_WAIT, Call
from memtui.wire.doors import open_door


def context(call: Call) -> int:
    """Print the index and the hot set."""
    part, form = call.args.text("part") or "all", call.args.text("format") or "text"
    if form == "hook":
        if call.out.json or part != "all":
            raise UsageError("--format hook goes with neither --json nor --part.", hint="Leave one of them out.")
        return _hook(call)
    session = open_door(call.settings, call.options, client=call.args.text("client") or "", lock_wait=LOCK_WAIT)
    engine = session.engine
    try:
        _print(call, build(engine, parts=PARTS if part == "all" else (part,)), json=form == "json")
    finally:
        engine.close()
    for notice in engine.events.notices():
        call.out.say(f"memtui: {notice}")
    return outcomes.DONE


def _print(call: Call, found: Context, *, json: bool) -> None:
    if json or call.out.json:
        call.out.document(as_json.document(found))
    else:
        call.out.raw(found.text.encode())


def _hook(call: Call) -> int:
    """Answer a hook, always: some agents take a refusal of a hook for an order to stop."""
    import json

    from memtui.errors import CODES, MemtuiError

    try:
        call.out.raw(_fitting(call).encode())
    except MemtuiError as error:
        answer = {}
        if error.code != "E_DISABLED":  # the user wanted it so, and need not be told at each session
            # An agent may read the answer: where things are on this machine is said on standard error only.
            answer["systemMessage"] = f"memtui: {error.code}: {CODES[error.code]}. `memtui doctor` tells more."
            call.out.say(f"memtui: {error}")
        call.out.raw(f"{json.dumps(answer)}\n".encode())
    return outcomes.DONE


def _fitting(call: Call) -> str:
    """Make the answer with as much as an agent takes."""
    import json

    from memtui.features.hot_set.fit import HOOK, fitted

    def answer(found: Context) -> str:
        return json.dumps(as_json.hook(found), ensure_ascii=False) + "\n"

    def characters(found: Context) -> int:
        return len(answer(found).encode("utf-16-le")) // 2

    session = open_door(call.settings, call.options, client=call.args.text("client") or "", lock_wait=LOCK_WAIT)
    try:
        return answer(fitted(session.engine, characters, HOOK))
    finally:
        session.engine.close()
