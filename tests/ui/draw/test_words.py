"""The words for an operation that succeeded in part, and the sign for a share."""

from memtui.ui.draw.text import meter, partly_done


def test_what_belongs_to_the_verb_follows_the_numbers() -> None:
    assert partly_done("restored", 2, 3, "a.md", "It is taken.") == "Restored 2 of 3. a.md failed: It is taken."
    assert partly_done("took back", 0, 2, "a.md", "No.") == "Took 0 of 2 back. a.md failed: No."
    assert partly_done("moved to the trash", 1, 2, "a.md", "No.") == "Moved 1 of 2 to the trash. a.md failed: No."


def test_a_reason_that_begins_with_the_name_does_not_get_it_twice() -> None:
    assert partly_done("moved", 1, 2, "a.md", "a.md is there again.") == "Moved 1 of 2. a.md is there again."


def test_a_meter_shows_a_little_as_one_sign_and_never_runs_over() -> None:
    shown = [meter(part, whole, 4) for part, whole in ((0, 10), (1, 1_000), (5, 10), (10, 10), (70, 10), (0, 0))]
    assert shown == ["[....]", "[#...]", "[##..]", "[####]", "[####]", "[....]"]
