"""Which project a client works in: the working folder's, until the client says by its roots which folders are open.

An editor starts its servers wherever it likes. Calls wait until it was asked, so that no memory goes into the project
of a folder that nobody has open.
"""

import logging
import os
from collections.abc import Callable
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from memtui.mcp_server.connection import Desk

PATIENCE = 5.0
"""Seconds a client is waited for; then the working folder's project is served."""
_LOG = logging.getLogger(__name__)


class Standing:
    """Where one client stands; to be made and used on the event loop."""

    def __init__(self, desk: Desk, moved: Callable[[], object]) -> None:
        """Take the desk that is to serve the right project, and what is called when it is another one."""
        self._desk = desk
        self._moved = moved
        self._known = anyio.Event()
        self._known.set()
        self._news = False

    @property
    def awaited(self) -> bool:
        """Whether the client has roots that it was not asked for yet."""
        return not self._known.is_set()

    def take_news(self) -> bool:
        """Whether the client was not told yet what another project holds; from now on it was."""
        news, self._news = self._news, False
        return news

    def will_tell(self) -> None:
        """Have calls wait from now on: the client has roots, and can be asked once it is initialized."""
        self._known = anyio.Event()

    async def known(self) -> None:
        """Wait until the client was asked, but not for ever."""
        with anyio.move_on_after(PATIENCE):
            await self._known.wait()
        self._known.set()

    async def ask(self, session: ServerSession) -> None:
        """Ask the client for its roots, and serve the project they name."""
        if self._known.is_set():
            self.will_tell()
        known = self._known
        try:
            with anyio.move_on_after(PATIENCE):
                found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                folders = [folder for root in found.roots if (folder := _folder(str(root.uri)))]
                if await anyio.to_thread.run_sync(self._desk.stand, folders):
                    self._news = True
                    self._moved()
        except (MCPError, ValueError) as error:
            _LOG.warning("the client has roots and does not name them: %s", type(error).__name__)
        finally:
            known.set()


def _folder(uri: str) -> str | None:
    """The folder a URI names; None when it names none of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return os.fsdecode(unquote_to_bytes(parts.path)) or None
