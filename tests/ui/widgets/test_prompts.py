"""The typed line: editing keys, safe pastes, what enter would do, and a cursor that is always in view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.safe_text import cell_width, visible
from memtui.ui.draw.text import Line
from memtui.ui.widgets.prompts import Prompt, Question

KEYS = st.sampled_from(
    ["left", "right", "home", "end", "backspace", "delete", "ctrl+u", "ctrl+k", "ctrl+w", "ctrl+left"]
)


def prompt(value: str = "", *, cursor: int | None = None, hint: Callable[[str], Line] | None = None) -> Prompt:
    return Prompt(Question("name", value, lambda _: None, cursor=cursor, hint=hint))


def typed(found: Prompt, *keys: str) -> str:
    for key in keys:
        found.feed(key, key if len(key) == 1 else None)
    return f"{found.text[: found.cursor]}|{found.text[found.cursor :]}"


def test_typing_and_moving() -> None:
    assert typed(prompt("ab"), "c", "left", "left", "x") == "ax|bc"
    assert typed(prompt("ab"), "home", "x", "end", "y") == "xaby|"


def test_deleting() -> None:
    assert typed(prompt("abc"), "backspace") == "ab|"
    assert typed(prompt("abc", cursor=1), "delete") == "a|c"
    assert typed(prompt("abc", cursor=1), "ctrl+u") == "|bc"
    assert typed(prompt("abc", cursor=1), "ctrl+k") == "a|"
    assert typed(prompt("notes/deep/file"), "ctrl+w") == "notes/deep/|"
    assert typed(prompt("notes/deep/"), "ctrl+w") == "notes/|"


def test_a_suffix_behind_the_cursor_is_typed_over() -> None:
    assert typed(prompt("notes.md", cursor=5), "ctrl+u", *"other.md") == "other.md|"
    assert typed(prompt("notes.md", cursor=5), "ctrl+u", *"other.md", *".md") == "other.md.md|"
    assert typed(prompt("notes.md", cursor=5), "ctrl+u", *"other") == "other|.md"
    assert typed(prompt("notes.md", cursor=5), "ctrl+u", *"other.txt") == "other.txt|.md"
    assert typed(prompt("x.md.md", cursor=4), "backspace", "d") == "x.md|.md"


def test_a_pasted_name_is_not_given_its_suffix_twice() -> None:
    changed: list[str] = []
    found = Prompt(Question("move", "notes.md", lambda _: None, cursor=5, changed=changed.append))
    found.feed("ctrl+u", None)
    found.paste("other.md")
    assert (found.text, changed[-1]) == ("other.md", "other.md")


def test_a_suffix_alone_is_not_shown_as_a_name() -> None:
    def drawn(found: Prompt) -> str:
        return "".join(text for text, _ in found.line(80)[0]).strip()

    found = prompt("notes/old.md", cursor=9)
    assert drawn(found) == "name notes/old.md"
    assert typed(found, "ctrl+u") == "|.md"
    assert drawn(found) == "name"
    typed(found, *"a/")
    assert drawn(found) == "name a/"
    assert typed(found, "b") == "a/b|.md"
    assert drawn(found) == "name a/b.md"


def over(value: str) -> Prompt:
    return Prompt(Question("/", value, lambda _: None, over=True))


def test_a_text_to_be_typed_over_gives_way_to_the_first_letter_or_paste() -> None:
    assert typed(over("topic"), *"session") == "session|"
    assert typed(over("topic"), "f4", *"ab") == "ab|"
    found = over("topic")
    found.paste("a b")
    assert found.text == "a b"
    assert typed(over(""), *"ab", "left", "c") == "ac|b"


def test_a_text_to_be_typed_over_stays_once_it_is_edited() -> None:
    assert typed(over("topic"), "backspace", "k") == "topik|"
    assert typed(over("topic"), "left", "x") == "topix|c"
    assert typed(over("topic"), "end", "s") == "topics|"
    told: list[str] = []
    found = Prompt(Question("/", "topic", told.append, over=True))
    found.feed("enter", None)
    assert told == ["topic"]


def test_enter_and_escape_are_told() -> None:
    told: list[str] = []
    question = Question(
        "name", "x", told.append, cancelled=lambda: told.append("no"), changed=lambda t: told.append(t + "?")
    )
    found = Prompt(question)
    typed(found, "y", "enter", "escape")
    assert told == ["xy?", "xy", "no"]


def test_control_characters_are_not_taken() -> None:
    found = prompt()
    assert not found.feed("ctrl+underscore", "\x1f")
    found.feed("x", "\u202e")
    assert found.text == ""


def test_a_paste_is_one_line_without_controls_and_capped() -> None:
    found = prompt()
    found.paste("\n a\x1b[31mb\nsecond")
    assert found.text == "ab second"
    found.paste("👩\u200d💻\u200d")
    assert found.text.endswith("👩\u200d💻")
    found.paste("x" * 100_000)
    assert len(found.text) < 5_000


def test_the_line_shows_what_enter_does() -> None:
    line, column = prompt("todo", hint=lambda text: [(f"creates {text}.md", "dim")]).line(60)
    text = "".join(part for part, _ in line)
    assert text.startswith(" name todo")
    assert text.endswith("creates todo.md")
    assert column == len(" name todo")


def test_the_text_has_the_room_that_what_is_beside_it_leaves() -> None:
    value = "x" * 60
    line, column = prompt(value, hint=lambda _: [("60 of 200", "dim")]).line(100)
    tight, _ = prompt(value, hint=lambda _: [("y" * 80, "dim")]).line(100)
    assert value in "".join(text for text, _ in line)
    assert column == 66
    assert "x" * 49 in "".join(text for text, _ in tight)
    assert "x" * 51 not in "".join(text for text, _ in tight)


def test_the_name_at_the_end_of_what_is_beside_it_is_not_lost() -> None:
    address = "qwen-code:project:team/decisions/token.md"
    line, _ = prompt("decisions/token.md", hint=lambda _: [(f"moves it to {address}", "dim")]).line(60)
    text = "".join(part for part, _ in line)
    assert "moves it to " in text
    assert text.endswith("/token.md")
    assert "…" in text


def test_a_refusal_is_shown_until_the_text_changes() -> None:
    found = prompt("a", hint=lambda _: [("fine", "dim")])
    found.refuse("it exists")
    assert "it exists" in "".join(part for part, _ in found.line(60)[0])
    typed(found, "b")
    assert "fine" in "".join(part for part, _ in found.line(60)[0])


@given(
    st.text(max_size=80), st.lists(st.one_of(KEYS, st.characters()), max_size=30), st.integers(20, 120), st.booleans()
)
def test_the_cursor_stays_inside_and_the_line_fits(value: str, keys: list[str], width: int, plain: bool) -> None:
    found = prompt(value)
    typed(found, *keys)
    assert 0 <= found.cursor <= len(found.text)
    line, column = found.line(width, plain=plain)
    text = "".join(part for part, _ in line)
    assert 0 <= column < width
    assert cell_width(text) <= width + 1
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in text)


@pytest.mark.parametrize("letter", ["x", "é", "語", "e\N{COMBINING ACUTE ACCENT}"])
@pytest.mark.parametrize("cursor", [0, 2_000, 4_000])
def test_no_more_of_a_long_text_is_looked_at_than_can_be_shown(
    letter: str, cursor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def width(text: str) -> int:
        looked.append(len(text))
        return cell_width(text)

    def seen(text: str, **rest: bool) -> str:
        looked.append(len(text))
        return visible(text, **rest)

    for module in ("widgets.prompts", "draw.text"):
        monkeypatch.setattr(f"memtui.ui.{module}.cell_width", width)
        monkeypatch.setattr(f"memtui.ui.{module}.visible", seen)
    line, column = prompt(letter * 4_000, cursor=cursor).line(100)
    assert sum(looked) < 20_000
    shown = "".join(part for part, _ in line)
    assert 90 < cell_width(shown) <= 101
    assert (column > 90) == (cursor > 0)


def test_a_line_takes_keys_while_it_asks_and_leaves_those_of_the_list_above_it() -> None:
    drawn: list[tuple[str, ...]] = []
    line = Prompt(None, lambda *bars: drawn.append(bars), "footer", "header")
    assert not line.take("a", "a")
    assert not line.refuse("too late")
    line.ask(Question("name", "", lambda _: line.close()))
    assert line.open
    assert [line.take(key, None) for key in ("down", "pageup", "ctrl+q", "f5")] == [False, False, False, True]
    assert line.take("a", "a")
    assert line.refuse("it is taken")
    assert (line.text, line.note) == ("a", [("it is taken", "error")])
    assert line.take("enter", None)
    assert (line.open, ("footer", "header") in drawn) == (False, True)
    line.ask(Question("find", "", lambda _: None, step=lambda by: drawn.append((str(by),))))
    assert line.take("up", None)
    assert ("-1",) in drawn
