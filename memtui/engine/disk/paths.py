"""Text to address to handle: the only place that judges names and descends into roots.

A checked list of components is the list that is used; no joined string is ever resolved. Without this module each
caller would check a path and then open another one.
"""

import errno
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memtui.engine.disk import fsio
from memtui.engine.model import Address, Root
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

MAX_COMPONENT = 255
MAX_COMPONENTS = 20
MAX_PATH = 1_024
TEMP_PREFIX = ".memtui-"
"""Ours, for the milliseconds of a commit; with 16 hex digits behind it, 24 bytes, so any memory name has room."""

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"] + [f"{n}{d}" for n in ("com", "lpt") for d in "123456789¹²³"]
)
_REFUSED_CHARACTERS = frozenset('<>:"|?*\\/')
_LISTED = "Nothing was changed; a file that already has such a name stays listed and readable."


def split(path: str) -> tuple[str, ...]:
    """Components of a path that exists or may exist on disk: only what would leave the root is refused.

    Raises:
        RefusedError: `E_NAME`, `E_NAME_TOO_LONG`, `E_PATH_TOO_LONG`, `E_PATH_TOO_DEEP`.
    """
    parts = tuple(path.split("/"))
    for part in parts:
        if part in ("", ".", ".."):
            raise _refuse(path, f"it has an empty, '.' or '..' component ({part!r})")
        if "\0" in part:
            raise _refuse(path, "it holds a NUL")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise _refuse(path, "it cannot be encoded as a file name") from None
    if len(encoded) > MAX_PATH:
        raise _refuse(path, f"it is {len(encoded):,} bytes long; the limit is {MAX_PATH:,}", "E_PATH_TOO_LONG")
    if len(parts) > MAX_COMPONENTS:
        raise _refuse(path, f"it is {len(parts)} levels deep; the limit is {MAX_COMPONENTS}", "E_PATH_TOO_DEEP")
    for part in parts:
        if len(os.fsencode(part)) > MAX_COMPONENT:
            raise _refuse(path, f"a component is longer than {MAX_COMPONENT} bytes", "E_NAME_TOO_LONG")
    return parts


def creatable(path: str) -> tuple[str, ...]:
    """Components of a path memtui itself would create: every naming rule holds.

    Raises:
        RefusedError: as `split`, and `E_NAME` or `E_RESERVED` for names that are unsafe on some platform, to git, to a
            shell or on a screen.
    """
    parts = split(path)
    for part in parts:
        if problem := name_problem(part):
            code, reason = problem
            raise _refuse(path, reason, code)
    return parts


def name_problem(name: str) -> tuple[str, str] | None:
    """Why memtui would not create this name: a code and the reason; None when it would."""
    if name.isascii() and name.replace("-", "a").replace("_", "a").replace(".", "a").isalnum() and name[0] not in ".-":
        stem = name.partition(".")[0].lower()
        if name[-1] != "." and stem not in _DEVICES and "~" not in name:
            return None
    return _slow_name_problem(name)


def _slow_name_problem(name: str) -> tuple[str, str] | None:
    if name[0].isspace() or name[-1].isspace():
        return "E_NAME", "it begins or ends with a space"
    bare = unicodedata.normalize("NFKC", "".join(c for c in name if unicodedata.category(c) != "Cf")).casefold()
    if bare.rstrip(". ") == ".git" or bare.startswith("git~"):
        return "E_RESERVED", "git reserves this name"
    if name.endswith("."):
        return "E_NAME", "it ends with a dot"
    if bare.partition(".")[0].rstrip() in _DEVICES:
        return "E_RESERVED", "Windows reserves this name for a device"
    for character in name:
        if character in _REFUSED_CHARACTERS:
            return "E_NAME", f"it holds {character!r}, which is not portable"
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"):
            return "E_NAME", f"it holds an invisible or control character (U+{ord(character):04X})"
        if category == "Zs" and character != " ":
            return "E_NAME", f"it holds an unusual space (U+{ord(character):04X})"
    if name[0] == "-":
        return "E_NAME", "it begins with '-', which programs read as an option"
    if name[0] == "~":
        return "E_NAME", "it begins with '~', which shells replace"
    if name[0] == ".":
        return "E_NAME", "it begins with a dot, and hidden files are not listed as memories"
    return None


