"""Where a link leads: below its root or nowhere, and written so that it is read as meant."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk.paths import split
from memtui.errors import RefusedError
from memtui.pointers.targets import name_readings, readings, relative, resolve, resolve_name, resolve_plain, written
from tests.pointers.samples import HOSTILE_TARGETS

names = st.text(st.characters(exclude_characters="/\\\x7f", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8)
parts = names.filter(lambda name: name.strip(".") != "")
below = st.lists(parts, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("target", "here", "path"),
    [
        ("a.md", "MEMORY.md", "a.md"),
        ("./a.md", "MEMORY.md", "a.md"),
        ("a.md", "topics/MEMORY.md", "topics/a.md"),
        ("../a.md#part", "topics/MEMORY.md", "a.md"),
        ("a%20b.md", "MEMORY.md", "a b.md"),
        ("%E5%90%8D.md", "MEMORY.md", "名.md"),
        ("a\\_b.md", "MEMORY.md", "a_b.md"),
        ("a%252e.md", "MEMORY.md", "a%2e.md"),
        ("topics/", "MEMORY.md", "topics/"),
        ("..", "a/b/MEMORY.md", "a/"),
        ("a//b.md", "MEMORY.md", "a/b.md"),
        ("100%.md", "MEMORY.md", "100%.md"),
    ],
)
def test_a_target_is_a_path_below_the_root(target: str, here: str, path: str) -> None:
    assert resolve(target, here) == path


@pytest.mark.parametrize(
    ("names", "fits"),
    [
        (["a"] * 20, True),
        (["a"] * 21, False),
        (["a" * 255], True),
        (["a" * 256], False),
        (["é" * 128], False),
        (["a" * 255] * 3 + ["a" * 254, "a"], True),
        (["a" * 255] * 4 + ["a"], False),
    ],
)
def test_a_path_may_be_as_long_as_one_of_a_memory(names: list[str], fits: bool) -> None:
    path = "/".join(names)
    assert resolve(path, "MEMORY.md") == (path if fits else None)
    with nullcontext() if fits else pytest.raises(RefusedError):
        split(path)


@pytest.mark.parametrize("target", [target for target in HOSTILE_TARGETS if target != "%"])
def test_a_hostile_target_leads_nowhere(target: str) -> None:
    assert resolve(target, "MEMORY.md") is None
    assert resolve_name(target, "MEMORY.md") is None


@given(st.text(max_size=40) | st.text("./%2eEfF\\:~a", max_size=30), st.sampled_from(["MEMORY.md", "a/b/MEMORY.md"]))
def test_no_text_leads_out_of_the_root(target: str, here: str) -> None:
    for found in (resolve(target, here), resolve_plain(target, here), resolve_name(target, here)):
        if found is not None:
            assert not found.startswith("/")
            assert not {"", ".", ".."} & set(found.removesuffix("/").split("/"))
            assert not any(ord(character) < 32 or character == "\\" for character in found)


@given(below, below)
def test_a_path_that_is_written_is_read_again(path: str, here: str) -> None:
    assert resolve_plain(relative(path, here), here) in (path, None)
    for angled in (False, True):
        target = written(path, here, "old.md", angled=angled)
        assert target is None or resolve(target, here) == path
    if all(len(part.encode()) < 255 for part in path.split("/")):
        assert written(path, here, "old.md") is not None


@pytest.mark.parametrize(
    ("path", "here", "like", "target"),
    [
        ("b.md", "MEMORY.md", "a.md", "b.md"),
        ("b.md", "MEMORY.md", "./a.md#part", "./b.md#part"),
        ("b c(d).md", "MEMORY.md", "a.md", "b%20c%28d%29.md"),
        ("x/b.md", "x/y/MEMORY.md", "a.md", "../b.md"),
        ("x/b.md", "x/MEMORY.md", "./a.md", "./b.md"),
        ("b:c.md", "MEMORY.md", "a.md", "./b:c.md"),
        ("~b.md", "MEMORY.md", "a.md", "./~b.md"),
        ("名前.md", "MEMORY.md", "a.md", "名前.md"),
    ],
)
def test_a_target_is_written_like_the_old_one(path: str, here: str, like: str, target: str) -> None:
    assert written(path, here, like) == target


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("a.md", ("a.md",)),
        ("m%20x.md", ("m x.md", "m%20x.md")),
        ("%41.md", ("A.md", "%41.md")),
        ("n#1.md", ("n", "n#1.md")),
        ("m%20x.md#p", ("m x.md", "m%20x.md#p", "m x.md#p", "m%20x.md")),
        ("#top", (None, "#top")),
        ("%2e%2e/a.md", (None,)),
        ("https://x/a%20b#c", (None,)),
    ],
)
def test_every_path_a_target_may_mean_is_told(target: str, found: tuple[str | None, ...]) -> None:
    assert readings(target, "MEMORY.md") == found
    assert found[0] == resolve(target, "MEMORY.md")


@given(st.text("./%2eEfF#\\:~a", max_size=30), st.sampled_from(["MEMORY.md", "a/b/MEMORY.md"]))
def test_no_reading_leads_out_of_the_root(target: str, here: str) -> None:
    for path in (*readings(target, here), *name_readings(target, here)):
        assert path is None or (".." not in path.split("/") and not path.startswith("/"))


@pytest.mark.parametrize("name", ["a\udcff.md", "a\x1b.md", "a\x9b.md"])
def test_a_name_that_cannot_stand_in_clean_text_is_not_written(name: str) -> None:
    assert written(name, "MEMORY.md", "a.md") is None
