"""The answer to whether agents' session files are read: asked for, written into the settings, and in the activity.

The settings are a file that people change by hand as well, so that a value nobody recorded is recorded when it is seen.
"""

from memtui.clients import disk, tomlfile
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Address, AuditRecord
from memtui.transcripts.consent import CARDS, PROJECT

ROOT = "memtui:global"
"""The root that stands for all of memtui in the activity."""
_LOOKED_AT = 1_000


def question(read: str, keep: str, worker: str) -> str:
    """What a person is asked before anything is read: both uses, what is kept of what is read, and who else gets it."""
    whose = "of this project" if read == PROJECT else "of all projects"
    kept = "places of reads and writes, and quotes of at most 200 masked characters in proposals"
    kept += ", and cards of what was observed" if keep == CARDS else ""
    sent = f" Parts of them, without secrets, are sent to the worker {worker}." if worker != "none" else ""
    return f"Read the session files of your agents {whose} on this machine, and keep {kept}?{sent}"


def said(settings: Settings) -> str:
    """The value as the activity has it."""
    return f"transcripts.read = {settings.transcripts_read}, transcripts.keep = {settings.transcripts_keep}"


def write(settings: Settings, read: str, keep: str) -> None:
    """Write the answer into the settings file; all else in it stays as it is.

    Raises:
        UsageError: `E_CONFIG`: the table is written in a way that cannot be changed line by line.
        MemtuiError: the file cannot be written, or changed meanwhile.
    """
    path = disk.followed(settings.config_file)
    before = disk.read(path)
    text = tomlfile.put(before.text, ("transcripts",), {"read": read, "keep": keep})
    disk.replace(path, before, text.encode(), private=True)


def note(engine: Engine, settings: Settings, *, known: bool) -> None:
    """Record the value of the switch when it is another one than was recorded last; see `History.record_setting`."""
    last = recorded(engine)
    before = "transcripts.read = ask, transcripts.keep = places" if last is None else last.note
    if not engine.roots.read_only and not f"{before},".startswith(f"{said(settings)},"):
        engine.history.record_setting(ROOT, said(settings), known=known)


def recorded(engine: Engine) -> AuditRecord | None:
    """The record of the value that was chosen last; None when none ever was."""
    records = engine.history.audit(address=Address(ROOT, ""), limit=_LOOKED_AT)
    chosen = (one for one in records if one.operation == "setting" and one.note.startswith("transcripts."))
    return next(chosen, None)
