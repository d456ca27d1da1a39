"""Spending of a whole team, synchronized with its server.

Apart so that only shared budgets load it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.database import new_id
from memtui.engine.ledger.spend import Spent
from memtui.features.team.postgres import TeamServer
from memtui.features.team.store import membership, tolerate_outage

_AT_ONCE = 500


def send_debits(engine: Engine, settings: Settings, key: str) -> TeamServer | None:
    """Send new debits of a budget; return None where this ledger did not join. Raises as the server does."""
    found = membership(engine, settings)
    while found is not None and (new := engine.spend.unsent(key, _AT_ONCE)):
        found[0].call("debit", json.dumps([one._asdict() for one in new]))
        engine.spend.sent(new)
    return found[0] if found is not None else None


def team_spent(engine: Engine, settings: Settings, key: str, window: tuple[int, int], *, ask: bool) -> Spent:
    """Return what the team spent in a window.

    While the server is away its last answer counts, with the share of others as an estimate.
    """
    own, claim, known = engine.spend.spent(key, *window), f"spent:{key}:{window[0]}", not ask
    if ask and not engine.roots.read_only:
        with tolerate_outage(engine):
            server = send_debits(engine, settings, key)
            if server is None:
                return own
            ((real, guess),) = server.call("spent", key, *window)
            engine.claims.once(claim, bool)
            engine.claims.mark(claim, f"{real} {guess}")
            known = True
    last = engine.claims.get(claim)
    if last is None or not last.state:
        return own
    real, guess = map(int, last.state.split())
    return Spent(real, guess) if known else Spent(own.real, max(real + guess - own.real, own.estimate))


def alert_once(engine: Engine, settings: Settings, cause: str, queue: Callable[[], object]) -> None:
    """Queue an alert on the one machine of the team that claims it first."""
    with tolerate_outage(engine):
        found, holder = membership(engine, settings), new_id()
        fence = found[0].value("take", cause, holder, "") if found is not None else 0
        if fence is not None:
            queue()
        if found is not None and fence is not None:
            found[0].value("finish", cause, holder, fence, "ok")
