"""Budgets: real numbers decline, estimates warn, each debit counts once, and windows are local days and months."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.named import NamedEntry
from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.errors import UsageError
from memtui.features.budgets.limits import admit, debit, keys_of, refusal, window
from memtui.features.budgets.verbs import begin, collect
from memtui.wire.session import Options, Session, open_session
from memtui.wire.times import rfc3339
from tests.cli.conftest import Cli, Person
from tests.conftest import START, Clock

CONFIG = """
[transcripts]
read = "all"
[budgets.org]
limit = 1000
unit = "tokens"
window = "month"
[budgets."channel:*"]
limit = 200
unit = "tokens"
window = "day"
alert = "ops"
[budgets.jobs]
limit = 50
unit = "tokens"
window = "day"
[delivery.ops]
kind = "webhook"
url = "https://hooks.example.org/memtui"
"""


@pytest.fixture
def session(clock: Clock, config: Path) -> Iterator[Session]:
    config.write_text(CONFIG)
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    engine = Engine.open(found.roots, state_dir=found.settings.state_dir, clock=clock)
    yield found._replace(engine=engine)
    engine.close()


def now(session: Session) -> Settings:
    return load_settings(read_environment())


def use(session: Session, tokens: int, ref: str, *, real: bool = True, channel: str = "eng") -> bool:
    return debit(session.engine, keys_of(now(session), channel), ref, tokens, real=real)


def allowed(session: Session, channel: str = "eng") -> tuple[bool, bool]:
    found = admit(session.engine, now(session), channel, lane="here")
    return found.allowed, found.advisory


def test_a_debit_counts_once_and_a_real_number_replaces_its_estimate(session: Session) -> None:
    assert [use(session, 40, "a", real=False), use(session, 40, "a", real=False)] == [True, False]
    assert [use(session, 70, "a"), use(session, 70, "a"), use(session, 10, "a", real=False)] == [True, False, False]
    (room, org) = admit(session.engine, now(session), "eng").states
    assert (room.key, room.spent, org.key, org.spent) == ("channel:eng", (70, 0), "org", (70, 0))
    for wrong in (-1, 10**30):
        with pytest.raises(UsageError):
            use(session, wrong, "b")


def test_only_real_numbers_decline_and_both_budgets_must_pass(session: Session) -> None:
    use(session, 10_000_000, "guess", real=False)
    assert allowed(session) == (True, True)
    use(session, 199, "a", channel="other")
    assert allowed(session, "other")[0]
    use(session, 1, "b", channel="other")
    assert (allowed(session, "other")[0], allowed(session)[0]) == (False, True)
    said = refusal(admit(session.engine, now(session), "other").states)
    use(session, 800, "c", channel="third")
    assert not allowed(session)[0], "org is spent"
    assert (said.code, "until 2026-01-02 00:00" in said.message, "Raise limit" in said.hint) == ("E_BUDGET", True, True)


def test_one_alert_at_a_threshold_however_many_ask(session: Session) -> None:
    for tokens, alerts in ((100, 0), (60, 1), (1, 1), (35, 2), (100, 2)):
        use(session, tokens, f"r{tokens}")
        for _ in range(8):
            admit(session.engine, now(session), "eng", lane="here")
        assert len(session.engine.tasks.all("here")) == alerts, tokens


def test_a_day_that_is_over_begins_anew_and_a_clock_set_back_does_not_count_twice(
    session: Session, clock: Clock
) -> None:
    clock.advance(seconds=86_000)
    use(session, 200, "a")
    assert not allowed(session)[0]
    clock.advance(seconds=800)
    assert allowed(session)[0]
    use(session, 10, "b")
    clock.advance(seconds=-800)
    assert not allowed(session)[0]
    assert admit(session.engine, now(session), "eng").states[0].spent.real == 200


@given(st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu"]), st.integers(0, 400 * 24), st.booleans())
def test_every_time_is_in_its_window_which_begins_at_midnight(zone: str, hours: int, month: bool) -> None:
    entry = NamedEntry("budgets", "org", (("window", "month" if month else "day"), ("zone", zone)))
    at = START + hours * 3_600_000
    first, last = window(entry, at)
    begun = datetime.fromtimestamp(first / 1_000, ZoneInfo(zone))
    assert first <= at < last
    assert (begun.hour, begun.minute, begun.day == 1 or not month) == (0, 0, True)
    assert window(entry, last)[0] == last, "the next one begins where it ends"


def test_what_session_files_say_is_counted_once(session: Session, clock: Clock, home: Path, tmp_path: Path) -> None:
    cwd = str((tmp_path / "work").resolve())
    folder = home / ".claude/projects" / cwd.replace("/", "-")
    folder.mkdir(parents=True)
    clock.now = round(folder.stat().st_mtime * 1_000) + 60_000  # files of a test are written now
    written = rfc3339(clock.now - 60_000)
    used = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 3}
    lines = [
        {
            "type": "assistant", "uuid": f"u{n}", "sessionId": "s", "cwd": cwd, "timestamp": written,
            "message": {"id": f"m{n // 2}", "role": "assistant", "content": [], "usage": usage},
        }
        for n, usage in enumerate([used, used, used, {"input_tokens": "9", "output_tokens": -1}, {}])
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "s.jsonl").write_text(text + "{broken\n")
    (folder / "fork.jsonl").write_text(text)
    place = session.surroundings
    for number in range(2):
        assert collect(session.engine, now(session), place) == (2 if number == 0 else 0)
    assert session.engine.spend.spent("org", 0, 10**15) == (246, 0)
    begin(session, now(session))


def test_the_command_line_declines_and_a_person_begins_anew(
    cli: Cli, config: Path, person: Person, session: Session
) -> None:
    config.write_text(CONFIG.replace("limit = 200", "limit = 20"))
    assert cli("budget", "debit", "--job", "--in", "30", "--out", "25", "--ref", "x").status == 0
    assert cli("budget", "debit", "--job", "--in", "30", "--out", "25", "--ref", "x").out.strip() == "nothing new"
    assert cli("budget", "admit", "--job", "--json").json["allowed"] is False
    declined = cli("budget", "admit", "--job")
    assert (declined.status, "E_BUDGET" in declined.err) == (5, True)
    assert cli("budget", "reset", "jobs", "--reason", "a test").status == 5
    person("yes\n")
    assert cli("budget", "reset", "jobs", "--reason", "a test").status == 0
    assert cli("budget", "admit", "--job", "--json").json["allowed"] is True
    rows = {one["budget"]: one["spent_real"] for one in cli("budget", "--json").items}
    assert rows == {"org": 55, "jobs": 0}
