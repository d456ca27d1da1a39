"""Bundles as tar files: packed reproducibly, unpacked as if an enemy had written them, and kept as one file.

Reading accepts only plain files: no link, device or folder, no name twice, no size that is not there. `tarfile` does
not read here: its filters check only what is extracted, and hostile headers hang it in some releases of Python 3.11 to
3.13 (CVE-2024-6232, CVE-2025-8194).
"""

import errno
import os
import stat
from collections.abc import Iterable, Mapping

from memtui.errors import ConflictError, NotFoundError, RefusedError, StorageError

MAX_BYTES = 128 * 1024 * 1024
MAX_FILES = 100_000
_BLOCK = 512
_PLAIN, _LONG = (b"0", b"\0"), b"x"
_MOST_HEADER = 65_536


def bad(text: str) -> RefusedError:
    """Return the refusal of a bundle."""
    return RefusedError(f"The bundle is refused: {text}.", code="E_BUNDLE", hint="Export it again where it came from.")


def too_big(limit: int) -> RefusedError:
    """Return the refusal of a bundle over a limit in bytes."""
    return RefusedError(
        f"The bundle has more than {limit:,} bytes.",
        code="E_TOO_BIG",
        hint="Export fewer memories, or without --history.",
        details={"limit": limit},
    )


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Write files as tar, in the given order, without time, owner or anything else of this machine."""
    import io
    import tarfile

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def unpack(data: bytes) -> Mapping[str, bytes]:
    """Read a tar file; raises `E_BUNDLE`, `E_TOO_BIG`."""
    if len(data) > MAX_BYTES:
        raise too_big(MAX_BYTES)
    found: dict[str, bytes] = {}
    at, long_name, ended = 0, "", False
    while at + _BLOCK <= len(data):
        header = data[at : at + _BLOCK]
        at += _BLOCK
        if not header.strip(b"\0"):
            ended = True
            break
        size = _checked(header)
        body = data[at : at + size]
        if len(body) != size:
            raise bad("it is cut off")
        filled = at + -(-size // _BLOCK) * _BLOCK
        if data[at + size : filled].strip(b"\0"):
            raise bad("it is damaged")
        at = filled
        kind = header[156:157]
        if kind == _LONG and not long_name:
            long_name = _long_name(body)
            continue
        name = long_name or _name(header)
        long_name = ""
        if kind not in _PLAIN:
            raise bad(f"{name!r} in it is no plain file")
        if name in found:
            raise bad(f"{name!r} is in it twice")
        found[name] = body
        if len(found) > MAX_FILES:
            raise bad(f"it holds more than {MAX_FILES:,} files")
    if not ended or not found:
        raise bad("it is cut off, or no bundle at all")
    if data.count(0, at) != len(data) - at:
        raise bad("something is behind its end")
    return found


def _checked(header: bytes) -> int:
    if header[257:262] != b"ustar":
        raise bad("it is no tar file of the kind that memtui writes")
    blanked = header[:148] + b" " * 8 + header[156:]
    if _number(header[148:156]) != sum(blanked):
        raise bad("it is damaged")
    return _number(header[124:136])


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not text or any(digit not in b"01234567" for digit in text):
        raise bad("it is damaged")
    return int(text, 8)


def _name(header: bytes) -> str:
    name, prefix = header[:100].rstrip(b"\0"), header[345:500].rstrip(b"\0")
    return _text(prefix + b"/" + name if prefix else name)


def _long_name(body: bytes) -> str:
    """Return the name in an extended header, which may hold nothing else."""
    if len(body) > _MOST_HEADER:
        raise bad("a header in it is too long")
    name = ""
    rest = body
    while rest.strip(b"\0"):
        size, blank, _ = rest.partition(b" ")
        if not blank or not size.isdigit() or len(size) > 6 or not len(size) + 3 < int(size) <= len(rest):
            raise bad("a header in it is damaged")
        record, rest = rest[len(size) + 1 : int(size)], rest[int(size) :]
        key, equals, value = record.removesuffix(b"\n").partition(b"=")
        if key != b"path" or not equals or name:
            raise bad(f"a header in it gives {_text(key)!r}")
        name = _text(value)
    if not name:
        raise bad("a header in it is empty")
    return name


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise bad("a name in it is not UTF-8") from None
    if not text or "\0" in text:
        raise bad("a name in it is damaged")
    return text


def read_file(path: str) -> bytes:
    """Read a bundle's file; raises `E_TOO_BIG`, `E_NOT_REGULAR`."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", hint="Give the path of a bundle.") from None
    except OSError as error:
        raise _io_error(path, "read", error) from None
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        os.close(opened)
        raise RefusedError(f"{path} is no file.", code="E_NOT_REGULAR", hint="Give the path of a bundle.")
    with os.fdopen(opened, "rb") as file:
        if status.st_size > MAX_BYTES:
            raise too_big(MAX_BYTES)
        try:
            return file.read(MAX_BYTES + 1)
        except OSError as error:
            raise _io_error(path, "read", error) from None


def write_file(path: str, data: bytes, *, over: bool = False) -> None:
    """Write a bundle's file, readable only by the user; `over` replaces an existing one (else `E_EXISTS`)."""
    folder, name = os.path.split(os.path.abspath(path))
    temp = os.path.join(folder, f".{name[:100]}.{os.getpid()}.new")
    try:
        opened = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _io_error(path, "written", error) from None
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if over:
            os.replace(temp, path)
        else:
            os.link(temp, path)
            os.unlink(temp)
    except OSError as error:
        os.unlink(temp)
        if error.errno == errno.EEXIST:
            raise ConflictError(
                f"{path} exists already.", code="E_EXISTS", hint="Choose another name, or write over it with --force."
            ) from None
        raise _io_error(path, "written", error) from None


def _io_error(path: str, what: str, error: OSError) -> StorageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StorageError(
        f"{path} cannot be {what}: {error.strerror}.",
        code="E_DISK_FULL" if full else "E_IO",
        hint="Free some space, or choose another place." if full else "Choose another place.",
    )
