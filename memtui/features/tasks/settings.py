"""When the settings that let texts leave memtui or be changed unasked were last changed.

People edit the settings file, so a new value is recorded when it is first seen.
"""

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Address, AuditRecord
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

ROOT = "memtui:global"
"""Root that stands for all of memtui in the audit."""
KEYS = ("lifecycle.worker", "lifecycle.apply")
_LOOKED_AT = 1_000


def note(engine: Engine, said: str, usual: str, *, known: bool = False) -> AuditRecord | None:
    """Record a value that differs from the last record or the default; return its record, None for the default."""
    if not any(root.id == ROOT for root in engine.roots.all()):
        return None
    last = _recorded(engine, said)
    if engine.roots.read_only or f"{usual if last is None else last.note},".startswith(f"{said},"):
        return last
    engine.history.record_setting(ROOT, said, known=known)
    return _recorded(engine, said)


def _recorded(engine: Engine, said: str) -> AuditRecord | None:
    key = said.partition("=")[0]
    records = engine.history.audit(address=Address(ROOT, ""), limit=_LOOKED_AT)
    return next((one for one in records if one.operation == "setting" and one.note.startswith(key)), None)


def noted(engine: Engine, settings: Settings) -> Json:
    """Record worker and standing rules; return each value with the time it was first seen."""
    found: Json = {}
    for key in KEYS:
        value = settings.value(key)
        words = " and ".join(value) or "none" if isinstance(value, tuple) else str(value)
        last = note(engine, f"{key} = {words}", f"{key} = none")
        found[key] = words if last is None else f"{words} since {rfc3339(last.at)}"
    return found
