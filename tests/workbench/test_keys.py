"""The user's own keys: they replace, and what cannot be used is told with its line, a suggestion and free keys."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from memtui.ui.action import Action, keymap
from memtui.workbench.actions import ACTIONS
from memtui.workbench.keys import keys_page, list_panes, with_overrides
from tests.house.source import ROOT


def test_an_override_replaces_all_keys() -> None:
    table, problems = with_overrides({"pin": "P, f6"})
    assert not problems
    assert keymap(["memory"], table)["P"].id == "pin"
    assert "p" not in keymap(["memory"], table)


def test_an_unknown_name_is_reported_with_a_suggestion() -> None:
    _, problems = with_overrides({"pinn": "P"})
    assert problems == ("No action is called 'pinn'. Did you mean 'pin'?",)


def test_a_clash_is_reported() -> None:
    _, problems = with_overrides({"pin": "n"})
    assert any(problem.startswith("n is used by new and pin") for problem in problems)


def test_a_key_that_hides_a_sequence_is_a_clash() -> None:
    _, problems = with_overrides({"pin": "d"})
    assert any("d is used by pin and" in problem for problem in problems)


def test_no_key_at_all_keeps_the_old_one() -> None:
    table, problems = with_overrides({"pin": " , "})
    assert keymap(["memory"], table)["p"].id == "pin"
    assert problems == ("'pin' was given no key; it keeps p.",)


def test_problems_name_the_line_and_free_keys() -> None:
    _, problems = with_overrides({"pin": "n", "opne": "X"}, lines={"pin": 12, "opne": 14})
    assert problems[0] == "config.toml, line 14: No action is called 'opne'. Did you mean 'open'?"
    clash = next(problem for problem in problems if "n is used" in problem)
    assert clash.startswith("config.toml, line 12: n is used by new and pin; the first one wins. Free there: ")
    for key in clash.partition("Free there: ")[2].rstrip(".").split(", "):
        assert not with_overrides({"pin": key})[1]


def test_a_key_no_terminal_sends_is_told_with_what_was_meant() -> None:
    table, problems = with_overrides({"pin": "ctrl-p, P", "reload": "ctrl+i", "zoom": "foo", "info": "a b c"})
    assert keymap(["memory"], table)["P"].id == "pin"
    assert problems[0] == "'pin': no key is called 'ctrl-p'. Did you mean 'ctrl+p'?"
    assert problems[1] == "'reload': terminals cannot tell ctrl+i from tab."
    assert problems[2] == "'reload' was given no key; it keeps R."
    assert "no key is called 'foo'" in problems[3]
    assert any("no key is called 'a b c'" in problem for problem in problems)


def test_keys_may_be_written_as_they_are_shown() -> None:
    table, problems = with_overrides({"pin": "esc, comma"})
    assert next(action for action in table if action.id == "pin").keys == ("escape", ",")
    assert [problem for problem in problems if "no key is called" in problem] == []


def test_clashes_in_the_views_are_found_too() -> None:
    _, problems = with_overrides({"undo_step": "w"})
    assert any("w is used by" in problem and "undo_step" in problem for problem in problems)
    _, problems = with_overrides({"hot_client": "z"})
    assert any("z is used by" in problem and "zoom" in problem for problem in problems)


def test_the_table_itself_has_no_clash() -> None:
    _, problems = with_overrides({"pin": "p"})
    assert problems == ()


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
