"""Lists, nested fields, removals, several fields at once: everything but the field is as it was, or nothing happens."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.frontmatter import BOM
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.frontmatter.read import split
from memtui.engine.model import FieldEdit
from memtui.errors import RefusedError
from tests.engine.yaml_blocks import block, blocks, values


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
