"""What is looked for is found as it is typed, in any script, by words of either half of a text; hostile queries too."""

import random

import pytest

from memtui.engine import Engine
from memtui.errors import NotFoundError, UsageError
from memtui.features.observations import find
from memtui.features.observations.find import open_cards
from memtui.features.observations.model import detail
from memtui.features.observations.store import generations as store
from memtui.given.tokens import estimate
from tests.conftest import Clock
from tests.features.observations.world import Watched, titles

SCRIPTS = {
    "库": "数据库连接池耗尽",
    "耗尽": "数据库连接池耗尽",
    "Token消耗": "先看Token消耗再说",
    "นโยบาย": "นี่คือนโยบายใหม่",
    "strasse": "Die Straße ist lang",
    "file": "the ﬁle is here",
    "cafe": "We meet in the café",
    "e\u0301t\u00e9": "l'été est là",
    "서버": "서버 설정",
    "pre_ping": "set pool_pre_ping",
    "connection": "call openConnectionPool first",
    "v1.2.3": "pinned to v1.2.3",
    "api/retry.py": "see src/api/retry.py",
}


def test_every_script_is_found_as_it_is_typed(engine: Engine, world: Watched) -> None:
    for number, text in enumerate(dict.fromkeys(SCRIPTS.values())):
        world.write(f"own/s{number}.md", f"# Note {number}\n\n{text}\n")
    with open_cards(engine, seconds=60) as look:
        for query, text in SCRIPTS.items():
            assert any(text in card.narrative for card in find.search(look, query).cards), query


def test_words_of_either_half_are_found(engine: Engine, world: Watched) -> None:
    rng = random.Random(14)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(4, 8))) for _ in range(400)]
    han = [chr(rng.randrange(0x4E00, 0x5000)) for _ in range(300)]
    texts = {n: rng.choices(words, k=80) if n % 4 else rng.choices(han, k=80) for n in range(60)}
    for number, some in texts.items():
        world.write(f"own/t{number}.md", ("" if number % 4 == 0 else " ").join(some))
    found = 0
    with open_cards(engine, seconds=60) as look:
        for number, some in texts.items():
            half = some[40 * rng.randrange(2) :][:40]
            at = rng.randrange(37)
            query = "".join(half[at : at + 3]) if number % 4 == 0 else " ".join(rng.sample(half, 3))
            found += any(card.path == f"t{number}.md" for card in find.search(look, query, limit=20).cards)
    assert found == len(texts)


def test_only_the_last_word_is_also_a_beginning(engine: Engine, world: Watched) -> None:
    world.write("own/w.md", "# Walrus\n\nkept beside others, and wal by itself\n")
    with open_cards(engine, seconds=60) as look:
        for query, full in (("kept walr", 1), ("walr kept", 0), ("walru", 1), ("kept wal", 1), ("walrus othe", 1)):
            assert find.search(look, query).full == full, query


@pytest.mark.parametrize(
    "query", ['"', "AND", "NEAR(a", "*", "t:x", "(" * 900, "a\0b", "\udcff", "-", "NOT retry", "^re"]
)
def test_no_query_is_an_operator(engine: Engine, query: str) -> None:
    assert all("retry" in title.casefold() for title in titles(engine, query))
    assert titles(engine, "never -nowhere retry") == ["Retry budget"]
    assert titles(engine, "never -post") == []


def test_the_best_comes_first_and_pages_go_on(engine: Engine, world: Watched, clock: Clock) -> None:
    for number in range(12):
        world.write(f"own/n{number:02}.md", f"# Walrus {number}\n\nsame\n")
    world.write("own/a.md", "# Other\n\na walrus in the text\n")
    world.write("own/b.md", "---\ntype: correction\n---\n# Walrus rule\n\ntext\n")
    world.write("own/twin.md", "# Walrus rule\n\ntwin\n")
    with open_cards(engine, seconds=60) as look:
        first = find.search(look, "walrus", limit=9)
        rest = find.search(look, "walrus", limit=9, cursor=first.next)
        assert first.cards[0].title == "Walrus rule"
        assert (rest.cards[-1].title, rest.next, len(first.cards) + len(rest.cards)) == ("Other", "", 15)
        assert not {card.name for card in first.cards} & {card.name for card in rest.cards}
        for cursor in (first.next[1:], "x", find.search(look, "other", limit=1).next + "1"):
            with pytest.raises(UsageError, match="another search"):
                find.search(look, "walrus", cursor=cursor)
        only = look._replace(wanted=look.wanted._replace(types=("correction",)))
        assert [card.title for card in find.search(only, "walrus").cards] == ["Walrus rule"]
        later = look._replace(wanted=look.wanted._replace(until=1_000))
        assert find.search(later, "walrus").cards == ()
        some = find.search(look, "walrus nowhere retry")
        assert (some.full, len(some.cards)) == (0, 10)


def test_a_timeline_has_its_card_in_the_middle(engine: Engine) -> None:
    with open_cards(engine, seconds=60) as look:
        pool = find.search(look, "pool").cards[0]
        assert pool in find.timeline(look, pool, 0, 0)
        around = find.timeline(look, pool, 20, 20)
        assert [card.path for card in sorted(around, key=lambda card: card.path)] == ["pool.md", "retry.md"]
        assert find.by_name(look, pool.word[:6].upper()) == pool
        for word in (pool.word[:5], "!" * 8, "a" * 17, "aaaaaaaa"):
            with pytest.raises((UsageError, NotFoundError)):
                find.by_name(look, word)
        assert pool.tokens == estimate(detail(pool))


def test_the_newest_of_many_are_enough(engine: Engine, world: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NEWEST", 3)
    monkeypatch.setattr(find, "NEWEST", 3)
    for number in range(9):
        world.write(f"own/n{number}.md", f"Walrus {number}\n")
    with open_cards(engine, seconds=60) as look:
        found = find.search(look, "walrus")
        assert (len(found.cards), found.many) == (3, True)


def test_a_pipe_that_nobody_reads_is_no_fault_of_the_cards(engine: Engine) -> None:
    with pytest.raises(BrokenPipeError), open_cards(engine):
        raise BrokenPipeError
