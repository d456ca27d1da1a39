"""Front matter of rules, read as leniently as agents do."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.loaded_text import HEAD_DEPTH, fields, is_text
from memtui.engine.frontmatter import guard


def test_plain_fields_lists_and_what_is_no_yaml() -> None:
    text = (
        b'---\ndescription: "Say: hello"\nglobs: *.ts,*.tsx\npaths:\n  - "a/**"\n  - b\nalwaysApply: true\n---\nx: y\n'
    )
    assert fields(text) == {
        "description": "Say: hello",
        "globs": "*.ts,*.tsx",
        "paths": "a/**, b",
        "alwaysApply": "true",
    }
    assert fields(b"---\npaths: ['**/*.py', \"b\"]\n---\n") == {"paths": "**/*.py, b"}


def test_nothing_else_is_a_field() -> None:
    assert fields(b"no front matter\na: 1\n") == {}
    assert fields(b"---\n# a: 1\n  b: 2\n- c\nd\n---\n") == {}
    assert fields(b"---\na: \xff\n---\n") == {"a": "�"}


def test_what_is_nested_too_deep_is_text() -> None:
    assert HEAD_DEPTH == guard.DEPTH

    def nested(levels: int, opens: str = "[", closes: str = "]") -> bytes:
        return f"---\npaths: {opens * levels}x{closes * levels}\n---\ntext\n".encode()

    assert fields(nested(HEAD_DEPTH - 1)) == {"paths": "x"}
    for deep in (
        nested(HEAD_DEPTH),
        nested(600),
        nested(9_000),
        nested(600, "{a: ", "}"),
        nested(600, "[x, ", "]"),
        nested(600, "[", ""),
        b"---\nglobs: *.ts\npaths: " + b"[" * 600 + b"]" * 600 + b"\n---\n",
        b"---\nglobs: *.ts\npaths:\n - " + b"[" * 600 + b"]" * 600 + b"\n---\n",
        b"---\n" + b"".join(b" " * level + b"a:\n" for level in range(60)) + b"---\n",
        b"---\na:\n  " + b"- " * 600 + b"\n---\n",
    ):
        assert is_text(deep), deep[:40]
        assert fields(deep) == {}
    for flat in (
        b"no front matter " + b"[" * 600,
        b"---\na: b\n---\n" + b"[" * 600,
        b"---\nglobs: " + b"[a],{b}," * 100 + b"\n---\n",
        b"---\npaths: [" + b'"[a-z]", ' * 100 + b"]\n---\n",
        b"---\ndescription: use [[[[[[[[[[[[[[[[[[[[[[ as it is\n---\n",
        b"---\n" + b"".join(b"- a\n" for _ in range(60)) + b"---\n",
    ):
        assert not is_text(flat), flat[:40]


@given(st.text("[]{},:-\"'\n# a", max_size=2_000))
def test_no_front_matter_is_an_error(block: str) -> None:
    fields(f"---\n{block}\n---\n".encode())
