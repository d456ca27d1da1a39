"""The line of words: typing, pastes, and what the last visit left."""

from memtui.features.search.view import SearchLine


def make() -> tuple[SearchLine, list[str]]:
    changed: list[str] = []
    line = SearchLine(lambda: changed.append(line.text), lambda: [("3 hits", "strong")])
    return line, changed


def type_in(line: SearchLine, text: str) -> None:
    for letter in text:
        assert line.feed("space" if letter == " " else letter, letter)


def test_letters_are_text_and_moving_keys_are_not() -> None:
    line, changed = make()
    type_in(line, "j /?1 q")
    assert line.text == "j /?1 q"
    assert changed[-1] == line.text
    for key in ("up", "down", "pageup", "pagedown", "enter", "escape", "tab", "f6", "ctrl+r"):
        assert not line.feed(key, None)
    assert line.feed("backspace", None)
    assert line.feed("ctrl+u", None)
    assert line.text == ""
    assert line.query is None


def test_a_hidden_character_is_no_text_and_no_command() -> None:
    line, _ = make()
    assert not line.feed("x", "\u202e")
    assert line.text == ""


def test_the_words_of_the_last_visit_are_replaced_by_the_first_letter_and_kept_by_any_other_key() -> None:
    line, _ = make()
    type_in(line, "old words")
    line.selected = True
    type_in(line, "n")
    assert line.text == "n"
    type_in(line, "ew")
    line.selected = True
    assert line.feed("end", None)
    type_in(line, "!")
    assert line.text == "new!"
    line.selected = True
    line.paste("two\nlines\x1b")
    assert line.text == "two lines"


def test_it_is_drawn_with_its_count_and_its_cursor_while_it_is_typed_in() -> None:
    line, _ = make()
    type_in(line, "tabs")
    drawn, column = line.draw(40, active=True, plain=False)
    assert "".join(text for text, _ in drawn).split() == ["search", "tabs", "3", "hits"]
    assert column == len(" search tabs")
    line.selected = True
    drawn, column = line.draw(40, active=True, plain=False)
    assert ("tabs", "caret") in drawn
    assert column is None
    drawn, column = line.draw(40, active=False, plain=False)
    assert ("tabs", "strong") in drawn
    assert column is None
