"""Cards keep up with memories, whatever happens on the way, and two ways to the same memories give the same cards."""

import os
import random
from contextlib import closing, suppress
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.ledger.observations import ObservationTable
from memtui.engine.model import Address
from memtui.errors import StorageError
from memtui.features.observations import decide, derive, find
from memtui.features.observations.derive import rebuild
from memtui.features.observations.find import catch_up, open_cards
from memtui.features.observations.progress import DeriveLimits
from memtui.features.observations.store import card_file, generations
from memtui.given.reach import withheld
from tests.conftest import Clock
from tests.features.observations.world import ME, Watched, card, cards, decided, export, titles


def test_what_is_written_is_found_and_what_goes_is_not(engine: Engine, world: Watched) -> None:
    assert len(cards(engine)) == 5
    world.write("own/new.md", "A zebra came.\n")
    (world.base / "own/pool.md").unlink()
    assert titles(engine, "zebra") == ["A zebra came."]
    engine.watch.reconcile()
    assert titles(engine, "quokka") == ["Use quokka for tables."]


def test_a_name_that_is_no_utf8_is_kept_as_it_is_shown(engine: Engine, world: Watched) -> None:
    before = len(cards(engine))
    for name, text in ((b"bad\xff.md", "A zebra came.\n"), (b"worse\xfe.md", "A wolf came.\n")):
        world.write(f"own/{os.fsdecode(name)}", text)
    engine.watch.reconcile()
    assert len(cards(engine)) == before + 2
    assert decided(engine, "zebra", "private").address == "memtui:project/bad\\xff.md"
    assert titles(engine, "zebra", client="claude-code") == []
    rebuild(engine)
    assert (len(cards(engine)), titles(engine, "wolf")) == (before + 2, ["A wolf came."])


