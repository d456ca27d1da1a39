"""Phrases in several languages: days made absolute, wishes to remember, corrections."""

from datetime import UTC, datetime
from time import thread_time

import pytest

from memtui.phrases import absolute, asks_to_remember, corrects, day_words
from tests.growth import growth

WEDNESDAY = int(datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The freeze starts today.", "The freeze starts 2026-03-04."),
        ("Ship it tomorrow, or the day after tomorrow", "Ship it 2026-03-05, or 2026-03-06"),
        ("release by Friday", "release by 2026-03-06"),
        ("release NEXT friday", "release 2026-03-06"),
        ("last Monday's incident", "2026-03-02's incident"),
        ("last Wednesday", "2026-02-25"),
        ("on Wednesday", "on 2026-03-11"),
        ("this Wednesday", "2026-03-04"),
        ("in 2 weeks and 10 days ago", "2026-03-18 and 2026-02-22"),
        ("next week we freeze, last month we did not", "the week of 2026-03-09 we freeze, 2026-02 we did not"),
        ("Der Release ist am Freitag, gestern war Test", "Der Release ist am 2026-03-06, 2026-03-03 war Test"),
        ("vendredi, viernes", "2026-03-06, 2026-03-06"),
        ("昨天发布，明天冻结", "2026-03-03发布，2026-03-05冻结"),
        ("every Friday, on Fridays, today-view, Mondays", "every Friday, on Fridays, today-view, Mondays"),
        ("Not on Friday, never on Monday, the Friday boats", "Not on Friday, never on Monday, the Friday boats"),
        ("yesterdays daysago weekend", "yesterdays daysago weekend"),
    ],
)
def test_a_day_is_said_as_itself(text: str, said: str) -> None:
    assert absolute(text, WEDNESDAY) == said


def test_the_end_of_the_year_is_passed() -> None:
    new_year = int(datetime(2026, 12, 31, 12, tzinfo=UTC).timestamp() * 1000)
    assert absolute("tomorrow, next month", new_year) == "2027-01-01, 2027-01"
    assert [found.day for found in day_words("last month", new_year)] == ["2026-11"]


@pytest.mark.parametrize("piece", ["the day ", "in 12 ", "every ", "next ", "a", "昨", "9 "])
def test_a_megabyte_takes_no_longer_than_its_size(piece: str) -> None:
    text = piece * (1_048_576 // len(piece))
    started = thread_time()
    assert day_words(text, WEDNESDAY) == ()
    assert thread_time() - started < 10


REMEMBER = """
Remember that we use pnpm | please remember: tabs | OK, remember to run the tests | Fine. From now on use tabs.
Note that the API is old | Don't forget the changelog | save this to your memory
Never mind. Keep in mind that ... | Merk dir: immer pnpm | Ab jetzt nur noch pnpm | Retiens que c'est pnpm
Désormais, pnpm | Recuerda que es pnpm | A partir de ahora pnpm | 记住用pnpm | 請記住用pnpm | 以后都用pnpm
pnpmだ。これからは覚えておいて | 覚えておいて
"""
NO_REMEMBER = """
Do you remember that bug? | I remember it well | Add a note field | remembering is hard | The future is here
Please write a test | note.md is empty | ¿Recuerda que era así? | 你记住了吗？ | The class Remember that ...
"""
WRONG = """
No, use pnpm | no - the other file | Nope. Not that. | don't add comments | Stop adding comments | stop.
Actually, use the other one | That's wrong | That is not what I meant | use pnpm instead | I said pnpm
wrong, again | Nein, pnpm | Nicht npm nehmen | Das ist falsch | Non, pnpm | N'utilise pas npm | No, usa pnpm
Deja de usar npm | 不要用npm | 别用npm | 不对，用pnpm | いいえ、pnpmです | 違う | ではなくpnpm | undo that
"""
NOT_WRONG = """
No problem! | No, thanks | Not now | nothing else | Stopwords are filtered | Node is fine | Don't worry | Yes
Is that wrong? | actually great | north of it | Nonetheless fine | 别忘了测试 | notar | Never mind
"""


def phrases(block: str) -> list[str]:
    """Split a block of phrases at `|` and line ends."""
    return [phrase.strip() for line in block.strip().splitlines() for phrase in line.split("|")]


@pytest.mark.parametrize("text", phrases(REMEMBER))
def test_a_wish_to_remember_is_heard(text: str) -> None:
    assert asks_to_remember(text)


@pytest.mark.parametrize("text", phrases(NO_REMEMBER))
def test_other_words_are_no_wish_to_remember(text: str) -> None:
    assert not asks_to_remember(text)


@pytest.mark.parametrize("text", phrases(WRONG))
def test_a_correction_is_heard(text: str) -> None:
    assert corrects(text)
    assert not corrects(text + " x" * 300)


@pytest.mark.parametrize("text", phrases(NOT_WRONG))
def test_other_words_are_no_correction(text: str) -> None:
    assert not corrects(text)


@pytest.mark.parametrize(
    "unit", ["please ", "save this ", "\n", ". ", "use x ", "ne ", "n'", "don't ", "instead of ", "\n> "]
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    assert growth(lambda size: asks_to_remember(unit * (size // len(unit))), 16 * 1024, 128 * 1024) < 24
