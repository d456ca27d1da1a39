"""`memtui obs` and `memtui observe`: find, show and decide about cards, and keep notes.

Without a person at a terminal it behaves as an agent's door: withheld cards do not exist there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from time import gmtime, strftime

from memtui.engine import now_ms
from memtui.engine.disk import state_file
from memtui.engine.model import Address, Conflict
from memtui.engine.observation import REDACTED, STATES, MarkDecision
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memtui.features.observations import find
from memtui.features.observations.find import CardAccess, catch_up, open_cards
from memtui.features.observations.model import Card, SessionScope, day, detail, id_letters, public_id_of, snippet
from memtui.features.observations.progress import read_progress
from memtui.features.observations.store import generations
from memtui.features.observations.store.generations import CardFilter
from memtui.matching import Query
from memtui.wire import outcomes, values
from memtui.wire.access import switched_off
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column, age, attended, size
from memtui.wire.session import Session, approver
from memtui.wire.times import parse_time, rfc3339

_ELSEWHERE = "in the workbench"
MAX_NOTE = 16_384
_ROW = ("kind", "type", "agent", "address", "title", "concepts", "files", "tokens", "masked", "cut")
_LOG = ("at", "actor", "before", "after", "reason")
_DECIDE = {
    "mark": ("say who may be given an observation", "Make", ""),
    "edit": ("edit an observation", "Edit", "edited"),
    "rm": ("delete an observation", "Delete", "deleted"),
    "restore": ("bring an observation back", "Bring back", "restored"),
    "redact": ("redact an observation", "Redact", "redacted"),
}
"""What needs a person, the question, and the result of each decision."""
_REDACTED_SESSION = "The agent's own file of the session still has the words: memtui only reads it."
_REDACTED_THERE = "Its memory still has the words: take them out with `memtui edit`, then `memtui redact` each version."


def obs(call: Call) -> int:
    """Run one action on observations."""
    refuse_unobserved(call)
    action, words = call.args.text("action") or "status", call.args.texts("words")
    if action not in {*_DOES, *_DECIDE}:
        action, words = "search", [action, *words]
    call.engine.rows.lift_limits()
    if action in _DECIDE:
        return _decide(call, action, words)
    return _DOES[action](call, words)


def refuse_unobserved(call: Call) -> None:
    """Refuse when observations are off (`E_DISABLED`), and words that are not UTF-8."""
    if not call.settings.value("observe.enabled"):
        raise switched_off("observe.enabled")
    for given in call.args.values.values():
        for word in given if isinstance(given, list | tuple) else (given,):
            if isinstance(word, str) and word != word.encode("utf-8", "replace").decode():
                raise UsageError("A word is not UTF-8.", hint="Write it in UTF-8.")


# --- looking


def _search(call: Call, words: list[str]) -> int:
    private = _asks_for_all(call)
    with open_cards(call.engine, private=private, sessions=_reach(call)) as found:
        look = found._replace(wanted=_wanted(call, found.wanted))
        limit, text = call.args.number("limit", find.DEFAULT_LIMIT), " ".join(words)
        if words:
            page = find.search(look, text, limit=limit, cursor=call.args.text("cursor") or "")
        else:
            cards = look.reader.newest(look.wanted, min(max(limit, 1), find.MAX_LIMIT))
            page = find.CardPage(tuple(cards), Query(()), full=len(cards))
        if call.out.json:
            rows = [row_json(card, page.query) for card in page.cards]
            call.out.document({**values.listing(rows, truncated=bool(page.next)), "next": page.next or None})
        else:
            _table(call, page.cards, page.query)
            _said(call, look, page)
    return outcomes.DONE


def _said(call: Call, look: CardAccess, page: find.CardPage) -> None:
    if not page.cards:
        call.out.say("No observation has these words.")
    elif page.full < len(page.cards):
        call.out.say(f"{page.full} of them have all words, the others some.")
    elif page.many:
        call.out.say("These are the newest of many: add a word, or --since.")
    if page.next:
        call.out.say(f"There are more: --cursor {page.next}")
    if left := look.progress.pending:
        call.out.say(f"Not observed yet: {left:,} file{'s' * (left > 1)}; `memtui obs rebuild` does it now.")


def _timeline(call: Call, words: list[str]) -> int:
    with open_cards(call.engine, private=_asks_for_all(call), sessions=_reach(call)) as look:
        anchor = find.by_name(look, _one(words))
        cards = find.timeline(look, anchor, call.args.number("before", 5), call.args.number("after", 5))
        if call.out.json:
            call.out.document(values.listing(row_json(card) for card in cards))
        else:
            _table(call, cards)
    return outcomes.DONE


def _show(call: Call, words: list[str]) -> int:
    if not 1 <= len(words) <= find.MAX_SHOWN:
        raise UsageError(f"Give 1 to {find.MAX_SHOWN} names.", hint="memtui obs search WORDS shows them.")
    private = _asks_for_all(call)
    with open_cards(call.engine, private=private, hidden=private, sessions=_reach(call)) as look:
        cards = list(dict.fromkeys(find.by_name(look, word) for word in words))
        logs = [call.engine.observations.log(card.name) if private else () for card in cards]
        if call.out.json:
            call.out.document(values.listing(map(_whole_json, cards, logs)))
        else:
            call.out.text("\n\n".join(map(detail, cards)) + "\n")
            for card, log in zip(cards, logs, strict=True):
                for one in log:
                    call.out.say(f"{card.word}: {one.after}, by {one.actor}. {one.reason}".strip())
    return outcomes.DONE


def _grep(call: Call, words: list[str]) -> int:
    from memtui.features.observations import tool
    from memtui.transcripts.readers import READERS

    reach, agent = _reach(call), call.args.text("agent")
    if not reach.allowed:
        raise switched_off("transcripts.keep")
    agents = [agent] if agent is not None else list(READERS)
    files = tool.open_sessions(reach, agents, now=now_ms(), newest=True)
    if call.args.need("action") == "grep":
        said = tool.grep_sessions(files, " ".join(words), call.args.number("limit", tool.DEFAULT_HITS))
    else:
        said = tool.describe_place(files, _one(words), call.args.number("limit", tool.DEFAULT_TURNS))
    if call.out.json:
        call.out.document({"text": said})
    else:
        call.out.text(f"{said}\n")
    return outcomes.DONE


def _wanted(call: Call, wanted: CardFilter) -> CardFilter:
    def time_of(name: str, usual: int) -> int:
        given = args.text(name)
        at = usual if given is None else parse_time(given, now_ms())
        if at is None:
            hint = "Write RFC 3339, a date, or an age such as 2h, 3d."
            raise UsageError(f"--{name}: {given!r} is no time.", hint=hint)
        return at

    args, kind = call.args, call.args.text("type")
    wanted = wanted._replace(since=time_of("since", wanted.since), until=time_of("until", wanted.until))
    return wanted._replace(types=(kind,) if kind else (), agent=args.text("agent") or "", file=args.text("path") or "")


def _asks_for_all(call: Call) -> bool:
    """Whether `--all` was given by a person at a terminal; raises `E_PERSON` for anybody else."""
    if not call.args.flag("all"):
        return False
    call.session.engine.redaction.require_person("see what is withheld")
    if not attended():
        raise RefusedError(
            "Only a person may see what is withheld, and there is no terminal.",
            code="E_PERSON",
            hint=f"Do it in a terminal of your own, or {_ELSEWHERE}.",
        )
    return True


def _reach(call: Call) -> SessionScope:
    return SessionScope(call.settings, call.session.surroundings)


def _one(words: list[str]) -> str:
    if len(words) != 1:
        raise UsageError("Give one name.", hint="memtui obs search WORDS shows them.")
    return words[0]


def _table(call: Call, cards: Sequence[Card], query: Query | None = None) -> None:
    letters = id_letters(cards)
    columns = (
        *(Column("NAME"), Column(""), Column("TYPE"), Column("DATE"), Column("TOKENS", "number", optional=True)),
        *(Column("TITLE", flexible=True), Column("FILE", flexible=True, names=True)),
    )
    rows = [
        (card.word[:letters], sign(card), card.type, day(card.at), card.tokens, card.title, card.address)
        for card in cards
    ]
    call.out.table(columns, rows)
    if call.out.terminal and query is not None and len(cards) == 1 and (around := snippet(cards[0], query)):
        call.out.say(around)


def sign(card: Card) -> str:
    """Return the marks of a card: first letter of its state, `d` deleted, `b` brought, `?` adrift, `*` edited."""
    state = "" if card.state == 0 else STATES[card.state][0]
    return "".join((state, "d" * card.deleted, "b" * card.brought, "?" * card.adrift, "*" * bool(card.patch)))


def row_json(card: Card, query: Query | None = None) -> Json:
    """Return a card as a JSON row."""
    row: Json = {"name": card.word, "at": rfc3339(card.at), **{name: getattr(card, name) for name in _ROW}}
    row |= {"state": STATES[card.state], "marks": sign(card)}
    return row | ({"snippet": snippet(card, query)} if query is not None else {})


def _whole_json(card: Card, log: Iterable[MarkDecision]) -> Json:
    span = [*map(int, card.span.split("-"))]
    past = [{name: getattr(decision, name) for name in _LOG} for decision in log]
    return row_json(card) | {
        "narrative": card.narrative,
        "facts": card.facts,
        "note": card.note,
        "span": span,
        "log": past,
    }


# --- deciding


def _decide(call: Call, action: str, words: list[str]) -> int:
    from memtui.features.observations import decide  # most only look, and need nothing of how cards are made

    reason = call.args.text("reason") or ""
    if action == "redact" and not reason.strip():
        raise UsageError("A redaction needs a reason.", hint="Say why with --reason.")
    if not words or (action != "mark" and len(words) > 1):
        raise UsageError(f"memtui obs {action} needs a name.", hint="memtui obs search WORDS shows them.")
    state = call.args.text("as") or ""
    if action == "mark" and state not in STATES[:REDACTED]:
        raise UsageError("Say what it is to be: --as normal, private or suppressed.")
    patch = {name: value for name in decide.PATCH_LIMITS if (value := call.args.text(name)) is not None}
    if action == "edit" and not patch:
        raise UsageError(
            "There is nothing to write.", hint="Give --title, --type or --note; an empty text takes one back."
        )
    engine, actor = call.engine, call.actor
    act, question, done = _DECIDE[action]
    question = f"{question} {state}".rstrip() if action == "mark" else question
    call.approve(act, f"{question} {', '.join(words)}?", _ELSEWHERE)
    with open_cards(engine, private=True, hidden=True, sessions=_reach(call)) as look:
        marks = [decide.decision_for(engine, look, word) for word in words]
    if action == "mark":
        done = state
        decide.set_state(engine, marks, state, actor=actor, reason=reason)
    elif action == "edit":
        decide.edit(engine, marks[0], patch, actor=actor)
    elif action == "rm":
        decide.delete(engine, marks, actor=actor, reason=reason)
    elif action == "restore":
        decide.restore(engine, marks, actor=actor, reason=reason)
    else:
        whole = decide.redact(engine, marks[0], actor=actor, reason=reason)
        _say_if_read(call, whole=whole)
        call.out.say(_REDACTED_THERE if marks[0].root else _REDACTED_SESSION)
    names = [public_id_of(mark.name) for mark in marks]
    return _done(call, {"result": done, "names": names}, *names)


def _done(call: Call, answer: Json, *names: str) -> int:
    """Print what was done: as JSON, or its result and the names of what it was done to."""
    if call.out.json:
        call.out.document(answer)
    else:
        call.out.line_of(str(answer["result"]), *names)
    return outcomes.DONE


def _say_if_read(call: Call, *, whole: bool) -> None:
    if not whole:
        call.out.say("Another process reads the cards; the next one overwrites the last bytes.")


def _promote(call: Call, words: list[str]) -> int:
    """Show the memory that a card would become, and create it after a typed yes."""
    from memtui.features.observations import decide

    act = "make a memory of an observation"
    call.engine.redaction.require_person(act)
    with open_cards(call.engine, private=attended(), sessions=_reach(call)) as look:
        card = find.by_name(look, _one(words))
    if card.brought:
        raise RefusedError(
            "Nobody reviewed the version it came with.", code="E_UNREVIEWED", hint="`memtui review` shows it."
        )
    roots = {root.id: root for root in call.engine.roots.all()}
    place = call.args.text("to") or decide.memory_place(card, roots)
    if place is None:
        raise UsageError("There is no folder to write it in.", hint="Name one with --to.")
    made = decide.plan_memory(call.engine, card, place, roots)
    for change in made.changes if not call.out.json else ():
        call.out.text(f"{change.address}:\n{change.after.decode()}\n")
    given = "It is private, and agents would be given it. " * (card.state != 0)
    call.approve(act, f"{given}Create {made.address}?", _ELSEWHERE)
    decide.write_memory(call.engine, made, actor=call.actor)
    address = str(made.address)
    return _done(call, {"result": "created", "names": [card.word], "address": address}, address)


# --- upkeep


def _status(call: Call, _: list[str]) -> int:
    block = status(call.session)
    if "total" in block and not approver(call.session.options).agent:
        from memtui.features.observations import decide

        # An agent would learn that something is withheld
        block["adrift"] = [public_id_of(mark.name) for mark in decide.adrift(call.engine)]
    if call.out.json:
        call.out.document(block)
    else:
        call.out.table((Column("WHAT"), Column("IS", wraps=True)), _status_words(block, now_ms()))
    return outcomes.DONE


def _status_words(block: Json, now: int) -> list[tuple[str, str]]:
    total, done, waiting, failed = (int(str(block[name])) for name in ("total", "processed", "pending", "failed"))
    last, lost = parse_time(str(block["last_run_at"]), now), block.get("adrift")
    rows = [
        ("memories and sessions", f"{total:,}: {done:,} have cards, {waiting:,} wait, {failed:,} failed"),
        ("last made", "now" if block["running"] else "never" if last is None else f"{age(last, now)} ago"),
        ("last failure", str(block["last_error"] or "")),
        ("cards on disk", size(int(str(block["bytes"])))),
        ("decisions whose entry is gone", ", ".join(map(str, lost)) if isinstance(lost, list) else ""),
        ("redacted", "the last bytes are overwritten at the next look" * bool(block["scrub_due"])),
    ]
    return [row for row in rows if row[1]]


def status(session: Session) -> Json:
    """Return how far deriving is, and what waits for a person."""
    engine = session.engine
    if not session.settings.value("observe.enabled"):
        return {"observing": "switched off"}
    table = engine.observations
    reach = SessionScope(session.settings, session.surroundings)
    progress = catch_up(engine, seconds=0, sessions=reach) if reach.allowed else read_progress(engine)
    with closing(generations.reader(table, agent=False) or generations.no_cards()) as reader:
        last, scrub_due = reader.meta("last_run_at"), reader.meta("scrub_due")
    return {
        **progress.counts,
        "running": state_file.is_lock_signed(table.directory, generations.LOCK),
        "last_run_at": rfc3339(last) if isinstance(last, int) else None,
        "last_error": progress.error or None,
        "generation": table.generation(),
        "bytes": generations.size(table),
        "scrub_due": bool(scrub_due),
    }


def _rebuild(call: Call, _: list[str]) -> int:
    from memtui.features.observations.find import KIND
    from memtui.features.tasks.lanes import refuse_off
    from memtui.features.tasks.verbs import run_now

    refuse_off(call.settings, KIND)
    task = run_now(call, KIND, {"rebuild": True})
    if task.error is not None:
        code, message = task.error
        raise RefusedError(message, code=code, hint="`memtui obs rebuild` goes on where it stopped.")
    result = dict(task.result or {})
    call.out.fact(result, str(result.get("summary", task.state)))
    return outcomes.DONE


def _check(call: Call, _: list[str]) -> int:
    with generations.in_use(call.engine.observations) as writer:
        wrong = "There are no cards yet." if writer is None else writer.check()
    call.out.fact({"ok": not wrong, "problem": wrong or None}, wrong or "The cards are sound.")
    for row in call.engine.rows.list().items if not call.out.json else ():
        for problem in row.problems:
            if problem.code == "open-private":
                call.out.say(f"{row.address}: {problem.text}")
    return outcomes.STORAGE if wrong else outcomes.DONE


def _clear(call: Call, _: list[str]) -> int:
    from memtui.features.observations import decide

    call.engine.history.check_settable()
    question = "Remove all cards of sessions, and what was decided about them, for good?"
    call.approve("remove cards of sessions", question, "run it there")
    count, whole = decide.clear_sessions(call.engine, now=now_ms())
    said = f"Removed {count:,} card{'s' * (count != 1)} of sessions."
    call.out.fact({"result": "cleared", "names": [], "count": count}, said)
    _say_if_read(call, whole=whole)
    return outcomes.DONE


# --- keeping a note


def observe(call: Call) -> int:
    """Add a note to the project's notes of this month."""
    from memtui.agents.known.memtui_native import notes_root
    from memtui.features.entries.model import parse

    refuse_unobserved(call)
    text = _note(call)
    now = now_ms()
    tags = _tags(call)
    head = " ".join((f"## {rfc3339(now)}", call.args.text("type") or "note", *(f"#{tag}" for tag in tags if tag)))
    entry = f"{head}\n\n{text}\n".encode()
    if len(parse(entry, "notes").entries) != 1:
        raise RefusedError(
            "A line that begins with `## ` would begin another note.", code="E_ENTRY", hint="Use `###` or a list."
        )
    root = notes_root(call.session.surroundings)
    call.engine.roots.add([root])
    address = Address(root.id, f"{strftime('%Y-%m', gmtime(now / 1_000))}.md")
    _append(call, address, entry)
    catch_up(call.engine)
    return _done(call, {"result": "observed", "address": str(address)}, str(address))


