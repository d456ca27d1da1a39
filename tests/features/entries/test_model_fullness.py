"""The figures are the agent's own."""

from memtui.features.entries.model import parse, usage
from tests.features.entries.files import GOOSE, HERMES


def test_hermes_counts_characters_with_its_separators() -> None:
    found = usage(parse(HERMES, "hermes"), 2_200)
    assert found.characters == len(HERMES.decode())
    assert found.words == f"3 entries, {found.characters} of 2,200 characters ({found.characters * 100 // 2200} %)"
    assert found.over == 0
    assert (found.brief, found.short) == ("3 entries, 3 %", f"3 | {found.characters}/2,200 chars")


def test_hermes_counts_equal_entries_once_and_blanks_between_not_at_all() -> None:
    assert usage(parse("é\r\nb\r\n§\r\n\r\né\r\nb\r\n§\r\nc\r\n".encode(), "hermes")).characters == len("é\nb\n§\nc")
    assert usage(parse(b"", "hermes"), 10).words == "0 entries, 0 of 10 characters (0 %)"


def test_what_is_over_the_limit_is_said_as_a_figure() -> None:
    found = usage(parse(b"a" * 30, "hermes"), 20)
    assert (found.over, found.words) == (10, "1 entry, 30 of 20 characters (150 %)")


def test_other_files_are_counted_whole_and_need_no_limit() -> None:
    found = usage(parse(GOOSE, "goose"))
    assert (found.characters, found.over, found.words) == (len(GOOSE), 0, "3 entries")
    assert (found.brief, found.short, found.percent) == ("3 entries", "3", "")
