"""The table of views: its actions exist, and no key means two things in one view."""

from __future__ import annotations

import pytest

from memtui.ui.action import COMMON, View, keymap_of
from memtui.workbench.actions import BY_ID, ROOMS, VIEW, VIEWS
from memtui.workbench.keys import with_overrides


def test_each_view_has_an_action_a_digit_and_a_tab() -> None:
    assert list(VIEW)[: len(VIEWS)] == [view.id for view in VIEWS]
    assert len({view.key for view in VIEWS}) == len(VIEWS)
    for view in VIEWS:
        action = BY_ID[view.action]
        assert (action.keys, action.room, action.help) == ((view.key,), "views", view.help)
    assert [view.key for view in VIEWS] == sorted((view.key for view in VIEWS), key="1234567890".index)
    assert "views" in ROOMS


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.id)
def test_no_key_means_two_things_in_a_view(view: View) -> None:
    ids = dict.fromkeys((*view.actions, *COMMON, *(one.action for one in VIEWS)))
    keys = [key for id_ in ids for key in BY_ID[id_].keys]
    assert len(keys) == len(set(keys))
    assert len(keymap_of(BY_ID[id_] for id_ in ids)) == len(keys)
    assert not {key.split(" ")[0] for key in keys if " " in key} & set(keys)
    assert set(view.footer) <= set(view.actions)


def test_a_clash_in_a_view_is_reported() -> None:
    _, problems = with_overrides({"show_in_tree": "x"})
    assert any("x is used by" in problem and "show_in_tree" in problem for problem in problems)
