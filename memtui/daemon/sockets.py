"""Listening sockets: a private socket file, and a loopback port behind a token.

Bound here because uvicorn would make the socket file public. An existing socket file is replaced only under the lock.
"""

import os
import secrets
import socket
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, state_file
from memtui.engine.disk.handles import RootLock
from memtui.errors import BusyError, ConflictError, RefusedError, StorageError, UsageError

RUN, FILE, TOKEN = "run", "memtui.sock", "serve.token"
MAX_PATH = 100
"""Bytes of a socket path; Linux takes 107, macOS 103."""
_TOKEN_LENGTH = 43
"""Characters of 32 bytes from `secrets.token_urlsafe`."""


class Peer(NamedTuple):
    """The process at the other end of a socket file."""

    pid: int
    uid: int


def socket_path(state_dir: str, environ: Mapping[str, str]) -> str:
    """Return the path of the socket file of a state folder; raises UsageError where every path is too long."""
    path = os.path.join(state_dir, RUN, FILE)
    if len(os.fsencode(path)) <= MAX_PATH:
        return path
    name = f"memtui-{sha256(os.fsencode(state_dir)).hexdigest()[:12]}.sock"
    short = os.path.join(environ.get("XDG_RUNTIME_DIR", ""), name)
    if not os.path.isabs(short) or len(os.fsencode(short)) > MAX_PATH:
        raise UsageError(
            f"{path} is too long for a socket, and XDG_RUNTIME_DIR names no shorter folder.",
            hint="Set XDG_RUNTIME_DIR, or listen on a port: memtui serve --no-socket --port 8017",
        )
    return short


@contextmanager
def alone(state_dir: str) -> Iterator[None]:
    """Hold the lock of the state folder's only daemon; raises BusyError naming another one."""
    lock = RootLock(os.path.join(state_dir, "locks"), "serve")
    try:
        with lock.held(wait=0.0, who="memtui serve"):
            yield
    except BusyError as error:
        if error.details.get("holder") is None:
            raise
        raise BusyError(
            f"{error.details['holder']} serves these memories already.",
            hint="Use that one, or end it first.",
            details=error.details,
        ) from None
    finally:
        lock.close()


@contextmanager
def bound_file(path: str) -> Iterator[socket.socket]:
    """Bind the socket file; call it under `alone`, before other threads start (umask).

    Raises RefusedError: `E_PERMISSION`: others may use its folder. ConflictError: another file is there. StorageError.
    """
    folder_path, name = os.path.split(path)
    try:
        fsio.make_root(folder_path)
        folder = fsio.open_root(folder_path)
    except OSError as error:
        raise StorageError(f"The folder {folder_path} cannot be used: {error.strerror}.") from error
    with fsio.closing(folder):
        status = fsio.fstat(folder)
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise RefusedError(
                f"Others may use the folder {folder_path}, so that no socket is put there.",
                code="E_PERMISSION",
                hint=f"Make it yours alone: chmod 700 {folder_path}",
            )
        with suppress(FileNotFoundError):
            if not stat.S_ISSOCK(fsio.stat_at(folder, name).st_mode):
                raise ConflictError(f"{path} exists and is no socket.", code="E_EXISTS", hint="Move it away.")
            fsio.unlink(folder, name)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(path)
        except OSError as error:
            listener.close()
            raise StorageError(f"The socket {path} cannot be made: {error.strerror}.") from error
        finally:
            os.umask(before)
        try:
            yield listener
        finally:
            listener.close()
            with suppress(FileNotFoundError):
                fsio.unlink(folder, name)


def peer_of(connection: socket.socket) -> Peer | None:
    """Return the peer of a connection; None for a port, or where the system cannot tell."""
    if connection.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return Peer(pid, uid)


def port_token(state_dir: str, *, new: bool = False) -> str:
    """Read the token from its private file; create it when missing, or `new`. Raises StorageError."""
    if not new:
        with suppress(OSError, ValueError):
            return state_file.read(state_dir, TOKEN, least=_TOKEN_LENGTH, most=_TOKEN_LENGTH).decode("ascii")
    token = secrets.token_urlsafe(32)
    try:
        state_file.write(state_dir, TOKEN, token.encode(), durable=True)
    except OSError as error:
        raise StorageError(f"The token cannot be written: {error.strerror}.") from error
    return token
