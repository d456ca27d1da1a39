"""The user's own editor on a memory: on a private copy outside every root, so that no agent reads a half-edited text.

A terminal editor gets the whole terminal; an editor with its own window runs beside the workbench. What comes back is
bytes; whether they may replace the memory is decided by the same guarded save as everything else.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from memtui.engine.disk import fsio, unsaved
from memtui.engine.disk.unsaved import Of as CopyOf
from memtui.engine.model import Address, Root
from memtui.errors import RefusedError, StorageError

__all__ = [
    "CopyOf",
    "EditorCommand",
    "PrivateCopy",
    "copy_of",
    "editor_command",
    "run_in_terminal",
    "run_in_window",
]

_WINDOWED = {
    "code": "--wait",
    "code-insiders": "--wait",
    "codium": "--wait",
    "vscodium": "--wait",
    "cursor": "--wait",
    "windsurf": "--wait",
    "zed": "--wait",
    "zeditor": "--wait",
    "subl": "--wait",
    "sublime_text": "--wait",
    "atom": "--wait",
    "mate": "--wait",
    "bbedit": "--wait",
    "idea": "--wait",
    "pycharm": "--wait",
    "gedit": "--wait",
    "gnome-text-editor": "--standalone",
    "xed": "--wait",
    "pluma": "--wait",
    "kate": "--block",
    "kwrite": "",
    "mousepad": "--disable-server",
    "gvim": "--nofork",
    "mvim": "--nofork",
    "neovide": "--no-fork",
    "notepadqq": "",
    "geany": "--new-instance",
}
"""Editors with a window of their own, and the option that makes them stay until the file is closed."""

_WAITS = frozenset({"--wait", "-w", "--block", "-b", "--nofork", "-f", "--no-fork", "--standalone", "-s"})
_TERMINAL = frozenset({"vi", "vim", "nvim", "emacs", "emacsclient", "nano", "micro", "hx", "helix", "kak", "joe", "ed"})
_FALLBACKS = ("editor", "nano", "vim", "vi")
LEFT_OVER_BYTES = 4 * 1_048_576
"""A returned text larger than this is not even read."""


class EditorCommand(NamedTuple):
    """A program and how it is to be run."""

    argv: tuple[str, ...]
    """Program and options; the file's name is added at the end."""
    windowed: bool
    """Whether it opens a window of its own, so that the workbench stays on screen."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        return os.path.basename(self.argv[0])


def editor_command(setting: str | None, *, which: Callable[[str], str | None] | None = None) -> EditorCommand:
    """Work out how to run the user's editor.

    Args:
        setting: the command line from `MEMTUI_EDITOR`, `VISUAL` or `EDITOR`, or None.
        which: finds a program; `shutil.which` when not given.

    Raises:
        RefusedError: `E_EDITOR`, when no editor is set or it is not installed, or the setting cannot be read.
    """
    find = which or shutil.which
    try:
        words = shlex.split(setting or "")
    except ValueError as error:
        raise _no_editor(f"The editor setting cannot be read: {error}.") from None
    if not words:
        words = next(([name] for name in _FALLBACKS if find(name)), [])
    if not words:
        raise _no_editor("No editor is set.")
    if not find(words[0]):
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
    """Say which memory a copy is of, so that its text is offered again after a kill.

    Args:
        root: the memory's root.
        address: the memory.
        base_sha256: the version the text started from; None when there was none.
        base: its text.
    """
    return CopyOf(fsio.real_path(root.path), address.path, base_sha256, None if base_sha256 is None else base)


class PrivateCopy:
    """A text in a folder only this user can enter, for as long as an editor has it open."""

    def __init__(self, data: bytes, *, name: str, folder: str, of: CopyOf | None = None) -> None:
        """Write the copy.

        Args:
            data: what the editor is to show.
            name: the memory's file name, so that the editor picks the right mode.
            folder: the state folder.
            of: which memory it is of, by `copy_of`; None: what is left of it after a kill is only named.

        Raises:
            StorageError: `E_IO`, when the copy cannot be written.
        """
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
        """Return what the editor left.

        Raises:
            StorageError: `E_IO`, when the file is gone or cannot be read.
            RefusedError: `E_TOO_BIG`, when it grew beyond all limits.
        """
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
        """Note that this text of the editor's is kept elsewhere by now."""
        unsaved.taken(self._copy, data)

    def leave(self) -> None:
        """Leave the copy where it is, to be offered again."""
        unsaved.release(self._copy)

    def remove(self) -> None:
        """Delete the copy and its folder."""
        shutil.rmtree(self._copy.folder, ignore_errors=True)
        unsaved.release(self._copy)


def run_in_terminal(command: EditorCommand, path: str) -> int:
    """Run a terminal editor until it ends; the caller has given it the terminal.

    Returns:
        The editor's exit status.

    Raises:
        RefusedError: `E_EDITOR`, when it cannot be started.
    """
    try:
        return subprocess.run([*command.argv, path], check=False).returncode
    except OSError as error:
        raise _no_editor(f"The editor {command.name!r} could not be started: {error.strerror}.") from None


def run_in_window(command: EditorCommand, path: str) -> int:
    """Run an editor with a window of its own until the file is closed; nothing it prints reaches the terminal.

    Returns:
        The editor's exit status.

    Raises:
        RefusedError: `E_EDITOR`, when it cannot be started.
    """
    try:
        done = subprocess.run(
            [*command.argv, path],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise _no_editor(f"The editor {command.name!r} could not be started: {error.strerror}.") from None
    return done.returncode


def _safe_name(name: str) -> str:
    """Keep what matters to an editor, the extension, and nothing an option or a path could hide in."""
    kept = "".join(c if c.isalnum() or c in "._- " else "_" for c in os.path.basename(name)).lstrip("-. ")
    stem, suffix = os.path.splitext(kept)
    return f"{stem[:60] or 'memory'}{suffix[:12]}"
