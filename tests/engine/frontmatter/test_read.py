"""Front matter: found only where it is, and read as it is written."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.frontmatter import LIMIT
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.read import describe, split
from memtui.mask import mask
from tests.corpus import ARCHIVE, journey
from tests.engine.yaml_blocks import block, blocks, set_field
from tests.examples import examples

"""A folder of real memories, when there is one."""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_spans_are_exact(newline: str, mark: str) -> None:
    data = (mark + newline.join(("---", "name: x", "---", "body"))).encode()
    front = split(data)
    assert data[front.start : front.end].decode() == f"name: x{newline}"
    assert data[front.body :] == b"body"
    assert front.fields == {"name": "x"}
    assert front.status == "ok"
    assert front.problem is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n\n\n", "\ufeff".encode(), b"# Title\n", b" ---\na: b\n---\n", b"----\na: b\n---\n", b"---",
        b"--- \na: b\n---\n", b"\n---\na: b\n---\n", b"+++\na = 1\n+++\n", b'{"a": 1}\n',
        b";;;\n", "\u2028---\na: b\n---\n".encode(),
        "---\na: b\n---\n".encode("utf-16"), b"---\ra: b\r---\r",
    ],
)  # fmt: skip
def test_everything_else_is_body_without_a_word(data: bytes) -> None:
    front = split(data)
    assert front.status == "none"
    assert front.problem is None
    assert data[front.body :] == data.removeprefix("\ufeff".encode())


def test_unclosed_is_body_with_a_warning() -> None:
    front = split(b"---\nname: x\n\ntext\n")
    assert (front.status, front.body) == ("unclosed", 0)
    assert front.problem is not None
    assert front.problem.code == "front-matter"


@pytest.mark.parametrize(
    ("text", "status"), [("- a\n- b\n", "other"), ("words\n", "other"), ("", "empty"), ("# c\n", "empty")]
)
def test_what_holds_no_fields_is_said(text: str, status: str) -> None:
    front = split(block(text))
    assert front.status == status
    assert front.fields == {}
    assert front.problem is not None


def test_a_fence_may_have_trailing_blanks_only_where_it_closes() -> None:
    assert split(b"---\na: b\n--- \t\r\nbody").fields == {"a": "b"}
    assert split(b"---\na: b\n---x\n---\n").status == "broken"


def test_a_body_may_start_with_a_block_of_its_own() -> None:
    data = b"---\nname: x\n---\n---\nname: y\n---\ntext"
    assert split(data).fields == {"name": "x"}
    edited = set_field(data, "name", "z")
    assert edited == b"---\nname: z\n---\n---\nname: y\n---\ntext"


@pytest.mark.parametrize(
    "key", ["content", "handler", "self", "1", "null", "true", "~", "ключ", "metadata", "with space"]
)
def test_any_key_is_an_ordinary_key(key: str) -> None:
    data = block(f"{key}: value\n")
    assert split(data).fields == {key: "value"}
    assert split(set_field(data, key, "other")).fields == {key: "other"}


@pytest.mark.parametrize(
    "value",
    ["no", "012", "1e3", "12:30:45", "2024-01-01", "~", "2024-99-99", "9" * 5000, "1:" * 5000 + "1", "0x1F", ".nan"],
)
def test_scalars_stay_as_written(value: str) -> None:
    data = block(f"name: x\nmodified: {value}\n")
    assert split(data).fields == {"name": "x", "modified": value}
    assert split(data, plain=False).fields == {"name": "x", "modified": value}


def test_nested_values_are_read() -> None:
    data = block(
        'name: x\nmetadata:\n  type: user\n  "odd key": >\n    a\n    b\ntags: [a, "b c"]\nlist:\n- 1\n- [x]\n'
    )
    assert split(data).fields == {
        "name": "x",
        "metadata": {"type": "user", "odd key": "a b\n"},
        "tags": ["a", "b c"],
        "list": ["1", ["x"]],
    }


def test_describe_is_one_short_line() -> None:
    told = describe(block("name: the name\ndescription: >\n  several\n  lines\twith   blanks\n"))
    assert told == ("several lines with blanks", "the name", None)
    assert describe(block(f"description: {'x' * 200}\n")).description == "x" * 200
    assert describe(block(f"description: {'x' * 201}\n")).description == "x" * 200 + "…"
    assert describe(b"# no front matter\n") == ("", "", None)
    assert describe(block("description: [a, b]\nname:\n  a: b\n")) == ("", "", None)
    assert describe(block('description: "a\\u2028b\\nc"\n')).description == "a b c"


def test_the_largest_block_is_read() -> None:
    data = block("a: " + "x" * (LIMIT - 4) + "\n")
    assert split(data).status == "ok"
    assert split(data, plain=False).status == "ok"


def test_plain_blocks_need_no_yaml() -> None:
    code = (
        "import sys; from memtui.engine.frontmatter.read import describe;"
        "told = describe(b'---\\nname: a\\ndescription: \"b: c\"\\nmetadata:\\n  type: user\\n---\\n');"
        "assert told.description == 'b: c';"
        "unwanted = ['yaml', 'frontmatter', 'pathlib', 'dataclasses'];"
        "sys.exit(any(name in sys.modules for name in unwanted))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@settings(max_examples=examples(400))
@given(blocks)
def test_the_plain_reader_means_what_yaml_means(text: str) -> None:
    data = f"---\n{text}---\nbody".encode()
    quick, full = split(data), split(data, plain=False)
    assert quick == full
    assert list(quick.fields) == list(full.fields)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "x y", '"q: r"', "'s'", "", "[a, b]", "x # c"])),
        max_size=6,
    )
)
def test_the_plain_reader_reads_what_it_is_for(fields: list[tuple[str, str]]) -> None:
    """The property above would also hold for a reader that always gives up."""
    unique = dict(fields)
    text = "".join(f"{key}: {value}\n" for key, value in unique.items())
    read = frontmatter._plain_fields(text.encode())
    assert read is not None
    assert list(read) == list(unique)


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_every_real_file_reads_the_same_both_ways(tmp_path: Path) -> None:
    journey.unpack(Path(ARCHIVE or ""), tmp_path)
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            assert split(data) == split(data, plain=False)


def test_a_description_with_an_unquoted_colon_is_shown_and_flagged() -> None:
    found = describe(b"---\nname: style\ndescription: Python: types first\n---\nbody\n")
    assert found.description == "Python: types first"
    assert found.name == "style"
    assert found.problem is not None


@pytest.mark.parametrize("lead", [*range(150, 200, 7), 199])
def test_a_description_is_not_cut_inside_a_secret(lead: int) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    told = describe(block(f"description: {'x' * (lead - 1)} {token} tail{' and more' * 9}\n")).description
    assert len(told) <= 201
    assert told.endswith("…")
    assert "a1B2" not in mask(told).text