def fold(name: str) -> str:
    """The form in which two names clash on a file system that ignores case or Unicode form."""
    return unicodedata.normalize("NFKC", name).casefold()


def _refuse(path: str, reason: str, code: str = "E_NAME") -> RefusedError:
    return RefusedError(
        f"The name {path!r} is refused: {reason}.", code=code, unharmed=_LISTED, hint="Choose another name."
    )


class Modes(NamedTuple):
    """What is remembered of folders that were removed because nothing was left in them, by path below the root."""

    note: Callable[[str, int], None]
    known: Callable[[str], int | None]


PRIVATE = 0o700
"""The mode of a folder that memtui makes outside of checkouts."""


class RootHandle:
    """An open root folder, bound to the (device, inode) it had when it was opened."""

    def __init__(self, root: Root) -> None:
        """Open the root.

        Raises:
            NotFoundError: `E_ROOT_MISSING`.
            MemtuiError: whatever else keeps it from being opened.
        """
        self.root = root
        self.modes: Modes | None = None
        """Knows the modes of folders that were removed here; None while nothing is changed."""
        self._open = False
        try:
            self.fd = _open_root(root)
        except FileNotFoundError:
            raise NotFoundError(
                f"The folder of {root.id} does not exist.", code="E_ROOT_MISSING", hint="Creating a memory makes it."
            ) from None
        except OSError as error:
            raise translate(error, f"Opening the folder of {root.id}") from error
        try:
            status = fsio.fstat(self.fd)
        except OSError as error:
            fsio.close(self.fd)
            raise translate(error, f"Looking at the folder of {root.id}") from error
        self._open = True
        self.identity = (status.st_dev, status.st_ino)

    def check(self) -> None:
        """Require that the root's path still means the folder that was opened.

        Raises:
            RefusedError: `E_ROOT_REPLACED`.
            NotFoundError: `E_ROOT_MISSING`.
        """
        try:
            status = fsio.stat_path(self.root.path)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise NotFoundError(
                    f"The folder of {self.root.id} is gone.",
                    code="E_ROOT_MISSING",
                    unharmed="Your text is kept as a draft or in history.",
                    hint="Bring the folder back, or create the memory elsewhere.",
                ) from None
            raise translate(error, f"Looking at the folder of {self.root.id}") from error
        if (status.st_dev, status.st_ino) != self.identity:
            raise RefusedError(
                f"The folder of {self.root.id} was replaced by another one.",
                code="E_ROOT_REPLACED",
                unharmed="Nothing was written into the new folder.",
                hint="Reload, look at what is there now, then try again.",
            )

    @contextmanager
    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """The handle of a folder below the root, closed after the block.

        Args:
            parts: checked components; empty for the root itself.
            create: make what is missing; when the block fails, what was made for it is taken away again.

        Raises:
            MemtuiError: `E_NOT_FOUND`, `E_SYMLINK`, `E_NOT_REGULAR`, `E_OTHER_DEVICE`, ...
        """
        if not parts:
            yield self.fd
            return
        made: list[int] = []
        done = False
        try:
            with fsio.closing(self._open_below(parts, made if create else None)) as handle:
                try:
                    device = fsio.fstat(handle).st_dev
                except OSError as error:
                    raise translate(error, f"Looking at {'/'.join(parts)!r}") from error
                if device != self.identity[0]:
                    raise _other_device("/".join(parts))
                yield handle
            done = True
        finally:
            if made and not done:
                self.prune(parts, made[0])

    def _open_below(self, parts: tuple[str, ...], made: list[int] | None) -> int:
        try:
            if made is None:
                return fsio.open_beneath(self.fd, parts)
            return _make_below(os.dup(self.fd), parts, self.root, made, self.modes)
        except OSError as error:
            raise self._explain(error, parts) from error

    def prune(self, parts: tuple[str, ...], down_to: int | None = None) -> None:
        """Remove a folder, and then those above it, as far as they are empty; the root itself stays.

        Args:
            parts: the components of the folder.
            down_to: how many components the last folder to be removed has; None: all, unless the policy keeps them.
        """
        if down_to is None and self.root.policy.keep_folders:
            return
        for count in range(len(parts), (down_to or 1) - 1, -1):
            try:
                with self.folder(parts[: count - 1]) as above:
                    mode = fsio.stat_at(above, parts[count - 1]).st_mode & 0o777
                    fsio.remove_dir(above, parts[count - 1])
                if self.modes is not None and down_to is None and mode != PRIVATE:
                    self.modes.note("/".join(parts[:count]), mode)
            except FileNotFoundError:
                continue  # it was not even made, or somebody else took it away
            except (OSError, MemtuiError):
                return  # something is in it, or it may not be removed: nothing is lost when it stays

    def _explain(self, error: OSError, parts: tuple[str, ...]) -> MemtuiError:
        """Say which component is a link or no folder: the kernel gives one error for both."""
        path = "/".join(parts)
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EXDEV):
            if error.errno == errno.EXDEV:
                return _other_device(path)
            if error.errno == errno.ELOOP or self._has_link(parts):
                return _symlink(path)
        return translate(error, f"Opening the folder {path!r} of {self.root.id}")

    def _has_link(self, parts: tuple[str, ...]) -> bool:
        import stat

        handle = os.dup(self.fd)
        try:
            for part in parts:
                if stat.S_ISLNK(fsio.stat_at(handle, part).st_mode):
                    return True
                below = fsio.open_dir(handle, part)
                fsio.close(handle)
                handle = below
        except OSError:
            return False  # it changed again while we looked: the first error is reported as it is
        finally:
            fsio.close(handle)
        return False

    def refuse_clash(self, folder: int, name: str, *, besides: str | None = None) -> None:
        """As the function of this name, unless names here may be whatever the system takes."""
        if not self.root.policy.any_name:
            refuse_clash(folder, name, besides=besides)

    def close(self) -> None:
        """Close the folder."""
        if self._open:
            self._open = False
            fsio.close(self.fd)

    def __del__(self) -> None:
        """Close a folder that was replaced, when the last who read through it is done."""
        self.close()


