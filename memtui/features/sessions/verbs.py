"""The verb `sessions`: consent, listing, reading and forgetting."""

from collections import Counter

from memtui.agents.layout import short_path
from memtui.agents.table import canonical, title_of
from memtui.engine import now_ms
from memtui.errors import UsageError
from memtui.features.sessions.shown import (
    SHORT,
    after_words,
    calls_of,
    counts_words,
    placed,
    question,
    record_consent,
    session_json,
    write_consent,
)
from memtui.features.tasks.work import ROOT
from memtui.transcripts.event import LOADED, OPENED, WRITES
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import ALL, NOT_ASKED, OFF, allowed_files, keeps_cards
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import parse_time, rfc3339


def sessions(call: Call) -> int:
    """Show or change the consent, or list, read or forget sessions."""
    asked = call.args.text("what")
    if asked == "read":
        return _read(call)
    if asked == "forget":
        return _forget(call)
    if asked == "list" or any(call.args.text(name) for name in ("agent", "since", "address")):
        return _list(call)
    settings = call.settings
    last = record_consent(call.engine, settings)
    chosen, keep = asked, call.args.text("keep") or settings.transcripts_keep
    if chosen is not None or keep != settings.transcripts_keep:
        read = {None: settings.transcripts_read, "on": ALL}.get(chosen, chosen or "")
        _change(call, read, keep)
        had, settings = keeps_cards(settings, call.session.surroundings), call.reload()
        if had and not keeps_cards(settings, call.session.surroundings):
            call.out.say(
                "Cards of sessions stay, and nobody is given them: `memtui obs clear` takes them out for good."
            )
        last = record_consent(call.engine, settings, known=True)
    found = Counter(agent for agent, _ in allowed_files(settings, call.session.surroundings))
    if call.out.json:
        call.out.document(
            {
                "read": settings.transcripts_read,
                "keep": settings.transcripts_keep,
                "since": None if last is None else rfc3339(last.at),
                "by": None if last is None else last.actor,
                "agents": [{"agent": agent, "files": found[agent]} for agent in READERS if found],
            }
        )
        return outcomes.DONE
    columns = (Column("SETTING"), Column("VALUE"), Column("SINCE", "age", optional=True), Column("BY", optional=True))
    chosen_by = (last.at, last.actor) if last else (None, None)
    keys = ("transcripts.read", "transcripts.keep")
    call.out.table(columns, [(key, str(settings.value(key)), *chosen_by) for key in keys])
    if found:
        call.out.say("Session files: " + ", ".join(f"{title_of(agent)} {found[agent]:,}" for agent in READERS) + ".")
    return outcomes.DONE


def _list(call: Call) -> int:
    engine, text, limit = call.engine, call.args.text("since"), call.args.number("limit", 200)
    since = parse_time(text, now_ms()) if text is not None else 0
    if since is None:
        raise UsageError(f"{text!r} is not a time.", hint="Write 2h, 3d, 2026-11-20 or 2026-11-20T09:30:00Z.")
    memory = None
    if (named := call.args.text("address")) is not None:
        address = engine.roots.resolve(named)
        memory = engine.roots.uid(engine.roots.find(address.root)), address.path
    agent = canonical(call.args.text("agent") or "")
    found = engine.touches.sessions(engine.roots.names(), agent=agent, since=since, memory=memory, limit=limit + 1)
    found, truncated = placed(engine, found[:limit]), len(found) > limit
    if call.out.json:
        more: Json = {} if memory is None else {"memory": dict(engine.touches.counts(*memory)._asdict())}
        call.out.document({**values.listing(map(session_json, found), truncated=truncated), **more})
        return outcomes.DONE
    home = call.session.surroundings.home
    columns = (Column("AGE", "age"), Column("AGENT"), Column("SESSION"), Column("IN", optional=True))
    counts = (Column("OPENED", "count"), Column("LOADED", "count"), Column("WROTE", "count"), Column("AFTER"))
    rows = [
        (
            *(one.ended, title_of(one.agent), one.session[:SHORT], short_path(one.cwd, home)),
            *(calls_of(one, OPENED), calls_of(one, LOADED), calls_of(one, *WRITES), after_words(one)),
        )
        for one in found
    ]
    call.out.table((*columns, *counts), rows)
    if memory is not None:
        call.out.say(counts_words(engine.touches.counts(*memory)))
    if not found:
        call.out.say("No session of an agent that used these memories is known.")
    return outcomes.DONE


def _read(call: Call) -> int:
    from memtui.features.sessions.read_touches import read_touches

    came = read_touches(call.engine, call.settings, call.session.surroundings)
    if call.out.json:
        call.out.document(
            {"files": came.files, "touches": came.touches, "skipped": dict(came.skipped), "denied": came.denied}
        )
    elif came.denied:
        why = "Nobody was asked yet whether" if came.denied == NOT_ASKED else "It is switched off that"
        call.out.say(f"{why} agents' sessions may be read: memtui sessions on")
    else:
        past = ", ".join(f"{what} {many}" for what, many in sorted(came.skipped.items()))
        call.out.say(f"{came.touches:,} uses in {came.files:,} files{f'; passed over: {past}' if past else ''}.")
    return outcomes.DONE


def _forget(call: Call) -> int:
    call.engine.history.check_settable()
    call.approve("forget agents' sessions", "Forget which session used and wrote which memory, for good?", "forget it")
    count = call.engine.touches.forget()
    if any(root.id == ROOT for root in call.engine.roots.all()):
        call.engine.history.record_setting(ROOT, f"transcripts: {count:,} uses by sessions were forgotten")
    if call.out.json:
        call.out.document({"forgotten": count})
    else:
        call.out.say(f"Forgotten: {count:,} uses. What is read from now on is kept.")
    return outcomes.DONE


def _change(call: Call, read: str, keep: str) -> None:
    """Ask a person where reading is switched on, and write the settings."""
    call.engine.history.check_settable()
    if read != OFF:
        asked = question(read, keep, call.settings.lifecycle_worker)
        call.approve("let agents' sessions be read", asked, "write it into the settings file")
    write_consent(call.settings, read, keep)


def status(session: Session) -> Json:
    """Return the consent and its date."""
    last = record_consent(session.engine, session.settings)
    since = f" since {rfc3339(last.at)}" if last is not None else ""
    return {"read": session.settings.transcripts_read + since, "keep": session.settings.transcripts_keep}
