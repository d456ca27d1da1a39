"""The memory tool with the exact answers of Anthropic's SDK: one root without scopes, on the engine.

Faults of the SDK's own tool on local files are not repeated. No answer holds a path outside `/memories`.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Policy, Root, Saved
from memtui.errors import CODES, MemtuiError, RefusedError
from memtui.memory_tool.call import COMMANDS, ROOT, Result, sendable

Answer = TypeVar("Answer")
MAX_FILE_BYTES = 64 * 1_048_576
"""Bytes of one file; the SDK's tool has no limit."""
POLICY = Policy(write_bytes=MAX_FILE_BYTES, read_bytes=MAX_FILE_BYTES, any_name=True, keep_folders=True)
MAX_TRIES = 16
"""Attempts of an edit when a program outside memtui interferes."""

_OTHER_NAMES = {
    "path": ("file_path", "filePath"),
    "file_text": ("content",),
    "old_str": ("old_string",),
    "new_str": ("new_string",),
    "insert_text": ("new_str",),
    "old_path": ("path",),
}
"""Field names of other hosts, used when ours is missing."""
_NO_FILE = ("E_NOT_FOUND", "E_ROOT_MISSING")


def memory_root(base: str) -> Root:
    """Return the root of the memories below a base folder."""
    path = os.path.join(os.path.abspath(base), "memories")
    return Root("memories", path, label="memories", policy=POLICY)


