"""Where the user was: found again after a restart, replaced whole, and nothing else is ever taken for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.disk.state_file import KeptPlaces

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
