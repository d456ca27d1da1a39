"""Where the user was: found again after a restart, replaced whole, and nothing else is ever taken for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine, places
from memtui.engine.disk import fsio

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
        assert places.save(folder, "/home/ann/api", value)
        assert places.load(folder, "/home/ann/api") == (value, False)
        assert places.load(folder, "/home/ann/web") == (None, False)


@pytest.mark.parametrize("spoil", [b"", b"memtui place 1 00000000\n{}", b"\xff\xfe", b"{}" * 50], ids=repr)
def test_what_is_spoilt_is_no_place_and_is_said(tmp_path: Path, spoil: bytes) -> None:
    assert places.load(str(tmp_path), "here") == (None, False)
    places.save(str(tmp_path), "here", {"view": "hot"})
    kept_file(tmp_path).write_bytes(spoil)
    assert places.load(str(tmp_path), "here") == (None, True)
    assert places.save(str(tmp_path), "here", {"view": "trash"})
    assert places.load(str(tmp_path), "here") == ({"view": "trash"}, False)


def test_a_folder_or_a_cut_file_in_its_place_is_survived(tmp_path: Path) -> None:
    places.save(str(tmp_path), "here", ["x" * 500])
    file = kept_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-3])
    assert places.load(str(tmp_path), "here").damaged
    file.unlink()
    file.mkdir()
    assert places.load(str(tmp_path), "here").damaged
    assert not places.save(str(tmp_path), "here", {})


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places.save(str(tmp_path), "here", 1)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "rename", fail)
        assert not places.save(str(tmp_path), "here", 2)
    assert places.load(str(tmp_path), "here").value == 1
    assert places.save(str(tmp_path), "here", 3)
    assert [path.name.endswith(".new") for path in (tmp_path / "places").iterdir()] == [False]


def test_it_is_private_and_read_only_keeps_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with Engine.open([], state_dir=str(state), read_only=True) as engine:
        assert not engine.keep_place("here", {"view": "hot"})
        assert not state.exists()
    with Engine.open([], state_dir=str(state)) as engine:
        assert engine.keep_place("here", {"view": "hot"})
        assert engine.place("here").value == {"view": "hot"}
    assert state.stat().st_mode & 0o777 == 0o700
    assert kept_file(state).stat().st_mode & 0o077 == 0
