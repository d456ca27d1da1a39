"""Memories of other machines in the tree: read behind the first frame, each machine on its own.

They are read again while the terminal has the focus. A machine that does not answer keeps its rows and shows the
reason; one out of reach is tried again sooner. A save there is a step of undo here, which saves the previous text,
guarded like any other save.
It is apart so that only users with other machines load it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Memory, Root, Snapshot
from memtui.errors import ConflictError, MemtuiError
from memtui.features.hosts.machines import RemoteHost, hosts
from memtui.features.hosts.remote import RemoteRoot, list_memories, root_of
from memtui.ui.widgets.prompts import Question
from memtui.workbench.bridge import WRITE
from memtui.workbench.tree.forest import Effect
from memtui.workbench.tree.nodes import HostState
from memtui.workbench.undo import LocalStep

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


RETRY_SECONDS = (1.0, 30.0)
"""Seconds before a machine out of reach is tried again: first and at most; one that answered waits the latter."""
REASONS: Mapping[str, str] = {"E_HOST": "ssh refuses", "E_REMOTE": "no memtui there"}
"""The row's words for an error; its page shows the rest."""


class RemoteCommand(NamedTuple):
    """A command for another machine that changes no text."""

    words: tuple[str, ...]
    places: tuple[Address, ...]
    expected: str | None = None
    """Applies to this version of the first place only."""


