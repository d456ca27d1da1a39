"""State of budgets: windows by local date, which apply, what a whole team spent, and one alert for each threshold.

Only real numbers decline; an estimate warns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

from memtui.config.named import NamedEntry
from memtui.config.read import local_zone
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.database import new_id
from memtui.engine.ledger.schedules import Spent
from memtui.errors import RefusedError
from memtui.features.delivery.outbox import queue
from memtui.features.tasks.work import StandingRow
from memtui.features.team.postgres import TeamServer, membership, tolerate_outage
from memtui.ui.draw.text import full

ORG, JOBS = "org", "jobs"
THRESHOLDS = (75, 95)


class BudgetState(NamedTuple):
    """The state of one budget."""

    key: str
    limit: int
    spent: Spent
    begin: int
    end: int
    """Begin and end of its window in milliseconds."""

    @property
    def spent_up(self) -> bool:
        """Whether real numbers reached its limit."""
        return self.spent.real >= self.limit

    @property
    def share(self) -> int:
        """Per cent used, estimates included."""
        return 100 * (self.spent.real + self.spent.estimate) // self.limit


class Admission(NamedTuple):
    """Whether a prompt or job may begin."""

    allowed: bool
    """No budget is spent by real numbers."""
    advisory: bool
    """A budget is spent only when estimates count."""
    states: tuple[BudgetState, ...]
    warnings: tuple[str, ...]


def keys_of(settings: Settings, channel: str = "", *, job: bool = False) -> tuple[str, ...]:
    """Return the budgets that apply to a channel or a job: its own and `org`, where the settings have them."""
    known = settings.entries("budgets")
    own = JOBS if job else f"channel:{channel}"
    has = own in known or (bool(channel) and "channel:*" in known)
    return (*((own,) if has else ()), *((ORG,) if ORG in known else ()))


def _entry(settings: Settings, key: str) -> NamedEntry:
    known = settings.entries("budgets")
    return known.get(key) or known["channel:*"]


def window(entry: NamedEntry, now: int) -> tuple[int, int]:
    """Return the window around a time in milliseconds: a local day or month."""
    zone = ZoneInfo(entry.text("zone") or local_zone())
    day = datetime.fromtimestamp(now / 1_000, zone).date()
    first = day.replace(day=1) if entry.text("window") == "month" else day
    last = (first + timedelta(days=32)).replace(day=1) if entry.text("window") == "month" else first + timedelta(days=1)
    begin, end = (round(datetime.combine(one, time(), zone).timestamp() * 1_000) for one in (first, last))
    return begin, end


def shared(settings: Settings, key: str) -> bool:
    """Return whether the team shares a budget."""
    return bool(settings.team_url) and (key == ORG or _entry(settings, key).flag("team"))


def state(engine: Engine, settings: Settings, key: str, *, ask: bool = False) -> BudgetState:
    """Return the state of a budget; for a shared one, `ask` queries the server instead of its last answer."""
    entry = _entry(settings, key)
    begin, end = window(entry, engine.spend.clock())
    if shared(settings, key):
        spent = _team_spent(engine, settings, key, (begin, end), ask=ask)
    else:
        spent = engine.spend.spent(key, begin, end)
    return BudgetState(key, entry.number("limit"), spent, begin, end)


def states(engine: Engine, settings: Settings, *, ask: bool = False) -> tuple[BudgetState, ...]:
    """Return the state of every named budget."""
    names = [name for name in settings.entries("budgets") if name != "channel:*"]
    return tuple(state(engine, settings, name, ask=ask) for name in names)


def debit(engine: Engine, keys: Sequence[str], ref: str, tokens: int, *, real: bool, at: int | None = None) -> bool:
    """Record tokens for budgets, once for each `ref`; return whether anything was new."""
    when = engine.spend.clock() if at is None else at
    new = [engine.spend.debit(key, ref, tokens, real=real, at=when) for key in keys]
    return any(new)


def admit(engine: Engine, settings: Settings, channel: str = "", *, job: bool = False, lane: str = "") -> Admission:
    """Decide whether a prompt or a job may begin, and send due alerts."""
    states = tuple(state(engine, settings, key, ask=True) for key in keys_of(settings, channel, job=job))
    warnings = [f"{one.key}: {budget_words(one)}" for one in states if one.share >= THRESHOLDS[0]]
    for one in states:
        _alert(engine, settings, one, lane)
    allowed = not any(one.spent_up for one in states)
    guessed = any(one.spent.real + one.spent.estimate >= one.limit for one in states)
    return Admission(allowed, allowed and guessed, states, tuple(warnings))


def budget_words(one: BudgetState) -> str:
    """Write the state of a budget: `162,000 real + 9,000 estimated of 200,000 tokens`."""
    guess = f" + {one.spent.estimate:,} estimated" if one.spent.estimate else ""
    return f"{one.spent.real:,} real{guess} of {one.limit:,} tokens"


def _alert(engine: Engine, settings: Settings, one: BudgetState, lane: str) -> None:
    """Queue an alert for the highest threshold reached, once in a window."""
    target = _entry(settings, one.key).text("alert")
    reached = [threshold for threshold in THRESHOLDS if one.share >= threshold]
    if not reached or not target or not lane:
        return
    cause = f"budget:{one.key}:{one.begin}:{reached[-1]}"

    def tell() -> bool:
        text = f"The budget {one.key} is at {one.share} %: {budget_words(one)}."
        queue(engine, settings, target, cause, "budget", text, workspace=lane, client="lifecycle:budget")
        return True

    def once() -> bool | None:
        return engine.claims.once(f"alert:{cause}", tell)

    if not shared(settings, one.key):
        once()
    elif engine.claims.get(f"alert:{cause}") is None:
        _alert_once(engine, settings, f"alert:{cause}", once)


def refusal(states: Iterable[BudgetState]) -> RefusedError:
    """Make the error for a spent budget, with its end and how to raise it."""
    spent = [one for one in states if one.spent_up]
    until = datetime.fromtimestamp(max(one.end for one in spent) / 1_000, ZoneInfo("UTC"))
    return RefusedError(
        f"The budget {spent[0].key} is spent: {budget_words(spent[0])}, until {until:%Y-%m-%d %H:%M} UTC.",
        code="E_BUDGET",
        unharmed="Memories can be read and written as ever.",
        hint=f'Raise limit in [budgets."{spent[0].key}"], or `memtui budget reset {spent[0].key}`.',
    )


# --- budgets of a team

_AT_ONCE = 500


def _send_debits(engine: Engine, settings: Settings, key: str) -> TeamServer | None:
    """Send new debits of a budget; return None where this ledger did not join. Raises as the server does."""
    found = membership(engine, settings)
    while found is not None and (new := engine.spend.unsent(key, _AT_ONCE)):
        found[0].call("debit", json.dumps([one._asdict() for one in new]))
        engine.spend.sent(new)
    return found[0] if found is not None else None


def _team_spent(engine: Engine, settings: Settings, key: str, window: tuple[int, int], *, ask: bool) -> Spent:
    """Return what the team spent in a window.

    While the server is away its last answer counts, with the share of others as an estimate.
    """
    own, claim, known = engine.spend.spent(key, *window), f"spent:{key}:{window[0]}", not ask
    if ask and not engine.roots.read_only:
        with tolerate_outage(engine):
            server = _send_debits(engine, settings, key)
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


def _alert_once(engine: Engine, settings: Settings, cause: str, queue: Callable[[], object]) -> None:
    """Queue an alert on the one machine of the team that claims it first."""
    with tolerate_outage(engine):
        found, holder = membership(engine, settings), new_id()
        fence = found[0].value("take", cause, holder, "") if found is not None else 0
        if fence is not None:
            queue()
        if found is not None and fence is not None:
            found[0].value("finish", cause, holder, fence, "ok")


# --- rows of the list of tasks

_SHOWN = 100
"""Debits listed beside a budget."""


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield a row for every named budget; shared ones as of the server's last answer."""
    del lane
    for one in states(engine, settings):
        near = one.share >= THRESHOLDS[0]
        how = ("spent", "problem") if one.spent_up else ("near", "warning") if near else ("ok", "good")
        yield StandingRow("Budgets", one.key, *how, _short(one), one.end, partial(_shown, one))


def _short(one: BudgetState) -> str:
    guess = f" + {one.spent.estimate:,} estimated" if one.spent.estimate else ""
    return f"{one.share} % of {one.limit:,}: {one.spent.real:,}{guess}"


def _shown(one: BudgetState, engine: Engine) -> Iterator[tuple[str, str]]:
    yield "Spent", f"{budget_words(one)}, {one.share} %"
    yield "Resets", full(one.end)
    if one.spent_up:
        why = refusal((one,))
        yield "Why", f"{why.message} {why.unharmed}"
        yield "To do", why.hint
    for each in engine.spend.newest(one.key, one.begin, one.end, _SHOWN):
        guess = "" if each.real else ", estimated"
        yield "Used", f"{each.amount:>9,}{guess}  {full(each.at)}  {each.ref.replace(':', ' ', 1)}"
