"""memtui's own records, and the only SQL: versions, audit, pins, uses, seen marks, drafts, root identities."""

from memtui.engine.ledger.audit import MOVED, Intent, Step, Transaction
from memtui.engine.ledger.erasure import ErasingTable
from memtui.engine.ledger.memories import Record
from memtui.engine.ledger.repairs import RepairTable
from memtui.engine.ledger.reviews import ReviewTable, Trusted
from memtui.engine.ledger.usage import HALF_LIFE_MS
from memtui.engine.ledger.uses import decay
from memtui.engine.ledger.versions import Observation

__all__ = [
    "HALF_LIFE_MS",
    "MOVED",
    "Intent",
    "Ledger",
    "Observation",
    "Record",
    "Step",
    "Transaction",
    "Trusted",
    "decay",
]


class Ledger(ErasingTable, RepairTable, ReviewTable):
    """The ledger of one state folder; safe to share between threads, opened on first use."""
