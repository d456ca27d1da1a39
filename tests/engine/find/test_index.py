"""The index gives exactly the texts that looking at each of them would, or no answer; and what goes, goes whole."""

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.find import index
from memtui.engine.find.index import IndexAnswer, Text, TextIndex, discard, empty, is_spilled, keep, words
from memtui.errors import StorageError
from memtui.matching import Term, fold, typed

ROOT = "/folder/of the root"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def never() -> bool:
    return False


def text(content: str, root: str = ROOT) -> Text:
    return Text(root, hashlib.sha256(content.encode()).hexdigest(), fold(content))


def fill(state: Path, contents: Iterable[str], root: str = ROOT) -> list[Text]:
    texts = [text(content, root) for content in contents]
    keep(str(state), {}, texts, stop=never)
    return texts


def ask(asked: TextIndex, query: str, *roots: str, inside: bool = True) -> IndexAnswer | None:
    wanted = typed(query)
    assert wanted is not None
    return asked.ask(roots or (ROOT,), wanted.terms, inside=inside, stop=never)


def shown(answer: IndexAnswer | None, texts: Iterable[Text]) -> set[str]:
    """Return the texts that hold the first term."""
    assert answer is not None
    numbers = answer.grades[0].keys()
    return {one.folded for one in texts if answer.held[one.root].get(one.sha256) in numbers}


LETTERS = st.text("aabcßéİſ ²ﬁ日本語ก한ᄒ\u0301\u3099-_.", max_size=14)
"""Letters with marks, of two cases, of several forms, of scripts without spaces; and what is no letter."""


@given(st.lists(LETTERS, max_size=6, unique=True), LETTERS)
def test_it_gives_what_looking_at_each_text_gives(
    tmp_path_factory: pytest.TempPathFactory, contents: list[str], query: str
) -> None:
    state = tmp_path_factory.mktemp("state")
    texts = fill(state, ["nothing", *contents])
    asked = TextIndex(str(state))
    wanted = typed(query)
    if wanted is None:
        return
    terms = (*wanted.terms, *wanted.without)
    answer = asked.ask((ROOT,), terms, inside=True, stop=never)
    early = asked.ask((ROOT,), terms, inside=False, stop=never)
    asked.close()
    assert answer is not None
    assert early is not None
    assert answer.held[ROOT].keys() == {one.sha256 for one in texts}
    for term, grades, soon in zip(terms, answer.grades, early.grades, strict=True):
        looked = {answer.held[ROOT][one.sha256]: term.grade(one.folded) for one in texts}
        assert grades == {number: grade for number, grade in looked.items() if grade is not None}
        assert soon.items() <= grades.items() or soon.keys() <= grades.keys()


