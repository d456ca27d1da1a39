"""What an agent is given without asking: an index and a hot set, within budgets, byte for byte stable.

It exists so that no front chooses, cuts or escapes for itself what a model is told unasked.
"""

from memtui.features.hot_set.assemble import PARTS, build, forget, would_be
from memtui.features.hot_set.model import AbandonedError, Budgets, Context
from memtui.features.hot_set.snapshot import Snapshot

__all__ = ["PARTS", "AbandonedError", "Budgets", "Context", "Snapshot", "build", "forget", "would_be"]
