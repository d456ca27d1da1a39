"""Feature entry: approvals."""

from memtui.features.feature import Feature

FEATURE = Feature(
    begins="memtui.features.approvals.team:begin",
    chat={"approve": "memtui.features.approvals.decide:approve", "deny": "memtui.features.approvals.decide:deny"},
)
