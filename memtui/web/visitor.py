"""One visitor's workbench: a process without a shell, ended with its visitor.

Drafts are on disk before anything here can go wrong, so a closed tab costs nothing that was typed.
"""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

LAST_WORDS = 5.0
"""Seconds a workbench has to end after its visitor went."""
LARGEST = 1000
"""Columns or rows a browser may ask for."""


class Visitor(AppService):
    """A workbench whose terminal is a page."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        """Take what to run and how to reach the page."""

        async def close_page() -> None:
            await close()

        super().__init__(
            command[0],
            write_bytes=write_bytes,
            write_str=write_str,
            close=close_page,
            download_manager=DownloadManager(),
        )
        self._words = tuple(command)
        self._ending: asyncio.Task[None] | None = None

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width=bounded(width, 80), height=bounded(height, 24))
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env={**environment, "TERM": "xterm-256color"}
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Carry what the workbench draws to the page, until one of them ends; a page is never left on a dead screen."""
        await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """End the workbench as `q` does; one that does not answer is killed, which loses no draft.

        Whoever asks waits until it has ended; who is cancelled meanwhile leaves no process behind.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        task, process = self._task, self._process
        if task is None or process is None:
            return
        await self.send_meta({"type": "quit"})
        try:
            await asyncio.wait_for(process.wait(), LAST_WORDS)
        except TimeoutError:
            process.kill()
            await process.wait()
        await task

    async def on_meta(self, data: bytes) -> None:
        """Pass on what a page may be asked: to open a web address, or that the workbench has ended."""
        meta = json.loads(data)
        if meta.get("type") == "exit" or str(meta.get("url", "")).startswith(("https://", "http://")):
            await super().on_meta(data)

    async def on_packed(self, payload: bytes) -> None:
        """Take no files: the workbench offers none, and a page could not be told from another one here."""


async def take(visitor: Visitor, text: str, answer: Callable[[str], Awaitable[None]]) -> bool:
    """Carry one message of the page to the workbench.

    Args:
        visitor: the workbench.
        text: a JSON array: the kind, then what belongs to it.
        answer: sends a text back to the page.

    Returns:
        False when it is no message that the page sends; nothing was done.
    """
    try:
        kind, *rest = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False
    match kind, rest:
        case "stdin", [str(keys)]:
            await visitor.send_bytes(keys.encode("utf-8", "replace"))
        case "resize", [{"width": int(width), "height": int(height)}]:
            await visitor.set_terminal_size(bounded(width, 80), bounded(height, 24))
        case "ping", [str(mark)]:
            await answer(json.dumps(["pong", mark]))
        case "blur", []:
            await visitor.blur()
        case "focus", []:
            await visitor.focus()
        case _:
            return False
    return True


def bounded(cells: int, usual: int) -> int:
    """A size in cells that a terminal can have; the usual one where it is none."""
    return min(cells, LARGEST) if cells > 0 else usual


def own_command(words: Sequence[str]) -> tuple[str, ...]:
    """The command line of this very installation; nothing that lies in the working directory is loaded."""
    import sys

    return (os.path.abspath(sys.executable), "-P", "-m", "memtui", *words)
