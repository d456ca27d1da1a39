"""Status of budgets for `memtui status` and the prompt, apart so that where there are none no accounting is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.wire.outcomes import Json
from memtui.wire.session import Session

if TYPE_CHECKING:
    from memtui.features.budgets.limits import BudgetState


def status(session: Session) -> Json:
    """Return the status of budgets; empty where there are none."""
    if not (found := _states(session)):
        return {}
    from memtui.features.budgets.limits import budget_words

    return {"budgets": len(found), "over 75 %": [f"{one.key}: {budget_words(one)}" for one in found if one.share >= 75]}


def short(session: Session) -> str:
    """Count the budgets over 95 per cent: `B2`."""
    count = sum(one.share >= 95 for one in _states(session))
    return f"B{count}" if count else ""


def _states(session: Session) -> tuple[BudgetState, ...]:
    if not session.settings.entries("budgets"):
        return ()
    from memtui.features.budgets.limits import states

    return states(session.engine, session.settings)
