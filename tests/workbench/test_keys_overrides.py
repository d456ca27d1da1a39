"""The user's own keys: they replace, and what cannot be used is told with its line, a suggestion and free keys."""

from __future__ import annotations

from memtui.ui.action import keymap
from memtui.workbench.keys import with_overrides


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