def shared_bits(folder: os.stat_result) -> int:
    """What the group and others may do in a folder that hands its group down to what is made in it; 0 for any other."""
    import stat

    shared = folder.st_mode & stat.S_ISGID and folder.st_mode & 0o070
    return folder.st_mode & 0o075 if shared else 0


def make_root(root: Root) -> None:
    """Make the folder of a root, and what is missing above it.

    Raises:
        MemtuiError: it cannot be made, or only through a link that a repository brought.
    """
    brought = _brought(root)
    try:
        if brought and root.project:
            fsio.close(_make_below(fsio.open_root(root.project), brought, root, []))
        else:
            fsio.make_root(root.path, 0o777 if root.in_checkout else 0o700)
    except OSError as error:
        if brought and error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _brought_link(root) from None
        raise translate(error, f"Making the folder of {root.id}") from error


def missing_folders(root: Root) -> int:
    """How many folders `make_root` would make."""
    path, count = root.path.rstrip("/"), 0
    while path and not fsio.is_dir(path):
        path, count = os.path.dirname(path), count + 1
    return count


def unmake_root(root: Root, count: int) -> None:
    """Remove the folders that `make_root` made, as far as they are empty.

    Args:
        root: the root.
        count: how many it made.
    """
    parts = tuple(part for part in root.path.split("/") if part)
    brought = len(_brought(root))
    with suppress(OSError):  # something is in one of them by now: it stays, and so does what is above it
        for depth in range(len(parts), len(parts) - count, -1):
            # Above what a repository could have brought, links are the user's own choice.
            below = parts[len(parts) - brought : depth - 1] if depth > len(parts) - brought else ()
            with fsio.closing(fsio.open_root("/" + "/".join(parts[: depth - 1 - len(below)]))) as base:
                if below:
                    with fsio.closing(fsio.open_beneath(base, below)) as above:
                        fsio.remove_dir(above, parts[depth - 1])
                else:
                    fsio.remove_dir(base, parts[depth - 1])


def _brought(root: Root) -> tuple[str, ...]:
    """The components of a root's path that a repository could have brought: no link is followed in them."""
    base = (root.project or "").rstrip("/") + "/"
    if not root.in_checkout or not root.project or not root.path.startswith(base):
        return ()
    return tuple(part for part in root.path[len(base) :].split("/") if part)


def _open_root(root: Root) -> int:
    brought = _brought(root)
    if not brought or not root.project:
        return fsio.open_root(root.path)
    handle = fsio.open_root(root.project)
    for part in brought:
        try:
            below = fsio.open_dir(handle, part)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise _brought_link(root) from None
            raise
        finally:
            fsio.close(handle)
        handle = below
    return handle