class SdkTool:
    """The six commands on one root; thread-safe."""

    def __init__(self, engine: Engine, root: Root, actor: Actor) -> None:
        self._engine = engine
        self._root = root
        self._actor = actor

    def call(self, fields: Mapping[str, object], *, make_root: bool = False) -> Result:
        """Answer one call; a failure is a result too. `make_root` creates the folder of the memories first."""
        command = fields.get("command")
        try:
            if make_root:
                with suppress(RefusedError):  # who may only read does without the folder
                    self.make_root()
            if not isinstance(command, str) or command not in COMMANDS:
                return Result(ok=False, text=sendable(f"Unknown command: {command}"))
            return Result(ok=True, text=sendable(self._do(command, fields)))
        except CallFailed as refusal:
            return Result(ok=False, text=sendable(str(refusal)))
        except MemtuiError as error:
            return Result(ok=False, text=_error_text(error, f"{command} failed"))

    def _do(self, command: str, fields: Mapping[str, object]) -> str:
        do: Callable[[Mapping[str, object]], str] = getattr(self, f"_{command}")
        try:
            return do(fields)
        except CallFailed as refusal:
            if not isinstance(refusal.__context__, MemtuiError) or refusal.__context__.code != "E_ROOT_REPLACED":
                raise
        # Nothing was done. A call starts from nothing it has seen before, so it may go to the new folder.
        self._engine.folders.kind(Address(self._root.id, ""))
        return do(fields)

    def make_root(self) -> None:
        """Create the folder of the memories, private to its owner."""
        self._engine.folders.make_root(self._root.id)

    def clear(self) -> Result:
        """Delete all memories, as one step of `memtui undo`."""
        try:
            self.make_root()
            self._engine.folders.delete(Address(self._root.id, ""), actor=self._actor)
        except MemtuiError as error:
            return Result(ok=False, text=_error_text(error, "Clearing the memory failed"))
        return Result(ok=True, text="All memory cleared")

    # --- the commands

    def _view(self, fields: Mapping[str, object]) -> str:
        path = _text(fields, "view", "path")
        at = self._parse_path(path)
        window = _window(fields.get("view_range"))
        try:
            address, data = self._linked(at, path, self._read)
        except MemtuiError as error:
            if error.code in _NO_FILE:
                raise CallFailed(_missing(path)) from None
            if error.code != "E_NOT_REGULAR":
                raise CallFailed(_error_text(error, f"The path {path} cannot be viewed")) from None
            return self._view_folder(at, path)
        text = _decoded(data, path, "shown")
        self._used(address)
        return content(path, text, window)

    def _view_folder(self, at: Address, path: str) -> str:
        try:
            tree = self._linked(at, path, lambda address: self._engine.folders.tree(address, 2))
        except MemtuiError as error:
            if error.code in _NO_FILE:
                raise CallFailed(f"Unsupported file type for {path}" if at.path else _missing(path)) from None
            raise
        return listing(path, tree.bytes, tree.entries)

    def _create(self, fields: Mapping[str, object]) -> str:
        path, text = _text(fields, "create", "path"), _text(fields, "create", "file_text")
        at = self._parse_path(path)
        taken = f"File {path} already exists"
        if not at.path:
            raise CallFailed(taken)
        data = _encoded(text, "file_text")
        try:
            done = self._linked(at, path, lambda to: self._engine.memories.create(to, data, actor=self._actor))
        except MemtuiError as error:
            if error.code == "E_EXISTS":
                raise CallFailed(taken) from None
            if error.code in _NO_FILE:
                raise CallFailed(f"Cannot create {path}: a part of its path is a file, not a directory.") from None
            raise CallFailed(_error_text(error, f"Cannot create {path}")) from None
        if not isinstance(done, Saved):
            raise CallFailed(taken)  # with the same text, but not by this call
        self._used(done.address, wrote=True)
        return f"File created successfully at: {path}"

    def _str_replace(self, fields: Mapping[str, object]) -> str:
        path, old = _text(fields, "str_replace", "path"), _text(fields, "str_replace", "old_str")
        new = "" if _given(fields, "new_str") is None else _text(fields, "str_replace", "new_str")
        _encoded(new, "new_str")
        answer = ""

        def change(data: bytes) -> bytes:
            nonlocal answer
            text, answer = str_replace(path, _decoded(data, path, "changed"), old, new)
            return text.encode()

        self._edit(path, change)
        return answer

    def _insert(self, fields: Mapping[str, object]) -> str:
        path, text = _text(fields, "insert", "path"), _text(fields, "insert", "insert_text")
        line = fields.get("insert_line")
        if line is None:
            raise CallFailed(_needs("insert", "insert_line"))
        if isinstance(line, float) and line.is_integer():
            line = int(line)
        if not isinstance(line, int) or isinstance(line, bool):
            raise CallFailed(f"Invalid `insert_line` parameter: {line}. It should be a whole number.")
        number = line
        _encoded(text, "insert_text")
        self._edit(path, lambda data: insert(_decoded(data, path, "changed"), number, text).encode())
        return f"The file {path} has been edited."

    def _edit(self, path: str, change: Callable[[bytes], bytes]) -> None:
        at = self._parse_path(path)
        if not at.path:
            raise CallFailed(f"The path {path} is not a file." if self._engine.folders.kind(at) else _missing(path))
        for _ in range(MAX_TRIES):
            try:
                done = self._linked(at, path, lambda to: self._engine.memories.edit(to, change, actor=self._actor))
            except MemtuiError as error:
                if error.code in _NO_FILE:
                    raise CallFailed(_missing(path)) from None
                if error.code == "E_NOT_REGULAR":
                    raise CallFailed(f"The path {path} is not a file.") from None
                raise CallFailed(_error_text(error, f"Cannot edit {path}")) from None
            if not isinstance(done, Conflict):
                self._used(done.address, wrote=True)
                return
        raise CallFailed(f"Another program keeps changing {path}. Nothing was done. View it, then try again.")

    def _delete(self, fields: Mapping[str, object]) -> str:
        path = _text(fields, "delete", "path")
        at = self._parse_path(path)
        if not at.path:
            raise CallFailed("Cannot delete the /memories directory itself")
        try:
            self._remove(at, path)
        except MemtuiError as error:
            if error.code in (*_NO_FILE, "E_NOT_REGULAR"):
                raise CallFailed(f"The path {path} does not exist") from None
            raise CallFailed(_error_text(error, f"Cannot delete {path}")) from None
        return f"Successfully deleted {path}"

    def _rename(self, fields: Mapping[str, object]) -> str:
        old, new = _text(fields, "rename", "old_path"), _text(fields, "rename", "new_path")
        source = self._parse_path(old)
        try:
            target = self._parse_path(new)
        except CallFailed:
            self._follow(source, old)  # of two wrong paths the SDK's tool names the first
            raise
        try:
            if not source.path or not target.path or f"{target.path}/".startswith(f"{source.path}/"):
                raise RefusedError("The names are not two of two memories.", code="E_NAME")
            self._move(source, target, old, new)
        except MemtuiError as error:
            raise CallFailed(self._not_renamed(source, target, old, new, error)) from None
        self._used(target, wrote=True)
        return f"Successfully renamed {old} to {new}"

    def _not_renamed(self, source: Address, target: Address, old: str, new: str, error: MemtuiError) -> str:
        """Return why a rename failed; of several reasons the one the SDK's tool gives."""
        self._follow(source, old)
        there = self._follow(target, new)
        if not source.path:
            return "Cannot rename the /memories directory itself"
        if self._engine.folders.kind(there) or (error.code == "E_EXISTS" and source != target):
            return f"The destination {new} already exists"
        kind = self._engine.folders.kind(source)
        if not kind:
            return f"The path {old} does not exist"
        if kind == "folder" and target.path.startswith(f"{source.path}/"):
            return f"Cannot rename {old} to {new}: a directory cannot be moved inside itself."
        if error.code in _NO_FILE or target.path.startswith(f"{source.path}/"):
            return f"Cannot rename {old} to {new}: a part of the new path is a file, not a directory."
        return _error_text(error, f"Cannot rename {old} to {new}")

    def _move(self, source: Address, target: Address, old: str, new: str) -> None:
        def move(source: Address, target: Address) -> None:
            self._engine.folders.rename(source, target, actor=self._actor)

        try:
            move(source, target)
        except RefusedError as error:
            if error.code != "E_SYMLINK":
                raise
            self._follow(source, old)
            self._follow(target, new)
            real = self._above(source, old), self._above(target, new)
            if self._engine.folders.kind(real[0]) == "link" or real == (source, target):
                raise CallFailed(f"path '{old}' is a symlink") from None
            move(*real)

    def _used(self, address: Address, *, wrote: bool = False) -> None:
        """Record a use; an unwritable ledger must not make a memory unreadable."""
        with suppress(MemtuiError):
            self._engine.pins.record_use(address, actor=self._actor, wrote=wrote, soon=True)

    # --- paths

    def _parse_path(self, path: str) -> Address:
        """Parse a path lexically; links are followed later, except before `..`."""
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            raise CallFailed(f"Path must start with {ROOT}, got: {path}")
        if "\0" in path:
            raise CallFailed("Path must not hold a NUL character, got: " + path.replace("\0", "\\0"))
        if not path.isascii() and any("\ud800" <= c <= "\udfff" for c in path):
            raise CallFailed(f"Path must be text that has a UTF-8 form, got: {path}")
        parts = [part for part in path[len(ROOT) :].split("/") if part not in ("", ".")]
        if ".." not in parts:
            return Address(self._root.id, "/".join(parts))
        depth = 0
        for part in parts:
            depth += -1 if part == ".." else 1
            if depth < 0:
                raise CallFailed(_escapes(path))
        return self._follow(Address(self._root.id, "/".join(parts)), path)

    def _follow(self, at: Address, path: str) -> Address:
        try:
            return self._engine.folders.follow(at)
        except RefusedError:
            raise CallFailed(_escapes(path)) from None

    def _above(self, at: Address, path: str) -> Address:
        """Return the address with links in its folder followed, and its last name as it is."""
        folder, _, name = at.path.rpartition("/")
        if not folder:
            return at
        above = self._follow(Address(at.root, folder), path).path
        return Address(at.root, f"{above}/{name}" if above else name)

    def _linked(
        self, at: Address, path: str, do: Callable[[Address], Answer], through: Callable[[], Answer] | None = None
    ) -> Answer:
        """Run `do` at an address; where that is a link, run `through`, or `do` at its target if that is inside.

        The engine never follows a link, so a link created meanwhile is refused.
        """
        try:
            return do(at)
        except RefusedError as error:
            if error.code != "E_SYMLINK":
                raise
        try:
            return do(self._follow(at, path)) if through is None else through()
        except RefusedError as error:
            if error.code == "E_SYMLINK":
                raise CallFailed(f"path '{path}' is a symlink") from None
            raise

    def _remove(self, at: Address, path: str) -> None:
        def delete(address: Address) -> None:
            self._engine.folders.delete(address, actor=self._actor)

        def through() -> None:
            real = self._above(at, path)
            self._follow(real, path)
            # A link that has the last name is meant itself, never what it leads to.
            if self._engine.folders.kind(real) == "link":
                self._engine.folders.unlink(real, actor=self._actor)
            else:
                delete(real)

        self._linked(at, path, delete, through)

    def _read(self, address: Address) -> tuple[Address, bytes]:
        if not address.path:
            raise RefusedError("The root is a folder.", code="E_NOT_REGULAR")
        return address, self._engine.read_bytes(address)


