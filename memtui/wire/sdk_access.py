"""Access to one folder for programs written for Anthropic's SDK: an engine on that folder alone, and its tool."""

from collections.abc import Callable

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.look.roots import Access
from memtui.engine.model import Actor, Retention
from memtui.errors import CODES, MemtuiError, RefusedError
from memtui.memory_tool.sdk import SdkTool, memory_root
from memtui.wire.access import SETTINGS, LiveAccess

CLIENT = "anthropic-sdk"
"""Default name of these clients in the `[access]` table."""


class SdkAccess:
    """The access of a long-lived SDK client; see `LiveAccess`."""

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
        """Take the parent folder of `memories`; `state_dir` replaces that of the settings."""
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
        self._live = LiveAccess(load, open_engine, client=name, access=access)
        self.notices, self.close = self._live.notices, self._live.close

    def tool(self) -> SdkTool:
        """Return the tool for the current settings; raises as `LiveAccess.engine`."""
        return SdkTool(self._live.engine(), self._root, self._actor)


def refusal(error: MemtuiError) -> str:
    """Write why there is no tool as the tool's own failures are written; says nothing else about the settings."""
    happened = error.message if error.code == "E_DISABLED" else f"Memory is not available: {CODES[error.code]}."
    return f"{happened} ({error.code})"
