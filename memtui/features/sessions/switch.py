"""Consent to read agents' sessions: the question, the settings, and the record of changes."""

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import AuditRecord
from memtui.features.tasks.settings import note
from memtui.transcripts.sessions import CARDS, PROJECT


def question(read: str, keep: str, worker: str) -> str:
    """Write the question to a person: what is read, what is kept, and who else gets it."""
    whose = "of this project" if read == PROJECT else "of all projects"
    kept = "places of reads and writes, and quotes of at most 200 masked characters in proposals"
    cards = "the first line you typed, what you corrected, a paragraph of the answer, plans, summaries, files, and 400 "
    cards += "characters of a failure, without secrets, for 180 days or as `observe.days` says"
    kept += f"; and cards: {cards}" if keep == CARDS else ""
    sent = f" Parts of them, without secrets, are sent to the worker {worker}." if worker != "none" else ""
    return f"Read the session files of your agents {whose} on this machine, and keep {kept}?{sent}"


def write_consent(settings: Settings, read: str, keep: str) -> None:
    """Write the answer into the settings file, leaving all else in it; raises `E_CONFIG` where it cannot be edited."""
    from memtui.clients import disk, tomlfile

    path = disk.followed(settings.config_file)
    before = disk.read(path)
    text = tomlfile.put(before.text, ("transcripts",), {"read": read, "keep": keep})
    disk.replace(path, before, text.encode(), private=True)


def record_consent(engine: Engine, settings: Settings, *, known: bool = False) -> AuditRecord | None:
    """Record a changed setting in the activity; return the newest record."""
    said = f"transcripts.read = {settings.transcripts_read}, transcripts.keep = {settings.transcripts_keep}"
    return note(engine, said, "transcripts.read = ask, transcripts.keep = places", known=known)
