"""One entry is added, replaced or removed, and every other byte and every other entry stays."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memtui.errors import RefusedError
from memtui.features.entries import change
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import EntryFile, parse
from tests.features.entries.files import DIVIDED, GOOSE, HERMES, NEW, PLAIN, REAL
from tests.features.entries.test_model_parse import FILES, texts


def refused(error: RefusedError) -> None:
    """It is refused for what the format asks, and nothing else."""
    assert error.code == "E_ENTRY"


def test_an_entry_is_replaced_and_no_other_byte() -> None:
    file = parse(HERMES, "hermes")
    after = change.replace(file, file.entries[1], b"Another.\n")
    assert after == HERMES.replace(b"Tests run with pytest -q.\nTwo lines.", b"Another.")


@pytest.mark.parametrize("kind", DIVIDED)
@given(FILES, FILES, st.integers(0, 9))
def test_replacing_changes_one_span_or_is_refused(kind: str, data: bytes, text: bytes, at: int) -> None:
    file = parse(data, kind)
    assume(file.entries)
    entry = file.entries[at % len(file.entries)]
    before, behind = data[: entry.start], data[entry.end :]
    try:
        after = change.replace(file, entry, text)
    except RefusedError as error:
        refused(error)
        return
    assert after.startswith(before)
    assert after.endswith(behind)
    assert len(after) >= len(before) + len(behind)
    wanted = [file.text(one) for one in file.entries]
    wanted[entry.number - 1] = after[len(before) : len(after) - len(behind)]
    assert texts(after, kind) == wanted


@pytest.mark.parametrize("kind", FORMATS)
@given(FILES, FILES)
def test_adding_keeps_every_byte_or_is_refused(kind: str, data: bytes, text: bytes) -> None:
    file = parse(data, kind)
    try:
        after = change.add(file, text)
    except RefusedError as error:
        refused(error)
        return
    found = parse(after, kind)
    assert [found.text(one) for one in found.entries[:-1]] == texts(data, kind)
    entry = found.entries[-1]
    places = [at for at in range(len(data) + 1) if after.startswith(data[:at]) and after.endswith(data[at:])]
    assert places, "bytes that were there were changed"
    assert entry.end <= len(after)


@pytest.mark.parametrize("kind", DIVIDED)
@given(FILES, st.integers(0, 9))
def test_removing_takes_one_entry_and_only_a_separator(kind: str, data: bytes, at: int) -> None:
    file = parse(data, kind)
    assume(file.entries)
    entry = file.entries[at % len(file.entries)]
    try:
        after = change.remove(file, entry)
    except RefusedError as error:
        refused(error)
        return
    kept = texts(data, kind)
    del kept[entry.number - 1]
    assert texts(after, kind) == kept
    at_start = (
        entry.number > 1 and data[: file.entries[entry.number - 2].end] == after[: file.entries[entry.number - 2].end]
    )
    assert entry.number == 1 or at_start


@pytest.mark.parametrize("kind", REAL)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_what_was_added_is_removed_again_without_a_trace(kind: str, ends: bytes, bom: bytes) -> None:
    data = bom + REAL[kind].replace(b"\n", ends)
    file = parse(change.add(parse(data, kind), NEW[kind]), kind)
    assert file.text(file.entries[-1]) == NEW[kind].replace(b"\n", ends)
    assert change.remove(file, file.entries[-1]) == data
    assert file.newline == ends
    assert not file.mixed


@pytest.mark.parametrize("kind", DIVIDED)
def test_all_entries_can_go_and_new_ones_come(kind: str) -> None:
    data = REAL[kind]
    while (file := parse(data, kind)).entries:
        data = change.remove(file, file.entries[0])
    assert not data.replace(b"---\ndescription: Shop\n---\n", b"").strip()
    for count in (1, 2, 3):
        data = change.add(parse(data, kind), NEW[kind])
        assert texts(data, kind) == [NEW[kind]] * count


def test_what_is_added_is_written_as_the_agent_writes_it() -> None:
    assert change.add(parse(GOOSE, "goose"), b"# t\nx\n") == GOOSE + b"# t\nx\n\n"
    assert change.add(parse(b"a", "goose"), b"b") == b"a\n\nb\n\n"
    assert change.add(parse(b"a\n", "goose"), b"b") == b"a\n\nb\n\n"
    assert change.add(parse(b"a\n\n\n", "goose"), b"# t\nb") == b"a\n\n\n\n# t\nb\n\n"
    assert change.add(parse(b"", "goose"), b"b") == b"b\n\n"
    assert change.add(parse(HERMES, "hermes"), b" b \n") == HERMES + "\n§\nb".encode()
    assert change.add(parse(b"a\n", "hermes"), b"b") == "a\n§\nb\n".encode()
    assert change.add(parse(b"", "hermes"), b"b") == b"b"
    assert change.add(parse(b"# a\n", "codex"), b"# b\nx") == b"# a\n\n# b\nx\n"
    assert change.add(parse(b"", "codex"), b"# b") == b"# b\n"
    assert change.add(parse(PLAIN, "plain"), b"x") == PLAIN.rstrip() + b"\n\nx\n"
    assert change.add(parse(b"---\na: b\n---\n", "plain"), b"x") == b"---\na: b\n---\n\nx\n"


def test_goose_can_go_on_behind_what_was_left() -> None:
    """Goose appends without looking: the file has to end with a blank line after each change."""
    file = parse(GOOSE, "goose")
    for entry in file.entries:
        assert change.remove(file, entry).endswith(b"\n\n")
        assert change.replace(file, entry, b"x").endswith(b"\n\n")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("goose", b"two\n\nentries"),
        ("hermes", "two\n§\nentries".encode()),
        ("hermes", "two\r\n§\r\nentries".encode()),
        ("codex", b"no heading"),
        ("codex", b"# two\n# headings"),
        ("codex", b"# open\n```\nfence"),
        ("plain", b"two\n\nblocks"),
        ("plain", b"```\nopen"),
    ],
)
def test_a_text_that_is_not_one_entry_is_refused_with_the_rule(kind: str, text: bytes) -> None:
    file = parse(REAL[kind], kind)
    with pytest.raises(RefusedError, match="would not be one entry: ") as caught:
        change.replace(file, file.entries[0], text)
    assert FORMATS[kind].rule in caught.value.message
    if not text.endswith((b"fence", b"open")):  # at the end of a file an open fence swallows nobody
        with pytest.raises(RefusedError, match="would not be one entry: "):
            change.add(file, text)


def test_a_block_without_its_heading_is_refused_also_where_it_would_come_first() -> None:
    for data in (b"", b"# a\n"):
        with pytest.raises(RefusedError, match="begins with a heading"):
            change.add(parse(data, "codex"), b"no heading")
    file = parse(b"Preface\n\n# a\n", "codex")
    assert change.replace(file, file.entries[0], b"Other words") == b"Other words\n\n# a\n"


@pytest.mark.parametrize("text", [b"", b"\n\n", b" \r\n\t"])
def test_an_entry_is_never_empty(text: bytes) -> None:
    file = parse(GOOSE, "goose")
    with pytest.raises(RefusedError, match="cannot be empty") as caught:
        change.replace(file, file.entries[0], text)
    assert caught.value.code == "E_ENTRY"


def test_removing_what_holds_the_rest_apart_is_refused() -> None:
    file = parse(b"first\n\n---\na: b\n---\n\nlast", "plain")
    with pytest.raises(RefusedError, match="the others would be read otherwise"):
        change.remove(file, file.entries[0])


def test_a_file_of_mixed_line_ends_takes_a_text_as_it_is() -> None:
    file = parse(b"a\r\n\nb\n", "plain")
    assert file.mixed
    assert change.replace(file, file.entries[1], b"c\r\nd\n") == b"a\r\n\nc\r\nd\n"
    assert change.fitted(EntryFile("plain", b"a\r\nb", ()), b"\n x\ny \n\n") == b" x\r\ny "


@given(st.lists(st.sampled_from(["## Remembered", "- a", "* b", "-", "text", "  more", "", "```", "# x", "## y"])))
def test_bullets_of_a_section_change_one_at_a_time(lines: list[str]) -> None:
    data = "\n".join(["## Remembered", "- first", *lines]).encode()
    file = parse(data, "remembered")
    try:
        added = change.add(file, b"- new")
    except RefusedError as error:
        refused(error)
        return
    assert texts(added, "remembered") == [*texts(data, "remembered"), b"- new"]
    end = file.entries[-1].end
    assert (added[:end], added[len(added) - len(data) + end :]) == (data[:end], data[end:])
    kept = texts(data, "remembered")[1:]
    assert texts(change.remove(file, file.entries[0]), "remembered") == kept
    assert texts(change.replace(file, file.entries[0], b"- other"), "remembered") == [b"- other", *kept]
