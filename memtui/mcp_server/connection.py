"""The connection of one client: its name, its access, and the engine it works on.

Nothing is opened before the client gave its name, and access is checked again whenever the settings change.
"""

import signal
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import __version__
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings, project_at
from memtui.engine import Engine
from memtui.engine.look.roots import Access
from memtui.engine.model import Actor, is_reserved
from memtui.safe_text import visible
from memtui.wire.access import LiveAccess
from memtui.wire.session import Options, Session, open_session

if TYPE_CHECKING:
    from memtui.engine.ledger.turns import Chat

SERVER = {
    "name": "memtui",
    "title": "memtui",
    "version": __version__,
    "description": "Memories that outlive a conversation, with history.",
}
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CONTEXTS = FULL, SHORT, NONE = "full", "short", "none"
"""What the instructions carry: index and hot set; a short index, for clients whose hook may fail; nothing."""
LOCK_WAIT = 5.0
"""Seconds to wait for another process, well below clients' own time limits."""
MAX_NAME = 60
"""Characters of a client's name in an actor."""
NAMELESS = "unknown"
CHAT_ROOT = "memtui:channel"
"""Alias of the chat's root for its client."""


class AdmittedClient(NamedTuple):
    """The engine and actor of an admitted client."""

    engine: Engine
    actor: Actor


class EarlyInput(NamedTuple):
    """What the library must process first."""

    said: bytes = b""
    """Unprocessed input."""
    greeted: "int | str | None" = None
    """The id of the `initialize` in it that is answered already."""


class ClientConnection:
    """The connection of one client; thread-safe."""

    def __init__(
        self,
        load: Callable[[], Settings],
        options: Options,
        *,
        access: str | None,
        context: str = FULL,
        chat: "Chat | None" = None,
    ) -> None:
        """Take the flag of the command line, one of `CONTEXTS`, and the only chat whose memory the client sees."""
        self.context = context
        self._load = load
        self._options = options
        self._access = access
        self._chat = chat
        self._told: str | None = None
        self._guard = threading.Lock()
        self._name: str | None = None
        self._live: LiveAccess | None = None
        self._left: list[LiveAccess] = []
        self._moved = False
        self._client: AdmittedClient | None = None
        self._session: Session | None = None
        self.on_open: Callable[[Engine], object] | None = None
        """Called with every engine before the client can use it."""

    def set_name(self, given: str) -> None:
        """Set the client's name; later names are ignored, so that a client cannot change identity."""
        with self._guard:
            if self._name is None:
                self._name = client_name(given)

    def client(self) -> AdmittedClient:
        """Return the client's engine and actor for the current settings; raises `E_DISABLED`, or why nothing opened."""
        with self._guard:
            name = self._name = self._name or client_name(None)
            if self._live is None:
                self._live = LiveAccess(self._load, self._open, client=name, access=self._access, room=self._room)
            engine = self._live.engine()
            if self._client is None or self._client.engine is not engine:
                self._client = AdmittedClient(engine, actor_of(name))
            return self._client

    def settings_and_place(self) -> tuple[Settings, Surroundings]:
        """Return the current settings and surroundings; raises as `client`."""
        self.client()
        with self._guard:
            assert self._live is not None
            assert self._session is not None
            return self._live.settings(), self._session.surroundings

    def chat_memory(self) -> str:
        """Return the memory of the chat, given once a session and repeated on this connection; raises as `client`."""
        actor = self.client().actor
        with self._guard:
            if self._told is None and self._chat is not None:
                from memtui.features.channels.verbs import open_chat

                assert self._session is not None
                names = {name: getattr(self._chat, name) for name in ("channel", "chat", "thread")}
                asked = names | {"session": self._options.session}
                self._told = str(open_chat(self._session, self._session.settings, actor.name, asked)["text"] or "")
            return self._told or ""

    def switch_project(self, folders: Sequence[str]) -> bool:
        """Serve the project of the folders a client has open, unless `--project` was given.

        The current project is kept if it is among them, else the first one counts. Returns whether the project changed.
        """
        named = [project for project in map(project_at, folders) if project is not None]
        with self._guard:
            fixed = self._options.project is not None and not self._moved
            if fixed or not named or (self._options.project or project_at(".")) in named:
                return False
            self._options, self._moved = self._options._replace(project=named[0]), True
            if self._live is not None:
                self._left.append(self._live)  # a call may still be at work there
            self._live = self._client = None
            return True

    def close(self) -> None:
        """Close everything that was opened."""
        with self._guard:
            for live in (*self._left, self._live):
                if live is not None:
                    live.close()
            self._client = None

    def _open(self, settings: Settings, access: Access) -> Engine:
        # An agent reaches `/memories/...` only, so nothing else on the machine is looked for.
        options = self._options._replace(actor=actor_of(self._name or NAMELESS), only_roots=True, all_projects=False)
        self._session = session = open_session(settings, options, lock_wait=LOCK_WAIT, access=access)
        engine = session.engine
        if self._chat is not None:
            from memtui.features.channels.verbs import room_of

            engine.roots.add([room_of(session, self._chat)._replace(aliases=(CHAT_ROOT,))])
        if self.on_open is not None:
            self.on_open(engine)
        return engine

    def _room(self, settings: Settings) -> str:
        if self._chat is None:
            return ""
        from memtui.features.channels.verbs import room_path

        return room_path(settings, self._chat)


def client_name(given: str | None) -> str:
    """Clean a client's name for records; `unknown` for an empty or reserved one."""
    name = visible(" ".join((given or "").split()))
    if not name or is_reserved(name):
        name = NAMELESS
    # What Unicode has not assigned yet may become anything.
    name = "".join(letter if letter.isprintable() else "�" for letter in name)
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1].rstrip() + "…"


def actor_of(name: str) -> Actor:
    """Return the actor of a client; it is never a person's."""
    return Actor(f"mcp:{name}")
