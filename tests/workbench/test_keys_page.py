"""The page about keys is what the table of actions says, and letters mean one thing or are settled by name."""

import re
from collections.abc import Iterable

import pytest

from memtui.ui.action import Action
from memtui.workbench.actions import ACTIONS
from memtui.workbench.keys import keys_page, list_panes
from tests.house.source import ROOT

SAME = {"n": {"new", "entry_new"}, "d t": {"trash", "entry_remove", "obs_delete"}, "d r": {"redact", "obs_redact"}}
"""Letters with one meaning for two kinds of rows: make a new one, remove this one."""

OLDER = {"r": {"rename", "restore", "task_retry", "reject", "obs_restore"}, "x": {"seen", "task_cancel"}}
"""Letters with several meanings, never two in one pane; `docs/contributing.md` says what keeps them apart."""

PANE: dict[str, str] = {}
"""Views to come by the name of the one they grow out of."""

SETTLED = re.findall(r"^\| `(\S)` \| (.*?) ?\| (.*?) ?\|$", (ROOT / "docs/contributing.md").read_text(), re.MULTILINE)
"""Letter, what it will do, what it does today."""


def writing(actions: Iterable[Action]) -> dict[str, set[str]]:
    """Find the keys that write in lists in more than one way."""
    found: dict[str, set[str]] = {}
    for action in (action for pane in list_panes(actions).values() for action in pane if action.writes):
        for key in action.keys:
            found.setdefault(key, set()).add(action.id)
    return {key: ids for key, ids in found.items() if len(ids) > 1}


def taken(letter: str, panes: Iterable[Iterable[Action]]) -> set[str]:
    """Find what a letter does or begins."""
    return {action.id for pane in panes for action in pane for key in action.keys if key.split(" ")[0] == letter}


def test_the_page_is_the_table() -> None:
    assert (ROOT / "docs/keys.md").read_text() == keys_page()


def test_a_key_that_is_a_sign_of_tables_is_escaped_and_writing_is_said() -> None:
    action = ACTIONS[0]._replace(keys=("|",), writes=True, room="list")
    page = keys_page([action])
    assert f"| `\\|` | {action.help} *writes* | `{action.id}` |" in page
    assert f"| `\\|` | **{action.label}** |" in page


def test_no_letter_that_writes_has_two_meanings() -> None:
    assert writing(ACTIONS) == SAME | OLDER
    more = [action._replace(keys=("n",)) if action.id == "take_back" else action for action in ACTIONS]
    assert writing(more)["n"] == {"new", "entry_new", "take_back"}


def test_the_letters_of_views_to_come_are_settled() -> None:
    assert {*"rxsaBweXbcn[]mV"} <= {letter for letter, _, _ in SETTLED}
    for name in ("Review", "Observed", "Tasks"):
        assert any(f"{name}: " in will for _, will, _ in SETTLED)


@pytest.mark.parametrize(("letter", "will", "today"), SETTLED, ids=lambda value: value[:1])
def test_a_settled_letter_is_free_in_its_pane_or_stays_what_it_is(letter: str, will: str, today: str) -> None:
    panes = list_panes(ACTIONS)
    assert taken(letter, panes.values()) == set(re.findall(r"`(\w+)`", today))
    for view, words in re.findall(r"(\w+): ([^;]+)", will):
        name = PANE.get(view, view)
        here = panes.values() if view == "everywhere" else [panes.get(name, ())]
        stays = set(re.findall(r"`(\w+)`", words))
        assert taken(letter, here) == stays or (name not in panes and view != "everywhere")
