"""What of a text an agent loads: spans that are dropped, limits, heads of rules, imports."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.agent import ImportRule, Limits
from memtui.agents.loaded_text import (
    CUT,
    DROPPED,
    HEAD_DEPTH,
    MOST_IMPORTS,
    Gap,
    comments,
    cut,
    fields,
    find_imports,
    front_matter,
    is_text,
    line_of,
    loaded,
)
from memtui.engine.frontmatter import guard


def kept(data: bytes, limits: Limits, *, dropped: tuple[Gap, ...] = ()) -> bytes:
    return loaded(data, cut(data, dropped, limits))


def test_lines_bytes_units_and_characters_cut_after_whole_lines() -> None:
    assert kept(b"a\nb\nc\n", Limits(lines=2)) == b"a\nb\n"
    assert kept(b"a\nb\nc", Limits(lines=3)) == b"a\nb\nc"
    assert kept(b"aaa\nbbb\n", Limits(bytes=7)) == b"aaa\n"
    assert kept("😀\nb\n".encode(), Limits(units=4)) == "😀\n".encode()
    assert kept("é\nb\n".encode(), Limits(characters=3)) == "é\n".encode()


def test_a_first_line_that_is_longer_than_all_is_cut_inside() -> None:
    assert kept(b"a" * 100, Limits(bytes=10)) == b"a" * 10
    assert kept("é".encode() * 100, Limits(characters=10)) == "é".encode() * 10
    assert kept("😀".encode() * 10, Limits(units=4)) == "😀".encode() * 2


def test_what_is_dropped_does_not_count() -> None:
    data = b"---\na: 1\n---\none\n<!-- x\ny -->\ntwo\nthree\n"
    head = front_matter(data)
    assert head is not None
    gaps = cut(data, (head, *comments(data)), Limits(lines=2))
    assert loaded(data, gaps) == b"one\ntwo\n"
    assert [gap.kind for gap in gaps] == [DROPPED, DROPPED, CUT]
    assert line_of(data, gaps[-1].start) == 8


def test_what_is_dropped_below_the_cut_is_a_part_of_it() -> None:
    data = b"one\ntwo\n<!-- x -->\nthree\n"
    assert cut(data, comments(data), Limits(lines=1)) == (Gap(4, len(data), CUT),)


def test_the_middle_can_go_instead() -> None:
    assert kept(b"0123456789", Limits(middle=4)) == b"0189"
    assert kept(b"0123", Limits(middle=4)) == b"0123"


def test_block_comments_go_and_those_in_code_or_in_a_line_stay() -> None:
    def without(text: str) -> str:
        return loaded(text.encode(), comments(text.encode())).decode()

    assert without("a\n<!-- b\nc -->\nd\n") == "a\nd\n"
    assert without("a <!-- b --> c\n") == "a <!-- b --> c\n"
    assert without("```\n<!-- b -->\n```\n") == "```\n<!-- b -->\n```\n"
    assert without("````\n```\n<!-- b -->\n````\n<!-- c -->\n") == "````\n```\n<!-- b -->\n````\n"
    assert without("<!-- b --> c\n") == " c\n"
    assert without("<!-- never closed\nc\n") == "<!-- never closed\nc\n"
    assert without("    <!-- indented code -->\n") == "    <!-- indented code -->\n"


def test_front_matter_needs_both_lines() -> None:
    assert front_matter(b"---\nname: x\nno end\n") is None
    assert front_matter(b"text\n---\n") is None
    assert front_matter(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nbody") == Gap(3, 22, DROPPED)


def test_limits_say_themselves() -> None:
    assert Limits(lines=200, bytes=25_000).words() == "200 lines or 25,000 bytes"


@given(
    st.text(alphabet="ab é😀\n-<!>`~", max_size=300).map(str.encode),
    st.integers(0, 12),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_no_limit_is_ever_passed_and_gaps_are_in_order(data: bytes, lines: int, size: int, units: int) -> None:
    gaps = cut(data, comments(data), Limits(lines=lines, bytes=size, units=units))
    at = 0
    for gap in gaps:
        assert at <= gap.start <= gap.end <= len(data)
        at = gap.end
    text = loaded(data, gaps)
    assert len(text) <= size
    assert text.count(b"\n") <= lines or not lines
    assert len(text.decode("utf-8", "ignore").encode("utf-16-le")) // 2 <= units


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


CLAUDE = ImportRule(depth=4, markdown=True, approval=True)
GEMINI = ImportRule(depth=5, markdown=False, approval=False, home=False)


def targets(text: str, rule: ImportRule = CLAUDE) -> list[str]:
    return [one.target for one in find_imports(text, rule)]


def test_imports_stand_at_the_beginning_of_a_word() -> None:
    assert targets("See @README.md and @docs/a.md\n@./b.md mail@example.org (@c.md)") == [
        "README.md",
        "docs/a.md",
        "./b.md",
    ]
    assert targets("@~/x.md") == ["~/x.md"]
    assert targets("@~/x.md @./y.md", GEMINI) == ["./y.md"]
    assert targets("@ @1 @-x @\0a @~x @/") == ["1", "-x"]
    assert targets("@ @1 @-x @_a", GEMINI) == []


@pytest.mark.parametrize("rule", [CLAUDE, GEMINI])
def test_code_is_not_looked_into(rule: ImportRule) -> None:
    assert targets("```\n@a.md\n```\n`@b.md` @c.md\n", rule) == ["c.md"]
    assert targets("````\n```\n@a.md\n````\n@c.md\n", rule) == ["c.md"]


def test_a_fence_that_never_ends_is_code_to_the_end() -> None:
    assert targets("@a.md\n~~~\n@b.md\n") == ["a.md"]
    assert targets("@a.md\n```\n@b.md\n", GEMINI) == ["a.md", "b.md"]


def test_names_of_people_and_packages_are_not_certain() -> None:
    found = {one.target: one.certain for one in find_imports("@alice @types/node @a.md @./b @notes.txt.", CLAUDE)}
    assert found == {"alice": False, "types/node": False, "a.md": True, "./b": True, "notes.txt.": True}


def test_there_is_a_limit() -> None:
    assert len(find_imports("@a.md " * (MOST_IMPORTS + 50), CLAUDE)) == MOST_IMPORTS


@pytest.mark.parametrize("piece", ["`", "` ``", "@", "@a`", "```\n", "`" * 9 + " "])
@pytest.mark.parametrize("rule", [CLAUDE, GEMINI])
def test_hostile_texts_take_no_longer_than_others(piece: str, rule: ImportRule) -> None:
    text = piece * (400_000 // len(piece))
    plain = "word @a.md\n" * 40_000
    took = []
    for one in (plain, text):
        start = time.thread_time()
        find_imports(one, rule)
        took.append(time.thread_time() - start)
    assert took[1] < max(50 * took[0], 3.0)