@given(st.text(max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_a_part_of_a_text_has_parts_of_its_words(content: str, start: int, end: int) -> None:
    folded = fold(content)
    whole = words(folded).words
    for word in words(folded[start:end].strip()).words:
        assert any(word in one for one in whole)


def test_words_are_compared_without_marks_and_signs_without_spaces_in_pairs() -> None:
    assert words("plain words_and -more").words == ("plain", "words", "and", "more")
    assert words("plain words").plain
    assert words("cafe\u0301 café ﬁn").words == ("cafe", "fin")
    assert words("日本語 git提交").words == ("日本", "本語", "git", "提交")
    assert words("слово — другое") == (("слово", "другое"), True)
    assert not words("日").plain


def test_a_part_of_a_very_long_run_is_found(state: Path) -> None:
    run = "".join(f"{number:05}" for number in range(20_000))
    texts = fill(state, [f"begin {run} end", f"é{run[::-1]}"])
    asked = TextIndex(str(state))
    for at in (0, 999, 1_001, 50_003, len(run) - 700):
        assert shown(ask(asked, run[at : at + 700]), texts) == {texts[0].folded}
        assert shown(ask(asked, run[::-1][at : at + 1_000]), texts) == {texts[1].folded}
    asked.close()


def test_many_words_with_a_part_and_many_texts(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = fill(state, [f"xword{number} and word{number} other" for number in range(300)])
    for most in (2_000, 5):
        monkeypatch.setattr(index, "_MANY", most)
        asked = TextIndex(str(state))
        answer = ask(asked, "word1")
        assert answer is not None
        assert answer.grades[0] == {
            answer.held[ROOT][one.sha256]: grade
            for one in texts
            if (grade := Term(("word1",)).grade(one.folded)) is not None
        }
        assert shown(ask(asked, '"and word17 other"'), texts) == {texts[17].folded}
        asked.close()


def test_each_root_has_its_own_texts_and_what_a_root_has_no_more_goes(state: Path) -> None:
    here, there = str(state), "/no such folder"
    first = fill(state, ["one needle", "two needles"], here)
    second = fill(state, ["three needles"], there)
    asked = TextIndex(here)
    assert shown(ask(asked, "needle", here), first) == {"one needle", "two needles"}
    assert shown(ask(asked, "needle", there), second) == {"three needles"}
    assert len(shown(ask(asked, "needle", here, there), [*first, *second])) == 3
    keep(here, {here: {first[0].sha256}, there: {second[0].sha256}}, (), stop=never)
    assert shown(ask(asked, "needle", here, there), [*first, *second]) == {"one needle", "three needles"}
    keep(here, {}, (), stop=never)  # The folder of the other root is gone.
    assert shown(ask(asked, "needle", here, there), [*first, *second]) == {"one needle"}
    asked.close()


def bytes_of(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(state.iterdir()))


def test_no_byte_of_a_text_that_goes_is_left(state: Path) -> None:
    tokens = [hashlib.sha256(bytes([number])).hexdigest()[:16] for number in range(200)]
    texts = fill(state, [f"{'many other words ' * (int(token, 16) % 90)} {token} end" for token in tokens], str(state))
    asked = TextIndex(str(state))
    assert len(shown(ask(asked, "end", str(state)), texts)) == 200
    before = bytes_of(state)
    assert all(before.count(token[4:].encode()) > 1 for token in tokens)  # Sorted words leave out how they begin.
    keep(str(state), {str(state): {one.sha256 for one in texts[::2]}}, (), stop=never)
    left = bytes_of(state)
    assert [token for token in tokens if token[4:].encode() in left] == tokens[::2]
    empty(str(state))
    emptied = bytes_of(state)
    assert not any(token[4:].encode() in emptied for token in tokens)
    assert not is_spilled(str(state))
    answer = ask(asked, "end", str(state))
    assert answer == IndexAnswer({str(state): {}}, ({},))
    asked.close()


def test_what_another_process_still_reads_is_overwritten_later(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "EMPTYING_MS", 10)
    fill(state, ["a secret text"])
    reader = apsw.Connection(str(state / "index.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM texts").get == 1
    empty(str(state))
    assert is_spilled(str(state))
    reader.close()
    keep(str(state), {}, (), stop=never)
    assert not is_spilled(str(state))
    assert b"secret" not in bytes_of(state)


def test_a_text_read_before_the_index_was_emptied_is_not_kept(state: Path) -> None:
    def read() -> Iterable[Text]:
        yield text("read before")
        empty(str(state))

    fill(state, ["first"])
    keep(str(state), {}, read(), stop=never)
    assert b"before" not in bytes_of(state)


def test_it_stops_between_two_batches(state: Path) -> None:
    read: list[int] = []

    def many() -> Iterable[Text]:
        for number in range(500):
            read.append(number)
            yield text(f"number {number}")

    keep(str(state), {}, many(), stop=lambda: len(read) > 100)
    assert len(read) == 128
    asked = TextIndex(str(state))
    answer = ask(asked, "number")
    assert answer is not None
    assert len(answer.grades[0]) == 128
    asked.close()


def test_texts_are_kept_once_and_the_file_is_for_its_owner(state: Path) -> None:
    for _ in range(2):
        fill(state, ["one", "two", "two"])
    asked = TextIndex(str(state))
    answer = ask(asked, "two")
    assert answer is not None
    assert (len(answer.held[ROOT]), len(answer.grades[0])) == (2, 1)
    for path in state.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    asked.close()


def test_without_an_index_there_is_no_answer(state: Path) -> None:
    asked = TextIndex(str(state))
    assert ask(asked, "x") is None
    assert not state.exists()
    empty(str(state))
    assert not is_spilled(str(state))
    (state / "index.db").mkdir(parents=True)
    assert ask(asked, "x") is None
    assert not keep(str(state), {}, [text("x")], stop=never)


@pytest.mark.parametrize("damage", ["text", "cut", "zeros", "nothing", "format"])
def test_a_damaged_or_strange_index_gives_no_answer_and_is_made_again(state: Path, damage: str) -> None:
    texts = fill(state, [f"number {number}" for number in range(300)])
    path = state / "index.db"
    data = path.read_bytes()
    match damage:
        case "text":
            path.write_bytes(b"no database at all" * 1_000)
        case "cut":
            path.write_bytes(data[: len(data) // 3])
        case "zeros":
            path.write_bytes(data[:4_096] + bytes(len(data) - 4_096))
        case "nothing":
            path.write_bytes(b"")
        case "format":
            database = apsw.Connection(str(path))
            database.pragma("user_version", 7)
            database.close()
    asked = TextIndex(str(state))
    assert ask(asked, "number") is None
    fill(state, [f"number {number}" for number in range(300)])
    assert len(shown(ask(asked, "number"), texts)) == 300
    asked.close()
    discard(str(state))
    assert ask(asked, "number") is None


def test_emptying_a_damaged_index_removes_it(state: Path) -> None:
    state.mkdir()
    (state / "index.db").write_bytes(b"a secret" * 1_000)
    empty(str(state))
    assert not (state / "index.db").exists()


def test_an_index_that_cannot_be_emptied_is_said(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(state, ["a secret"])
    other = apsw.Connection(str(state / "index.db"))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(index, "EMPTYING_MS", 10)
    with pytest.raises(StorageError) as caught:
        empty(str(state))
    assert caught.value.code == "E_STORE"
    other.close()


def test_another_process_that_writes_is_no_error_for_a_question(state: Path) -> None:
    texts = fill(state, ["one text"])
    other = apsw.Connection(str(state / "index.db"))
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM texts")
    asked = TextIndex(str(state))
    assert shown(ask(asked, "text"), texts) == {"one text"}
    other.execute("COMMIT")
    assert shown(ask(asked, "text"), texts) == set()
    os.replace(state / "index.db", state / "aside")
    assert ask(asked, "text") is None
    other.close()
