"""Copying to the clipboard: through a native tool, the tmux buffer or the terminal, and which one was used.

A terminal escape has no reply, so the message names the route; a text too large for the terminal is refused.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from memtui.config.settings import Terminal
from memtui.errors import RefusedError

ESCAPE_BYTES = 70_000
"""Terminals silently drop longer texts."""

SECONDS = 3.0

NATIVE = (
    ("pbcopy", ()),
    ("wl-copy", ()),
    ("xclip", ("-selection", "clipboard", "-in")),
    ("xsel", ("--clipboard", "--input")),
)
"""Clipboard programs, in the order in which they are tried."""


def copy(text: str, terminal: Terminal, escape: Callable[[str], None]) -> str:
    """Copy `text` and return the route used; `escape` makes the terminal copy it (OSC 52).

    Raises:
        RefusedError: `E_TOO_BIG`, when the text does not fit the only route available.
    """
    data = text.encode("utf-8", "surrogateescape")
    local = not (terminal.remote or terminal.web) and (terminal.display or sys.platform == "darwin")
    for name, arguments in NATIVE if local else ():
        if _piped(name, arguments, data):
            return name
    if terminal.tmux and not terminal.web and _piped("tmux", ("load-buffer", "-w", "-"), data):
        return "tmux"
    if len(data) > ESCAPE_BYTES:
        raise RefusedError(
            f"{len(data):,} bytes are too many for the terminal's clipboard.",
            code="E_TOO_BIG",
            hint="Copy the path (y p) and use the file.",
        )
    escape(data.decode("utf-8", "replace"))
    return "browser" if terminal.web else "terminal"


def _piped(name: str, arguments: tuple[str, ...], data: bytes) -> bool:
    try:
        done = subprocess.run(
            [name, *arguments],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
