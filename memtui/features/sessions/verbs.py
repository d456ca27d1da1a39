"""Whether agents' session files are read, shown and changed on the command line."""

from collections import Counter

from memtui.agents.table import title_of
from memtui.features.sessions import choice
from memtui.transcripts.consent import ALL, OFF, allowed_files
from memtui.transcripts.sessions import READERS
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def sessions(call: Call) -> int:
    """Show the switch, or change it."""
    settings = call.settings
    choice.note(call.engine, settings, known=False)
    chosen, keep = call.args.text("read"), call.args.text("keep") or settings.transcripts_keep
    if chosen is not None or keep != settings.transcripts_keep:
        read = {None: settings.transcripts_read, "on": ALL}.get(chosen, chosen or "")
        _change(call, read, keep)
        settings = call.reload()
        choice.note(call.engine, settings, known=True)
    found = Counter(agent for agent, _ in allowed_files(settings, call.session.surroundings))
    last = choice.recorded(call.engine)
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
    call.out.table(
        (Column("SETTING"), Column("VALUE"), Column("SINCE", "age", optional=True), Column("BY", optional=True)),
        [
            (name, value, last.at if last else None, last.actor if last else None)
            for name, value in (
                ("transcripts.read", settings.transcripts_read),
                ("transcripts.keep", settings.transcripts_keep),
            )
        ],
    )
    if found:
        call.out.say("Session files: " + ", ".join(f"{title_of(agent)} {found[agent]:,}" for agent in READERS) + ".")
    return outcomes.DONE


def _change(call: Call, read: str, keep: str) -> None:
    """Ask where something is to be read, and write the answer.

    Raises:
        RefusedError: `E_PERSON`, `E_READ_ONLY`.
    """
    call.engine.history.check_settable()
    if read != OFF:
        call.approve(
            "let agents' sessions be read",
            choice.question(read, keep, call.settings.lifecycle_worker),
            "write it into the settings file",
        )
    choice.write(call.settings, read, keep)


def status(session: Session) -> Json:
    """Say what is allowed, and since when."""
    settings, engine = session.settings, session.engine
    choice.note(engine, settings, known=False)
    last = choice.recorded(engine)
    since = f" since {rfc3339(last.at)}" if last is not None else ""
    return {"read": settings.transcripts_read + since, "keep": settings.transcripts_keep}
