"""The pointers of an index: read as agents write them, every position right, nothing of it outside of the root."""

import pytest
from hypothesis import given

from memtui.pointers.index import Pointer, parse
from tests.pointers.samples import HOSTILE_TARGETS, files

INDEX = """\
---
name: [x](front.md)
---
# Memory

- [User role](user_role.md) — senior Go engineer
- [feedback_testing.md](feedback/testing.md) - integration tests hit a real database
* ★★ [**`WBS-23.3` shipped**](wbs233.md): PNG chart
- [[project_output]] — by name
- [One](one.md) · [Two](<two words.md>) · [Web](https://example.org)

<!-- - [Gone](gone.md) -->
```
- [Example](example.md)
```
`[code](code.md)` ![picture](picture.png)
"""


def pointers(text: str | bytes, path: str = "MEMORY.md") -> tuple[Pointer, ...]:
    """Parse, and require that every position is right."""
    data = text.encode() if isinstance(text, str) else text
    found = parse(data, path)
    lines = data.split(b"\n")
    for one in found:
        target = one.target.encode("utf-8", "surrogateescape")
        assert target in data[one.start : one.end]
        assert one.end <= len(data)
        begin = sum(len(line) + 1 for line in lines[: one.line])
        assert begin <= one.start < one.end <= begin + len(lines[one.line])
        link = data[one.start : one.end]
        assert link.startswith(b"[[" if one.kind == "name" else b"[")
        assert link.endswith(b"]]" if one.kind == "name" else b")")
    assert sorted(found, key=lambda one: (one.line, one.start)) == list(found)
    return found


def test_an_index_is_read_as_agents_write_it() -> None:
    found = pointers(INDEX)
    assert [(one.line, one.target, one.path) for one in found] == [
        (5, "user_role.md", "user_role.md"),
        (6, "feedback/testing.md", "feedback/testing.md"),
        (7, "wbs233.md", "wbs233.md"),
        (8, "project_output", "project_output.md"),
        (9, "one.md", "one.md"),
        (9, "two words.md", "two words.md"),
        (9, "https://example.org", None),
    ]
    assert [one.text for one in found[:4]] == [
        "User role",
        "feedback_testing.md",
        "**`WBS-23.3` shipped**",
        "project_output",
    ]
    assert [one.hook for one in found[:4]] == [
        "senior Go engineer",
        "integration tests hit a real database",
        "PNG chart",
        "by name",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(end: str) -> None:
    text = "\ufeff" + end.join(["- [A](a.md) — one", "- [B](b.md) — two"])
    assert [(one.path, one.hook) for one in pointers(text)] == [("a.md", "one"), ("b.md", "two")]


def test_targets_are_relative_to_the_index() -> None:
    text = "- [A](a.md)\n- [B](../b.md)\n- [C](../../c.md)\n- [[d]]\n- [E](sub/)\n"
    assert [one.path for one in pointers(text, "sub/MEMORY.md")] == ["sub/a.md", "b.md", None, "sub/d.md", "sub/sub/"]


def test_an_open_fence_or_comment_goes_on_to_the_end() -> None:
    assert not pointers("```\n- [A](a.md)\n")
    assert not pointers("<!--\n- [A](a.md)\n")
    assert len(pointers("---\n- [A](a.md)\n")) == 1  # no front matter: it is never closed
    assert len(pointers("``` [A](a.md) ```\n[B](b.md)\n")) == 1  # code in a line, no fence


@pytest.mark.parametrize("target", [target for target in HOSTILE_TARGETS if target not in ("%", "")])
def test_nothing_leads_out_of_the_root(target: str) -> None:
    for link in (f"- [A]({target})", f"- [A](<{target}>)", f"- [[{target}]]"):
        assert all(one.path is None for one in pointers(link) if one.target == target)


@given(files)
def test_every_position_is_right_whatever_the_file_holds(data: bytes) -> None:
    for one in pointers(data, "a/MEMORY.md"):
        assert one.path is None or ".." not in one.path.split("/")
