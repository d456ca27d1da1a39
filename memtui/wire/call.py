"""One command call: its arguments, its output, and a session that opens on first use.

Commands that need no memories (help, completion, config) must not pay for finding them, nor fail with them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cached_property

from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Changes, is_reserved
from memtui.errors import NotFoundError, RefusedError, StorageError, UsageError
from memtui.wire.output import Output
from memtui.wire.params import GLOBALS
from memtui.wire.session import Options, Session, acting, approver, open_session
from memtui.wire.verb import Arguments

GC_THRESHOLD = 700
"""Python's default garbage collection threshold, for commands that keep running."""
LOCK_WAIT = 5.0
"""Seconds to wait for another writer of the same root."""
_ACTOR_LIMIT = 100
_READ_LIMIT = 4 * 1_048_576
"""Bytes of input that are read; every root's own limit is lower."""


class Call:
    """One command line."""

    def __init__(self, arguments: Arguments, options: Arguments, out: Output) -> None:
        self.args = arguments
        self.out = out
        self._given = options
        self._session: Session | None = None
        self._notices: list[str] = []

    @cached_property
    def agent(self) -> str:
        """The name of the agent that runs this command; empty for a person."""
        found = approver(self.session.options)
        return found.actor.removeprefix("agent:").partition("/")[0] if found.agent else ""

    @cached_property
    def settings(self) -> Settings:
        """The settings, read once; raises `E_CONFIG`."""
        return self.reload()

    def reload(self) -> Settings:
        """Read the current settings; raises `E_CONFIG`."""
        chosen = {key: True for key in ("ascii", "calm") if self._given.flag(key)}
        return load_settings(read_environment(), home=self._given.text("home"), options=chosen)

    @property
    def options(self) -> Options:
        """The global options, with display settings; raises as `given` and `settings`."""
        return self.given._replace(ascii=self.settings.ascii, calm=self.settings.calm)

    @property
    def given(self) -> Options:
        """The global options of the command line alone; raises UsageError for an invalid actor."""
        given = self._given
        return Options(
            read_only=given.flag("read_only"),
            actor=_actor(given.text("actor")),
            all_projects=given.flag("all_projects"),
            only_roots=given.flag("only_root"),
            project=given.text("project"),
            fresh=given.flag("fresh"),
            no_mouse=given.flag("no_mouse"),
            roots=tuple(given.texts("root")),
        )

    def global_words(self, without: Collection[str] = ()) -> list[str]:
        """Return the global options as words for another memtui, leaving some out."""
        words = []
        for param in GLOBALS:
            if param.name in without:
                continue
            if param.kind == "flag":
                words += [param.name] if self._given.flag(param.key) else []
            else:
                one = self._given.text(param.key)
                for value in self._given.texts(param.key) if param.many else [one] if one is not None else []:
                    words += [param.name, value]
        return words

    @property
    def session(self) -> Session:
        """The session, opened once; raises as `open`."""
        return self.open()

    def open(self, *, front: str = "cli") -> Session:
        """Open the session once; raises MemtuiError for a malformed root."""
        if self._session is None:
            self._session = open_session(self.settings, self.options, lock_wait=LOCK_WAIT, front=front)
            self._session.engine.events.subscribe(self._on_notices)
        return self._session

    @property
    def engine(self) -> Engine:
        """The session's engine."""
        return self.session.engine

    @cached_property
    def actor(self) -> Actor:
        """The actor that changes are recorded for."""
        return acting(self.session.options)

    def approve(self, act: str, question: str, elsewhere: str) -> None:
        """Require a person to type `yes` on the controlling terminal.

        Standard input and options do not count, because a program can write them. A read-only command asks nobody: the
        engine refuses its change. `act` completes `Only a person may ...`, `elsewhere` completes `Do it in a terminal
        of your own, or ...`.
        Raises RefusedError: `E_PERSON`: an agent runs the command, there is no terminal, or the answer is another one.
        """
        if self.options.read_only:
            return
        hint = f"Do it in a terminal of your own, or {elsewhere}."
        approver(self.session.options).require(act, hint)
        typed = self.out.ask_person(f"{question} Type yes: ")
        if typed is None:
            raise RefusedError(
                f"Only a person may {act}, and there is no terminal to ask at.", code="E_PERSON", hint=hint
            )
        if typed.strip() != "yes":
            raise RefusedError(f"Only a typed yes does this: {act}.", code="E_PERSON", hint="Run it again to be asked.")

    def agrees(self, question: str) -> bool:
        """Ask a further question; return whether a person typed yes."""
        return (self.out.ask_person(f"{question} Type yes: ") or "").strip() == "yes"

    def given_text(self) -> bytes:
        """Read the command's text from a file or standard input, and check it against `--given`.

        Raises:
            UsageError: there is none, or there are two. MemtuiError: unreadable, too big, or not what `--given` says.
        """
        data, sha = self._text(), self._given.text("given")
        if sha is None:
            return data
        from hashlib import sha256

        if not sha256(data).hexdigest().startswith(sha):
            raise RefusedError("The text did not arrive whole.", code="E_TEXT", hint="Send it again.")
        return data

    def _text(self) -> bytes:
        file, dash = self.args.text("file"), self.args.text("source")
        if file is not None and dash is not None:
            raise UsageError("The text is given twice.", hint="Give either `-` or --file FILE.")
        if file not in (None, "-"):
            return _read_file(file)
        if sys.stdin is None or (file is None and dash is None and sys.stdin.isatty()):
            raise UsageError("There is no text.", hint="Give --file FILE, or `-` and the text on standard input.")
        return _limited(sys.stdin.buffer.read(_READ_LIMIT + 1), "The text on standard input")

    def close(self) -> None:
        """Close the session and print the engine's notices."""
        if self._session is not None:
            self._session.engine.close()
            self._notices += self._session.engine.events.notices()
        for text in self._notices:
            self.out.say(f"memtui: {text}")

    def _on_notices(self, batch: Changes) -> None:
        for notice in batch.notices:
            if notice.kind == "waiting":
                self.out.say(f"memtui: {notice.text}")  # at once: it explains why nothing happens
            else:
                self._notices.append(notice.text)


def _actor(name: str | None) -> Actor:
    if name is None:
        return Actor("cli")
    if is_reserved(name):
        raise UsageError(
            f"{name!r} cannot be an actor: it would be taken for the person at the keys.",
            hint="Name the program that does it, such as agent:reviewer.",
        )
    if not name.strip() or not name.isprintable() or len(name) > _ACTOR_LIMIT or name == "outside":
        raise UsageError(
            f"{name!r} cannot be an actor.",
            hint=f"Use 1 to {_ACTOR_LIMIT} visible characters, such as agent:reviewer; `outside` means nobody known.",
        )
    return Actor(name)


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return _limited(file.read(_READ_LIMIT + 1), path)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", hint="Give the file's path with --file.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from None


def _limited(data: bytes, what: str) -> bytes:
    if len(data) > _READ_LIMIT:
        raise RefusedError(f"{what} is over {_READ_LIMIT:,} bytes.", code="E_TOO_BIG", details={"limit": _READ_LIMIT})
    return data
