"""The words for an operation that succeeded in part."""

from memtui.ui.draw.words import partly_done


def test_what_belongs_to_the_verb_follows_the_numbers() -> None:
    assert partly_done("restored", 2, 3, "a.md", "It is taken.") == "Restored 2 of 3. a.md failed: It is taken."
    assert partly_done("took back", 0, 2, "a.md", "No.") == "Took 0 of 2 back. a.md failed: No."
    assert partly_done("moved to the trash", 1, 2, "a.md", "No.") == "Moved 1 of 2 to the trash. a.md failed: No."


def test_a_reason_that_begins_with_the_name_does_not_get_it_twice() -> None:
    assert partly_done("moved", 1, 2, "a.md", "a.md is there again.") == "Moved 1 of 2. a.md is there again."