def _brought_link(root: Root) -> RefusedError:
    return RefusedError(
        f"The folder of {root.id} is reached through a link inside the checkout, or is no folder.",
        code="E_SYMLINK",
        hint="A repository can bring such a link; use --root NAME=DIR for the folder it leads to if it is yours.",
    )


def _make_below(handle: int, parts: tuple[str, ...], root: Root, made: list[int], modes: Modes | None = None) -> int:
    """Make the folders that are missing below an open folder, which is closed; returns the handle of the last.

    They are private like their memories, whatever the umask says, except where they are meant to be shared; one that
    memtui removed is as it was. `made` is filled with how many components each folder has that was made.
    """
    for count, part in enumerate(parts, 1):
        try:
            try:
                below = fsio.open_dir(handle, part)
            except FileNotFoundError:
                if not root.policy.any_name:
                    refuse_clash(handle, part)
                ours = False
                try:
                    fsio.make_dir(handle, part, 0o777 if root.in_checkout else PRIVATE)
                    ours = True
                    made.append(count)
                    fsio.fsync_dir(handle)
                except FileExistsError:
                    pass  # another writer made it first: it is opened below, without following links
                below = fsio.open_dir(handle, part)
                kept = modes.known("/".join(parts[:count])) if ours and modes is not None else None
                if ours:
                    _set_mode(handle, below, kept, root)
        finally:
            fsio.close(handle)
        handle = below
    return handle


def _set_mode(above: int, folder: int, kept: int | None, root: Root) -> None:
    """Say who may enter an open folder that was just made; it is closed when that fails.

    Args:
        above: the folder it is in.
        folder: the folder.
        kept: its mode when memtui removed it; None when it never did.
        root: the root.
    """
    try:
        shared = shared_bits(fsio.fstat(above))
        if kept is not None or shared or not root.in_checkout:
            inherited = fsio.fstat(folder).st_mode & 0o2000  # setting the mode takes it off
            fsio.chmod(folder, (PRIVATE | shared if kept is None else kept) | inherited)
    except OSError:
        fsio.close(folder)
        raise


def open_regular(parent: int, name: str, address: Address, device: int, limit: int) -> tuple[int, os.stat_result]:
    """Open a memory for reading, refusing everything that is not a plain file of bounded size.

    Args:
        parent: the handle of its folder.
        name: its last component.
        address: for the message.
        device: the root's device.
        limit: the largest size in bytes.

    Returns:
        The handle and its status. The caller closes the handle.

    Raises:
        NotFoundError: `E_NOT_FOUND`.
        RefusedError: `E_SYMLINK`, `E_NOT_REGULAR`, `E_OTHER_DEVICE`, `E_TOO_BIG`, `E_PERMISSION`.
    """
    try:
        handle = fsio.open_file(parent, name)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _symlink(str(address)) from None
        if error.errno == errno.ENOENT:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.") from None
        if error.errno == errno.ENXIO:
            raise not_regular(str(address)) from None
        raise translate(error, f"Opening {address}") from error
    try:
        status = fsio.fstat(handle)
        if not fsio.is_regular(status):
            raise not_regular(str(address))
        if status.st_dev != device:
            raise _other_device(str(address))
        if status.st_size > limit:
            raise RefusedError(
                f"{address} has {status.st_size:,} bytes; memtui reads up to {limit:,}.",
                code="E_TOO_BIG",
                hint="Split it, or open it with another program.",
                details={"limit": limit, "bytes": status.st_size},
            )
    except OSError as error:
        fsio.close(handle)
        raise translate(error, f"Looking at {address}") from error
    except BaseException:
        fsio.close(handle)
        raise
    return handle, status


def _symlink(what: str) -> RefusedError:
    return RefusedError(
        f"{what!r} is or goes through a symbolic link, and links inside a root are never followed.",
        code="E_SYMLINK",
        hint="Register the folder it points to as a root of its own, or replace the link by the file.",
    )


def not_regular(what: str) -> RefusedError:
    """The refusal of a folder, FIFO, socket or device where a memory should be."""
    return RefusedError(
        f"{what} is not a regular file.", code="E_NOT_REGULAR", hint="Only regular files are read as memories."
    )


