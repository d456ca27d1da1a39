"""Help comes from the table: every action is in it."""

from __future__ import annotations

from memtui.ui.action import shown_keys
from memtui.ui.draw.pages import Page
from memtui.workbench.actions import ACTIONS, ROOMS
from memtui.workbench.keys import with_overrides
from memtui.workbench.views.help import SIGNS_TITLE, START, help_page, help_sections


def text(page: Page) -> str:
    return " ".join("".join(text for text, _ in line.runs) for line in page)


def test_every_room_has_a_section() -> None:
    assert help_sections(ACTIONS) == (START, SIGNS_TITLE, *ROOMS.values())


def test_every_action_is_explained_with_its_keys() -> None:
    for action in ACTIONS:
        words = text(help_page(ROOMS[action.room], ACTIONS, 100))
        assert shown_keys(action) in words
        assert all(word in words for word in action.help.split())


def test_changed_keys_are_shown_as_they_are_now() -> None:
    table, _ = with_overrides({"pin": "f6"})
    assert "f6" in text(help_page(ROOMS["memory"], table, 80))


def test_the_pane_explains_itself() -> None:
    assert "This is the tree." in text(help_page(START, ACTIONS, 60, "This is\nthe `tree`."))


def test_the_first_page_names_every_key_of_the_pane() -> None:
    words = text(help_page(START, ACTIONS, 60, "This is the tree.", ("memory", "list")))
    assert all(shown_keys(action) in words for action in ACTIONS if action.room in ("memory", "list"))
    assert ROOMS["memory"] in words