def test_a_rebuild_gives_the_same_cards(engine: Engine, world: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    for query, what in (("quokka", "private"), ("billing", "suppressed"), ("tabs", "rm")):
        decided(engine, query, what)
    decided(engine, "retry", "edit", title="Budget of calls", note="checked")
    before, number = cards(engine), engine.observations.generation()
    done, copied = rebuild(engine)
    assert (done.processed, copied, engine.observations.generation()) == (3, 0, number + 1)
    assert cards(engine) == before
    assert [path.name for path in world.state.glob("observed-*.db")] == [f"observed-{number + 1}.db"]
    monkeypatch.setattr(card_file, "RULES", card_file.RULES + 1)
    assert cards(engine) == before
    monkeypatch.setattr(derive, "BATCH_CARDS", 1)
    rebuild(engine, DeriveLimits(cancelled=iter([False, True, *[False] * 99]).__next__))
    rebuild(engine)
    assert cards(engine) == before


@pytest.mark.parametrize("how", ["cut", "zeros", "foreign", "link", "gone", "newer"])
def test_a_damaged_file_is_left_and_made_anew(world: Watched, tmp_path: Path, how: str) -> None:
    with world.engine() as engine:
        decided(engine, "quokka", "private")
        before = cards(engine)
        file = world.state / f"observed-{engine.observations.generation()}.db"
    data = file.read_bytes()
    file.unlink()
    if how == "link":
        file.symlink_to(tmp_path / "elsewhere")
    elif how != "gone":
        made = {"cut": data[:5_000], "zeros": bytes(len(data)), "foreign": b"text" * 2_000}
        file.write_bytes(made.get(how) or data[:60] + b"\x7f\0\0\0" + data[64:])
    with world.engine() as engine:
        assert titles(engine, "retry") == ["Retry budget"]
        assert titles(engine, "quokka", client="claude-code") == []
        assert cards(engine) == before


def test_marks_follow_texts_names_and_files(engine: Engine, world: Watched) -> None:
    name = decided(engine, "quokka", "private").name
    engine.memories.rename(
        Address("claude-code:global", "many.txt"), Address("claude-code:global", "sub.txt"), actor=ME
    )
    engine.memories.rename(
        Address("claude-code:global", "sub.txt"), Address("claude-code:global", "many.txt"), actor=ME
    )
    world.write("theirs/many.txt", "New one.\n\nUse tabs.\n\n# db\nUse quokka for tables.\n")
    assert titles(engine, "quokka", client="claude-code") == []
    world.write("theirs/many.txt", "New one.\n\n# db\nUse quokka for everything else.\n\nUse tabs.\n")
    assert titles(engine, "quokka", client="claude-code") == []
    assert {one.name for one in cards(engine) if one.state} == {name}
    world.write("theirs/many.txt", "Use tabs.\n\nThe quokka rule, in other words.\n")
    engine.watch.reconcile()
    assert titles(engine, "quokka", client="claude-code") == []
    assert titles(engine, "tabs", client="claude-code") == ["Use tabs."]
    assert [one.adrift for one in cards(engine) if one.state] == [True]
    world.write("own/copy.md", "# db\nUse quokka for tables.\n")
    world.write("theirs/many.txt", "# db\nUse quokka for tables.\n\n# db\nUse quokka for tables.\n")
    assert titles(engine, "quokka", client="claude-code") == []


def test_cards_are_dated_by_when_their_text_came(engine: Engine, world: Watched, clock: Clock) -> None:
    address = Address("claude-code:global", "many.txt")
    first = clock()
    os.utime(world.base / "theirs/many.txt", (first / 1_000, first / 1_000))
    engine.watch.reconcile()
    later = clock.advance(days=3)
    snapshot = engine.read(address)
    engine.save(address, snapshot.text + "\nA later entry.\n", expected_sha256=snapshot.sha256, actor=ME)
    cards(engine)
    assert (card(engine, "tabs").at, card(engine, "later entry").at) == (first, later)


def test_other_projects_are_taken_over(engine: Engine, world: Watched) -> None:
    before = cards(engine)
    with Engine.open(engine.roots.all()[:1], state_dir=str(world.state), clock=world.clock) as one:
        assert rebuild(one)[1] == 3
    with closing(generations.writer(engine.observations)) as writer:
        assert export(writer) == before


def test_a_rebuild_mends_any_page_and_says_in_words_what_cannot_be_read(world: Watched) -> None:
    with world.engine() as engine:
        decided(engine, "quokka", "private")
        before = cards(engine)
    rng = random.Random(14)
    for number in range(24):
        with world.engine() as engine:
            file = world.state / f"observed-{engine.observations.generation()}.db"
            data = bytearray(file.read_bytes())
            page = 4_096 * (number % (len(data) // 4_096))
            data[page : page + 4_096] = bytes(4_096) if number % 2 else rng.randbytes(4_096)
            file.write_bytes(data)
            Path(f"{file}-wal").unlink(missing_ok=True)
            for ask in (lambda: titles(engine, "retry"), lambda: decide.adrift(engine), lambda: catch_up(engine)):
                with suppress(StorageError):
                    ask()
            rebuild(engine)
            assert cards(engine) == before


def test_a_folder_in_the_way_is_moved_aside(world: Watched) -> None:
    with world.engine() as engine:
        before = cards(engine)
        number = engine.observations.generation()
        (world.state / f"observed-{number + 1}.db").mkdir()
        (world.state / f"observed-{number + 1}.db/kept").write_text("mine")
        rebuild(engine)
        assert cards(engine) == before
    assert [path.read_text() for path in world.state.glob("*/kept")] == ["mine"]


def test_a_question_with_nothing_to_derive_reads_no_decisions(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    decided(engine, "quokka", "private")
    monkeypatch.setattr(ObservationTable, "marks", lambda _: 1 / 0)
    assert titles(engine, "tabs") == ["Use tabs."]
    with pytest.raises(ZeroDivisionError):
        rebuild(engine)


SECRET = "---\ndescription: Who pays\n---\n# Billing\n\nThe zebra account pays.\nAsk Ines first.\nNever on Fridays.\n"
CHANGED = SECRET.replace("Ask Ines first.", "Ask Okonkwo now.")


def test_what_is_withheld_stays_so_when_it_is_renamed_and_changed_while_nobody_looks(world: Watched) -> None:
    world.write("own/billing.md", SECRET)
    world.write("own/fares.md", "# Fares\n\nNever on Fridays.\nResidents pay less.\nBicycles are free.\n")
    with world.engine() as engine:
        name = decided(engine, "zebra", "private").name
    (world.base / "own/billing.md").unlink()
    world.write("own/payments.md", CHANGED)
    world.write("own/news.md", "# News\n\nThe walrus came.\n")
    with world.engine() as engine:
        assert titles(engine, "zebra", client="claude-code") == []
        assert [one.name for one in cards(engine) if one.state] == [name]
        assert decide.adrift(engine) == []
        assert withheld(engine)(Address("memtui:project", "payments.md"), None)
        assert titles(engine, "walrus", client="claude-code") == ["News"]
        assert engine.history.of(Address("memtui:project", "payments.md"))[-1].bytes == len(SECRET)
    (world.base / "own/payments.md").unlink()
    world.write("own/a.md", CHANGED.replace("Never", "Always"))
    world.write("own/b.md", CHANGED.replace("account", "card"))
    with world.engine() as engine:
        assert titles(engine, "zebra", client="claude-code") == []
        lost = sorted(decide.adrift(engine), key=lambda one: one.path)
        assert [one.path for one in lost] == ["a.md", "b.md"]
        assert [one.adrift for one in cards(engine) if one.state] == [True, True]
        rebuild(engine)
        assert set(decide.adrift(engine)) == set(lost)
        decide.set_state(engine, lost[:1], "normal", actor=ME)
        rebuild(engine)
        assert [one.path for one in cards(engine) if one.state] == ["b.md"]
        assert [withheld(engine)(Address("memtui:project", path), None) for path in ("a.md", "b.md")] == [False, True]


VAULT = "---\nname: vault\ndescription: The vault opens on Monday\ntype: project\n---\nTell nobody of it, ever.\n"


@pytest.mark.parametrize(("old", "new"), [("Monday", "Tuesday"), ("ever.", "ever.\nNever on the phone either.")])
def test_what_is_withheld_stays_so_when_one_word_or_line_and_the_root_change(
    world: Watched, old: str, new: str
) -> None:
    world.write("theirs/vault.md", VAULT)
    with world.engine() as engine:
        name = decided(engine, "vault", "private").name
    (world.base / "theirs/vault.md").unlink()
    key, news = Address("memtui:project", "key.md"), Address("memtui:project", "news.md")
    world.write("own/key.md", VAULT.replace(old, new))
    world.write("own/news.md", "---\nname: news\ntype: project\n---\nThe walrus came on Monday, and it was with us.\n")
    with world.engine() as engine:
        assert (withheld(engine)(key, None), withheld(engine)(news, None)) == (True, False), "before cards are derived"
        rebuild(engine)
        assert titles(engine, "vault", client="claude-code") == []
        assert [(one.name, one.path) for one in cards(engine) if one.state] == [(name, "key.md")]
        assert (withheld(engine)(key, None), withheld(engine)(news, None)) == (True, False)
        decided(engine, "vault", "normal")
        assert not withheld(engine)(key, None)
        assert len(titles(engine, "vault", client="claude-code")) == 1


def test_what_is_like_a_withheld_memory_that_was_deleted_stays_as_it_was(world: Watched, clock: Clock) -> None:
    for name, text in (("billing", SECRET), ("copy", CHANGED)):
        world.write(f"own/{name}.md", text)
        os.utime(world.base / f"own/{name}.md", (clock() // 1_000 - 60,) * 2)
    with world.engine() as engine:
        engine.watch.reconcile()
        decided(engine, "ines", "private")
    (world.base / "own/billing.md").unlink()
    for generation in range(2):
        with world.engine() as engine:
            assert titles(engine, "zebra", client="claude-code") == ["Who pays"], generation
            engine.observations.drop_files()


def test_a_copy_made_of_what_is_withheld_is_withheld_in_other_words_once_that_is_gone(world: Watched) -> None:
    world.write("own/billing.md", SECRET)
    with world.engine() as engine:
        decided(engine, "zebra", "private")
        world.write("own/copy.md", SECRET)
        engine.watch.reconcile()
        world.write("own/copy.md", "# Walrus\n\nIt came on a ship.\n")
        world.write("own/news.md", "# Walrus\n\nIt came on a boat.\n")
        engine.watch.reconcile()
        (world.base / "own/billing.md").unlink()
        engine.watch.reconcile()
        hidden = withheld(engine)
        assert [hidden(Address("memtui:project", f"{name}.md"), None) for name in ("copy", "news")] == [True, False]


def test_cards_that_somebody_removed_are_there_again_while_one_types(engine: Engine, world: Watched) -> None:
    decided(engine, "quokka", "private")
    known = catch_up(engine, seconds=None)
    for path in world.state.glob("observed-*"):
        path.unlink()
    with open_cards(engine, private=True, known=known, seconds=60) as look:
        assert [one.state for one in find.search(look, "quokka").cards] == [1]
