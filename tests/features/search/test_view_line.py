"""The line of words: typing, pastes, what the last visit left, and what was searched for before."""

from memtui.features.search.view import KEPT_QUERIES, SearchLine


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
    line.write("old words")
    line.selected = True
    type_in(line, "n")
    assert line.text == "n"
    line.write("old words")
    line.selected = True
    assert line.feed("end", None)
    type_in(line, "!")
    assert line.text == "old words!"
    line.selected = True
    line.paste("new\nlines\x1b")
    assert line.text == "new lines"


def test_the_past_comes_back_and_goes_forward_again() -> None:
    line, changed = make()
    for words in ("one", "two", "three", "two"):
        line.write(words)
        line.remember()
    assert line.past == ["one", "three", "two"]
    assert line.recall(1)  # what is there already is not brought back
    assert line.text == "three"
    assert line.recall(1)
    assert (line.text, changed[-1]) == ("one", "one")
    assert not line.recall(1)
    assert line.recall(-1)
    assert line.text == "three"
    type_in(line, "x")
    assert line.recall(1)
    assert line.text == "two"
    line.write("  ")
    line.remember()
    assert line.past == ["one", "three", "two"]
    for number in range(100):
        line.write(str(number))
        line.remember()
    assert len(line.past) == KEPT_QUERIES


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
