"""Files are cut where the agent cuts them, entries are found by their names, and figures are the agent's own."""

import time
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import NotFoundError, UsageError
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import EntryGoneError, Name, exact, find, parse, read_name, usage
from tests.features.entries.files import CODEX, DIVIDED, ENTRIES, GOOSE, HERMES, PLAIN, REAL
from tests.growth import growth

BITS = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    "§".encode(),
    "\n§\n".encode(),
    b"\r\n\xc2\xa7\r\n",
    b"# ",
    b"#",
    b"```\n",
    b"~~~\n",
]
MORE = [
    b"---\n",
    b" ",
    b"\t",
    b"a",
    b"word word",
    b"\xff\xfe",
    b"\x00",
    "é\u2028".encode(),
    b"\xef\xbb\xbf",
    b"  \n",
    b"",
]
FILES = st.builds(b"".join, st.lists(st.sampled_from(BITS + MORE), max_size=40)) | st.binary(max_size=60)
"""Any bytes, mostly what means something to a format."""


def texts(data: bytes, kind: str) -> list[bytes]:
    """The entries of a file."""
    file = parse(data, kind)
    return [file.text(entry) for entry in file.entries]


@pytest.mark.parametrize("kind", REAL)
def test_a_real_file_has_its_entries(kind: str) -> None:
    assert len(texts(REAL[kind], kind)) == ENTRIES[kind]


@pytest.mark.parametrize("kind", FORMATS)
@given(FILES)
def test_entries_lie_in_the_file_one_behind_the_other(kind: str, data: bytes) -> None:
    file = parse(data, kind)
    edges = [0, *(edge for entry in file.entries for edge in (entry.start, entry.end)), len(data)]
    assert edges == sorted(edges)
    assert [entry.number for entry in file.entries] == list(range(1, len(file.entries) + 1))
    for entry in file.entries:
        assert entry.start < entry.end
        assert entry.sha256 == sha256(file.text(entry)).hexdigest()
        assert entry.line == 1 + data.count(b"\n", 0, entry.start)


@given(FILES)
def test_hermes_reads_the_same_entries(data: bytes) -> None:
    """What Hermes does, in its own words: universal line ends, a split, blanks off, empty ones out."""
    body = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    theirs = [one.strip() for one in text.split("\n§\n") if one.strip()]
    ours = [one.decode("utf-8", "surrogateescape") for one in texts(data, "hermes")]
    assert [one.replace("\r\n", "\n").replace("\r", "\n") for one in ours] == theirs


@given(FILES.map(lambda data: data.replace(b"\r", b"").lstrip(b"\xef\xbb\xbf")))
def test_goose_reads_the_same_entries_and_tags(data: bytes) -> None:
    """What Goose does: it divides at two line feeds, and a first line with `#` holds tags."""
    theirs = []
    for chunk in data.split(b"\n\n"):
        if chunk.strip(b"\n"):
            first = chunk.split(b"\n")[0].decode(errors="replace")
            theirs.append((chunk.strip(b"\n"), tuple(first[1:].split()) if first.startswith("#") else ()))
    file = parse(data, "goose")
    assert [(file.text(entry), entry.tags) for entry in file.entries] == theirs


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("kind", REAL)
def test_line_ends_and_marks_do_not_change_what_is_an_entry(kind: str, ends: bytes, bom: bytes) -> None:
    data = bom + REAL[kind].replace(b"\n", ends)
    assert [one.replace(ends, b"\n") for one in texts(data, kind)] == texts(REAL[kind], kind)
    assert not any(one.startswith(bom) for one in texts(data, kind) if bom)


@pytest.mark.parametrize("kind", REAL)
def test_a_missing_or_extra_line_at_the_end_is_no_entry(kind: str) -> None:
    bare = REAL[kind].rstrip(b"\n")
    for tail in (b"", b"\n", b"\n\n", b"\r\n", b"\n\n\n"):
        assert texts(bare + tail, kind) == texts(bare, kind)


