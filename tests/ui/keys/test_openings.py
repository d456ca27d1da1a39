"""What is being opened: who waits, until when, and what giving up means."""

from memtui.ui.keys.openings import Openings


def test_keys_wait_from_the_beginning_to_the_end() -> None:
    openings = Openings()
    told: list[int] = []
    openings.changed = lambda: told.append(len(openings.waited_for))
    first, second = openings.begin("open a"), openings.begin("open b")
    assert [one.what for one in openings.waited_for] == ["open a", "open b"]
    first.end()
    first.end()
    second.end()
    assert told == [1, 0]
    assert not openings.take_failed()


def test_a_moment_s_wait_ends_by_itself() -> None:
    now = [10.0]
    openings = Openings(lambda: now[0])
    openings.begin("pin", at_most=0.3)
    assert openings.waited_for
    now[0] += 0.31
    assert not openings.waited_for


def test_what_is_given_up_does_not_come_up_later_unless_it_takes_no_key() -> None:
    openings = Openings()
    form, rows = openings.begin("show a form"), openings.begin("show rows", stays=True)
    openings.give_up()
    assert not openings.waited_for
    assert (form.given_up, rows.given_up) == (True, False)


def test_a_failure_is_told_once() -> None:
    openings = Openings()
    openings.begin("open").end(failed=True)
    assert openings.take_failed()
    assert not openings.take_failed()
