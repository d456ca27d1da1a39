"""`CHANNEL.json` of Qwen Code: one entry is changed without another byte; what its program refuses is not changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import RefusedError
from memtui.features.entries import model
from memtui.features.entries.model import EntryFile, parse

KIND = "qwen-room"
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda text: text.strip() == text)
LINES = TEXTS.filter(lambda text: "\r" not in text and "\n" not in text)


def room(texts: list[str], *, indent: int | None = 2, **more: object) -> bytes:
    """A file as its program writes it."""
    entries = [{"id": f"m-{number:012x}", "text": text, "createdBy": "ann"} for number, text in enumerate(texts)]
    document = {"version": 1, "entries": entries, **more}
    return (json.dumps(document, indent=indent, ensure_ascii=False) + "\n").encode()


def opened(data: bytes) -> EntryFile:
    """The file, taken apart."""
    return parse(data, KIND)


def texts_of(data: bytes) -> list[str]:
    """What a JSON reader finds in it."""
    return [one["text"] for one in json.loads(data)["entries"]]


@given(st.lists(TEXTS, max_size=4), LINES, st.sampled_from([2, None]))
def test_one_more_entry_and_one_less(texts: list[str], text: str, indent: int | None) -> None:
    file = opened(room(texts, indent=indent))
    assert [file.text(entry).decode() for entry in file.entries] == texts
    more = opened(model.with_added(file, text.encode()))
    assert texts_of(more.data) == [*texts, text]
    assert texts_of(model.without(more, more.entries[-1])) == texts
    for entry in more.entries:
        left = opened(model.without(more, entry))
        assert texts_of(left.data) == [one for at, one in enumerate([*texts, text]) if at != entry.number - 1]
        assert len(left.entries) == len(texts)


@given(st.lists(TEXTS, min_size=1, max_size=4), LINES, st.data())
def test_a_text_takes_the_place_of_another_and_no_other_byte_changes(
    texts: list[str], text: str, data: st.DataObject
) -> None:
    file = opened(room(texts, migration={"legacySha256": "0" * 64}))
    entry = data.draw(st.sampled_from(file.entries))
    changed = model.with_replaced(file, entry, text.encode())
    old, new = json.dumps(texts[entry.number - 1], ensure_ascii=False), json.dumps(text, ensure_ascii=False)
    element = file.data[entry.start : entry.end].replace(b'"text": ' + old.encode(), b'"text": ' + new.encode(), 1)
    assert changed == file.data[: entry.start] + element + file.data[entry.end :]


GOOD = {"id": "m-0123456789ab", "text": "Stand-up is at ten."}
REFUSED = {
    "an id twice": (room([], entries=[GOOD, GOOD]), "entry 2, in line 8, has the id m-0123456789ab of one before it"),
    "a key twice": (room(["a"]).replace(b'"text": "a"', b'"text": "a", "text": "b"'), "the key 'text' stands twice"),
    "no number": (room(["a"], version="VERSION").replace(b'"VERSION"', b"NaN"), "NaN is no number"),
    "another version": (room(["a"], version=2), "its version is not 1"),
    "another migration": (room(["a"], migration={}), "its migration is no object"),
    "a key of somebody else": (room(["a"], more=1), "alone"),
    "no list": (room([], entries={}), "its entries are no list"),
    "no id": (room([], entries=[GOOD, {"text": "a"}]), "entry 2, in line 8, is no object of an id"),
    "an empty text": (room([" "]), "entry 1, in line 4, has no text"),
    "a long text": (room(["a" * 2_001]), "entry 1, in line 4, has 2,001 characters"),
    "many entries": (room([str(number) for number in range(501)]), "it has 501 entries"),
    "too large": (room(["a"]) + b" " * (2 << 20), "bytes, and may have 1,048,576"),
    "half of it": (room(["a", "b"])[:-20], "line 12 column 18"),
    "something behind it": (room(["a"]) + b"x", "line 11 column 1"),
    "no text": (b"\xff\xfe", "position 0"),
    "a list": (b"[]", "it is no object of version, entries"),
    "very deep": (b"[" * 100_000, "it is too deep"),
    "nothing": (b"", "line 1 column 1"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_its_program_refuses_has_no_entries_and_gets_none_and_it_says_where(kind: str) -> None:
    data, where = REFUSED[kind]
    file = opened(data)
    assert file.entries == ()
    [note] = file.notes
    with pytest.raises(RefusedError) as refused:
        model.with_added(file, b"One more.")
    for said in (note, str(refused.value)):
        assert "CHANNEL.json" in said
        assert where in said


def test_a_text_that_it_would_refuse_is_not_written() -> None:
    file = opened(room(["a"]))
    with pytest.raises(RefusedError):
        model.with_replaced(file, file.entries[0], b"a" * 2_001)


def test_secrets_in_an_entry_are_masked() -> None:
    file = opened(room(["The key is AKIAIOSFODNN7EXAMPLQ", "b"]))
    assert b"AKIA" not in file.shown(file.entries[0])
    assert "AKIA" not in file.entries[0].title
    assert file.shown(file.entries[1]) == b"b"
