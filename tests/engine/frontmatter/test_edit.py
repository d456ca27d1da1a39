"""Editing a field: the bytes of one value change, or nothing does."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.frontmatter import BOM, LIMIT
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.frontmatter.read import split
from memtui.engine.model import FieldEdit
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


def changed(text: str, path: str, value: str | tuple[str, ...] | None) -> str:
    """The block after one edit; a dot goes one level down."""
    data = set_fields(block(text), [FieldEdit(tuple(path.split(".")), value)])
    assert data.endswith(b"# Body\n")
    return data.decode().removeprefix("---\n").removesuffix("---\n# Body\n")


def refusal(text: str, path: str, value: str | tuple[str, ...] | None) -> str:
    with pytest.raises(RefusedError) as refused:
        changed(text, path, value)
    assert refused.value.code == "E_FRONTMATTER"
    assert refused.value.hint
    return refused.value.message


# --- lists in brackets


def test_a_list_in_brackets_keeps_its_items_as_they_are_written() -> None:
    text = "tags: [ a, 'b' ,  \"c\" ] # why\n"
    assert changed(text, "tags", ("a", "b", "c", "d")) == "tags: [a, 'b', \"c\", d] # why\n"
    assert changed(text, "tags", ("c", "x")) == 'tags: ["c", x] # why\n'
    assert changed(text, "tags", ()) == "tags: [] # why\n"
    assert changed("tags: []\n", "tags", ("a", "b, c", "no", "x: y")) == 'tags: [a, "b, c", "no", "x: y"]\n'
    assert changed("tags: [a, '#b',]\n", "tags", ("a", "#b", "c")) == "tags: [a, '#b', c]\n"


# --- lists with dashes


def test_a_list_with_dashes_keeps_its_items_as_they_are_written() -> None:
    text = "# above\ntags: # mine\n  -   a\n  -   'b'\n  -   c\nname: n\n"
    assert changed(text, "tags", ("a", "b", "c", "d")) == text.replace("-   c\n", "-   c\n  -   d\n")
    assert changed(text, "tags", ("z", "a", "b", "c")) == text.replace("  -   a", "  -   z\n  -   a")
    assert changed(text, "tags", ("a", "x", "c")) == text.replace("'b'", "x")
    assert changed(text, "tags", ("c", "b")) == text.replace("  -   a\n  -   'b'\n  -   c\n", "  -   c\n  -   'b'\n")
    assert changed("tags: # mine\n- a\n- b\n", "tags", ()) == "tags: [] # mine\n"
    assert changed("tags:\n- a\n", "tags", ("a", "x: y")) == 'tags:\n- a\n- "x: y"\n'
    assert changed("tags:\n-\n- b\n", "tags", ("a", "b", "c")) == "tags:\n- a\n- b\n- c\n"


@pytest.mark.parametrize(
    "text",
    [
        "tags: [\n  a,\n  b\n]\n",
        "tags: [ # none yet\n]\n",
        "tags:\n  - a   # first\n  - b\n",
        "tags:\n  - a\n  # between\n  - b\n",
        "tags:\n- a\n\n- b\n",
        "tags:\n-  a\n- b\n",
        "tags:\n- a\n- b\n  c\n",
        "tags:\n- |\n  a\n- b\n",
        "tags:\n-\n  a\n- b\n",
    ],
)
def test_a_list_that_is_not_plain_is_refused(text: str) -> None:
    assert refusal(text, "tags", ("b", "c")) == (
        "The list of the field 'tags' has a comment, or more or fewer lines than items."
    )


def test_a_list_comes_where_there_was_none() -> None:
    assert changed("name: n\n", "tags", ("a", "b")) == "name: n\ntags: [a, b]\n"
    assert changed("tags:\nname: n\n", "tags", ("a",)) == "tags: [a]\nname: n\n"
    assert changed("tags: a, b\n", "tags", ("a", "b")) == "tags: [a, b]\n"
    assert set_fields(b"text\n", [FieldEdit(("tags",), ("a",))]) == b"---\ntags: [a]\n---\ntext\n"


@pytest.mark.parametrize("text", ["tags: [a, [b]]\n", "tags: [a: b]\n", "tags:\n- a: b\n", "tags: {a: b}\n"])
def test_a_list_that_holds_more_than_texts_is_refused(text: str) -> None:
    assert refusal(text, "tags", ("a",))


# --- nested fields


def test_a_nested_field_changes_alone() -> None:
    text = "name: n\nmetadata:\n    node: 'm' # kept\n    type: user  # which\nother: x\n"
    assert changed(text, "metadata.type", "project") == text.replace("user", "project")
    assert changed(text, "metadata.node", "it's") == text.replace("'m'", "'it''s'")
    assert changed(text, "metadata.new", "1") == text.replace("which\n", 'which\n    new: "1"\n')
    assert changed("m: {type: user, b: c}\n", "m.type", "a, b") == 'm: {type: "a, b", b: c}\n'
    assert changed("m:\n  tags: [a]\n", "m.tags", ("a", "b")) == "m:\n  tags: [a, b]\n"
    assert changed("m:\n  a: |\n    x\nb: c\n", "m.a", "y\nz\n") == "m:\n  a: |\n    y\n    z\nb: c\n"


def test_a_nested_field_is_added_with_what_it_lies_in() -> None:
    assert changed("name: n\n", "metadata.type", "user") == "name: n\nmetadata:\n  type: user\n"
    assert changed("metadata: # none\nb: c\n", "metadata.type", "user") == "metadata: # none\n  type: user\nb: c\n"
    data = set_fields(b"text\r\n", [FieldEdit(("metadata", "type"), "user")])
    assert data == b"---\r\nmetadata:\r\n  type: user\r\n---\r\ntext\r\n"


@pytest.mark.parametrize("text", ["m: text\n", "m: [a]\n", "m: {a: b}\n", "m: {}\n"])
def test_a_nested_field_is_not_forced_in(text: str) -> None:
    assert refusal(text, "m.type", "user")


# --- removing


def test_a_removed_field_takes_its_lines_and_no_other() -> None:
    text = "# about\nname: n\ntags:\n  - a\n  - b\n\n# next\ndescription: >-\n  one\n  two\nlast: x\n"
    assert changed(text, "tags", None) == text.replace("tags:\n  - a\n  - b\n", "")
    assert changed(text, "description", None) == text.replace("description: >-\n  one\n  two\n", "")
    assert changed(text, "nothing", None) == text
    assert changed("m:\n  type: user\n  b: c\n", "m.type", None) == "m:\n  b: c\n"
    assert changed("a: b\nm:\n  type: user\n", "m.type", None) == "a: b\n"
    assert changed('a: "x # y"\nb: c\n', "a", None) == "b: c\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: b # why\nc: d\n", "a"),
        ("a:\n- x\n# between\n- y\nc: d\n", "a"),
        ("a: | # why\n  x\nc: d\n", "a"),
        ("{a: b, c: d}\n", "a"),
        ("m: {a: b, c: d}\n", "m.a"),
        ("? a\n: b\nc: d\n", "a"),
    ],
)
def test_a_removal_that_would_lose_more_is_refused(text: str, path: str) -> None:
    assert refusal(text, path, None)


def test_the_last_field_takes_the_block_along() -> None:
    for body in (b"text\n", b"", b"\r\n\r\ntext", b"\xef\xbb\xbf# odd\n"):
        for mark in (b"", BOM):
            data = mark + body.removeprefix(BOM)
            edits = [FieldEdit(("description",), "d"), FieldEdit(("metadata", "type"), "user")]
            there = set_fields(data, edits)
            assert split(there).fields == {"description": "d", "metadata": {"type": "user"}}
            assert set_fields(there, [edit._replace(value=None) for edit in edits]) == data


def test_a_block_stays_where_its_going_would_change_what_follows() -> None:
    assert changed("# mine\na: b\n", "a", None) == "# mine\n"
    data = b"---\na: b\n---\n---\nc: d\n---\n"
    assert set_fields(data, [FieldEdit(("a",), None)]) == b"---\n---\n---\nc: d\n---\n"


# --- several at once


def test_several_fields_change_together_or_not_at_all() -> None:
    data = block("name: n\ntags: [a]\nold: x\n")
    edits = [
        FieldEdit(("old",), None),
        FieldEdit(("description",), "d"),
        FieldEdit(("tags",), ("a", "b")),
        FieldEdit(("metadata", "type"), "user"),
    ]
    assert set_fields(data, edits) == block("name: n\ntags: [a, b]\ndescription: d\nmetadata:\n  type: user\n")
    assert set_fields(data, []) is data
    with pytest.raises(RefusedError):
        set_fields(data, [*edits, FieldEdit(("name", "inner"), "x")])
    with pytest.raises(ValueError, match="level"):
        set_fields(data, [FieldEdit(("a", "b", "c"), "x")])


# --- at random

PATHS = [("a",), ("name",), ("metadata", "a"), ("a", "b"), ("zz",), ("null", "x")]
LISTS = st.lists(values, max_size=4).map(tuple)


@given(blocks, st.sampled_from(PATHS), st.one_of(LISTS, values, st.none()))
def test_any_edit_of_any_block_changes_one_field_or_is_refused(
    text: str, path: tuple[str, ...], value: str | tuple[str, ...] | None
) -> None:
    data = f"---\n{text}---\nbody".encode()
    before = split(data, plain=False)
    edited, code = data, ""
    try:
        edited = set_fields(data, [FieldEdit(path, value)])
    except RefusedError as error:
        code = error.code
    if code:
        assert code.startswith("E_FRONTMATTER") or code == "E_TEXT"
        return
    after = split(edited, plain=False)
    assert edited[after.body :] == data[before.body :]
    assert after.fields == expected(before.fields, path, value)
    assert set_fields(edited, [FieldEdit(path, value)]) is edited


def expected(fields: dict[str, Any], path: tuple[str, ...], value: str | tuple[str, ...] | None) -> object:
    """What the fields shall be afterwards, said without the code that is tested."""
    wanted: dict[str, Any] = {key: dict(one) if isinstance(one, dict) else one for key, one in fields.items()}
    inner = wanted
    if len(path) > 1:
        there = wanted.get(path[0])
        inner = there if isinstance(there, dict) else {}
        if value is not None:
            wanted[path[0]] = inner
    if value is None:
        inner.pop(path[-1], None)
        if len(path) > 1 and path[-1] in (fields.get(path[0]) or {}) and not inner:
            del wanted[path[0]]
    else:
        inner[path[-1]] = list(value) if isinstance(value, tuple) else value
    return wanted


WORDS = st.sampled_from(["a", "b", "c d", "e-f", "no", "1", "x: y", "q, r", "it's", "#h", "[z]", "é"])
QUOTES = st.sampled_from(["'", '"'])


@st.composite
def written_lists(draw: st.DrawFn) -> tuple[str, list[str], bool]:
    """A list field as somebody might have written it: its lines, its items, and whether it is not plain."""
    items = draw(st.lists(WORDS, max_size=5, unique=True))
    written = []
    for one in items:
        plain = one.replace(" ", "").replace("-", "").isalpha()
        mark = "" if plain and one != "no" and draw(st.booleans()) else draw(QUOTES)
        written.append(mark + (one.replace("'", "''") if mark == "'" else one) + mark)
    comments = [draw(st.booleans()) for _ in items]
    dashes: bool = draw(st.booleans())
    if items and dashes:
        lead = draw(st.sampled_from(["- ", "  - ", "  -   "]))
        parts = [f"{lead}{one}{'  # c' if said else ''}\n" for one, said in zip(written, comments, strict=True)]
        return "tags:\n" + "".join(parts), items, any(comments)
    gap = draw(st.sampled_from([", ", ",", " , ", ",\n  "]))
    pad = draw(st.sampled_from(["", " "]))
    text = f"tags: [{pad}{gap.join(written)}{pad}]\n"
    return text, items, "\n" in text[:-1]


@given(
    written_lists(),
    st.lists(WORDS, max_size=6, unique=True),
    st.sampled_from(["", "# first\nname: 'n'  # kept\n", "m:\n  - x\n\n"]),
    st.sampled_from(["", "\n# after\nother: >-\n  text\n", "z: {a: b}\n"]),
    st.booleans(),
    st.booleans(),
)
def test_a_list_changes_between_what_stands_before_and_after_it(
    field: tuple[str, list[str], bool], wanted: list[str], above: str, below: str, windows: bool, mark: bool
) -> None:
    text, old, odd = field
    newline = "\r\n" if windows else "\n"
    head, middle, tail = (part.replace("\n", newline) for part in (f"---\n{above}", text, f"{below}---\nbody\n"))
    data = (BOM if mark else b"") + (head + middle + tail).encode()
    try:
        edited = set_fields(data, [FieldEdit(("tags",), tuple(wanted))])
    except RefusedError:
        assert odd
        return
    assert not odd or wanted == old
    assert edited.startswith((BOM if mark else b"") + head.encode())
    assert edited.endswith(tail.encode())
    assert edited.count(b"\r\n") == (edited.count(b"\n") if windows else 0)
    assert edited.count(b"# c") == data.count(b"# c")
    read = yaml.load(split_text(edited), Loader=yaml.BaseLoader)
    assert read == {**yaml.load(split_text(data), Loader=yaml.BaseLoader), "tags": wanted}
    assert wanted != old or edited is data


def split_text(data: bytes) -> str:
    """The block, found without the code that is tested."""
    return data.removeprefix(BOM).decode().replace("\r\n", "\n").split("---\n")[1]
