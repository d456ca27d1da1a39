"""Since when the settings are as they are that let texts leave memtui or be changed unasked.

They are in a file that people change by hand, so a value that nobody recorded is recorded when it is seen.
It is apart so that whoever only works a lane off can record them.
"""

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Address, AuditRecord
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

ROOT = "memtui:global"
"""The root that stands for all of memtui in the activity."""
KEYS = ("lifecycle.worker", "lifecycle.apply")
_LOOKED_AT = 1_000


def note(engine: Engine, settings: Settings) -> Json:
    """Record the values that are others than were recorded last, and say each with its time.

    Returns:
        By the key of the setting its value, with the time it was first seen; a value that nobody ever changed has none.
    """
    if not any(root.id == ROOT for root in engine.roots.all()):
        return {key: _words(settings, key) for key in KEYS}
    for key, last in _recorded(engine).items():
        known = f"{key} = none" if last is None else last.note
        if known != f"{key} = {_words(settings, key)}" and not engine.roots.read_only:
            engine.history.record_setting(ROOT, f"{key} = {_words(settings, key)}", known=False)
    found = _recorded(engine)
    since = {key: "" if last is None else f" since {rfc3339(last.at)}" for key, last in found.items()}
    return {key: _words(settings, key) + since[key] for key in KEYS}


def _words(settings: Settings, key: str) -> str:
    value = settings.value(key)
    return ", ".join(value) or "none" if isinstance(value, tuple) else str(value)


def _recorded(engine: Engine) -> dict[str, AuditRecord | None]:
    """The last record of each setting."""
    records = engine.history.audit(address=Address(ROOT, ""), limit=_LOOKED_AT)
    noted = [one for one in records if one.operation == "setting"]
    return {key: next((one for one in noted if one.note.startswith(f"{key} = ")), None) for key in KEYS}