class Hosts:
    """Reads memories of other machines."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._waits: dict[str, tuple[float, str]] = {}
        """Delay before the next try, and since when it is away, by the name of a machine out of reach."""
        self._timers: dict[str, Timer] = {}

    def find(self) -> None:
        for host in hosts(self._screen.facts.settings).values():
            known = self._screen.forest.away.get(host.name, HostState((root_of(host.name, f"@{host.name}"),), ()))
            self._show(host, known._replace(words="asking..."))
            self._ask(host)

    def _ask(self, host: RemoteHost) -> None:
        def answered(found: tuple[tuple[Root, ...], tuple[Memory, ...]]) -> None:
            self._waits.pop(host.name, None)
            roots, rows = found
            new = HostState(roots or (root_of(host.name, f"@{host.name}"),), rows)
            if new != self._screen.forest.away[host.name]:
                self._show(host, new)
                self._screen.bridge.refresh_drafts()
            self._ask_later(host, RETRY_SECONDS[1])

        name = f"@{host.name}"
        work = partial(self._look, host)
        self._screen.bridge.run(
            work,
            answered,
            what=f"ask {host.name}",
            otherwise=lambda error: self._missed(host, error),
            lane=name,
            latest=name,
        )

    def _look(self, host: RemoteHost, engine: Engine) -> tuple[tuple[Root, ...], tuple[Memory, ...]]:
        roots, rows = list_memories(host)
        for root in roots:
            far = RemoteRoot(
                root, host, lambda before, now: self._screen.app.call_later(self._saved, host, before, now)
            )
            engine.roots.elsewhere.setdefault(root.id, far)
        return roots, rows

    def _missed(self, host: RemoteHost, error: MemtuiError) -> None:
        """Show in its row why there is no answer, and try again where that may help."""
        screen, name = self._screen, host.name
        known = screen.forest.away[name]
        moment = time.strftime("%H:%M", time.localtime(screen.now() / 1000))
        first, most = RETRY_SECONDS
        wait, since = self._waits.get(name, (first / 2, f"away since {moment}"))
        words = REASONS.get(error.code, since)
        note = f"{error.message.rstrip('.')}. {error.hint}".strip()
        roots = tuple(root._replace(note=note) for root in known.roots)
        self._show(host, known._replace(roots=roots, words=words))
        if error.code == "E_OFFLINE":
            self._waits[name] = min(2 * wait, most), since
            self._ask_later(host, self._waits[name][0])

    def _ask_later(self, host: RemoteHost, wait: float) -> None:
        app = self._screen.app
        if host.name in self._timers:
            self._timers[host.name].stop()
        again = partial(self._ask_later, host, wait)
        self._timers[host.name] = app.set_timer(wait, lambda: self._ask(host) if app.app_focus else again())

    def _show(self, host: RemoteHost, found: HostState) -> None:
        forest = self._screen.forest
        roots = [root for root in forest.roots.values() if not root.host and root.id not in forest.others]
        here = {root.id for root in roots}.union(forest.others.roots)
        rows = [node.memory for node in forest.nodes.values() if node.memory is not None and node.root in here]
        forest.away[host.name] = found
        for _ in forest.replace_all(roots, rows):
            pass
        self._screen.take(Effect(rebuilt=True, touched=frozenset()))

    def do(self, action: str) -> None:
        """Run `new`, `rename`, `pin` or `trash` on the other machine's memory under the cursor."""
        node = self._screen.memories.current
        if node is None or (memory := node.memory) is None:
            return
        address = memory.address
        if action == "trash":
            self._do(
                RemoteCommand(("rm",), (address,), memory.sha256),
                RemoteCommand(("restore",), (address,)),
                "moved to the trash",
            )
        elif action == "pin":
            pin, unpin = RemoteCommand(("pin",), (address,)), RemoteCommand(("unpin",), (address,))
            self._do(*((unpin, pin, "unpinned") if memory.pinned else (pin, unpin, "pinned")))
        else:
            self._ask_name(memory, new=action == "new")

    def _ask_name(self, memory: Memory, *, new: bool) -> None:
        screen, address, sha = self._screen, memory.address, memory.sha256

        def entered(text: str) -> None:
            screen.prompt.close()
            to = Address(address.root, text)
            if new:
                made = RemoteCommand(("save", "--expect=absent", "--file=-"), (to,))
                self._do(made, RemoteCommand(("rm",), (to,), sha256(b"").hexdigest()), "created")
            else:
                there, back = RemoteCommand(("mv",), (address, to), sha), RemoteCommand(("mv",), (to, address), sha)
                self._do(there, back, f"moved to {to}")

        label, value = ("new", address.path.removesuffix(address.name)) if new else ("rename", address.path)
        host = screen.forest.roots[address.root].host
        screen.prompt.ask(Question(f"{label} on {host}", value, entered, screen.prompt.close))

    def _do(self, deed: RemoteCommand, back: RemoteCommand, said: str) -> None:
        """Run a command there as a step of undo here, and show the result."""
        screen, address = self._screen, deed.places[0]
        host = hosts(screen.facts.settings)[screen.forest.roots[address.root].host]

        def tell(engine: Engine, what: RemoteCommand) -> bool:
            there = engine.roots.elsewhere[address.root]
            assert isinstance(there, RemoteRoot)
            there.change(what.words, what.places, what.expected)
            return True

        def told(_: bool) -> None:
            self._keep(
                LocalStep(
                    f"{address} {said}",
                    lambda engine, _: tell(engine, back),
                    lambda engine, _: tell(engine, deed),
                    look,
                )
            )
            screen.say(f"{address} {said}; u takes it back.", "good")
            screen.go_when_there(deed.places[-1])
            look()

        look = partial(self._ask, host)
        work = partial(tell, what=deed)
        screen.bridge.run(work, told, what=f"{deed.words[0]} {address}", lane=f"@{host.name}")

    def _keep(self, step: LocalStep) -> None:
        screen = self._screen
        screen.bridge.run(
            lambda engine: screen.verbs.seeing.steps.add(engine, step), what="keep a step of undo", lane=WRITE
        )

    def _saved(self, host: RemoteHost, before: Snapshot | None, now: Snapshot) -> None:
        """Show what was saved there, and add a step of undo."""
        screen, address = self._screen, now.address
        self._put(host, now)
        if before is None:
            return

        def put(engine: Engine, old: Snapshot, new: Snapshot) -> None:
            there = engine.roots.elsewhere[address.root]
            assert isinstance(there, RemoteRoot)
            if isinstance(there.write(address, new.bytes, old.sha256), Conflict):
                raise ConflictError(f"{address} changed meanwhile.", unharmed="It stays as it is on that machine.")
            screen.app.call_later(self._put, host, new)

        def back(engine: Engine, _: Actor) -> bool:
            put(engine, now, before)
            return True

        self._keep(LocalStep(f"the save of {address}", back, lambda engine, _: put(engine, before, now)))

    def _put(self, host: RemoteHost, now: Snapshot) -> None:
        known = self._screen.forest.away[host.name]

        def new(row: Memory) -> Memory:
            return row._replace(sha256=now.sha256, bytes=len(now.bytes), modified_at=now.modified_at)

        rows = tuple(new(row) if row.address == now.address else row for row in known.rows)
        self._show(host, known._replace(rows=rows))
        self._screen.side.read()
        if self._screen.editing:
            self._screen.host.rows_changed([now.address])
