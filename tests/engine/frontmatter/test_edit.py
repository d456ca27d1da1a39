"""Editing a field: the bytes of one value change, or nothing does."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.frontmatter import LIMIT
from memtui.engine.frontmatter.read import split
from memtui.errors import RefusedError
from tests.corpus import ARCHIVE, journey
from tests.engine.yaml_blocks import block, blocks, set_field, values

"""A folder of real memories, when there is one."""

AWKWARD = [
    "plain", "with # hash", "a: b", "ends with:", "'single'", '"double"', "it's", "a | b", "| x", "> x", "@at",
    "- dash", "-", "😀 é", "*star", "&amp", "!bang", "%x", "`tick`", "[x]", "{x}", "", " ", " lead", "trail ",
    "two\nlines\n",
    "two\nlines", "\n\n", "a\tb", "back\\slash", "\x1b[31m", "nul\x00", "no", "true", "null", "~", "012", "1e3",
    "2024-01-01", "12:30", "\u2028", "\ufeff", "---", "...", "#", "?", "? x", ":", "a" * 500, "<<", "=", "\\n", "'",
    '"',    "\x85", "\r\n", "lines\r\nwith\r\nCR", "\U000e0041", "x\ny: z",
]  # fmt: skip


@pytest.mark.parametrize("value", AWKWARD)
def test_any_value_round_trips(value: str) -> None:
    for old in ("old", '"old"', "'old'", "|\n  old\n  text", ">-\n  old", "", "old\n  more", "2020-01-01"):
        text = f"# first\nname: n\ndescription: {old}\nmetadata: {{type: user}} # kept\n# last\n"
        for data in (block(text), block(text).replace(b"\n", b"\r\n"), "\ufeff".encode() + block(text, "no end")):
            edited = set_field(data, "description", value)
            front = split(edited)
            assert front.fields == {"name": "n", "description": value, "metadata": {"type": "user"}}
            head, tail = data.index(b"description:") + 12, data.index(b"metadata")
            assert edited[:head] == data[:head]
            assert edited.endswith(data[tail:])
            assert edited.count(b"\r\n") == edited.count(b"\n") or b"\r\n" not in data
            assert set_field(edited, "description", value) is edited


def test_only_the_bytes_of_the_value_change() -> None:
    data = b"---\r\n  name:   old   # why\r\n  # comment\r\n  other: 'kept'\r\n---\r\nbody"
    assert set_field(data, "name", "new") == data.replace(b"old", b"new")
    assert set_field(data, "other", "it's") == data.replace(b"'kept'", b"'it''s'")
    assert set_field(b"---\nname: # none\nb: c\n---\n", "name", "x") == b"---\nname: x # none\nb: c\n---\n"
    assert set_field(b"---\n{name: x, b: c}\n---\n", "name", "y, z") == b'---\n{name: "y, z", b: c}\n---\n'
    assert set_field(b"---\nname: |\n  a\n\n\nb: c\n---\n", "name", "x") == b"---\nname: x\n\n\nb: c\n---\n"


def test_what_other_readers_take_for_numbers_is_quoted() -> None:
    assert set_field(block("name: x\n"), "name", "no") == block('name: "no"\n')
    assert set_field(block("name: x\n"), "name", "2024-01-01") == block('name: "2024-01-01"\n')
    assert set_field(block("modified: 2024-01-01\n"), "modified", "2025-02-02") == block("modified: 2025-02-02\n")
    assert set_field(block("on: true\n"), "on", "false") == block("on: false\n")


def test_blocks_stay_blocks() -> None:
    data = block("a:  |\n  one\n  two\nb: c\n")
    assert set_field(data, "a", "three\n\nfour\n") == block("a:  |\n  three\n\n  four\nb: c\n")
    assert set_field(data, "a", "three\nfour") == block("a:  |-\n  three\n  four\nb: c\n")


def test_a_missing_field_is_added() -> None:
    assert set_field(block("name: x\n"), "description", "d") == block("name: x\ndescription: d\n")
    assert set_field(b"---\r\n  a: b\r\n---\r\n", "c", "d") == b"---\r\n  a: b\r\n  c: d\r\n---\r\n"
    assert set_field(block("a: |+\n  x\n\n"), "c", "d") == block("a: |+\n  x\n\nc: d\n")
    assert set_field(block(""), "c", "d") == block("c: d\n")
    assert set_field(block("# only a comment\n"), "c", "d") == block("# only a comment\nc: d\n")
    assert set_field(block("a: b\n"), "true", "d") == block('a: b\n"true": d\n')
    assert set_field(block("a: b\n"), "odd: key", "d") == block('a: b\n"odd: key": d\n')


@pytest.mark.parametrize(
    "body", ["", "# Title\n", "\n\ntext", "\r\nCRLF\r\n", "---\ntext\n---\n", "--- \n", "\ufeff# marked"]
)
def test_a_missing_block_is_added(body: str) -> None:
    data = body.encode()
    edited = set_field(data, "description", "a: b")
    front = split(edited)
    mark = "\ufeff".encode()
    assert front.fields == {"description": "a: b"}
    assert edited[front.body :] == data.removeprefix(mark)
    assert edited.startswith(mark) == data.startswith(mark)
    assert b"\r\n" not in edited or edited.count(b"\r\n") == edited.count(b"\n")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("tags: [a]\n", "tags"),
        ("m:\n  type: x\n", "m"),
        ("{a: b}\n", "c"),
        ("a: | # why\n  x\n", "a"),
        ("a: b\n---", "a"),
    ],
)
def test_what_cannot_be_spliced_is_refused(text: str, field: str) -> None:
    data = b"---\n" + text.encode() + (b"" if text.endswith("---") else b"---\nbody")
    if text.endswith("---"):
        data = b"---\na: b\nno end\n"
    with pytest.raises(RefusedError) as refused:
        set_field(data, field, "new")
    assert refused.value.code == "E_FRONTMATTER"
    assert refused.value.hint


def test_limits_and_encodings_are_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        set_field(block("a: b\n"), "a", "x" * LIMIT)
    assert refused.value.code == "E_FRONTMATTER_TOO_BIG"
    for data, value in ((b"caf\xe9", "x"), ("text".encode("utf-16"), "x"), (b"text", "\ud800")):
        with pytest.raises(RefusedError) as refused:
            set_field(data, "a", value)
        assert refused.value.code == "E_TEXT"


@given(blocks, st.sampled_from(["a", "name", "zz", "null"]), values)
def test_an_edit_changes_one_value_or_is_refused(text: str, field: str, value: str) -> None:
    data = f"---\n{text}---\nbody".encode()
    before, code = split(data), ""
    try:
        edited = set_field(data, field, value)
    except RefusedError as error:
        edited, code = data, error.code
    if edited == data:
        assert before.fields.get(field) == value or code.startswith("E_FRONTMATTER") or code == "E_TEXT"
        return
    after = split(edited, plain=False)
    assert after.fields[field] == value
    assert {**before.fields, field: value} == after.fields
    assert edited[after.body :] == data[before.body :]


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_real_files_change_only_where_they_are_edited(tmp_path: Path) -> None:
    journey.unpack(Path(ARCHIVE or ""), tmp_path)
    edited = 0
    for path in sorted(tmp_path.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        front = split(data)
        old = front.fields.get("description")
        if front.status != "ok" or not isinstance(old, str):
            continue
        changed = set_field(data, "description", old + "!")
        assert split(changed).fields == {**front.fields, "description": old + "!"}
        assert split(set_field(changed, "description", old)).fields == front.fields
        assert set_field(data, "description", old) is data
        edited += 1
    assert edited
