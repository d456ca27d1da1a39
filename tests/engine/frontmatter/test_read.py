"""Front matter: found only where it is, read as it is written, and nothing hostile reaches a parser."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.frontmatter import LIMIT
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.frontmatter.guard import is_too_deep
from memtui.engine.frontmatter.read import describe, judge, split
from memtui.engine.model import Address, Memory, Policy, Problem
from memtui.errors import RefusedError
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


POLICY = Policy(shown_chars=(("MEMORY.md", 10),))


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("0123456789", ""),
        ("0123456789x", "11 characters"),
        ("ééééééé\n", ""),
        (" 0123456789 \n", ""),
        ("é" * 11, "11 ch"),
    ],
)
def test_characters_over_the_agents_limit_are_a_problem(text: str, over: str) -> None:
    problems = judge(text.encode(), POLICY, "MEMORY.md").problems
    assert [problem.code for problem in problems] == (["over-agent-limit"] if over else [])
    assert all(over in problem.text and "limit is 10" in problem.text for problem in problems)


def test_only_the_file_that_is_meant_has_the_limit() -> None:
    assert not judge(b"0123456789x", POLICY, "OTHER.md").problems


def test_text_that_is_not_utf_8_is_counted_as_well() -> None:
    codes = [problem.code for problem in judge(b"\xff" * 11, POLICY, "MEMORY.md").problems]
    assert codes == ["E_TEXT", "over-agent-limit"]


def best_of(data: bytes, rounds: int = 3) -> float:
    """The shortest time one `split` took, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        split(data)
        times.append(time.thread_time() - start)
    return min(times)


BOMBS = {
    "merge keys": "a: &a {x: 1}\n" + "".join(f"k{n}: {{<<: [*a, *a]}}\n" for n in range(80)),
    "plain merge key": "a:\n  <<: {x: 1}\n",
    "aliases": "a: &a [x, x]\n" + "".join(f"k{n}: &k{n} [*k{n - 1}, *k{n - 1}, *k{n - 1}]\n" for n in range(1, 10)),
    "anchor": "a: &a b\n",
    "50,000 brackets": "a: " + "[" * 50_000 + "\n",
    "100,000 brackets": "a: " + "[" * 100_000 + "\n",
    "16,000 brackets": "[" * 16_000 + "\n",
    "braces": "a: " + "{a: " * 4000 + "\n",
    "dashes": "- " * 8000 + "\n",
    "indents": "".join(" " * depth + "a:\n" for depth in range(60)),
    "python object": "a: !!python/object/apply:os.mkdir [made]\n",
    "custom tag": "a: !thing x\n",
    "core tag": "a: !!str x\n",
}  # fmt: skip
HUGE = {
    "100,000 keys": "".join(f"key{n}: value\n" for n in range(100_000)),
    "1 MiB scalar": "a: " + "x" * 1_048_576 + "\n",
    "many parts": "a: [" + "x," * 5000 + "]\n",
    "one byte over": "a: " + "x" * (LIMIT - 3) + "\n",
}


@pytest.mark.parametrize(
    ("text", "code"),
    [(text, "E_FRONTMATTER_UNSAFE") for text in BOMBS.values()]
    + [(text, "E_FRONTMATTER_TOO_BIG") for text in HUGE.values()],
    ids=[*BOMBS, *HUGE],
)
def test_bombs_are_refused_at_once(text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = block(text)
    front = split(data)
    assert front.problem is not None
    assert front.problem.code == code
    assert front.fields == {}
    assert front.body == 0
    assert best_of(data) < 0.1
    with pytest.raises(RefusedError) as refused:
        set_field(data, "a", "new")
    assert refused.value.code == code
    assert "made" not in os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b\n\tc: d\n", 3), ("a: b\nc: x\x00y\n", 3), ("a: \x1b[31m\n", 2), ("a: b\n\nc: [\n", 5), ("a: b\n%x\n", 3),
        ("a: b\n--- c\n", 3), ("globs: *.py\n", 2), ("a: \ufeffb\n", 2), ("a: b\n? [x]\n: c\n", 3),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_said_with_its_line(text: str, line: int) -> None:
    front = split(block(text))
    assert front.status == "broken"
    assert front.problem is not None
    assert front.problem.code == "front-matter"
    assert f"line {line})" in front.problem.text
    with pytest.raises(RefusedError) as refused:
        set_field(block(text), "a", "new")
    assert refused.value.code == "E_FRONTMATTER"


def test_bytes_that_are_no_utf8_are_said_with_their_line() -> None:
    front = split(b"---\na: b\nc: \xff\n---\n")
    assert front.status == "broken"
    assert front.problem is not None
    assert "line 3" in front.problem.text


def test_duplicate_fields_warn_and_refuse_edits() -> None:
    for text in ("a: 1\nb: 2\na: 3\n", "a: {x: 1, x: 2}\n"):
        data = block(text)
        front = split(data)
        assert front.status == "duplicate"
        assert front.problem is not None
        assert data[front.body :] == b"# Body\n"
        with pytest.raises(RefusedError) as refused:
            set_field(data, "b", "new")
        assert refused.value.code == "E_FRONTMATTER"
    assert split(block("a: 1\nb: 2\na: 3\n")).fields == {"a": "3", "b": "2"}


def test_front_matter_that_is_not_read_can_still_be_corrected_as_text() -> None:
    memory = Memory(Address("r", "a.md"), "global", "files", 1, 0, "0" * 64)
    assert memory._replace(problems=(Problem("E_FRONTMATTER_UNSAFE", ""),)).writable
    assert not memory._replace(problems=(Problem("E_TEXT", ""),)).writable


@pytest.mark.parametrize("value", ["9" * 5000, "1:" * 5000 + "1", "2024-99-99T99:99:99"])
def test_costly_numbers_and_dates_are_only_text(value: str) -> None:
    assert split(block(f"a: {value}\n"), plain=False).fields == {"a": value}
    assert best_of(block(f"a: {value}\n")) < 0.05


def test_depth_is_told_of_what_is_not_safe_too() -> None:
    for text in ("a: " + "[" * 16 + "]" * 16, "- " * 17 + "a", "a: " + "{b: " * 16, "a: &x " + "[" * 16, "[" * 16_000):
        assert is_too_deep(text), text
    for text in ("a: " + "[" * 15 + "]" * 15, "a: [b]\n" * 40, "globs: *.ts\na: " + "[" * 16, "a: \x07" + "[" * 16, ""):
        assert not is_too_deep(text), text
