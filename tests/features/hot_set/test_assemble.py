"""What an agent is given is one structure whatever the memories hold, and the same bytes from the same memories."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.features.hot_set.assemble import build, forget
from memtui.features.hot_set.model import Budgets
from memtui.memory_tool.call import listable
from tests.conftest import Clock
from tests.examples import examples
from tests.given import attacks, blocks
from tests.given.world import World, described
from tests.reviews import review

TUI = Actor("tui")


def pinned(world: World, engine: Engine, name: str, text: str | bytes) -> Address:
    address = world.write("global", name, text)
    engine.pins.set([address], pinned=True, actor=TUI)
    return address


def name_of(attack: str, number: int) -> str:
    """The attack as a name, as far as a file system takes it."""
    cleaned = attack.replace("/", "\u2215").replace("\0", "")
    return f"{number:03d}{cleaned.encode()[:80].decode('utf-8', 'ignore')}.md"


@pytest.mark.parametrize("start", range(0, len(attacks.ALL), 8))
def test_attacks_in_names_descriptions_and_bodies_leave_one_structure(world: World, engine: Engine, start: int) -> None:
    some = attacks.ALL[start : start + 8]
    for number, attack in enumerate(some):
        pinned(world, engine, name_of(attack, number), described(attack, f"{attack}\nmiddle\n{attack}"))
    named = sum(listable(name_of(attack, number)) for number, attack in enumerate(some))
    found = build(engine)
    read = blocks.read(found.text)
    assert blocks.tags(found.text) == blocks.structure(len(some))
    assert blocks.speakers(found.text) == []
    assert len(read.files) == len(found.items) == len(some)
    assert len(read.listed) == named + (named < len(some))  # the last line counts the others
    assert all(line.startswith("- /memories/global/0") for line in read.listed[:named])


@pytest.mark.parametrize("limit", range(1, 60))
def test_no_cut_makes_a_tag(world: World, engine: Engine, limit: int) -> None:
    pinned(world, engine, "a.md", "x" * 20 + "</memory_file>&lt;/memory_file></memory_file><")
    found = build(engine, budgets=Budgets(item_bytes=limit))
    assert blocks.tags(found.text) == blocks.structure(1)
    assert list(blocks.read(found.text).files) == ["/memories/global/a.md"]


TEXT = st.lists(st.one_of(st.sampled_from(attacks.ALL), st.text(max_size=8)), max_size=5).map("".join)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_no_mixture_of_texts_changes_the_structure(world: World, engine: Engine, texts: list[tuple[str, str]]) -> None:
    for number, (description, body) in enumerate(texts):
        pinned(world, engine, f"{number}.md", described(description, body.replace("\0", "")))
    found = build(engine)
    assert blocks.tags(found.text) == blocks.structure(len(found.items))
    assert len(blocks.read(found.text).files) == len(found.items)


def fill(world: World, engine: Engine) -> list[Address]:
    addresses = [
        world.write(scope, f"n-{number}.md", described(f"About {number}", "text\n" * number))
        for scope in ("global", "workspace")
        for number in range(6)
    ]
    for number, address in enumerate(addresses):
        world.use(engine, address, number % 4)
    return addresses


def test_the_same_inputs_give_the_same_bytes(world: World, engine: Engine, clock: Clock) -> None:
    fill(world, engine)
    first = build(engine)
    assert build(engine) == first
    with world.engine() as other:
        assert build(other).text == first.text
    clock.advance(days=30)
    assert build(engine).text == first.text, "heat decays alike, and no block tells the time"
    assert first.sha256 == build(engine).sha256


def test_building_is_no_use_and_records_nothing(world: World, engine: Engine) -> None:
    address = pinned(world, engine, "a.md", "x")
    before = engine.rows.get(address)
    audit = engine.history.audit()
    build(engine)
    assert engine.rows.get(address) == before
    assert engine.history.audit() == audit


def test_what_is_kept_changes_nothing(world: World, engine: Engine) -> None:
    addresses = fill(world, engine)
    first = build(engine)
    assert build(engine) is first
    steps: list[Callable[[], object]] = [
        lambda: world.use(engine, addresses[1], 9),
        lambda: engine.pins.set([addresses[5]], pinned=True, actor=TUI),
        lambda: world.write("global", "n-3.md", described("New", "changed\n"), age=5),
        lambda: engine.memories.delete([addresses[0]], actor=TUI),
        lambda: engine.memories.rename(addresses[2], Address("memtui:global", "renamed.md"), actor=TUI),
        lambda: world.write("project", "planted.md", described("Planted")),
        lambda: review(engine),
        lambda: world.path("workspace", "n-4.md").unlink(),
    ]
    for step in steps:
        before = build(engine)
        step()
        kept = build(engine)
        assert kept.text != before.text
        forget(engine)
        assert build(engine) == kept


def test_parts(world: World, engine: Engine) -> None:
    pinned(world, engine, "a.md", "x")
    whole = build(engine)
    index, hot = build(engine, parts=["index"]), build(engine, parts=["hot"])
    assert whole.text == f"{index.text}\n{hot.text}"
    assert index.hot_block.text == hot.index_block.text == ""
    assert index.items == hot.items == whole.items
    with pytest.raises(ValueError, match="no part"):
        build(engine, parts=["cold"])


def test_only_what_changed_is_read_again(world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        pinned(world, engine, f"{number}.md", "text")
    read: list[str] = []
    original = Engine.read_bytes

    def counted(self: Engine, address: Address) -> bytes:
        read.append(address.path)
        return original(self, address)

    monkeypatch.setattr(Engine, "read_bytes", counted)
    build(engine)
    build(engine)
    world.write("global", "1.md", "other text", age=9)
    assert "other text" in build(engine).text
    assert read == ["0.md", "1.md", "2.md", "1.md"]


def test_threads_may_ask_at_once(world: World, engine: Engine) -> None:
    from concurrent.futures import ThreadPoolExecutor

    fill(world, engine)
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: build(engine).text, range(20)))
    assert len(texts) == 1


def test_only_the_scopes_asked_for_are_in_it(world: World, engine: Engine) -> None:
    mine, other = world.write("global", "a.md", "mine\n"), world.write("workspace", "b.md", "other\n")
    engine.pins.set([mine, other], pinned=True, actor=TUI)
    narrow = build(engine, scopes=frozenset({"global"}))
    assert [item.address for item in narrow.items] == [mine]
    assert "b.md" not in narrow.text
    assert [item.address for item in build(engine).items] == [mine, other]
    assert build(engine, scopes=frozenset()).memories == 0
