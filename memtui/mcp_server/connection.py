"""Where one client is served: what it may do is settled when it says its name, and again whenever the settings change.

Nothing is opened before that, and a user who shuts agents out shuts out those that are connected already.
"""

import signal
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import __version__
from memtui.config.settings import Settings, Value
from memtui.config.surroundings import Surroundings, project_at
from memtui.engine import Engine
from memtui.engine.look.roots import Access
from memtui.engine.model import Actor, is_reserved
from memtui.safe_text import visible
from memtui.wire.doors import LiveDoor
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
"""What a client is given unasked: index and hot set; a short index, where its hook may not have run; nothing."""
LOCK_WAIT = 5.0
"""Seconds to wait for another process: well below what clients wait for an answer."""
LONGEST = 60
"""Characters of a client's name in an actor."""
NAMELESS = "unknown"
CHAT_ROOT = "memtui:channel"
"""What the root of the one chat is called here, as memtui's own are."""


class AdmittedClient(NamedTuple):
    """What an admitted client works with."""

    engine: Engine
    actor: Actor


class Greeting(NamedTuple):
    """What the library is to hear first."""

    said: bytes = b""
    """Lines, and perhaps the beginning of one."""
    greeted: "int | str | None" = None
    """The id of the `initialize` among them; its answer is out already."""


class Desk:
    """One client's door; safe to share between threads."""

    def __init__(
        self,
        load: Callable[[], Settings],
        options: Options,
        *,
        access: str | None,
        context: str = FULL,
        chat: "Chat | None" = None,
    ) -> None:
        """Keep what a door is opened with.

        Args:
            load: reads the settings anew.
            options: the global options.
            access: the flag of the command line, which the settings can only narrow.
            context: what the client is given unasked: one of `CONTEXTS`.
            chat: the one chat whose memory it sees; the options then name the session.
        """
        self.context = context
        self._load = load
        self._options = options
        self._access = access
        self._chat = chat
        self._told: str | None = None
        self._guard = threading.Lock()
        self._name: str | None = None
        self._live: LiveDoor | None = None
        self._left: list[LiveDoor] = []
        self._moved = False
        self._door: AdmittedClient | None = None
        self._session: Session | None = None
        self.on_open: Callable[[Engine], object] | None = None
        """Called with every engine before the client can use it."""

    def meet(self, given: str) -> None:
        """Learn the client's name; the first one counts, so that a client cannot become another one later."""
        with self._guard:
            if self._name is None:
                self._name = client_name(given)

    def door(self) -> AdmittedClient:
        """Give the client's door, as the settings are now.

        Raises:
            MemtuiError: `E_DISABLED`, or why nothing could be opened.
        """
        with self._guard:
            name = self._name = self._name or client_name(None)
            if self._live is None:
                self._live = LiveDoor(self._load, self._open, client=name, access=self._access, room=self._room)
            engine = self._live.engine()
            if self._door is None or self._door.engine is not engine:
                self._door = AdmittedClient(engine, actor_of(name))
            return self._door

    def setting(self, key: str) -> Value:
        """Give a simple setting as it is now, by its key; raises what `door` does."""
        self.door()
        with self._guard:
            assert self._live is not None
            return self._live.setting(key)

    def standing(self) -> tuple[Settings, Surroundings]:
        """Give the settings as they are now, and where the client stands; raises what `door` does."""
        self.door()
        with self._guard:
            assert self._live is not None
            assert self._session is not None
            return self._live.settings(), self._session.surroundings

    def told_in_chat(self) -> str:
        """Give what the chat of this door remembers: once a session, and then the same again to whoever asks here.

        Raises:
            MemtuiError: what `door` does; or the memory cannot be read.
        """
        actor = self.door().actor
        with self._guard:
            if self._told is None and self._chat is not None:
                from memtui.features.channels.verbs import open_chat

                assert self._session is not None
                names = {name: getattr(self._chat, name) for name in ("channel", "chat", "thread")}
                asked = names | {"session": self._options.session}
                self._told = str(open_chat(self._session, self._session.settings, actor.name, asked)["text"] or "")
            return self._told or ""

    def stand(self, folders: Sequence[str]) -> bool:
        """Serve the project a client names by the folders it has open; a `--project` of the user's own comes first.

        Args:
            folders: absolute; those that are no folders here are passed over. The one that is served already is kept,
                else the first counts.

        Returns:
            Whether another project is served from now on.
        """
        named = [project for project in map(project_at, folders) if project is not None]
        with self._guard:
            fixed = self._options.project is not None and not self._moved
            if fixed or not named or (self._options.project or project_at(".")) in named:
                return False
            self._options, self._moved = self._options._replace(project=named[0]), True
            if self._live is not None:
                self._left.append(self._live)  # a call may still be at work there
            self._live = self._door = None
            return True

    def close(self) -> None:
        """Close everything that was opened."""
        with self._guard:
            for live in (*self._left, self._live):
                if live is not None:
                    live.close()
            self._door = None

    def _open(self, settings: Settings, access: Access) -> Engine:
        # An agent reaches `/memories/...` only, so nothing else on the machine is looked for.
        options = self._options._replace(actor=actor_of(self._name or NAMELESS), only_roots=True, all_projects=False)
        self._session = session = open_session(settings, options, lock_wait=LOCK_WAIT, access=access)
        engine = session.engine
        if self._chat is not None:
            from memtui.features.channels.room import room_of

            engine.roots.add([room_of(session, self._chat)._replace(aliases=(CHAT_ROOT,))])
        if self.on_open is not None:
            self.on_open(engine)
        return engine

    def _room(self, settings: Settings) -> str:
        if self._chat is None:
            return ""
        from memtui.features.channels.room import door_of

        return door_of(settings, self._chat)


def client_name(given: str | None) -> str:
    """Make a client's own name fit for records: visible characters, single spaces, at most `LONGEST` of them.

    Args:
        given: what it said; None, nothing visible, or a name for the person at the keys, makes `unknown`.
    """
    name = visible(" ".join((given or "").split()))
    if not name or is_reserved(name):
        name = NAMELESS
    # What Unicode has not assigned yet may become anything.
    name = "".join(letter if letter.isprintable() else "�" for letter in name)
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


def actor_of(name: str) -> Actor:
    """Give the actor changes and uses are recorded for; it is never a person's."""
    return Actor(f"mcp:{name}")