def _note(call: Call) -> str:
    """Return the masked text of the note; raises when it is empty, too big or marked as not to be kept."""
    from memtui import markers, mask

    words = call.args.texts("text")
    if words == ["-"]:
        call.args.values["source"] = "-"
        text = call.given_text().decode("utf-8", "replace")
    else:
        text = " ".join(words)
    if not text.strip():
        raise UsageError("There is no note.", hint="Write what to keep: memtui observe the pool dies at night")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_NOTE:
        raise RefusedError(
            f"A note has {MAX_NOTE:,} bytes at most.", code="E_TOO_BIG", hint="Keep it as a memory instead."
        )
    cut = markers.cut(text)
    if cut.no_memory:
        raise RefusedError("The text is marked as not to be kept.", code="E_ACCESS", hint="Take <no-memory> out of it.")
    masked = mask.mask(cut.text)
    for count, what in ((len(masked.secrets), "secret"), (len(cut.spans), "private part")):
        if count:
            call.out.say(f"Left out: {count} {what}{'s' * (count > 1)}.")
    return masked.text.strip()


def _tags(call: Call) -> list[str]:
    from memtui.features.observations.rules import clean

    given = [tag.lstrip("#") for tag in call.args.texts("tag")]
    kept = [re.sub(r"[^\w-]", "-", tag) for tag in given if clean(tag) == tag]
    kept = [tag for tag in kept if clean(tag) == tag]
    if len(kept) < len(given):
        call.out.say(f"Left out: {len(given) - len(kept)} tag{'s' * (len(given) - len(kept) > 1)} that nobody may see.")
    return kept


def _append(call: Call, address: Address, entry: bytes) -> None:
    from memtui.features.entries import model

    try:
        result = model.add(call.engine, address, entry.strip(), actor=call.actor)
    except NotFoundError:
        call.engine.memories.create(address, entry, actor=call.actor)
        return
    if isinstance(result, Conflict):
        raise ConflictError(f"{address} was written by others again and again.", hint="Try it again.")


_DOES = {
    "promote": _promote,
    "clear": _clear,
    "search": _search,
    "timeline": _timeline,
    "show": _show,
    "grep": _grep,
    "describe": _grep,
    "status": _status,
    "rebuild": _rebuild,
    "check": _check,
}
