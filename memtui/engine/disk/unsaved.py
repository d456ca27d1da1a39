"""Unsaved texts in files of the state folder: drafts that may outlive the ledger, and copies an editor has open.

Only this module knows those files, so that their texts are offered again whatever happens to the ledger, and are gone
when a text must be gone.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, state_file
from memtui.engine.model import Draft

DRAFTS, COPIES = "drafts", "edits"
"""Folders: a file per memory and process that could not rely on the ledger; a folder per copy."""
ABOUT = ".memtui"
"""Metadata of a copy, beside it; whoever has the copy open holds a lock on it."""
_LARGEST = 64 * 1024 * 1024


class TextOrigin(NamedTuple):
    """The memory a text belongs to."""

    folder: str
    """The root's folder: its id and its ledger number may change until the next start."""
    path: str
    base_sha256: str | None = None
    base: bytes | None = None


class Unsaved(NamedTuple):
    """An unsaved text."""

    place: str
    of: TextOrigin | None
    data: bytes
    at: int
    cursor: tuple[int, int] = (0, 0)

    @property
    def text(self) -> str | None:
        """The text as a draft holds it; None when it is not text."""
        try:
            return self.data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return None


class EditorCopy(NamedTuple):
    """A text that an editor has open."""

    folder: str
    path: str
    lock: int
    """Held as long as the process that began it lives; until then its text is not offered."""


def keep(state_dir: str, writer: str, folder: str, draft: Draft) -> None:
    """Write a draft to its file, replacing what this writer kept of that memory before."""
    document = {
        **_about(TextOrigin(folder, draft.address.path, draft.base_sha256, draft.base)),
        "text": draft.text,
        "cursor": draft.cursor,
        "at": draft.at,
    }
    name = sha256(f"{folder}\0{draft.address.path}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    state_file.write(
        os.path.join(state_dir, DRAFTS), f"{name}-{writer}.json", json.dumps(document).encode(), durable=True
    )


def begin_copy(state_dir: str, name: str, data: bytes, of: TextOrigin | None) -> EditorCopy:
    """Write a copy named `name` for an editor, in a folder that only this user can enter."""
    parent = os.path.join(state_dir, COPIES)
    fsio.make_root(parent)
    folder = tempfile.mkdtemp(prefix="edit-", dir=parent)
    lock = fsio.open_lock(os.path.join(folder, ABOUT))
    try:
        fsio.lock(lock)
        about = {"file": name, "opened": sha256(data).hexdigest(), **(_about(of) if of is not None else {})}
        fsio.write_all(lock, json.dumps(about).encode())
        path = os.path.join(folder, name)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
    except BaseException:
        fsio.close(lock)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return EditorCopy(folder, path, lock)


def taken(copy: EditorCopy, data: bytes) -> None:
    """Record that the text saved in the editor so far is safe, so that only later changes are offered."""
    about = json.loads(fsio.read_all(copy.lock, 4_096))
    os.ftruncate(copy.lock, 0)
    os.lseek(copy.lock, 0, os.SEEK_SET)
    fsio.write_all(copy.lock, json.dumps({**about, "opened": sha256(data).hexdigest()}).encode())


def release(copy: EditorCopy) -> None:
    """Leave a copy behind: from now on its text is offered."""
    fsio.close(copy.lock)


def everything(state_dir: str) -> tuple[Unsaved, ...]:
    """Return every text waiting to be offered, oldest first, without those still open in an editor."""
    copies = [one.unsaved for one in _copies(state_dir) if not one.busy and one.changed]
    return tuple(sorted((*_drafts(state_dir), *copies), key=lambda one: one.at))


def remove(one: Unsaved) -> None:
    """Remove an unsaved text."""
    folder, name = os.path.split(one.place)
    try:
        if os.path.basename(folder) == DRAFTS:
            os.unlink(one.place)
            for half in _names(folder, "", f"{name}."):
                os.unlink(os.path.join(folder, half))  # of a process that died while it wrote
        else:
            shutil.rmtree(folder)
    except FileNotFoundError:
        pass  # another process was first


