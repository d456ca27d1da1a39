"""memtui's memory tool for Anthropic's SDK: in the place of its own tools on local files, with the engine underneath.

Whoever exchanges one for the other changes an import: constructor, answers and errors are the SDK's. What the engine
keeps (versions, audit, locks) lies in memtui's own state folder, and nothing of it below the base folder.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Actor
from memtui.errors import MemtuiError, RefusedError
from memtui.memory_tool.call import Result
from memtui.memory_tool.sdk import SdkTool
from memtui.wire.sdk_door import CLIENT, SdkDoor, refusal

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
    """The tool of one process; a process that was forked off opens its own.

    What the user allows agents is asked at each call, as at every other door, so that a tool that is open and one that
    is made now answer alike.
    """

    def __init__(self, base: str, state_dir: str | None, actor: str) -> None:
        self._base = os.path.abspath(base)
        self._state_dir = None if state_dir is None else os.path.abspath(state_dir)
        self._actor = Actor(actor)
        self._guard = threading.Lock()
        self._inherited: list[object] = []
        self._pid = 0
        self._finish: Callable[[], object] = lambda: None
        self._door = self._open()

    def answer(self, do: Callable[[SdkTool], Result]) -> str:
        """The text of a call's result; a failure is the SDK's error for the model."""
        try:
            tool = self._open().tool()
        except MemtuiError as error:
            raise ToolError(refusal(error)) from None
        result = do(tool)
        if not result.ok:
            raise ToolError(result.text)
        return result.text

    def make_root(self) -> None:
        """Make the folder of the memories, unless the user lets nobody write here."""
        with suppress(RefusedError):
            self._open().tool().make_root()

    def close(self) -> None:
        """Record what is still to be recorded, and close; a later call opens it again."""
        with self._guard:
            if self._pid == os.getpid():
                self._finish()
            self._pid = 0

    def _open(self) -> SdkDoor:
        with self._guard:
            if self._pid != os.getpid():
                # A parent's connection to the ledger must be neither used nor closed here.
                self._inherited.append(getattr(self, "_door", None))
                self._door = SdkDoor(
                    lambda: load_settings(read_environment()),
                    self._base,
                    actor=self._actor,
                    lock_wait=LOCK_WAIT,
                    state_dir=self._state_dir,
                )
                self._finish = weakref.finalize(self, _close, self._door, os.getpid())
                self._pid = os.getpid()
            return self._door


def _close(door: SdkDoor, pid: int) -> None:
    if pid == os.getpid():
        door.close()


def _fields(command: Any) -> dict[str, object]:
    """The fields of a command as the model sent them, those the SDK does not know included."""
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
        """Open the memories below `<base_path>/memories`; the folder is made when it is missing.

        Args:
            base_path: the folder that `memories` is or will be in.
            state_dir: where versions and records are kept; None: where memtui keeps them, as its settings say.
            actor: whom changes are recorded for.
            cache_control: as the SDK's abstract tool takes it.
        """
        super().__init__(cache_control=cache_control)
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self._store = _Store(os.fspath(base_path), None if state_dir is None else os.fspath(state_dir), actor)
        self._store.make_root()

    def view(self, command: Any) -> str:
        """Do what the model asks; `memtui trash` and `memtui undo` have what goes."""
        return self._store.answer(lambda tool: tool.call(_fields(command)))

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        """Delete everything, as one step of `memtui undo`."""
        return self._store.answer(SdkTool.clear)

    def close(self) -> None:
        """Record the last uses and close the ledger; at the end of the process this happens by itself."""
        self._store.close()

    def __enter__(self) -> Self:
        """Return the tool."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the tool."""
        self.close()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """As `MemoryTool`, for the asynchronous client: the work is done in threads.

    A call that is cancelled has happened in full or not at all.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] = "./memory",
        *,
        state_dir: str | os.PathLike[str] | None = None,
        actor: str = f"agent:{CLIENT}",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """As `MemoryTool`; the folder is made by the first command."""
        super().__init__(cache_control=cache_control)
        self.base_path = anyio.Path(base_path)
        self.memory_root = self.base_path / "memories"
        self._store = _Store(os.fspath(base_path), None if state_dir is None else os.fspath(state_dir), actor)

    async def view(self, command: Any) -> str:
        """Do what the model asks, as in `MemoryTool`."""
        return await anyio.to_thread.run_sync(
            self._store.answer, lambda tool: tool.call(_fields(command), make_root=True)
        )

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Delete everything, as one step of `memtui undo`."""
        return await anyio.to_thread.run_sync(self._store.answer, SdkTool.clear)

    async def aclose(self) -> None:
        """Record the last uses and close the ledger; at the end of the process this happens by itself."""
        await anyio.to_thread.run_sync(self._store.close)

    async def __aenter__(self) -> Self:
        """Return the tool."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the tool."""
        await self.aclose()
