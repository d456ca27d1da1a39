"""Every way to name another memory: found by position, and never out of the root."""

import pytest
from hypothesis import given

from memtui.pointers.links import Link, parse
from tests.pointers.samples import HOSTILE_TARGETS, files

TEXT = """\
See [the other](b.md), [[c]], [[topics/d|shown]] and [[e#part]].
Read `mem:f` and mem:topics/g-h; not amem:x, mem: or mem:global/y.
@./docs/i.md and @j.md, but not me@example.org, @somebody or `@k.md`.
[ref]: l.md
@~/.claude/m.md @/etc/passwd @../../n.md
"""


def links(text: str | bytes, path: str = "a.md", **options: str) -> tuple[Link, ...]:
    """Parse, and require that every position is right."""
    data = text.encode() if isinstance(text, str) else text
    found = parse(data, path, **options)
    at = 0
    for one in found:
        target = one.target.encode("utf-8", "surrogateescape")
        assert data[one.at : one.at + len(target)] == target
        assert at <= one.start <= one.at <= one.at + len(target) <= one.end <= len(data)
        at = one.end
    return found


def test_every_kind_is_found() -> None:
    assert [(one.kind, one.target, one.path) for one in links(TEXT)] == [
        ("link", "b.md", "b.md"),
        ("name", "c", "c.md"),
        ("name", "topics/d|shown", "topics/d.md"),
        ("name", "e#part", "e.md"),
        ("mem", "f", "f.md"),
        ("mem", "topics/g-h", "topics/g-h.md"),
        ("mem", "global/y", None),
        ("import", "./docs/i.md", "docs/i.md"),
        ("import", "j.md", "j.md"),
        ("link", "l.md", "l.md"),
        ("import", "~/.claude/m.md", None),
        ("import", "/etc/passwd", None),
        ("import", "../../n.md", None),
    ]


def test_references_to_global_memories_lead_into_their_root_only() -> None:
    text = "mem:global/a mem:b mem:global/ mem:a//b"
    assert [one.path for one in links(text, names="global/")] == ["a.md", None, None, None]
    assert [one.path for one in links(text)] == [None, "b.md", None, None]


@pytest.mark.parametrize("target", [target for target in HOSTILE_TARGETS if target not in ("%", "")])
def test_nothing_leads_out_of_the_root(target: str) -> None:
    for text in (
        f"[a]({target})",
        f"[a](<{target}>)",
        f"[[{target}]]",
        f"@{target}",
        f"mem:{target}",
        f"[a]: {target}",
    ):
        for one in links(text):
            assert one.path is None or not {"", "..", "etc"} & set(one.path.removesuffix("/").split("/"))


@given(files)
def test_every_position_is_right_whatever_the_file_holds(data: bytes) -> None:
    for one in links(data, "a/b.md"):
        assert one.path is None or ".." not in one.path.split("/")