def _given(fields: Mapping[str, object], name: str) -> object:
    value = fields.get(name)
    if value is None:
        for other in _OTHER_NAMES.get(name, ()):
            value = fields.get(other)
            if value is not None:
                break
    return value


def _text(fields: Mapping[str, object], command: str, name: str) -> str:
    value = _given(fields, name)
    if value is None:
        raise CallFailed(_needs(command, name))
    if not isinstance(value, str):
        raise CallFailed(f"Invalid `{name}` parameter: it must be a text.")
    return value


def _needs(command: str, name: str) -> str:
    return f"The command {command} needs the parameter `{name}`."


def _window(value: object) -> tuple[int, int] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    first, last = value
    if not isinstance(first, int) or not isinstance(last, int):
        raise CallFailed("Invalid `view_range` parameter: it must be two whole numbers, the first and the last line.")
    return first, last


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise CallFailed(
            f"Invalid `{name}` parameter: the character at position {error.start} has no UTF-8 form. Nothing was done."
        ) from None


def _decoded(data: bytes, path: str, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CallFailed(
            f"The file {path} is not UTF-8 text (byte {error.start}), so it cannot be {what} here."
            " It was left as it is."
        ) from None


def _missing(path: str) -> str:
    return f"The path {path} does not exist. Please provide a valid path."


def _escapes(path: str) -> str:
    return f"Path {path} would escape /memories directory"


def _error_text(error: MemtuiError, what: str) -> str:
    """Write an error without a path of this machine."""
    limit, found = error.details.get("limit"), error.details.get("bytes")
    if error.code == "E_TOO_BIG" and limit:
        has = f"it has {found:,} bytes and " if found else ""
        return sendable(f"{what}: {has}the limit is {limit:,} bytes. Split it into several files.")
    if error.code == "E_LOCKED":
        return sendable(f"{what}: another program is writing to these memories. Nothing was done. Try again.")
    return sendable(f"{what}: {CODES.get(error.code, error.code)} ({error.code}).")


# --- what the tool answers, and what its edits make of a text

MAX_LINES = 999_999
_WIDTH = 6
_UNITS = "BKMG"


class CallFailed(Exception):  # noqa: N818
    """A failed call; its text is the answer."""


def size(count: int) -> str:
    """Write a size as the listing does: 0B, 1023B, 1K, 1.5K; the bit length gives the unit."""
    if not count:
        return "0B"
    step = min((count.bit_length() - 1) // 10, len(_UNITS) - 1)
    value = count / 1024**step
    return f"{int(value)}{_UNITS[step]}" if value == int(value) else f"{value:.1f}{_UNITS[step]}"


def listing(path: str, own: int, entries: Iterable[tuple[str, int]]) -> str:
    """Write the answer to viewing a folder; entries are relative paths with sizes in bytes."""
    lines = [f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"]
    lines.append(f"{size(own)}\t{path}")
    lines += [f"{size(count)}\t{path}/{below}" for below, count in entries]
    return "\n".join(lines)


def content(path: str, text: str, window: tuple[int, int] | None) -> str:
    """Write the answer to viewing a file; `window` is the first and last line, from 1, -1 for the end."""
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise CallFailed(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 0
    if window is not None:
        first = max(1, window[0]) - 1
        lines = lines[first : len(lines) if window[1] == -1 else window[1]]
    head = f"Here's the content of {path} with line numbers:"
    return head + _numbered(lines, first) if lines else f"{head}\n"


def _numbered(lines: Sequence[str], first: int) -> str:
    """Number lines, each after a line break; `first` is the index of the first one."""
    return "".join(f"\n{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first + 1))


def str_replace(path: str, text: str, old: str, new: str) -> tuple[str, str]:
    """Replace the single occurrence of a text; return the new text and the answer. Raises CallFailed."""
    count = text.count(old)
    if count == 0:
        raise CallFailed(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        found = ", ".join(map(str, _lines_of(text, old)))
        raise CallFailed(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {found}."
            " Please ensure it is unique"
        )
    changed = text.replace(old, new)
    line = text.count("\n", 0, text.find(old))
    first = max(0, line - 2)
    head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return changed, head + _numbered(changed.split("\n")[first : line + 3], first)


def _lines_of(text: str, wanted: str) -> Iterable[int]:
    line, counted, at = 1, 0, text.find(wanted)
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        yield line
        at = text.find(wanted, at + 1)


def insert(text: str, line: int, new: str) -> str:
    """Insert lines after a line; the result ends with a newline. Raises CallFailed."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise CallFailed(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, new.rstrip("\n"))
    changed = "\n".join(lines)
    return changed if changed.endswith("\n") else changed + "\n"
