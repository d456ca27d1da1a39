"""Doubles: planted ones are found, and what differs in a number is never taken for the same."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Memory
from memtui.features.hygiene.doubles import MAX_GROUP, ReadMemory, exact, near, shingles, union

SEED = 20261123
WORDS = [f"{a}{b}" for a in ("dep", "rel", "tok", "cac", "sch", "lin", "mig", "ret") for b in ("loy", "en", "ma", "ix")]
LINES = st.lists(st.sampled_from([b"one", b"two", b"", b"three four", b"  five"]), max_size=8)


def text(path: str, data: bytes, *, kind: str = "", pinned: bool = False, uses: int = 0, at: int = 0) -> ReadMemory:
    """A memory of one root."""
    row = Memory(Address("notes", path), "global", "files", len(data), at, path, pinned=pinned, uses=uses)
    return ReadMemory(row, path, data, kind)


def sentence(chance: random.Random, words: int) -> list[str]:
    """Words that no other sentence has in this order."""
    return [f"{chance.choice(WORDS)}{chance.randrange(50)}" for _ in range(words)]


def test_planted_doubles_are_found_and_numbers_keep_memories_apart() -> None:
    chance = random.Random(SEED)
    texts = [text(f"other-{n}", " ".join(sentence(chance, 40)).encode()) for n in range(200)]
    pairs = {"exact": 0, "near": 0, "number": 0}
    for n in range(200):
        words = sentence(chance, 60)
        texts.append(text(f"exact-{n}-a", " ".join(words).encode()))
        texts.append(text(f"exact-{n}-b", b"---\nname: b\n---\n" + " ".join(words).encode() + b"  \r\n\r\n"))
        words = sentence(chance, 60)
        other = [*words[:-3], *sentence(chance, 3)]
        texts += [text(f"near-{n}-a", " ".join(words).encode()), text(f"near-{n}-b", " ".join(other).encode())]
        head = " ".join(sentence(chance, 30))
        texts += [text(f"number-{n}-{half}", f"{head} takes {12 + half} hours".encode()) for half in (0, 1)]
    chance.shuffle(texts)
    doubles = exact(texts)
    gone = {one.row.address for group in doubles for one in group.others}
    left = [one for one in texts if one.row.address not in gone]
    for group in (*doubles, *near(left)):
        names = {one.row.address.path.rpartition("-")[0] for one in (group.stays, *group.others)}
        assert len(names) == 1
        pairs[names.pop().partition("-")[0]] += 1
    assert len(doubles) == pairs["exact"] == 200, "each exact double, and nothing that differs in a number"
    assert pairs["near"] >= 180


def test_what_is_pinned_stays_and_so_does_what_is_used_most() -> None:
    group = [text("a", b"same", at=1), text("b", b"same", uses=3, at=2), text("c", b"same", pinned=True, at=3)]
    (found,) = exact(group)
    assert (found.stays.row.address.path, [one.row.address.path for one in found.others]) == ("c", ["b", "a"])
    assert exact([one._replace(row=one.row._replace(pinned=True)) for one in group]) == []
    assert exact([group[0], group[1]._replace(type="user"), text("d", b""), text("e", b"\n")]) == []


def test_thousands_that_are_nearly_the_same_come_in_groups() -> None:
    chance = random.Random(SEED)
    head = " ".join(sentence(chance, 60))
    texts = [text(f"n{n:05}", f"{head} number {n}".encode()) for n in range(2_000)]
    groups = near(texts)
    assert sum(1 + len(one.others) for one in groups) == 2_000
    assert {1 + len(one.others) for one in groups} == {MAX_GROUP}


@pytest.mark.parametrize("words", ["", "a few words only", "一" * 5])
def test_a_text_of_a_few_words_is_no_near_double(words: str) -> None:
    assert shingles(words) == frozenset()


def test_signs_without_blanks_between_them_are_compared_one_by_one() -> None:
    long = "部署总是先经过预发布环境因为渡轮码头没有回滚"
    assert len(shingles(long)) > 10
    assert shingles(long) == shingles(long + "。")


@given(LINES, LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_no_line_of_either_is_lost_and_what_stays_keeps_its_bytes(
    mine: list[bytes], theirs: list[bytes], end: bytes, whole: bool
) -> None:
    head = b"---" + end + b"name: a" + end + b"---" + end
    body = end.join(mine) + end * whole
    merged = union(text("a", head + body), [text("b", b"\n".join(theirs))])
    lines = merged.removeprefix(head).splitlines()
    assert merged.startswith(head)
    assert {line.strip() for line in theirs} <= {line.strip() for line in lines} | {b""}
    rest = iter(lines)
    assert all(line in rest for line in body.splitlines()), "the lines of the one that stays, in their order"
    if {line.strip() for line in theirs} <= {line.strip() for line in mine} | {b""}:
        assert merged == head + body
