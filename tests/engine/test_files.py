"""Whatever another program does between two steps of a change, every text stays: on disk or in history."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine
from memtui.engine.model import Conflict, Saved, Unchanged
from tests.faults.injector import Call, hooked, meddling
from tests.faults.world import ME, World, at, drain, in_history, open_intents, sha, stored

A = at("a.md")
OLD, MINE, THEIRS, LATER = b"old\n", b"mine\n", b"theirs\n", b"theirs, later\n"

pytestmark = pytest.mark.usefixtures("calls")


@pytest.fixture
def file(world: World) -> Path:
    """A memory that exists."""
    path = world.folder() / "a.md"
    path.write_bytes(OLD)
    return path


def replace(path: Path, data: bytes) -> Callable[[], object]:
    """What most agents do: a new file, renamed over the old one."""

    def act() -> None:
        other = path.with_name("agent-temp")
        other.write_bytes(data)
        other.rename(path)

    return act


def rewrite(path: Path, data: bytes) -> Callable[[], object]:
    """What the others do: truncate and write."""
    return lambda: path.write_bytes(data)


def check(world: World, engine: Engine, *texts: bytes) -> None:
    """Every text is on disk or in history, nothing of ours lies about, nothing is undecided."""
    found = {sha(data) for data in world.disk().values()} | set(stored(engine))
    assert not [text for text in texts if sha(text) not in found]
    engine.recover()
    assert not world.strays()
    assert not open_intents(engine)


# --- saving


def test_a_save_replaces_what_it_expected(world: World, engine: Engine, file: Path) -> None:
    file.chmod(0o640)
    result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Saved)
    assert (result.before, result.sha256) == (sha(OLD), sha(MINE))
    assert file.read_bytes() == MINE
    assert file.stat().st_mode & 0o7777 == 0o640
    assert in_history(engine, A).keys() == {sha(OLD), sha(MINE)}
    check(world, engine, OLD, MINE)


def test_a_save_of_what_is_there_writes_nothing(world: World, engine: Engine, file: Path) -> None:
    before = file.stat()
    result = engine.save(A, OLD, expected_sha256=sha(b"something else"), actor=ME)
    assert isinstance(result, Unchanged)
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert not engine.audit()


def test_a_save_with_a_stale_expectation_keeps_both_texts(world: World, engine: Engine, file: Path) -> None:
    result = engine.save(A, MINE, expected_sha256=sha(b"stale"), actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == OLD
    assert engine.read_version(A, str(result.yours_sha256)) == MINE
    assert engine.read_version(A, str(result.current_sha256)) == OLD
    check(world, engine, OLD, MINE)


BEFORE_THE_SWAP = [("stat_path", 3), ("create_file", 1), ("write_all", 1), ("fsync", 1)]
"""(operation, which call of it) between the look at the target and the swap."""


@pytest.mark.parametrize(("operation", "time"), BEFORE_THE_SWAP)
@pytest.mark.parametrize("act", [replace, rewrite])
def test_a_version_that_lands_before_the_swap_wins(
    world: World,
    engine: Engine,
    file: Path,
    operation: str,
    time: int,
    act: Callable[[Path, bytes], Callable[[], object]],
) -> None:
    with hooked(meddling(operation, act(file, THEIRS), time=time)):
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == THEIRS
    assert result.current_sha256 == sha(THEIRS)
    assert sha(MINE) in in_history(engine, A)
    check(world, engine, MINE, THEIRS)


SWAP = {"native": "exchange", "portable": "link"}


@pytest.mark.parametrize("again", [replace, rewrite])
@pytest.mark.parametrize("moment", ["at once", "while verifying", "before the swap back", "after the swap back"])
def test_versions_that_land_around_the_swap_are_all_kept(
    world: World,
    engine: Engine,
    file: Path,
    calls: str,
    moment: str,
    again: Callable[[Path, bytes], Callable[[], object]],
) -> None:
    first = meddling("stat_path", replace(file, THEIRS), time=3)
    swap = SWAP[calls]
    swaps = 1 if calls == "native" else 3
    second = {
        "at once": meddling(swap, again(file, LATER), time=swaps, after=True),
        "while verifying": meddling("has_writer", again(file, LATER), time=2),
        "before the swap back": meddling(swap, again(file, LATER), time=swaps + 1),
        "after the swap back": meddling(swap, again(file, LATER), time=2 * swaps, after=True),
    }[moment]

    def both(number: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        return first(number, name, lambda *given: second(number, name, call, given), arguments)

    with hooked(both):
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    drain(engine)
    # Once it has its name back, a version is its author's to overwrite.
    check(world, engine, MINE, LATER, *([] if moment == "after the swap back" else [THEIRS]))
    if (moment, again) == ("before the swap back", rewrite):
        assert file.read_bytes() == THEIRS  # written into the file that was just taken off again: kept in history
        return
    assert file.read_bytes() == LATER