def tidy(state_dir: str) -> None:
    """Remove copies that nobody has open and nobody changed."""
    for one in _copies(state_dir):
        if not one.busy and not one.changed:
            shutil.rmtree(os.path.dirname(one.unsaved.place), ignore_errors=True)  # what stays is tidied the next time


def holding(state_dir: str, holds: Callable[[bytes], bool]) -> list[Unsaved]:
    """Return the drafts whose text `holds` accepts; the text of a copy is a plain file."""
    return [draft for draft in _drafts(state_dir) if holds(draft.data)]


def forget_bases(state_dir: str, holds: Callable[[bytes], bool]) -> None:
    """Remove base texts that `holds` accepts, and incomplete files of processes that died."""
    for half in _names(os.path.join(state_dir, DRAFTS), state_file.LATE):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(state_dir, DRAFTS, half))
    drafts = [draft.place for draft in _drafts(state_dir) if _started_from(draft, holds)]
    copies = [copy.unsaved.place for copy in _copies(state_dir) if _started_from(copy.unsaved, holds)]
    for place in (*drafts, *(os.path.join(os.path.dirname(place), ABOUT) for place in copies)):
        with contextlib.suppress(FileNotFoundError), open(place, "r+b") as file:
            document = {**json.load(file), "base": None}
            file.seek(0)
            file.truncate()
            file.write(json.dumps(document).encode())  # in place: a copy's file is its lock as well


def _started_from(one: Unsaved, holds: Callable[[bytes], bool]) -> bool:
    return one.of is not None and one.of.base is not None and holds(one.of.base)


class _Left(NamedTuple):
    unsaved: Unsaved
    busy: bool
    changed: bool
    """Whether it differs from what the editor was given, as far as known."""


def _drafts(state_dir: str) -> Iterator[Unsaved]:
    folder = os.path.join(state_dir, DRAFTS)
    for name in _names(folder, ".json"):
        place = os.path.join(folder, name)
        try:
            found = json.loads(state_file.read(folder, name, most=_LARGEST))
            line, column = found["cursor"]
            data = str(found["text"]).encode("utf-8", "surrogatepass")
            yield Unsaved(place, _of(found), data, int(found["at"]), (int(line), int(column)))
        except FileNotFoundError:
            continue  # another process took it away since
        except (ValueError, KeyError, TypeError):
            yield Unsaved(place, None, b"", _time(place))


def _copies(state_dir: str) -> Iterator[_Left]:
    """Yield all copies. Their metadata may be missing: an earlier memtui made them, or a kill came early."""
    for parent in (os.path.join(state_dir, COPIES), state_dir):
        for below in _names(parent, "", "edit-"):
            folder = os.path.join(parent, below)
            try:
                yield from _copy(folder)
            except FileNotFoundError:
                continue  # its editor ended since


def _copy(folder: str) -> Iterator[_Left]:
    names = [name for name in os.listdir(folder) if not name.startswith(".")]
    busy, opened, of = False, None, None
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        about = os.open(os.path.join(folder, ABOUT), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with fsio.closing(about):
            busy = fsio.is_locked(about)
            found = json.loads(fsio.read_all(about, 4_096))
            names = [os.path.basename(str(found["file"]))]
            opened, of = found["opened"], _of(found) if "folder" in found else None
    for name in names:
        place = os.path.join(folder, name)
        data = _read(place)
        yield _Left(Unsaved(place, of, data, _time(place)), busy, sha256(data).hexdigest() != opened)


def _about(of: TextOrigin) -> dict[str, object]:
    base = None if of.base is None else of.base.decode("utf-8", "surrogateescape")
    return {"folder": of.folder, "path": of.path, "base_sha256": of.base_sha256, "base": base}


def _of(found: dict[str, object]) -> TextOrigin:
    base, sha = found["base"], found["base_sha256"]
    return TextOrigin(
        str(found["folder"]),
        str(found["path"]),
        None if sha is None else str(sha),
        None if base is None else str(base).encode("utf-8", "surrogateescape"),
    )


def _names(folder: str, end: str, start: str = "") -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(end) and name.startswith(start))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read(_LARGEST)


def _time(place: str) -> int:
    return os.stat(place).st_mtime_ns // 1_000_000
