"""Phrases in six languages, and what only looks like them."""

import pytest

from memtui.transcripts.phrases import asks_to_remember, corrects
from tests.growth import growth

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
