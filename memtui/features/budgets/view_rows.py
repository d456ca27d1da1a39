"""Rows of the task list for budgets: what is spent, until when, for what, and how to raise it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.features.budgets.limits import THRESHOLDS, Admission, BudgetState, budget_words, refusal, states
from memtui.features.tasks.view_rows import StandingRow
from memtui.ui.draw.times import full

_SHOWN = 100
"""Debits listed beside a budget."""


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield a row for every named budget; shared ones as of the server's last answer."""
    del lane
    for one in states(engine, settings):
        near = one.share >= THRESHOLDS[0]
        how = ("spent", "problem") if _spent(one) else ("near", "warning") if near else ("ok", "good")
        yield StandingRow("Budgets", one.key, *how, _short(one), one.end, partial(_shown, one))


def _short(one: BudgetState) -> str:
    guess = f" + {one.spent.estimate:,} estimated" if one.spent.estimate else ""
    return f"{one.share} % of {one.limit:,}: {one.spent.real:,}{guess}"


def _spent(one: BudgetState) -> bool:
    return one.spent.real >= one.limit


def _shown(one: BudgetState, engine: Engine) -> Iterator[tuple[str, str]]:
    yield "Spent", f"{budget_words(one)}, {one.share} %"
    yield "Resets", full(one.end)
    if _spent(one):
        why = refusal(Admission(allowed=False, advisory=False, states=(one,), warnings=()))
        yield "Why", f"{why.message} {why.unharmed}"
        yield "To do", why.hint
    for each in engine.spend.newest(one.key, one.begin, one.end, _SHOWN):
        guess = "" if each.real else ", estimated"
        yield "Used", f"{each.amount:>9,}{guess}  {full(each.at)}  {each.ref.replace(':', ' ', 1)}"
