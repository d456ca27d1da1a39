"""The only writer to the terminal."""

import io
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import RefusedError
from memtui.safe_text import cell_width
from memtui.wire.output import Column, Output, age, size, without_secrets, wrapped
from tests.cli.conftest import Piped, Tty
from tests.test_mask import GITHUB, KEY

HOSTILE = "\x1b]52;c;aGk=\x07 \x9b2J \u202e \U000e0041 \udcff a\nb\tc"
COLUMNS = (Column("NAME"), Column("TEXT", flexible=True), Column("SIZE", "size", optional=True), Column("AGE", "age"))
OURS = re.compile(r"\x1b\[[0-9;]*m")
NOW = 1_767_225_600_000


class Streams:
    """An output on streams that can be looked at."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8", **options: bool) -> None:
        self._out, self._err = io.BytesIO(), io.BytesIO()
        kind = Tty if terminal else Piped
        out, err = (kind(raw, encoding, write_through=True) for raw in (self._out, self._err))
        self.output = Output(stdout=out, stderr=err, **options)
        self._encoding = encoding

    @property
    def out(self) -> str:
        return self._out.getvalue().decode(self._encoding)

    @property
    def err(self) -> str:
        return self._err.getvalue().decode(self._encoding)


def controls(text: str) -> set[str]:
    """What could act on a terminal, our own colours left out."""
    return {char for char in OURS.sub("", text) if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")} - {"\n"}


@pytest.mark.parametrize("terminal", [True, False])
def test_no_way_out_lets_a_control_through(terminal: bool) -> None:
    streams = Streams(terminal=terminal)
    out = streams.output
    out.line(HOSTILE, "bad")
    out.line_of(HOSTILE, HOSTILE)
    out.entry(HOSTILE, "good", HOSTILE, HOSTILE)
    out.table(COLUMNS, [(HOSTILE, HOSTILE, 12, 0)])
    out.say(HOSTILE)
    out.error(RefusedError(HOSTILE, hint=HOSTILE, unharmed=HOSTILE))
    out.document({HOSTILE: HOSTILE})
    out.text(HOSTILE)
    assert controls(streams.err) == set()
    assert controls(streams.out) <= {"\t"}
    assert "\u202e" not in streams.out
    assert "␛" in streams.out


def test_json_escapes_and_loses_nothing() -> None:
    streams = Streams(terminal=False)
    streams.output.document({"text": HOSTILE})
    assert streams.out.isascii()
    assert "\\u001b" in streams.out
    assert json.loads(streams.out) == {"text": HOSTILE}
    assert streams.out.count("\n") == 1


def test_raw_is_raw() -> None:
    streams = Streams(terminal=False)
    streams.output.line("first")
    streams.output.raw(b"\x1b[2J\xff\r\n")
    assert streams._out.getvalue() == b"first\n\x1b[2J\xff\r\n"


def test_a_terminal_without_unicode_gets_escapes_instead_of_an_error() -> None:
    streams = Streams(terminal=True, encoding="ascii", ascii_only=True)
    streams.output.table(COLUMNS, [("é", "x" * 100, None, None)])
    assert "\\xe9" in streams.out
    assert "..." in streams.out


def test_a_table_is_aligned_for_wide_characters() -> None:
    streams = Streams(terminal=True, color=False)
    streams.output.table(COLUMNS, [("語語", "two", 5, 0), ("plain", "one", 1_000_000, 0), ("🙂", "", 0, 0)])
    lines = streams.out.splitlines()
    assert len({cell_width(line) for line in lines}) == 1
    assert lines[0].split() == ["NAME", "TEXT", "SIZE", "AGE"]


def test_a_narrow_table_cuts_what_may_be_cut_and_drops_what_may_be_missed() -> None:
    streams = Streams(terminal=True, color=False)
    streams.output.table(COLUMNS, [("n" * 60, "t" * 200, 5, 0)])
    head, row = streams.out.splitlines()
    assert "SIZE" not in head
    assert "n" * 60 in row
    assert row.count("t") < 20
    assert cell_width(row) <= 80


@pytest.mark.parametrize("name", ["current-task.md", "語語語語語語語語語語.md", "x" * 90])
def test_an_address_keeps_its_name(name: str) -> None:
    streams = Streams(terminal=True, color=False)
    columns = (Column("TITLE", flexible=True), Column("FILE", flexible=True, names=True))
    streams.output.table(columns, [("t" * 200, f"memtui:project/{'deep/' * 20}{name}")])
    row = streams.out.splitlines()[1]
    assert row.endswith(name[-30:])
    assert "memtui:" in row
    assert cell_width(row) <= 80


def test_a_piped_table_is_whole_and_has_no_header() -> None:
    streams = Streams(terminal=False)
    streams.output.table(COLUMNS, [("a", "t" * 500, 5, 0), ("b", "", None, None)])
    assert streams.out.splitlines() == [f"a\t{'t' * 500}\t5\t1970-01-01T00:00:00.000Z", "b\t\t\t"]


def test_colour_is_only_for_a_terminal_that_wants_it() -> None:
    colourful, plain = Streams(terminal=True), Streams(terminal=True, color=False)
    for streams in (colourful, plain):
        streams.output.line("+ more", "added")
    assert colourful.out == "\x1b[32m+ more\x1b[0m\n"
    assert plain.out == "+ more\n"


def test_a_diff_has_two_heading_lines_and_a_colour_for_each_kind_of_line() -> None:
    streams = Streams(terminal=True)
    streams.output.diff(["--- a", "+++ a", "@@ -1 +1 @@", "-old", "+new", " same"])
    head = "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ a\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n"
    assert streams.out == f"{head}\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same\n"


@given(st.lists(st.tuples(st.text(max_size=120), st.text(max_size=120)), min_size=1, max_size=5))
def test_every_row_of_every_table_is_one_safe_line(rows: list[tuple[str, str]]) -> None:
    for terminal in (True, False):
        streams = Streams(terminal=terminal, color=False)
        streams.output.table(COLUMNS[:2], rows)
        lines = streams.out.split("\n")[:-1]
        assert len(lines) == len(rows) + terminal
        assert controls(streams.out) <= {"\t"}


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (10_240, "10 KB"), (1_048_576, "1.0 MB"), (5 * 2**40, "5,120 GB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (60, "1m"),
        (7_200, "2h"),
        (14 * 86_400, "2w"),
        (800 * 86_400, "2y"),
        (-30, "0s"),
        (-90, "future"),
    ],
)
def test_ages(seconds: int, text: str) -> None:
    assert age(NOW - seconds * 1000, NOW) == text


def test_paragraphs_are_broken_between_words_by_cells() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("語語 語語", 5) == ["語語", "語語"]
    assert wrapped("a-very-long-word b", 4) == ["a-very-long-word", "b"]
    assert wrapped("  ", 4) == []


@pytest.mark.parametrize(("terminal", "secrets"), [(True, False), (True, True), (False, False)])
def test_secrets_leave_only_where_they_are_wanted_and_in_a_piped_diff(terminal: bool, secrets: bool) -> None:
    streams = Streams(terminal=terminal, secrets=secrets)
    out = streams.output
    for text in (f"a {GITHUB} b", KEY.replace("\n", " ")):
        out.line(text)
        out.line_of("a", text)
        out.entry("a", "good", text)
        out.table(COLUMNS, [(text, text, 12, 0)])
        out.say(text)
        out.error(RefusedError(text, hint=text))
        assert (GITHUB in streams.out + streams.err) == secrets
    out.text(KEY)
    out.document({"items": [{GITHUB: [KEY, "as it is"]}], "error": {"message": GITHUB}})
    out.json_line({"items": GITHUB})
    assert (KEY.split("\n")[2] in streams.out) == secrets
    lines = ["--- a", "+++ b", *(f"+{line}" for line in KEY.split("\n")), f" {GITHUB}"]
    out.diff(lines)
    assert (GITHUB in streams.out) == secrets
    out.diff(lines, exact=True)
    assert (KEY.split("\n")[2] in streams.out) == (secrets or not terminal)
    assert (GITHUB in streams.out) == (secrets or not terminal)


def test_a_document_says_how_many_secrets_are_masked_in_it_and_an_exact_one_has_them() -> None:
    streams = Streams(terminal=False, json=True)
    answer = {"items": [{"path": f"{GITHUB}.md", "text": KEY, "bytes": 3}], "truncated": False}
    streams.output.document(answer)
    masked = {"path": "[masked: GitHub token].md", "text": "[masked: private key]", "bytes": 3}
    assert json.loads(streams.out) == {"masked": 2, "items": [masked], "truncated": False}
    streams.output.document(answer, exact=True)
    assert json.loads(streams.out.split("\n")[1]) == answer
    assert without_secrets({"items": []}) == {"items": []}


def test_a_name_of_64_signs_is_masked_and_a_sha_is_not() -> None:
    name, sha = "数" * 44 + "AK" + "IA" + "IOSFODNN7QWERTYU", "0123456789abcdef" * 4
    assert len(name) == 64
    assert without_secrets({"title": name, "sha256": sha}) == {
        "masked": 1,
        "title": "数" * 44 + "[masked: AWS key]",
        "sha256": sha,
    }
