"""How budgets are, for `memtui status` and a prompt, which load how they are counted only where there are some."""

from memtui.wire.outcomes import Json
from memtui.wire.session import Session


def status(session: Session) -> Json:
    """How budgets are; nothing where there are none."""
    if not session.settings.entries("budgets"):
        return {}
    from memtui.features.budgets.limits import budget_words, states

    found = states(session.engine, session.settings)
    near = [f"{one.key}: {budget_words(one)}" for one in found if one.share >= 75]
    return {"budgets": len(found), "over 75 %": near} if found else {}


def short(session: Session) -> str:
    """Say that a budget is over 95 per cent: `B2`."""
    if not session.settings.entries("budgets"):
        return ""
    from memtui.features.budgets.limits import states

    count = sum(one.share >= 95 for one in states(session.engine, session.settings))
    return f"B{count}" if count else ""
