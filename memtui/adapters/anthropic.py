"""Memory tools for Anthropic's SDK, drop-in replacements for its tools on local files.

Constructor, answers and errors are the SDK's. Versions, audit and locks are in memtui's state folder, none of it in the
base folder.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Actor
from memtui.errors import MemtuiError, RefusedError
from memtui.memory_tool.call import Result
from memtui.memory_tool.sdk import SdkTool
from memtui.wire.sdk_access import CLIENT, SdkAccess, refusal

try:
    import anyio
    import anyio.to_thread
    from anthropic.lib.tools import ToolError
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError as error:
    raise ImportError(
        f"memtui.adapters.anthropic needs Anthropic's SDK, 2.10 or newer ({error}):"
        " python3 -m pip install 'memtui[anthropic]'"
    ) from error

if TYPE_CHECKING:
    from typing import Self

    from anthropic.types.beta import BetaCacheControlEphemeralParam

__all__ = ["AsyncMemoryTool", "MemoryTool"]

LOCK_WAIT = 5.0


class _Store:
    """The tool of one process; a forked process opens its own, and access is checked at each call."""

    def __init__(self, base: str, state_dir: str | None, actor: str) -> None:
        self._base = os.path.abspath(base)
        self._state_dir = None if state_dir is None else os.path.abspath(state_dir)
        self._actor = Actor(actor)
        self._guard = threading.Lock()
        self._inherited: list[object] = []
        self._pid = 0
        self._finish: Callable[[], object] = lambda: None
        self._access = self._open()

    def answer(self, do: Callable[[SdkTool], Result]) -> str:
        try:
            tool = self._open().tool()
        except MemtuiError as error:
            raise ToolError(refusal(error)) from None
        result = do(tool)
        if not result.ok:
            raise ToolError(result.text)
        return result.text

    def make_root(self) -> None:
        """Create the folder of the memories, unless nobody may write here."""
        with suppress(RefusedError):
            self._open().tool().make_root()

    def close(self) -> None:
        with self._guard:
            if self._pid == os.getpid():
                self._finish()
            self._pid = 0

    def _open(self) -> SdkAccess:
        with self._guard:
            if self._pid != os.getpid():
                # A parent's connection to the ledger must be neither used nor closed here.
                self._inherited.append(getattr(self, "_access", None))
                self._access = SdkAccess(
                    lambda: load_settings(read_environment()),
                    self._base,
                    actor=self._actor,
                    lock_wait=LOCK_WAIT,
                    state_dir=self._state_dir,
                )
                self._finish = weakref.finalize(self, _close, self._access, os.getpid())
                self._pid = os.getpid()
            return self._access


def _close(access: SdkAccess, pid: int) -> None:
    if pid == os.getpid():
        access.close()


def _fields(command: Any) -> dict[str, object]:
    given: dict[str, object] = vars(command)
    extra: dict[str, object] | None = getattr(command, "model_extra", None)
    return {**given, **extra} if extra else given


class MemoryTool(BetaAbstractMemoryTool):
    """The SDK's memory tool on local files, kept by memtui."""

    def __init__(
        self,
        base_path: str | os.PathLike[str] = "./memory",
        *,
        state_dir: str | os.PathLike[str] | None = None,
        actor: str = f"agent:{CLIENT}",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Open the memories below `<base_path>/memories`, creating the folder.

        `state_dir` is where versions and records are kept (None: as memtui's settings say), `actor` who is recorded for
        changes; `cache_control` is as the SDK's abstract tool takes it.
        """
        super().__init__(cache_control=cache_control)
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self._store = _Store(os.fspath(base_path), None if state_dir is None else os.fspath(state_dir), actor)
        self._store.make_root()

    def view(self, command: Any) -> str:
        """Carry out a command."""
        return self._store.answer(lambda tool: tool.call(_fields(command)))

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        """Delete everything, as one step of `memtui undo`."""
        return self._store.answer(SdkTool.clear)

    def close(self) -> None:
        """Flush and close the ledger; also done at the end of the process."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The asynchronous `MemoryTool`; a cancelled call has happened in full or not at all."""

    def __init__(
        self,
        base_path: str | os.PathLike[str] = "./memory",
        *,
        state_dir: str | os.PathLike[str] | None = None,
        actor: str = f"agent:{CLIENT}",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """As `MemoryTool`; the folder is created by the first command."""
        super().__init__(cache_control=cache_control)
        self.base_path = anyio.Path(base_path)
        self.memory_root = self.base_path / "memories"
        self._store = _Store(os.fspath(base_path), None if state_dir is None else os.fspath(state_dir), actor)

    async def view(self, command: Any) -> str:
        """Carry out a command."""
        return await anyio.to_thread.run_sync(
            self._store.answer, lambda tool: tool.call(_fields(command), make_root=True)
        )

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Delete everything, as one step of `memtui undo`."""
        return await anyio.to_thread.run_sync(self._store.answer, SdkTool.clear)

    async def aclose(self) -> None:
        """Flush and close the ledger; also done at the end of the process."""
        await anyio.to_thread.run_sync(self._store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