def test_separators_in_code_count_where_the_agent_counts_them() -> None:
    fenced = b"```\na\n\nb\n```"
    assert texts(fenced, "plain") == [fenced]
    assert texts(fenced, "goose") == [b"```\na", b"b\n```"]
    assert texts("```\na\n§\nb\n```".encode(), "hermes") == [b"```\na", b"b\n```"]
    assert texts(b"# a\n```\n# b\n```\n~~~\n# c\n```\n~~~\n# d", "codex") == [
        b"# a\n```\n# b\n```\n~~~\n# c\n```\n~~~",
        b"# d",
    ]
    assert texts(b"# a\n```\n# b", "codex") == [b"# a\n```\n# b"]
    assert texts(b"# a\n``` x ` y\n# b", "codex") == [b"# a\n``` x ` y", b"# b"]
    assert texts(b"# a\n    ```\n# b", "codex") == [b"# a\n    ```", b"# b"]


def test_empty_entries_are_no_entries() -> None:
    assert texts("a\n§\n\n§\n  \n§\nb".encode(), "hermes") == [b"a", b"b"]
    assert texts(b"\n\na\n\n\n\n\nb\n\n\n", "goose") == [b"a", b"b"]
    for kind in FORMATS:
        assert texts(b"", kind) == texts(b"\n\n", kind) == texts(b"\xef\xbb\xbf", kind) == []


def test_what_stands_before_the_first_heading_is_an_entry_too() -> None:
    assert texts(b"Preface\n\n# a\nx\n", "codex") == [b"Preface", b"# a\nx"]
    assert texts(b"#tag\n## b\n# c", "codex") == [b"#tag\n## b", b"# c"]


def test_titles_and_tags_say_what_an_entry_is_about() -> None:
    assert [entry.title for entry in parse(GOOSE, "goose").entries] == ["Use ruff.", "No tags here.", "Streams,"]
    assert [entry.tags for entry in parse(GOOSE, "goose").entries] == [("python", "style"), (), ("api",)]
    assert [entry.title for entry in parse(CODEX, "codex").entries] == ["shop / checkout", "shop / search"]
    assert parse(HERMES, "hermes").entries[2].title == "Prefers § signs."
    assert parse(PLAIN, "plain").entries[1].title == "```sh"
    assert parse(b"# only tags", "goose").entries[0].title == "# only tags"
    assert len(parse(b"word " * 900, "plain").entries[0].title) == 200


def test_goose_sees_no_tags_after_an_odd_line_end_and_the_file_says_what_it_cannot_read() -> None:
    assert [entry.tags for entry in parse(b"a\n\n\n# t\nb\n\n\n\n# u\nc", "goose").entries] == [(), (), ("u",)]
    assert "CRLF" in parse(b"a\r\n\r\nb", "goose").notes[0]
    assert "byte-order mark" in parse(b"\xef\xbb\xbf# t\na", "goose").notes[0]
    assert not parse(GOOSE, "goose").notes


@pytest.mark.parametrize("kind", DIVIDED)
def test_time_grows_with_the_file_and_no_faster(kind: str) -> None:
    one = {"hermes": "x # y\nz\n§\n".encode(), "notes": b"## x\n`y`\nz\n\n"}.get(kind, b"# x\n`y`\nz\n\n")

    def look(count: int) -> None:
        assert len(parse(one * count, kind).entries) == count

    assert growth(look, 2_000, 20_000) < 40


@pytest.mark.parametrize("data", [b"\n" * 300_000, b"\r" * 300_000, b"`" * 300_000, b"#\t" * 150_000, b" \n" * 150_000])
@pytest.mark.parametrize("kind", FORMATS)
def test_no_file_makes_it_slow(kind: str, data: bytes) -> None:
    start = time.thread_time()
    parse(data, kind)
    assert time.thread_time() - start < 3


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
