"""Tar files: the same bytes every time, read by anybody's tar, and hostile ones refused without a write or a hang."""

import io
import os
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memtui.features.bundles import tarball
from memtui.features.bundles.tarball import pack, unpack

FILES = [
    ("list.json", b"{}"),
    ("memories/1/a.md", b"A\n"),
    ("memories/1/" + "d/" * 80 + "ä.md", b""),
    ("x/" + "é" * 60, b"1"),
]


def made(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return a tar file as another program may write it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for info, data in members:
            info.size = info.size or len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def info(name: str, kind: bytes = tarfile.REGTYPE, **rest: object) -> tarfile.TarInfo:
    """Return one entry."""
    found = tarfile.TarInfo(name)
    found.type = kind
    for key, value in rest.items():
        setattr(found, key, value)
    return found


def test_what_is_packed_comes_back_and_every_tar_can_read_it() -> None:
    data = pack(FILES)
    assert dict(unpack(data)) == dict(FILES)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert [one.name for one in tar] == [name for name, _ in FILES]
        assert {(one.mtime, one.uid, one.gid, one.uname, one.mode) for one in tar} == {(0, 0, 0, "", 0o644)}
    assert pack(FILES) == data


def test_zeros_may_fill_it_up_at_its_end() -> None:
    assert dict(unpack(pack(FILES) + b"\0" * 5_000)) == dict(FILES)


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, b"S"],
)
def test_nothing_but_plain_files_is_taken(kind: bytes) -> None:
    data = made((info("list.json"), b"{}"), (info("x", kind, linkname="/etc/passwd"), b""))
    with pytest.raises(RefusedError, match="no plain file") as refused:
        unpack(data)
    assert refused.value.code == "E_BUNDLE"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no bundle at all"),
        (b"no tar file" * 100, "no tar file of the kind"),
        (pack(FILES)[:600], "cut off"),
        (pack(FILES)[:1024], "cut off"),
        (pack([("a", b"1"), ("a", b"2")]), "twice"),
        (pack([("a", b"1")]).replace(b"0000644", b"0000645"), "damaged"),
        (made((info("a", pax_headers={"path": "b", "GNU.sparse.size": "9"}), b"1"), form=tarfile.PAX_FORMAT), "header"),
        (made((info("a", pax_headers={"size": "99999999"}), b"1"), form=tarfile.PAX_FORMAT), "gives 'size'"),
        (made((info("a" * 200), b"1"), form=tarfile.GNU_FORMAT), "no tar file of the kind|no plain file"),
        (pack(FILES) + b"junk" * 128, "behind its end"),
        (pack(FILES) + b"\0" * 700 + b"1", "behind its end"),
        (pack(FILES) + pack([("b", b"2")]), "behind its end"),
        (pack([("a", b"1")])[:1_000] + b"1" + pack([("a", b"1")])[1_001:], "damaged"),
        (b"\x1f\x8b" + b"\0" * 50, "cut off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_damaged_or_not_ours_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(RefusedError, match=said) as refused:
        unpack(data)
    assert refused.value.code == "E_BUNDLE"


def test_a_file_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "MAX_BYTES", 1_000)
    with pytest.raises(RefusedError) as refused:
        unpack(pack(FILES))
    assert refused.value.code == "E_TOO_BIG"


@given(st.binary(max_size=2_000), st.integers(0, 3_000), st.integers(0, 200))
def test_any_bytes_are_refused_or_read_and_never_hang(noise: bytes, at: int, size: int) -> None:
    whole = pack(FILES)
    for data in (noise, whole[:at] + noise + whole[at + size :]):
        with suppress(RefusedError):
            assert all(isinstance(text, bytes) for text in unpack(data).values())


def test_a_file_is_written_whole_and_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    tarball.write_file(str(path), b"one")
    assert tarball.read_file(str(path)) == b"one"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith(("tar", "new"))] == ["b.tar"]


def test_another_file_is_not_written_over_unasked(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    path.write_bytes(b"mine")
    with pytest.raises(ConflictError) as refused:
        tarball.write_file(str(path), b"one")
    assert refused.value.code == "E_EXISTS"
    assert path.read_bytes() == b"mine"
    tarball.write_file(str(path), b"one", over=True)
    assert path.read_bytes() == b"one"
    assert not [one for one in tmp_path.iterdir() if one.name.endswith(".new")]


def test_what_somebody_put_in_the_place_of_the_unfinished_file_gets_nothing(tmp_path: Path) -> None:
    planted = tmp_path / f".b.tar.{os.getpid()}.new"
    planted.write_bytes(b"planted")
    with pytest.raises(StorageError):
        tarball.write_file(str(tmp_path / "b.tar"), b"one")
    assert planted.read_bytes() == b"planted"
    assert not (tmp_path / "b.tar").exists()


def test_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        tarball.write_file(str(tmp_path / "none/b.tar"), b"one")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError):
        tarball.write_file(str(tmp_path / "folder"), b"one", over=True)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        tarball.read_file(str(tmp_path / "none"))
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(RefusedError) as refused:
            tarball.read_file(str(path))
        assert refused.value.code == "E_NOT_REGULAR"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RefusedError) as refused:
        tarball.read_file(str(path))
    assert refused.value.code == "E_TOO_BIG"
