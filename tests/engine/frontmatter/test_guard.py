"""The guard: no bomb, tag or control character reaches a parser, and what is wrong is said with its line."""

import os
import time
from pathlib import Path

import pytest

from memtui.engine.frontmatter import LIMIT
from memtui.engine.frontmatter.guard import is_too_deep
from memtui.engine.frontmatter.read import split
from memtui.engine.model import Address, Memory, Problem
from memtui.errors import RefusedError
from tests.engine.yaml_blocks import block, set_field


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
