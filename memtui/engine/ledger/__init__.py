"""memtui's own records, and the only SQL: versions, audit, pins, uses, seen marks, drafts, root identities."""

from memtui.engine.ledger.audit import MOVED, AuditStep, OpenIntent, UndoTransaction
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import Record
from memtui.engine.ledger.roots import Trusted
from memtui.engine.ledger.usage import HALF_LIFE_MS, decay
from memtui.engine.ledger.versions import Observation

__all__ = [
    "HALF_LIFE_MS",
    "MOVED",
    "AuditStep",
    "Ledger",
    "Observation",
    "OpenIntent",
    "Record",
    "Trusted",
    "UndoTransaction",
    "decay",
]
