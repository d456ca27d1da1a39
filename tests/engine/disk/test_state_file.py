"""Small files of the state folder: whole or not there, and of the size that is expected."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.disk import fsio, state_file
from memtui.engine.disk.state_file import KeptPlaces


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    folder = str(tmp_path / "deep" / "er")
    state_file.write(folder, "one", b"first")
    state_file.write(folder, "one", b"second")
    assert state_file.read(folder, "one", most=100) == b"second"
    assert [path.name for path in Path(folder).iterdir()] == ["one"]


def test_another_size_is_refused(tmp_path: Path) -> None:
    state_file.write(str(tmp_path), "one", b"12345")
    for least, most in ((6, 100), (0, 4)):
        with pytest.raises(ValueError, match="ours"):
            state_file.read(str(tmp_path), "one", least=least, most=most)


def test_what_dead_processes_left_goes_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in ("one.12.new", "one.new", "onemore.12.new", "two"):
        (folder / name).write_bytes(b"left")
    state_file.write(str(folder), "one", b"text")
    assert sorted(path.name for path in folder.iterdir()) == ["one", "onemore.12.new", "two"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "one").symlink_to("secret")
    with pytest.raises(OSError, match="one"):
        state_file.read(str(tmp_path), "one", most=100)
    state_file.write(str(tmp_path), "one", b"text")
    assert (tmp_path / "secret").read_bytes() == b"secret"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def kept_file(folder: Path) -> Path:
    (found,) = (folder / "places").iterdir()
    return found


@given(JSON)
def test_what_was_kept_is_found(value: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert KeptPlaces(folder).keep("/home/ann/api", value)
        assert KeptPlaces(folder).load("/home/ann/api") == (value, False)
        assert KeptPlaces(folder).load("/home/ann/web") == (None, False)


@pytest.mark.parametrize("spoil", [b"", b"memtui place 1 00000000\n{}", b"\xff\xfe", b"{}" * 50], ids=repr)
def test_what_is_spoilt_is_no_place_and_is_said(tmp_path: Path, spoil: bytes) -> None:
    assert KeptPlaces(str(tmp_path)).load("here") == (None, False)
    KeptPlaces(str(tmp_path)).keep("here", {"view": "hot"})
    kept_file(tmp_path).write_bytes(spoil)
    assert KeptPlaces(str(tmp_path)).load("here") == (None, True)
    assert KeptPlaces(str(tmp_path)).keep("here", {"view": "trash"})
    assert KeptPlaces(str(tmp_path)).load("here") == ({"view": "trash"}, False)


def test_a_folder_or_a_cut_file_in_its_place_is_survived(tmp_path: Path) -> None:
    KeptPlaces(str(tmp_path)).keep("here", ["x" * 500])
    file = kept_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-3])
    assert KeptPlaces(str(tmp_path)).load("here").damaged
    file.unlink()
    file.mkdir()
    assert KeptPlaces(str(tmp_path)).load("here").damaged
    assert not KeptPlaces(str(tmp_path)).keep("here", {})


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeptPlaces(str(tmp_path)).keep("here", 1)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "rename", fail)
        assert not KeptPlaces(str(tmp_path)).keep("here", 2)
    assert KeptPlaces(str(tmp_path)).load("here").value == 1
    assert KeptPlaces(str(tmp_path)).keep("here", 3)
    assert [path.name.endswith(".new") for path in (tmp_path / "places").iterdir()] == [False]


def test_it_is_private_and_read_only_keeps_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with Engine.open([], state_dir=str(state), read_only=True) as engine:
        assert not engine.places.keep("here", {"view": "hot"})
        assert not state.exists()
    with Engine.open([], state_dir=str(state)) as engine:
        assert engine.places.keep("here", {"view": "hot"})
        assert engine.places.load("here").value == {"view": "hot"}
    assert state.stat().st_mode & 0o777 == 0o700
    assert kept_file(state).stat().st_mode & 0o077 == 0
