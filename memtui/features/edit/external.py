"""The user's own editor on a private copy of a memory, outside every root: no agent reads half-edited text.

A terminal editor gets the whole terminal; one with its own window runs beside the workbench. What comes back is saved
by the usual guarded save.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import NamedTuple

from memtui.engine.disk import fsio, unsaved
from memtui.engine.model import Address, Root
from memtui.errors import RefusedError, StorageError

CopyOf = unsaved.TextOrigin

_WINDOWED = {
    name: option
    for option, names in {
        "--wait": "code code-insiders codium vscodium cursor windsurf zed zeditor subl sublime_text atom mate bbedit "
        "idea pycharm gedit xed pluma",
        "--standalone": "gnome-text-editor",
        "--block": "kate",
        "--disable-server": "mousepad",
        "--nofork": "gvim mvim",
        "--no-fork": "neovide",
        "--new-instance": "geany",
        "": "kwrite notepadqq",
    }.items()
    for name in names.split()
}
"""Editors with a window of their own, and the option that makes them wait until the file is closed."""

_WAITS = frozenset({"--wait", "-w", "--block", "-b", "--nofork", "-f", "--no-fork", "--standalone", "-s"})
_TERMINAL = frozenset({"vi", "vim", "nvim", "emacs", "emacsclient", "nano", "micro", "hx", "helix", "kak", "joe", "ed"})
_FALLBACKS = ("editor", "nano", "vim", "vi")
LEFT_OVER_BYTES = 4 * 1_048_576


class EditorCommand(NamedTuple):
    """An editor's command line."""

    argv: tuple[str, ...]
    windowed: bool

    @property
    def name(self) -> str:
        """The program's name."""
        return os.path.basename(self.argv[0])


def editor_command(setting: str | None) -> EditorCommand:
    """Work out the editor's command line from the setting or the fallbacks; raises `E_EDITOR` where there is none."""
    try:
        words = shlex.split(setting or "")
    except ValueError as error:
        raise _no_editor(f"The editor setting cannot be read: {error}.") from None
    if not words:
        words = next(([name] for name in _FALLBACKS if shutil.which(name)), [])
    if not words:
        raise _no_editor("No editor is set.")
    if not shutil.which(words[0]):
        raise _no_editor(f"The editor {words[0]!r} was not found.")
    name = os.path.basename(words[0])
    waits = bool(_WAITS.intersection(words[1:]))
    windowed = name in _WINDOWED or (waits and name not in _TERMINAL)
    wait = _WINDOWED.get(name, "")
    if wait and not waits:
        words.append(wait)
    return EditorCommand(tuple(words), windowed)


def _no_editor(message: str) -> RefusedError:
    hint = "Set MEMTUI_EDITOR, VISUAL or EDITOR to a command such as vim."
    return RefusedError(message, code="E_EDITOR", hint=hint)


def copy_of(root: Root, address: Address, base_sha256: str | None, base: bytes) -> CopyOf:
    """Describe which memory a copy is of, so that its text is offered again after a kill."""
    return CopyOf(fsio.real_path(root.path), address.path, base_sha256, None if base_sha256 is None else base)


class PrivateCopy:
    """A text in a folder only this user can enter, while an editor has it open."""

    def __init__(self, data: bytes, *, name: str, folder: str, of: CopyOf | None = None) -> None:
        """Write the copy; raises `E_IO` or `E_DISK_FULL`. `of` names its memory, to be offered after a kill."""
        self.data = data
        try:
            unsaved.tidy(folder)
            self._copy = unsaved.begin_copy(folder, _safe_name(name), data, of)
        except OSError as error:
            raise StorageError(
                f"The copy for the editor could not be written: {error.strerror}.",
                code="E_DISK_FULL" if error.errno == 28 else "E_IO",
                unharmed="The memory and the draft are as they were.",
                hint="Free some space and try again.",
            ) from None
        self.path = self._copy.path

    def read(self) -> bytes:
        """Return what the editor left; raises `E_IO` or `E_TOO_BIG`."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(LEFT_OVER_BYTES + 1)
        except OSError as error:
            raise StorageError(
                f"The editor's copy could not be read back: {error.strerror}.",
                unharmed="The memory and the draft are as they were.",
                hint="Save in the editor before leaving it.",
            ) from None
        if len(data) > LEFT_OVER_BYTES:
            raise RefusedError(
                f"The edited text is over {LEFT_OVER_BYTES:,} bytes.",
                code="E_TOO_BIG",
                unharmed="The memory and the draft are as they were.",
                hint=f"The text is still in {self.path}.",
            )
        return data

    def taken(self, data: bytes) -> None:
        """Record that this text of the editor's is stored elsewhere."""
        unsaved.taken(self._copy, data)

    def leave(self) -> None:
        """Leave the copy to be offered again."""
        unsaved.release(self._copy)

    def remove(self) -> None:
        """Delete the copy and its folder."""
        shutil.rmtree(self._copy.folder, ignore_errors=True)
        unsaved.release(self._copy)


def run_in_terminal(command: EditorCommand, path: str) -> int:
    """Run an editor in the terminal until it ends, and return its exit status."""
    return _run(command, path, None)


def run_in_window(command: EditorCommand, path: str) -> int:
    """Run an editor in its own window until the file is closed, and return its exit status."""
    return _run(command, path, subprocess.DEVNULL)


def _run(command: EditorCommand, path: str, stream: int | None) -> int:
    argv = [*command.argv, path]
    try:
        return subprocess.run(argv, check=False, stdin=stream, stdout=stream, stderr=stream).returncode
    except OSError as error:
        raise _no_editor(f"The editor {command.name!r} could not be started: {error.strerror}.") from None


def _safe_name(name: str) -> str:
    """Keep the extension and what cannot be an option or a path."""
    kept = "".join(c if c.isalnum() or c in "._- " else "_" for c in os.path.basename(name)).lstrip("-. ")
    stem, suffix = os.path.splitext(kept)
    return f"{stem[:60] or 'memory'}{suffix[:12]}"
