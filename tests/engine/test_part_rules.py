"""What a root's policy allows: names as the system takes them, sizes of its own, and folders that stay private."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Policy, Root, Saved
from memtui.errors import MemtuiError, RefusedError
from tests.faults.world import FIRST, ME, World, at

FREE = Policy(any_name=True, write_bytes=3_000_000, read_bytes=3_000_000)
ODD = [".hidden.md", "a:b?.md", "con.md", "-x.md", "~x.md", "ends.", " space ", ".git", "tab\there", "100%2e.md"]


def opened(world: World, policy: Policy, *, in_checkout: bool = False) -> Engine:
    return Engine.open(
        [Root(FIRST, str(world.folder()), policy=policy, in_checkout=in_checkout)], state_dir=str(world.state)
    )


@pytest.fixture
def umask() -> Iterator[None]:
    """A process whose new files would be open to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("name", ODD)
def test_a_root_may_take_any_name_the_system_takes(world: World, name: str) -> None:
    with opened(world, FREE) as engine:
        engine.memories.create(at(f"{name}/{name}"), "text", actor=ME)
        assert engine.read(at(f"{name}/{name}")).text == "text"
        engine.memories.rename(at(f"{name}/{name}"), at(f"{name}/x{name}"), actor=ME)
    with opened(world, Policy()) as engine, pytest.raises(MemtuiError):
        engine.memories.create(at(name), "text", actor=ME)


def test_names_that_differ_by_case_only_live_side_by_side_where_any_name_may_be(world: World) -> None:
    with opened(world, FREE) as engine:
        engine.memories.create(at("notes/a.md"), "1", actor=ME)
        engine.memories.create(at("notes/A.md"), "2", actor=ME)
        engine.memories.create(at("NOTES/a.md"), "3", actor=ME)
        engine.memories.rename(at("NOTES/a.md"), at("Notes/a.md"), actor=ME)
        assert engine.read(at("notes/a.md")).text == "1"
    with opened(world, Policy()) as engine:
        engine.memories.create(at("notes/B/x.md"), "1", actor=ME)
        with pytest.raises(MemtuiError) as caught:
            engine.memories.create(at("notes/b/x.md"), "1", actor=ME)
    assert caught.value.code == "E_CLASH"


@pytest.mark.parametrize("path", [".memtui-0123456789abcdef", ".memtui-x/a.md"])
def test_names_of_memtuis_own_temporary_files_are_never_given(world: World, path: str) -> None:
    with opened(world, FREE) as engine:
        with pytest.raises(RefusedError) as caught:
            engine.memories.create(at(path), "text", actor=ME)
        engine.memories.create(at("a.md"), "text", actor=ME)
        with pytest.raises(RefusedError) as moved:
            engine.memories.rename(at("a.md"), at(path), actor=ME)
    assert caught.value.code == moved.value.code == "E_RESERVED"


def test_a_root_has_its_own_largest_memory(world: World) -> None:
    with opened(world, FREE) as engine:
        assert isinstance(engine.memories.create(at("big.md"), b"x" * 2_500_000, actor=ME), Saved)
        assert len(engine.read(at("big.md")).bytes) == 2_500_000
        with pytest.raises(RefusedError) as caught:
            engine.memories.create(at("huge.md"), b"x" * 3_000_001, actor=ME)
        assert caught.value.code == "E_TOO_BIG"
    with opened(world, Policy()) as engine, pytest.raises(RefusedError) as read:
        engine.read(at("big.md"))
    assert read.value.code == "E_TOO_BIG"


@pytest.mark.usefixtures("umask")
def test_new_folders_are_private_unless_they_lie_in_a_checkout(world: World) -> None:
    def mode(path: str) -> int:
        return (Path(world.folder()) / path).stat().st_mode & 0o777

    (world.folder() / "old").mkdir(mode=0o755)
    with opened(world, Policy()) as engine:
        engine.memories.create(at("old/new/newer/a.md"), "text", actor=ME)
    assert [mode("old"), mode("old/new"), mode("old/new/newer")] == [0o755, 0o700, 0o700]
    with opened(world, Policy(), in_checkout=True) as engine:
        engine.memories.create(at("shared/a.md"), "text", actor=ME)
    assert mode("shared") == 0o777


def test_a_strict_umask_takes_nothing_from_a_new_folder(world: World) -> None:
    before = os.umask(0o277)
    try:
        with opened(world, Policy()) as engine:
            engine.memories.create(at("new/a.md"), "text", actor=ME)
    finally:
        os.umask(before)
    assert (world.folder() / "new").stat().st_mode & 0o777 == 0o700
