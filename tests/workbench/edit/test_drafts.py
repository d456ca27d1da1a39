"""Drafts: due when they differ from what is stored, kept when storing fails, asked about only if they say something."""

import pytest

from memtui.engine.model import Address, Draft
from memtui.errors import StorageError
from memtui.workbench.edit.drafts import DraftKeeper
from memtui.workbench.edit.host import offer_words
from memtui.workbench.edit.open_memory import question_for

WHERE = Address("notes", "a.md")


def draft(text: str, *, at: int = 1, base: str | None = "b" * 64) -> Draft:
    return Draft(WHERE, base, text, (0, 0), at)


class Store:
    """Remembers drafts, or refuses."""

    def __init__(self) -> None:
        self.kept: list[Draft] = []
        self.broken = False

    def __call__(self, kept: Draft) -> None:
        if self.broken:
            raise StorageError("no space")
        self.kept.append(kept)


def test_only_a_new_text_is_due() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    now: list[Draft | None] = [None]
    keeper.open("editor", lambda: now[0])
    assert keeper.due() == ()
    now[0] = draft("x")
    assert keeper.flush() == 1
    now[0] = draft("x", at=2)
    assert keeper.flush() == 0
    now[0] = draft("xy", at=3)
    assert keeper.flush() == 1
    assert [kept.text for kept in store.kept] == ["x", "xy"]


def test_the_same_text_of_another_base_is_due_again() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x", base="c" * 64), stored=draft("x"))
    assert keeper.flush() == 1


def test_a_draft_that_could_not_be_stored_stays_due() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x"))
    store.broken = True
    with pytest.raises(StorageError):
        keeper.flush()
    store.broken = False
    assert keeper.flush() == 1


def test_nothing_is_stored_for_a_closed_editor() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x"))
    keeper.close("editor")
    assert keeper.flush() == 0
    keeper.write(("editor", draft("late")))
    assert not keeper.has_stored("editor")


def test_a_draft_that_says_what_the_disk_says_is_no_question() -> None:
    assert question_for(draft("same\n"), "same\n", "d" * 64) is None
    assert question_for(draft("same\n"), "same\n", None) is not None


def test_the_question_counts_your_lines_and_tells_of_a_change_since() -> None:
    question = question_for(draft("one\nmine\n"), "one\ntheirs\n", "d" * 64)
    assert question is not None
    assert question.stale
    assert question.words("11:40") == (
        "A draft from 11:40 was never saved: 1 line of yours, and the memory changed since."
        " The history keeps it either way."
    )
    fresh = question_for(draft("one\nmine\n"), "one\n", "b" * 64)
    assert fresh is not None
    assert fresh.words("11:40").startswith("A draft from 11:40 was never saved: 1 line of yours. ")


def test_what_an_earlier_run_left_is_named() -> None:
    assert offer_words([draft("x")]) == "A draft was never saved: a.md. Open it to restore or discard it."
    assert offer_words([draft("x")] * 5).startswith("5 drafts were never saved: a.md, a.md, a.md, .... ")
