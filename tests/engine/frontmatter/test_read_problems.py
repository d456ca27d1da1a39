"""What a row says about a text: an agent's own limit in characters, which is not one in bytes."""

import pytest

from memtui.engine.frontmatter.read import judge
from memtui.engine.model import Policy

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
