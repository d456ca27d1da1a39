"""The index of words gives exactly the texts that looking at each of them would."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.find.words import Words
from memtui.matching import Term, fold

WORDS = st.text("aabcß.-é日", min_size=1, max_size=6)


def by_looking(texts: list[str], form: str) -> dict[int, int]:
    graded = ((number, Term((form,)).grade(text)) for number, text in enumerate(texts))
    return {number: grade for number, grade in graded if grade is not None}


@given(st.lists(st.lists(WORDS, max_size=8).map(lambda words: fold(" ".join(words))), max_size=8), WORDS.map(fold))
def test_it_gives_what_looking_at_each_text_gives(texts: list[str], form: str) -> None:
    words = Words()
    for number, text in enumerate(texts):
        words.add(number, text)
        words.grades("a")  # between two texts, so that what was joined before is not believed
    assert words.grades(form) == by_looking(texts, form)


def test_many_words_with_a_part_are_all_found() -> None:
    texts = [f"word{number} other" for number in range(500)]
    words = Words()
    for number, text in enumerate(texts):
        words.add(number, text)
    for form in ("word1", "o", "7", "other", "nothing"):
        assert words.grades(form) == by_looking(texts, form)
    assert words.bytes > 500 * len("word1")
