"""The memories of other machines in the tree: asked for behind the first frame, one machine apart from the other.

It is asked again while somebody looks at this terminal. A machine that does not answer keeps the rows it had and says
why in its row; where it is only out of reach, it is asked sooner. A save there is a step of undo here, which saves the
text before it, guarded as any other save.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from memtui.engine.model import Actor, Conflict, Memory, Root, Snapshot
from memtui.errors import ConflictError, MemtuiError
from memtui.features.hosts.reach import HostAway, hosts
from memtui.features.hosts.there import FarRoot, listed, root_of
from memtui.workbench.bridge import WRITE
from memtui.workbench.tree.roots import Away
from memtui.workbench.tree.rows import Effect
from memtui.workbench.undo import Step

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


AGAIN = (1.0, 30.0)
"""Seconds before a machine out of reach is asked again: first, and at most; one that answered after as many."""
WHY: Mapping[str, str] = {"E_HOST": "ssh refuses", "E_REMOTE": "no memtui there"}
"""What its row says of an error; its page says the rest."""


class Hosts:
    """Asks other machines for their memories."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._waits: dict[str, tuple[float, str]] = {}
        """Seconds before a machine out of reach is asked again, and since when it is away, by its name."""
        self._timers: dict[str, Timer] = {}
        """What asks a machine again, by its name."""

    def find(self) -> None:
        """Ask all of them, each in a thread of its own."""
        for host in hosts(self._screen.facts.settings).values():
            known = self._screen.forest.away.get(host.name, Away((root_of(host.name, f"@{host.name}"),), ()))
            self._show(host, known._replace(words="asking..."))
            self._ask(host)

    def _ask(self, host: HostAway) -> None:
        def answered(found: tuple[tuple[Root, ...], tuple[Memory, ...]]) -> None:
            self._waits.pop(host.name, None)
            roots, rows = found
            new = Away(roots or (root_of(host.name, f"@{host.name}"),), rows)
            if new != self._screen.forest.away[host.name]:
                self._show(host, new)
                self._screen.bridge.refresh_drafts()
            self._ask_later(host, AGAIN[1])

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

    def _look(self, host: HostAway, engine: Engine) -> tuple[tuple[Root, ...], tuple[Memory, ...]]:
        roots, rows = listed(host)
        for root in roots:
            far = FarRoot(root, host, lambda before, now: self._screen.app.call_later(self._saved, host, before, now))
            engine.roots.elsewhere.setdefault(root.id, far)
        return roots, rows

    def _missed(self, host: HostAway, error: MemtuiError) -> None:
        """Say in its row why there is no answer, and ask again where that may help."""
        screen, name = self._screen, host.name
        known = screen.forest.away[name]
        moment = time.strftime("%H:%M", time.localtime(screen.now() / 1000))
        first, most = AGAIN
        wait, since = self._waits.get(name, (first / 2, f"away since {moment}"))
        words = WHY.get(error.code, since)
        note = f"{error.message.rstrip('.')}. {error.hint}".strip()
        roots = tuple(root._replace(note=note) for root in known.roots)
        self._show(host, known._replace(roots=roots, words=words))
        if error.code == "E_OFFLINE":
            self._waits[name] = min(2 * wait, most), since
            self._ask_later(host, self._waits[name][0])

    def _ask_later(self, host: HostAway, wait: float) -> None:
        app = self._screen.app
        if host.name in self._timers:
            self._timers[host.name].stop()
        again = partial(self._ask_later, host, wait)
        self._timers[host.name] = app.set_timer(wait, lambda: self._ask(host) if app.app_focus else again())

    def _show(self, host: HostAway, found: Away) -> None:
        forest = self._screen.forest
        roots = [root for root in forest.roots.values() if not root.host and root.id not in forest.others]
        here = {root.id for root in roots}.union(forest.others.roots)
        rows = [node.memory for node in forest.nodes.values() if node.memory is not None and node.root in here]
        forest.away[host.name] = found
        for _ in forest.replace_all(roots, rows):
            pass
        self._screen.take(Effect(rebuilt=True, touched=frozenset()))

    def _saved(self, host: HostAway, before: Snapshot | None, now: Snapshot) -> None:
        """Show what was saved there, and have undo take it back."""
        screen, address = self._screen, now.address
        self._put(host, now)
        if before is None:
            return

        def put(engine: Engine, old: Snapshot, new: Snapshot) -> None:
            there = engine.roots.elsewhere[address.root]
            assert isinstance(there, FarRoot)
            if isinstance(there.write(address, new.bytes, old.sha256), Conflict):
                raise ConflictError(f"{address} changed meanwhile.", unharmed="It stays as it is on that machine.")
            screen.app.call_later(self._put, host, new)

        def back(engine: Engine, _: Actor) -> bool:
            put(engine, now, before)
            return True

        step = Step(f"the save of {address}", back, lambda engine, _: put(engine, before, now))
        screen.bridge.run(
            lambda engine: screen.verbs.seeing.steps.add(engine, step), what="keep a step of undo", lane=WRITE
        )

    def _put(self, host: HostAway, now: Snapshot) -> None:
        """Show what is there now."""
        known = self._screen.forest.away[host.name]

        def new(row: Memory) -> Memory:
            return row._replace(sha256=now.sha256, bytes=len(now.bytes), modified_at=now.modified_at)

        rows = tuple(new(row) if row.address == now.address else row for row in known.rows)
        self._show(host, known._replace(rows=rows))
        self._screen.side.refresh()
        if self._screen.editing:
            self._screen.host.rows_changed([now.address])
