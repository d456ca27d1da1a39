"""Two homes that exchange bundles: who went on from whom decides, so nothing swaps, comes back or gets lost."""

import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.features.bundles.import_plan import CONFLICT, DELETED, MERGED, NEW, NEWER, OLDER, SAME
from tests.examples import examples
from tests.features.transfer.machines import ME, Machine, pair, results

X, Y, Z = b"one\ntwo\nthree\n", b"one\nTWO\nthree\n", b"one\n2\nthree\n"


def exchange(giver: Machine, taker: Machine) -> dict[str, str]:
    """Import a bundle; return what happened to each memory."""
    data = giver.export(history=True)
    plan = taker.plan(data)
    taker.take(data)
    return results(plan)


def test_a_text_that_was_left_again_does_not_swap(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    assert exchange(a, b) == {"m.md": NEW}
    a.write("m.md", Y)
    assert exchange(a, b) == {"m.md": NEWER}
    b.write("m.md", X)
    assert exchange(a, b) == {"m.md": OLDER}
    assert exchange(b, a) == {"m.md": NEWER}
    for _ in range(3):
        assert exchange(a, b) == {"m.md": SAME}
        assert exchange(b, a) == {"m.md": SAME}
    assert a.held() == b.held() == {"m.md": X}


def test_a_deletion_is_offered_and_what_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    a.write("n.md", X)
    exchange(a, b)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    assert exchange(a, b) == {"m.md": OLDER, "n.md": SAME}
    assert b.held() == {"n.md": X}
    assert exchange(b, a) == {"m.md": DELETED, "n.md": SAME}
    assert a.held() == {"n.md": X}
    a.engine.undo.undo(actor=ME)
    assert a.held() == {"m.md": X, "n.md": X}


def test_a_memory_changed_since_survives_a_deletion_elsewhere(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    exchange(a, b)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    a.write("m.md", Y)
    assert exchange(b, a) == {"m.md": OLDER}
    assert exchange(a, b) == {"m.md": NEW}
    assert a.held() == b.held() == {"m.md": Y}


def test_a_deletion_of_another_memory_of_the_name_is_not_believed(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    b.write("m.md", Z)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    assert exchange(b, a) == {"m.md": OLDER}
    assert a.held() == {"m.md": X}


def test_both_change_one_line_and_one_goes_back(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    exchange(a, b)
    a.write("m.md", Y)
    a.write("m.md", X)
    b.write("m.md", Z)
    assert exchange(b, a) == {"m.md": MERGED}
    assert a.held() == {"m.md": Z}


LINES = [b"one", b"two", b"three", b"four", b"five", b"six", b"seven"]
MOVES = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 2), st.integers(0, 6), st.sampled_from([b"A", b"B"])),
    st.tuples(st.just("back"), st.integers(0, 2), st.integers(0, 5), st.just(b"")),
    st.tuples(st.just("delete"), st.integers(0, 2), st.just(0), st.just(b"")),
    st.tuples(st.just("exchange"), st.integers(0, 2), st.integers(0, 2), st.just(b"")),
)


def do(homes: list[Machine], move: tuple[str, int, int, bytes]) -> None:
    kind, number, place, text = move
    home = homes[number % len(homes)]
    held = home.held().get("m.md")
    if kind == "edit":
        lines = held.split(b"\n") if held is not None else list(LINES)
        lines[place] = text
        home.write("m.md", b"\n".join(lines))
    elif kind == "back" and held is not None:
        past = home.engine.history.of(home.at("m.md"))
        home.write("m.md", home.engine.history.read(home.at("m.md"), past[place % len(past)].sha256))
    elif kind == "delete" and held is not None:
        home.engine.memories.delete([home.at("m.md")], actor=ME)
    elif kind == "exchange":
        other = homes[place % len(homes)]
        if other is not home and (other.held() or other.engine.undo.trash.entries()):
            decide(home, exchange(other, home))


def decide(home: Machine, found: dict[str, str]) -> None:
    """Answer a conflict as a person would who wants the lines of both: by a text of their own."""
    if found.get("m.md") == CONFLICT:
        for draft in home.engine.drafts.all():
            home.engine.drafts.drop(draft.address)
        home.write("m.md", home.held()["m.md"] + b"\ndecided")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(MOVES, max_size=14), st.integers(2, 3))
def test_homes_that_stop_writing_agree_and_stay_so(moves: list[tuple[str, int, int, bytes]], count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        homes = [Machine(Path(folder) / str(number)) for number in range(count)]
        for home in homes:
            stack.callback(home.engine.close)
        homes[0].write("m.md", b"\n".join(LINES))
        for move in moves:
            do(homes, move)
        written = Counter(text for home in homes for text in home.held().values())
        for _ in range(2 * count):
            for taker in homes:
                for giver in homes:
                    if giver is not taker and (giver.held() or giver.engine.undo.trash.entries()):
                        decide(taker, exchange(giver, taker))
        held = [home.held() for home in homes]
        assert all(one == held[0] for one in held)
        for taker in homes:
            for giver in homes:
                if giver is not taker and (giver.held() or giver.engine.undo.trash.entries()):
                    assert set(exchange(giver, taker).values()) <= {SAME, OLDER}
        assert [home.held() for home in homes] == held
        for text in written:
            assert any(
                text == home.engine.history.read(home.at("m.md"), one.sha256)
                for home in homes
                for one in home.engine.history.of(home.at("m.md"))
            )
