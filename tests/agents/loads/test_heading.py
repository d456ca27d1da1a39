"""Front matter of rules, read as leniently as agents do."""

from memtui.agents.loads.heading import fields


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
