"""Memories looked through: planted doubles are found and named once, and a text that is the same is not read again."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Address, Memory
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.hygiene.memory_scan import (
    MAX_GROUP,
    MemoryScanner,
    ReadMemory,
    exact,
    name_findings,
    near,
    shingles,
    union,
)
from memtui.features.hygiene.model import Hazard
from memtui.features.hygiene.scan import VERSION, scan
from tests.features.transfer.agents import Agents, root

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


NOW = 1_772_793_000_000
SAYS = "Deploys go through staging first because the ferry terminal cannot roll anything back at night. {}\n"


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path, "memtui", "claude-code", "goose")


@pytest.fixture
def engine(agents: Agents) -> Iterator[Engine]:
    with agents.engine() as opened:
        yield opened


def looked(engine: Engine, looker: MemoryScanner, *, alike: bool = False) -> list[tuple[str, str, str, int]]:
    rows = engine.rows.list().items
    return [
        (one.row.address.path, hazard.rule.id, hazard.text, hazard.line)
        for one in looker.look(engine, rows, NOW, alike=alike)
        for hazard in one.hazards
    ]


def test_doubles_are_named_once_and_nothing_is_read_twice(agents: Agents, engine: Engine) -> None:
    agents.lay("claude-code", {f"{name}.md": SAYS.format("Ask Bo.") for name in "abcde"})
    agents.lay("claude-code", {"near.md": SAYS.format("Ask Bo or Ann."), "token.md": "a\x07b\n"})
    agents.lay("goose", {"main.txt": "# a\nUse tabs.\n\n# a\nUse tabs.\n"})
    looker = MemoryScanner()
    found = looked(engine, looker)
    assert [row[:2] for row in found] == [("a.md", "D01"), ("token.md", "H06"), ("main.txt", "D03")]
    assert found[0][2] == ", ".join(f"claude-code:project/{name}.md" for name in "bcd") + " and 1 more"
    assert found[2][3] == 4
    assert {row[:2] for row in looked(engine, looker, alike=True)} - {row[:2] for row in found} == {("a.md", "D02")}


def test_a_text_that_was_looked_through_is_not_read_again(agents: Agents, engine: Engine) -> None:
    agents.lay("claude-code", {f"{number}.md": f"{number} a\x07b\n" for number in range(20)})
    rows, looker = engine.rows.list().items, MemoryScanner()
    first = looker.look(engine, rows, NOW)
    for path in (agents.base / "claude-code").iterdir():
        path.unlink()
    assert looker.look(engine, rows, NOW) == first
    assert all(one.error is None and len(one.hazards) == 1 for one in first)
    assert all(one.error is not None for one in MemoryScanner().look(engine, rows, NOW))


def test_another_process_looks_again_only_where_something_was_found(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.lay("claude-code", {f"{number}.md": f"note {number}\n" for number in range(9)} | {"bell.md": "a\x07b\n"})
    agents.lay("claude-code", {"x.md": SAYS, "y.md": SAYS})
    looks: list[bytes] = []

    def counted(data: bytes, *, instructs: bool) -> tuple[Hazard, ...]:
        looks.append(data)
        return scan(data, instructs=instructs)

    monkeypatch.setattr("memtui.features.hygiene.memory_scan.scan", counted)

    def again() -> tuple[int, list[tuple[str, str, str, int]]]:
        looks.clear()
        with agents.engine() as engine:
            found = looked(engine, MemoryScanner())
        return len(looks), found

    first = again()
    (file,) = agents.base.rglob("texts")
    assert (first[0], [row[:2] for row in first[1]]) == (11, [("bell.md", "H06"), ("x.md", "D01")])
    assert again() == (1, first[1])
    whole = file.read_bytes()
    assert SAYS.encode() not in whole
    for damaged in (b"", whole[:-1], whole[:40] + b"?" + whole[41:]):
        file.write_bytes(damaged)
        assert again() == first
    monkeypatch.setattr("memtui.features.hygiene.memory_scan.VERSION", VERSION + 1)
    assert again() == first


def test_a_text_that_cannot_be_looked_through_is_told_and_the_others_are(
    agents: Agents, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.lay("claude-code", {"a.md": "a\x07b\n", "b.md": "the one\n", "c.md": "a\x07b\n"})

    def fails(data: bytes, *, instructs: bool) -> tuple[Hazard, ...]:
        if b"one" in data:
            raise ValueError
        return scan(data, instructs=instructs)

    monkeypatch.setattr("memtui.features.hygiene.memory_scan.scan", fails)
    found = MemoryScanner().look(engine, engine.rows.list().items, NOW)
    assert [one.error is None for one in found] == [True, False, True]
    assert found[1].error is not None
    assert found[1].error.code == "E_INTERNAL"
    assert all(len(one.hazards) == 1 for one in found if one.error is None)


def test_two_findings_of_equal_lines_are_muted_one_by_one(agents: Agents) -> None:
    agents.lay("claude-code", {"a.md": "a\x07b\nother\na\x07b\n"})
    with agents.engine() as engine:
        first, second = ids(engine)
        engine.changes.mutes.mute([(Address("claude-code:project", "a.md"), "H06", second)], reason="a bell")
        assert ids(engine) == {first: "", second: "a bell"}


def ids(engine: Engine) -> dict[str, str]:
    looked = MemoryScanner().look(engine, engine.rows.list().items, NOW)
    return {one.id: one.muted for one in name_findings(engine, looked)}


def test_a_mute_outlives_the_process_and_ends_with_its_line(agents: Agents) -> None:
    agents.lay("claude-code", {"a.md": "one\na\x07b\n", "b.md": "one\na\x07b\n"})
    where = Address("claude-code:project", "a.md")
    with agents.engine() as engine:
        first, other = ids(engine)
        with pytest.raises(UsageError):
            engine.changes.mutes.mute([(where, "H06", first)], reason=" ")
        engine.changes.mutes.mute([(where, "H06", first)], reason="a bell, on purpose")
    with agents.engine() as engine:
        assert ids(engine) == {first: "a bell, on purpose", other: ""}
        agents.lay("claude-code", {"a.md": "another\nline before\na\x07b\n"})
        assert ids(engine) == {first: "a bell, on purpose", other: ""}
        agents.lay("claude-code", {"a.md": "one\na\x07bc\n"})
        assert set(ids(engine).values()) == {""}
        everywhere = where._replace(path="")
        engine.changes.mutes.mute([(everywhere, "H06", engine.changes.mutes.name(everywhere, "H06"))], reason="bells")
        assert set(ids(engine).values()) == {"bells"}
        engine.changes.mutes.unmute(engine.changes.mutes.name(everywhere, "H06"))
        assert set(ids(engine).values()) == {""}
        with pytest.raises(NotFoundError):
            engine.changes.mutes.unmute(engine.changes.mutes.name(everywhere, "H06"))


def test_no_agent_mutes(agents: Agents, tmp_path: Path) -> None:
    made = Approver("agent:codex", "", "CODEX_SANDBOX is set.")
    with Engine.open(
        [root("claude-code", str(agents.base / "claude-code"))], state_dir=str(tmp_path / "s"), approver=lambda: made
    ) as engine:
        with pytest.raises(RefusedError) as refused:
            engine.changes.mutes.mute([(Address("claude-code:project", "a.md"), "H06", "00" * 10)], reason="none")
        assert (refused.value.code, engine.changes.mutes.all()) == ("E_PERSON", {})
