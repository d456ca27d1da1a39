"""Links, names and pointers of indexes are found where they stand, and none of them leads out of its root."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk.handles import split
from memtui.errors import RefusedError
from memtui.pointers.links import (
    Link,
    Pointer,
    inline_links,
    name_readings,
    parse_index,
    parse_links,
    prose,
    readings,
    relative,
    resolve,
    resolve_name,
    resolve_plain,
    written,
)
from tests.pointers.samples import HOSTILE_TARGETS, files


def kept(text: str) -> str:
    """The prose of a text, joined again."""
    return b"\n".join(line for _, line in prose(text.encode())).decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b` c", "a     c"),
        ("a ``b ` c`` `d", "a           `d"),
        ("---\na: b\n---\nc", "   \n    \n   \nc"),
        ("---\na: b\nc", "---\na: b\nc"),
        ("a\n```py\nb\n```\nc", "a\n     \n \n   \nc"),
        ("````\n```\na\n````\nb", "    \n   \n \n    \nb"),
        ("~~~\n```\n~~~\na", "   \n   \n   \na"),
        ("a <!-- b --> c <!--\nd\n--> e", "a            c     \n \n    e"),
        ("```\n<!--\n```\na", "   \n    \n   \na"),
        ("<!--\n```\n-->\na", "    \n   \n   \na"),
    ],
)
def test_code_comments_and_front_matter_are_blank(text: str, shown: str) -> None:
    assert kept(text) == shown


@given(files)
def test_every_byte_of_prose_is_where_it_is_in_the_file(data: bytes) -> None:
    lines = data.split(b"\n")
    found = prose(data)
    assert len(found) == len(lines)
    for (start, shown), line in zip(found, lines, strict=True):
        assert data[start : start + len(line)] == line
        assert len(shown) == len(line)
        assert all(one in (ord(" "), other) for one, other in zip(shown, line, strict=True))


def found(line: str) -> list[tuple[str, str]]:
    """Texts and targets."""
    data = line.encode()
    return [
        (data[one.start + 1 : one.text_end].decode(), data[one.at : one.stop].decode()) for one in inline_links(data)
    ]


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("[a](b.md)", [("a", "b.md")]),
        ("[a](b.md 'c') [d](<e f> \"g\")", [("a", "b.md"), ("d", "e f")]),
        ("[a](b(c).md)", [("a", "b(c).md")]),
        ("[a](b c.md)", [("a", "b c.md")]),
        ("[a]( b.md )", [("a", "b.md")]),
        ("[a]()", [("a", "")]),
        ("[a [b] c](d.md)", [("a [b] c", "d.md")]),
        ("[a [b](c) d](e)", [("b", "c")]),
        ("![a](b) [![c](d)](e)", [("![c](d)", "e")]),
        ("\\[a](b) [c\\](d)](e)", [("c\\](d)", "e")]),
        ("[a] (b) [c", []),
        ("[a](b", []),
        ("[a](((((((((((b))))))))))", []),
        ("](a) [[b]] [[c](d)", [("c", "d")]),
    ],
)
def test_links_are_read_as_people_write_them(line: str, links: list[tuple[str, str]]) -> None:
    assert found(line) == links


@given(st.text("[]()<>\\\"' !ab", max_size=40))
def test_links_follow_one_another(line: str) -> None:
    at = 0
    for one in inline_links(line.encode()):
        assert at <= one.start < one.text_end < one.at <= one.stop < one.end <= len(line)
        at = one.end


names = st.text(st.characters(exclude_characters="/\\\x7f", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8)
parts = names.filter(lambda name: name.strip(".") != "")
below = st.lists(parts, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("target", "here", "path"),
    [
        ("a.md", "MEMORY.md", "a.md"),
        ("./a.md", "MEMORY.md", "a.md"),
        ("a.md", "topics/MEMORY.md", "topics/a.md"),
        ("../a.md#part", "topics/MEMORY.md", "a.md"),
        ("a%20b.md", "MEMORY.md", "a b.md"),
        ("%E5%90%8D.md", "MEMORY.md", "名.md"),
        ("a\\_b.md", "MEMORY.md", "a_b.md"),
        ("a%252e.md", "MEMORY.md", "a%2e.md"),
        ("topics/", "MEMORY.md", "topics/"),
        ("..", "a/b/MEMORY.md", "a/"),
        ("a//b.md", "MEMORY.md", "a/b.md"),
        ("100%.md", "MEMORY.md", "100%.md"),
    ],
)
def test_a_target_is_a_path_below_the_root(target: str, here: str, path: str) -> None:
    assert resolve(target, here) == path


@pytest.mark.parametrize(
    ("names", "fits"),
    [
        (["a"] * 20, True),
        (["a"] * 21, False),
        (["a" * 255], True),
        (["a" * 256], False),
        (["é" * 128], False),
        (["a" * 255] * 3 + ["a" * 254, "a"], True),
        (["a" * 255] * 4 + ["a"], False),
    ],
)
def test_a_path_may_be_as_long_as_one_of_a_memory(names: list[str], fits: bool) -> None:
    path = "/".join(names)
    assert resolve(path, "MEMORY.md") == (path if fits else None)
    with nullcontext() if fits else pytest.raises(RefusedError):
        split(path)


@pytest.mark.parametrize("target", [target for target in HOSTILE_TARGETS if target != "%"])
def test_a_hostile_target_leads_nowhere(target: str) -> None:
    assert resolve(target, "MEMORY.md") is None
    assert resolve_name(target, "MEMORY.md") is None


@given(st.text(max_size=40) | st.text("./%2eEfF\\:~a", max_size=30), st.sampled_from(["MEMORY.md", "a/b/MEMORY.md"]))
def test_no_text_leads_out_of_the_root(target: str, here: str) -> None:
    for found in (resolve(target, here), resolve_plain(target, here), resolve_name(target, here)):
        if found is not None:
            assert not found.startswith("/")
            assert not {"", ".", ".."} & set(found.removesuffix("/").split("/"))
            assert not any(ord(character) < 32 or character == "\\" for character in found)


@given(below, below)
def test_a_path_that_is_written_is_read_again(path: str, here: str) -> None:
    assert resolve_plain(relative(path, here), here) in (path, None)
    for angled in (False, True):
        target = written(path, here, "old.md", angled=angled)
        assert target is None or resolve(target, here) == path
    if all(len(part.encode()) < 255 for part in path.split("/")):
        assert written(path, here, "old.md") is not None


@pytest.mark.parametrize(
    ("path", "here", "like", "target"),
    [
        ("b.md", "MEMORY.md", "a.md", "b.md"),
        ("b.md", "MEMORY.md", "./a.md#part", "./b.md#part"),
        ("b c(d).md", "MEMORY.md", "a.md", "b%20c%28d%29.md"),
        ("x/b.md", "x/y/MEMORY.md", "a.md", "../b.md"),
        ("x/b.md", "x/MEMORY.md", "./a.md", "./b.md"),
        ("b:c.md", "MEMORY.md", "a.md", "./b:c.md"),
        ("~b.md", "MEMORY.md", "a.md", "./~b.md"),
        ("名前.md", "MEMORY.md", "a.md", "名前.md"),
    ],
)
def test_a_target_is_written_like_the_old_one(path: str, here: str, like: str, target: str) -> None:
    assert written(path, here, like) == target


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("a.md", ("a.md",)),
        ("m%20x.md", ("m x.md", "m%20x.md")),
        ("%41.md", ("A.md", "%41.md")),
        ("n#1.md", ("n", "n#1.md")),
        ("m%20x.md#p", ("m x.md", "m%20x.md#p", "m x.md#p", "m%20x.md")),
        ("#top", (None, "#top")),
        ("%2e%2e/a.md", (None,)),
        ("https://x/a%20b#c", (None,)),
    ],
)
def test_every_path_a_target_may_mean_is_told(target: str, found: tuple[str | None, ...]) -> None:
    assert readings(target, "MEMORY.md") == found
    assert found[0] == resolve(target, "MEMORY.md")


@given(st.text("./%2eEfF#\\:~a", max_size=30), st.sampled_from(["MEMORY.md", "a/b/MEMORY.md"]))
def test_no_reading_leads_out_of_the_root(target: str, here: str) -> None:
    for path in (*readings(target, here), *name_readings(target, here)):
        assert path is None or (".." not in path.split("/") and not path.startswith("/"))


@pytest.mark.parametrize("name", ["a\udcff.md", "a\x1b.md", "a\x9b.md"])
def test_a_name_that_cannot_stand_in_clean_text_is_not_written(name: str) -> None:
    assert written(name, "MEMORY.md", "a.md") is None


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
    found = parse_links(data, path, **options)
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
    found = parse_index(data, path)
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
def test_pointers_nothing_leads_out_of_the_root(target: str) -> None:
    for link in (f"- [A]({target})", f"- [A](<{target}>)", f"- [[{target}]]"):
        assert all(one.path is None for one in pointers(link) if one.target == target)


@given(files)
def test_pointers_every_position_is_right_whatever_the_file_holds(data: bytes) -> None:
    for one in pointers(data, "a/MEMORY.md"):
        assert one.path is None or ".." not in one.path.split("/")
