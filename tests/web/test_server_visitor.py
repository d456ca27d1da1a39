"""What a page sends is carried to its workbench as it is meant, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.web.server import MAX_CELLS, Visitor, bounded, own_command, take


class Heard(Visitor):
    """A workbench that only notes what reaches it."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    async def send_bytes(self, data: bytes) -> bool:
        self.heard.append(data)
        return True

    async def send_meta(self, data: dict[str, str | int | bool | None]) -> bool:
        self.heard.append(data)
        return True


async def told(text: str) -> tuple[bool, list[object], list[str]]:
    """What a message does: whether it was one, what the workbench heard, what the page was answered."""
    visitor, answers = Heard(), list[str]()

    async def answer(words: str) -> None:
        answers.append(words)

    return await take(visitor, text, answer), visitor.heard, answers


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ('["stdin", "j\\u001b[A"]', b"j\x1b[A"),
        ('["stdin", "\\ud800"]', b"?"),
        ('["resize", {"width": 80, "height": 24}]', {"type": "resize", "width": 80, "height": 24}),
        ('["resize", {"width": 99999999, "height": -1}]', {"type": "resize", "width": MAX_CELLS, "height": 24}),
        ('["focus"]', {"type": "focus"}),
        ('["blur"]', {"type": "blur"}),
    ],
)
async def test_what_a_page_sends_reaches_the_workbench(text: str, heard: object) -> None:
    assert await told(text) == (True, [heard], [])


async def test_a_ping_is_answered() -> None:
    assert await told('["ping", "12"]') == (True, [], ['["pong", "12"]'])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        "[]",
        '["quit"]',
        '["stdin", 1]',
        '["resize", {"width": 80}]',
        '["resize", {"width": "80", "height": 24}]',
        "[" * 100_000,
    ],
)
async def test_anything_else_is_no_message(text: str) -> None:
    assert await told(text) == (False, [], [])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
async def test_no_message_breaks_the_server(value: object) -> None:
    ok, heard, _ = await told(json.dumps(value))
    assert ok or not heard


@given(st.integers())
def test_a_size_is_one_a_terminal_can_have(cells: int) -> None:
    assert 1 <= bounded(cells, 80) <= MAX_CELLS


def test_nothing_in_the_working_directory_is_loaded() -> None:
    assert own_command(["demo"])[1:] == ("-P", "-m", "memtui", "demo")
