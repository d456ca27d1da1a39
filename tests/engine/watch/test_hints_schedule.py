"""Looks come soon after a hint, together in a burst, seldom when they are dear, and always in the end."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.look.root_pass import Glance
from memtui.engine.watch.hints import AWAY_MS, FEW, FOCUSED_MS, LONGEST_MS, POLLING_MS, QUIET_MS, Schedule

ROOTS = ["r", "s"]
EVERYTHING = {"r": Glance(), "s": Glance()}


def started(now: int = 0, *, took: int = 1) -> Schedule:
    """An agenda whose first scan is over."""
    agenda = Schedule(now)
    assert agenda.take(now, ROOTS) == EVERYTHING
    agenda.looked(EVERYTHING, now, now + took, found=False)
    return agenda


def names(glances: Mapping[str, Glance]) -> dict[tuple[str, str], set[str]]:
    """The names to be looked at, by root and folder."""
    return {
        (root_id, folder): set(some) for root_id, glance in glances.items() for folder, some in glance.names.items()
    }


def test_nothing_to_look_at_is_no_busy_waiting() -> None:
    agenda = Schedule(0)
    assert agenda.take(0, []) == {}
    assert agenda.next() >= FOCUSED_MS * 0.9


def test_a_hinted_name_is_looked_at_at_once_and_its_folder_after_quiet() -> None:
    agenda = started()
    agenda.hint("r", "sub", "a.md", 100)
    assert agenda.next() <= 100
    assert names(agenda.take(100, ROOTS)) == {("r", "sub"): {"a.md"}}
    assert agenda.next() == 100 + QUIET_MS
    glances = agenda.take(100 + QUIET_MS, ROOTS)
    assert glances == {"r": Glance(everything=False, folders=frozenset({"sub"}))}
    assert agenda.next() > 1_000


def test_a_folder_that_never_rests_is_listed_all_the_same() -> None:
    agenda = started()
    now = 100
    while now < 100 + LONGEST_MS:
        agenda.hint("r", "", "hot.md", now)
        assert not any(glance.folders for glance in agenda.take(now, ROOTS).values())
        now += 50
    agenda.hint("r", "", "hot.md", now)
    assert agenda.take(now, ROOTS)["r"].folders == {""}


def test_a_folder_watched_late_is_listed_at_once() -> None:
    agenda = started()
    agenda.list([("r", "new")], 100)
    assert agenda.take(100, ROOTS) == {"r": Glance(everything=False, folders=frozenset({"new"}))}


@pytest.mark.parametrize(
    ("focused", "polling", "took", "least", "most"),
    [
        (True, False, 1, FOCUSED_MS * 0.9, FOCUSED_MS),
        (False, False, 1, AWAY_MS * 0.9, AWAY_MS),
        (True, False, 40, 14_400, 16_000),
        (True, False, 10_000, AWAY_MS * 0.9, AWAY_MS),
        (True, True, 1, POLLING_MS * 0.9, POLLING_MS),
        (False, True, 1, POLLING_MS * 0.9, POLLING_MS),
    ],
)
def test_scans_come_however_quiet_it_is(focused: bool, polling: bool, took: int, least: float, most: float) -> None:
    agenda = Schedule(0)
    agenda.focused, agenda.polling = focused, polling
    for _ in range(2):
        agenda.scan(0)
        agenda.take(0, ROOTS)
        agenda.looked(EVERYTHING, 0, took, found=False)
    assert least <= agenda.next() - took <= most


def test_a_scan_asked_for_during_a_scan_comes() -> None:
    agenda = Schedule(0)
    agenda.take(0, ROOTS)
    agenda.scan(5)
    agenda.looked(EVERYTHING, 0, 10, found=False)
    assert agenda.next() == 5


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["", "x", "x/y"]), st.sampled_from(["a", "b", ""]))))
def test_every_hint_is_looked_at_in_time(hints: list[tuple[int, str, str]]) -> None:
    agenda = started()
    now = 10
    waiting: dict[tuple[str, str], int] = {}
    for pause, folder, name in [*hints, (FOCUSED_MS, "", "")]:
        end = now + pause
        while (due := agenda.next()) <= end:
            now = max(now, due)
            glances = agenda.take(now, ROOTS)
            for (where, what), at in list(waiting.items()):
                glance = glances.get("r")
                if glance is not None and (
                    glance.everything or where in glance.folders or what in glance.names.get(where, ())
                ):
                    assert now - at <= LONGEST_MS
                    del waiting[where, what]
            agenda.looked(glances, now, now + 1, found=True)
        now = end
        agenda.hint("r", folder, name, now)
        waiting.setdefault((folder, name), now)
    del waiting["", ""]
    assert not waiting


def test_what_is_undecided_rests_like_names_after_a_look_that_took_long() -> None:
    agenda = Schedule(0)
    agenda.take(0, ["a"])
    agenda.looked({}, 1_000, 1_010, found=True)
    assert agenda.rested(None) is None
    assert agenda.rested(1_011) == 1_080
    assert agenda.rested(2_000) == 2_000
    agenda.looked({}, 2_000, 2_900, found=True)
    assert agenda.rested(2_901) == 3_050


@pytest.mark.parametrize(("files", "least", "most"), [(FEW - 1, POLLING_MS * 0.9, POLLING_MS), (FEW, 11_250, 12_500)])
def test_where_nobody_listens_a_scan_of_few_memories_comes_whatever_it_costs(
    files: int, least: float, most: float
) -> None:
    agenda = Schedule(0)
    agenda.polling, agenda.files = True, files
    for _ in range(2):
        agenda.scan(0)
        agenda.take(0, ROOTS)
        agenda.looked(EVERYTHING, 0, 100, found=False)
    assert least <= agenda.next() - 100 <= most
