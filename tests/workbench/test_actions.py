"""One table of actions: its keys do not clash, overrides are checked, and the docs page is made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.ui.action import COMMON, View, in_room, keymap, keymap_of, shown_keys
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID, ROOMS, VIEW, VIEWS
from memtui.workbench.browse.commands import ELSEWHERE
from memtui.workbench.keys import with_overrides

ROOT = Path(__file__).resolve().parents[2]


def test_ids_are_unique_and_rooms_are_known() -> None:
    assert len(BY_ID) == len(ACTIONS)
    assert {action.room for action in ACTIONS} <= set(ROOMS)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_each_action_has_a_key_a_label_and_a_sentence(action: object) -> None:
    found = BY_ID[action.id]  # type: ignore[attr-defined]
    assert found.keys
    assert all(key == key.strip() and key for key in found.keys)
    assert len(found.label.split()) <= 3
    assert found.help.endswith(".")


@pytest.mark.parametrize("rooms", [BROWSER_ROOMS, ("picker",), ("editor",), ("conflict",), ("gone",)])
def test_no_key_means_two_things_on_one_screen(rooms: tuple[str, ...]) -> None:
    keys = [key for action in in_room(*rooms, actions=ACTIONS) for key in action.keys]
    assert len(keys) == len(set(keys))
    firsts = {key.split(" ")[0] for key in keys if " " in key}
    assert not firsts & set(keys)


def test_no_single_key_destroys() -> None:
    assert BY_ID["trash"].keys == ("d t",)


def test_keys_no_terminal_can_tell_apart_are_not_used() -> None:
    forbidden = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket", "shift+enter", "ctrl+enter"}
    taken_by_others = {"ctrl+b", "f10", "f11", "f5", "f12", "ctrl+t", "ctrl+n", "alt+enter"}
    assert not [action.id for action in ACTIONS if (forbidden | taken_by_others) & set(action.keys)]


def test_earlier_rooms_win() -> None:
    assert keymap(["history", "memory"], ACTIONS)["r"].id == "restore"
    assert keymap(["memory", "history"], ACTIONS)["r"].id == "rename"


def test_keys_are_written_as_people_do() -> None:
    assert shown_keys(BY_ID["page_down"]) == "page down"
    assert shown_keys(BY_ID["back"]) == "esc"


def test_parts_of_the_screen_are_named_by_their_methods() -> None:
    from memtui.workbench.browse.bundles import Bundles
    from memtui.workbench.browse.filter import FilterLine
    from memtui.workbench.browse.operations import Clipboard, MemoryOperations
    from memtui.workbench.browse.projects import ProjectMoves, Projects
    from memtui.workbench.browse.reviews import PinKeys, Reviews
    from memtui.workbench.edit.host import EditorHost
    from memtui.workbench.view_stack import Views

    parts = {"accepting": Reviews, "copying": Clipboard, "filtering": FilterLine, "verbs": MemoryOperations}
    parts |= {"host": EditorHost, "projects": Projects, "repointing": ProjectMoves, "views": Views}
    parts |= {"bundling": Bundles, "pinning": PinKeys}
    for id_, path in ELSEWHERE.items():
        part, _, method = path.partition(".")
        assert id_ in BY_ID
        assert callable(getattr(parts[part], method))


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
