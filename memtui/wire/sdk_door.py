"""The door to one folder for programs written for Anthropic's SDK: an engine on that folder alone, and its tool.

The folder is given by hand, so nothing is discovered; what the user allows agents is asked here as at every other door.
"""

from collections.abc import Callable

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.look.roots import Access
from memtui.engine.model import Actor, Retention
from memtui.errors import CODES, MemtuiError, RefusedError
from memtui.memory_tool.sdk import SdkTool, memory_root
from memtui.wire.doors import SETTINGS, LiveDoor

CLIENT = "anthropic-sdk"
"""What this door's clients are called in the `[access]` table when they give no other name."""


class SdkDoor:
    """The door for a process that stays: what the user allows is asked at each call; see `LiveDoor`."""

    def __init__(
        self,
        load: Callable[[], Settings],
        base: str,
        *,
        actor: Actor,
        client: str = "",
        access: str | None = None,
        read_only: bool = False,
        lock_wait: float,
        state_dir: str | None = None,
    ) -> None:
        """Keep what the door is opened with; nothing is read or opened yet.

        Args:
            load: reads the settings anew.
            base: the folder that `memories` is or will be in.
            actor: whom changes are recorded for.
            client: what the client calls itself; empty for `CLIENT`.
            access: the door's own flag; see `door_access`.
            read_only: refuse every change.
            lock_wait: seconds to wait for another process before `E_LOCKED`.
            state_dir: where versions and records are kept; None: where the settings say.
        """
        root, name = memory_root(base), client or CLIENT

        def open_engine(settings: Settings, allowed: Access) -> Engine:
            if not allowed.shows(root):
                raise RefusedError(
                    f"Access to {root.scope} memories is switched off for {name}.",
                    code="E_DISABLED",
                    hint=f"Only the user can change that, in {SETTINGS}: the table [access].",
                )
            return Engine.open(
                [root],
                state_dir=state_dir or settings.state_dir,
                retention=Retention(settings.retention_versions, settings.retention_days),
                read_only=read_only,
                lock_wait=lock_wait,
                access=allowed,
            )

        self._root, self._actor = root, actor
        self._live = LiveDoor(load, open_engine, client=name, access=access)
        self._open: tuple[Engine, SdkTool] | None = None
        self.notices, self.close = self._live.notices, self._live.close

    def tool(self) -> SdkTool:
        """Give the tool, as the settings are now.

        Raises:
            MemtuiError: as `LiveDoor.engine`.
        """
        engine, found = self._live.engine(), self._open
        if found is None or found[0] is not engine:
            found = self._open = engine, SdkTool(engine, self._root, self._actor)
        return found[1]


def refusal(error: MemtuiError) -> str:
    """Say why there is no tool, in the form of the tool's own failures: a sentence, then the code.

    Nothing of the settings is said but that they cannot be read: the rest is the user's.
    """
    happened = error.message if error.code == "E_DISABLED" else f"Memory is not available: {CODES[error.code]}."
    return f"{happened} ({error.code})"
