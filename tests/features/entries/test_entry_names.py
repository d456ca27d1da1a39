"""An entry is hit by its number and a check, found again where it moved, and never confused with another one."""

import pytest

from memtui.errors import NotFoundError, UsageError
from memtui.features.entries.entry_names import EntryGoneError, Name, exact, find, read_name
from memtui.features.entries.model import parse

FILE = parse(b"alpha\n\nbeta\n\ngamma\n\nbeta\n\nfaded cafe\n\n", "goose")


@pytest.mark.parametrize(
    ("text", "name"),
    [("3", Name(3)), ("3@5f2c91ab", Name(3, "5f2c91ab")), ("12@first words", Name(12, "first words")), ("1@", Name(1))],
)
def test_names_are_read(text: str, name: Name) -> None:
    assert read_name(text) == name


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "@5f2c91", "1.5", "²", "9" * 30, "5f2c91"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no entry"):
        read_name(text)


def test_the_listed_name_finds_the_entry() -> None:
    for entry in FILE.entries:
        assert find(FILE, read_name(entry.name)) == entry
        assert find(FILE, Name(entry.number)) == entry
        assert find(FILE, exact(entry)) == entry
        assert find(FILE, Name(entry.number, entry.sha256[:6].upper())) == entry
        assert find(FILE, Name(entry.number, entry.title[:3])) == entry


def test_an_entry_that_moved_is_found_again_the_nearest_of_equal_ones() -> None:
    alpha, first, gamma, second, _ = FILE.entries
    assert find(FILE, Name(2, alpha.sha256)) == alpha
    assert find(FILE, Name(9, "gam")) == gamma
    assert find(FILE, Name(1, first.sha256)) == first
    assert find(FILE, Name(5, second.sha256)) == second


@pytest.mark.parametrize("name", [Name(1, "omega"), Name(1, "0" * 8), Name(8, "omega")])
def test_an_entry_that_is_gone_is_not_replaced_by_another_one(name: Name) -> None:
    with pytest.raises(EntryGoneError, match="no entry fits it any more") as caught:
        find(FILE, name)
    assert caught.value.code == "E_CONFLICT"
    assert caught.value.details["is"] == (FILE.entries[0].name if name.number == 1 else None)


def test_a_few_digits_are_no_hash() -> None:
    assert find(FILE, Name(1, FILE.entries[0].sha256[:6])) == FILE.entries[0]
    with pytest.raises(EntryGoneError):
        find(FILE, Name(1, FILE.entries[0].sha256[:5]))


def test_words_that_fit_several_entries_are_not_enough() -> None:
    file = parse(b"note one\n\nnote two\n\nelse\n\n", "goose")
    with pytest.raises(EntryGoneError, match="2 others fit it"):
        find(file, Name(3, "note"))
    assert find(file, Name(2, "note")) == file.entries[1]


def test_words_that_look_like_a_hash_are_words_as_well() -> None:
    assert find(FILE, Name(5, "faded")) == FILE.entries[4]
    assert find(parse(b"facade\n\nx", "goose"), Name(2, "facade")).number == 1


def test_a_bare_number_beyond_the_end_says_how_many_there_are() -> None:
    with pytest.raises(NotFoundError, match="no entry 6: there are 5"):
        find(FILE, Name(6))
    with pytest.raises(NotFoundError, match="there is 1"):
        find(parse(b"a", "goose"), Name(2))
