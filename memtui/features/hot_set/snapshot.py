"""What one client session was given: fixed at its start, so that a model's prompt cache holds while memories change.

A context that followed every write would be paid for anew with each of them. It is built again only when that is asked
for: at the start of a session, when its context was compacted, or when the user says so.
"""

import threading

from memtui.engine import Engine
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.model import Budgets, Context


class Snapshot:
    """The context of one session; safe to share between threads."""

    def __init__(self, engine: Engine, *, budgets: Budgets = Budgets()) -> None:  # noqa: B008
        """Remember what to build from; nothing is built before it is asked for."""
        self._engine = engine
        self._budgets = budgets
        self._guard = threading.Lock()
        self._taken: Context | None = None

    @property
    def context(self) -> Context:
        """What the session was given: built at the first call, and the same value from then on."""
        with self._guard:
            if self._taken is None:
                self._taken = build(self._engine, budgets=self._budgets)
            return self._taken

    def renew(self) -> bool:
        """Build it again from the memories as they are now.

        Returns:
            Whether a client is given other bytes than before.
        """
        with self._guard:
            before, self._taken = self._taken, build(self._engine, budgets=self._budgets)
            return before is None or before.text != self._taken.text