def _other_device(what: str) -> RefusedError:
    return RefusedError(
        f"{what!r} lies on another file system mounted inside the root.",
        code="E_OTHER_DEVICE",
        hint="Register that folder as a root of its own.",
    )


_CODES: dict[int, tuple[type[MemtuiError], str, str]] = {
    errno.ENOENT: (NotFoundError, "E_NOT_FOUND", "Check the address with `memtui ls`."),
    errno.ENOTDIR: (NotFoundError, "E_NOT_FOUND", "Part of the path is a file, not a folder."),
    errno.EEXIST: (ConflictError, "E_EXISTS", "Choose another name, or save over it with the version you saw."),
    errno.ENOTEMPTY: (ConflictError, "E_EXISTS", "Choose another name."),
    errno.EISDIR: (RefusedError, "E_NOT_REGULAR", "Only regular files are memories."),
    errno.ELOOP: (RefusedError, "E_SYMLINK", "Links inside a root are never followed."),
    errno.EACCES: (RefusedError, "E_PERMISSION", "Check the owner and the permission bits."),
    errno.EPERM: (RefusedError, "E_PERMISSION", "Check the owner, the permission bits and file attributes."),
    errno.EROFS: (RefusedError, "E_READ_ONLY", "The file system is mounted read-only."),
    errno.EXDEV: (RefusedError, "E_OTHER_DEVICE", "Register the mounted folder as a root of its own."),
    errno.ENAMETOOLONG: (RefusedError, "E_NAME_TOO_LONG", "Choose a shorter name."),
    errno.ENOSPC: (StorageError, "E_DISK_FULL", "Free some space, then try again; your text is kept."),
    errno.EDQUOT: (StorageError, "E_DISK_FULL", "Your quota is used up; your text is kept."),
    errno.EFBIG: (StorageError, "E_DISK_FULL", "A file size limit is set for this process; your text is kept."),
    errno.EMFILE: (StorageError, "E_IO", "Too many files are open; close something and try again."),
    errno.ENFILE: (StorageError, "E_IO", "The system has too many open files; try again."),
}


def translate(error: OSError, doing: str) -> MemtuiError:
    """Turn an operating system error into a refusal with a code, what is unharmed and the next step.

    Args:
        error: what the call raised.
        doing: the start of the sentence: `Opening memtui:global/a.md`.
    """
    kind, code, hint = _CODES.get(
        error.errno or 0,
        (StorageError, "E_IO", "Check the disk and the system log, then try again; your text is kept."),
    )
    return kind(
        f"{doing} failed: {os.strerror(error.errno) if error.errno else error}.",
        code=code,
        unharmed="The memory on disk is as it was.",
        hint=hint,
        details={"errno": error.errno},
    )


def clash(parent: int, name: str) -> str | None:
    """A sibling of `name` that a case-folding or normalising file system would confuse with it, if any."""
    folded = fold(name)
    for other in names_in(parent):
        if (other.lower() if other.isascii() else fold(other)) == folded and other != name:
            return other
    return None


def names_in(parent: int) -> list[str]:
    """Every name in an open folder."""
    try:
        return [entry.name for entry in fsio.list_dir(parent)]
    except OSError as error:
        raise translate(error, "Looking for names that are alike") from error


def refuse_clash(parent: int, name: str, *, besides: str | None = None) -> None:
    """Require that no file system confuses a new name with a sibling.

    Args:
        parent: the handle of the folder.
        name: the new name.
        besides: the name it is renamed from.

    Raises:
        ConflictError: `E_CLASH`.
    """
    refuse_alike(name, clash(parent, name), besides=besides)


def refuse_alike(name: str, other: str | None, *, besides: str | None = None) -> None:
    """Refuse a new name that would be confused with another one; see `refuse_clash`."""
    if other not in (None, besides):
        raise ConflictError(
            f"The name {name!r} differs from {other!r} only by case or Unicode form.",
            code="E_CLASH",
            hint="Choose another name, or use the one that exists.",
        )


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path is named by a layout's patterns: `pinned/` is everything below it, else a shell pattern."""
    if not patterns:
        return False
    import fnmatch

    folded = path.casefold()
    return any(
        folded.startswith(pattern.casefold())
        if pattern.endswith("/")
        else fnmatch.fnmatchcase(folded, pattern.casefold())
        for pattern in patterns
    )
