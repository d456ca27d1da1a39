"""Whether agents' session files are read: shown, asked for, written into the settings, and in the activity."""

from collections import Counter

from memtui.agents.table import title_of
from memtui.clients import disk, tomlfile
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import AuditRecord
from memtui.features.tasks.settings import note
from memtui.transcripts.sessions import ALL, CARDS, OFF, PROJECT, READERS, allowed_files
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def sessions(call: Call) -> int:
    """Show the switch, or change it."""
    settings = call.settings
    last = _noted(call.engine, settings)
    chosen, keep = call.args.text("read"), call.args.text("keep") or settings.transcripts_keep
    if chosen is not None or keep != settings.transcripts_keep:
        read = {None: settings.transcripts_read, "on": ALL}.get(chosen, chosen or "")
        _change(call, read, keep)
        settings = call.reload()
        last = _noted(call.engine, settings, known=True)
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


def _change(call: Call, read: str, keep: str) -> None:
    """Ask where something is to be read, and write the answer; all else in the settings file stays as it is.

    Raises:
        RefusedError: `E_PERSON`, `E_READ_ONLY`.
        UsageError: `E_CONFIG`: the table is written in a way that cannot be changed line by line.
        MemtuiError: the file cannot be written, or changed meanwhile.
    """
    call.engine.history.check_settable()
    if read != OFF:
        asked = question(read, keep, call.settings.lifecycle_worker)
        call.approve("let agents' sessions be read", asked, "write it into the settings file")
    path = disk.followed(call.settings.config_file)
    before = disk.read(path)
    text = tomlfile.put(before.text, ("transcripts",), {"read": read, "keep": keep})
    disk.replace(path, before, text.encode(), private=True)


def question(read: str, keep: str, worker: str) -> str:
    """What a person is asked before anything is read: both uses, what is kept of what is read, and who else gets it."""
    whose = "of this project" if read == PROJECT else "of all projects"
    kept = "places of reads and writes, and quotes of at most 200 masked characters in proposals"
    kept += ", and cards of what was observed" if keep == CARDS else ""
    sent = f" Parts of them, without secrets, are sent to the worker {worker}." if worker != "none" else ""
    return f"Read the session files of your agents {whose} on this machine, and keep {kept}?{sent}"


def _noted(engine: Engine, settings: Settings, *, known: bool = False) -> AuditRecord | None:
    said = f"transcripts.read = {settings.transcripts_read}, transcripts.keep = {settings.transcripts_keep}"
    return note(engine, said, "transcripts.read = ask, transcripts.keep = places", known=known)


def status(session: Session) -> Json:
    """Say what is allowed, and since when."""
    last = _noted(session.engine, session.settings)
    since = f" since {rfc3339(last.at)}" if last is not None else ""
    return {"read": session.settings.transcripts_read + since, "keep": session.settings.transcripts_keep}
