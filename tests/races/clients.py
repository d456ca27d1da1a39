"""Eight MCP clients, each with a server of its own, on one store, while a workbench's engine watches it.

They are the library's own clients over pipes, and do everything at once: shared memories are edited by all, own ones
are made, renamed and deleted, and there is reading and searching between. Nothing may be lost, no call may end in an
error of the protocol, and every write stands under the name of the client that made it.
"""

import os
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from memtui.config.read import load_settings
from memtui.engine import Engine
from memtui.engine.model import Address, Changes, Memory, Root
from tests.faults.report import Result, Tally

CLIENTS = 8
SHARED = 4
SECONDS = 30.0
"""How long the watching engine may take to have told everything."""
START = "import sys; from memtui.__main__ import main; sys.exit(main())"
ROOT = "memtui:global"
_DEEDS = ("insert",) * 4 + ("replace",) * 3 + ("view",) * 4 + ("create", "rename", "delete", "search", "read", "list")


class Store:
    """One home of memtui's, with the memories all share."""

    def __init__(self, base: Path) -> None:
        """Make it."""
        self.base = base
        self.home = base / "memtui"
        self.folder = self.home / "memory" / "global"
        self.folder.mkdir(parents=True)
        (base / "work").mkdir()
        for number in range(SHARED):
            (self.folder / f"shared-{number}.md").write_text("".join(f"count {one} 0\n" for one in range(CLIENTS)))

    def environment(self) -> dict[str, str]:
        """Everything a server is started with."""
        return {
            "HOME": str(self.base),
            "MEMTUI_HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "LANG": "C.UTF-8",
        }

    def engine(self) -> Engine:
        """The workbench's."""
        root = Root(ROOT, str(self.folder), "memtui", "global")
        state = load_settings(self.environment()).state_dir
        return Engine.open([root], state_dir=state, lock_wait=30.0)


class Watcher:
    """What the workbench's engine told meanwhile."""

    def __init__(self, engine: Engine) -> None:
        """Begin to watch, and wait until it stands."""
        self._news = threading.Condition()
        self.actors: Counter[str] = Counter()
        self._rows: dict[Address, Memory] = {}
        self._engine = engine
        standing = threading.Event()
        self._watch = engine.watch.start(self._hear, lambda _health: standing.set())
        assert standing.wait(SECONDS)

    def _hear(self, changes: Changes) -> None:
        with self._news:
            self.actors.update(change.actor for change in changes.changes)
            self._news.notify_all()

    def agrees(self, wanted: dict[str, str | None]) -> bool:
        """Wait until the rows it shows have these versions, by path."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            shown = self._engine.cached()
            if shown is not None and {row.address.path: row.sha256 for row in shown.items} == wanted:
                return True
            with self._news:
                self._news.wait(0.2)
        return False

    def stop(self) -> None:
        """End the watch."""
        self._watch.stop()


class One:
    """One client: what it does, and what it knows must be so afterwards."""

    def __init__(self, number: int, tally: Tally, seed: int) -> None:
        """Begin with nothing of its own."""
        self.number = number
        self.name = f"agent-{number}"
        self.actor = f"mcp:{self.name}"
        self._tally = tally
        self._choose = random.Random(seed * 100 + number)
        self.own: dict[str, str] = {}
        """Text by path."""
        self.lines: list[tuple[str, str]] = []
        """Lines put into shared memories: path and line."""
        self.counts: Counter[str] = Counter()
        """How often its counter in a shared memory was raised, by path."""
        self.uses: Counter[str] = Counter()
        """Of shared memories, by path."""
        self.writes = 0
        self._made = 0

    async def run(self, store: Store, calls: int) -> None:
        """Connect, do so many calls, and go; half of the clients speak the earlier protocol."""
        server = StdioServerParameters(
            command=sys.executable, args=["-c", START, "mcp"], env=store.environment(), cwd=store.base / "work"
        )
        mode = "legacy" if self.number % 2 else "auto"
        info = Implementation(name=self.name, version="1")
        async with Client(stdio_client(server), mode=mode, client_info=info) as client:
            for call in range(calls):
                deed = self._choose.choice(_DEEDS)
                if deed in ("rename", "delete") and not self.own:
                    deed = "create"
                try:
                    await getattr(self, f"_{deed}")(client, call)
                except MCPError as error:
                    self._tally.blame("protocol errors", f"{self.name} {deed}: {error}")
                self._tally.add("calls")

    async def _call(self, client: Client, **fields: Any) -> str:
        """One call of the memory tool that has to be done."""
        result = await client.call_tool("memory", fields)
        text: str = getattr(result.content[0], "text", "")
        if result.is_error:
            self._tally.blame("refused", f"{self.name} {fields}: {text}")
        elif fields["command"] != "view":
            self.writes += 1
        return "" if result.is_error else text

    def _shared(self) -> str:
        return f"shared-{self._choose.randrange(SHARED)}.md"

    async def _insert(self, client: Client, call: int) -> None:
        name, line = self._shared(), f"line {self.name} {call}"
        path = f"/memories/global/{name}"
        if await self._call(client, command="insert", path=path, insert_line=0, insert_text=line + "\n"):
            self.lines.append((name, line))
            self.uses[name] += 1

    async def _replace(self, client: Client, call: int) -> None:
        name = self._shared()
        path, count = f"/memories/global/{name}", self.counts[name]
        old, new = f"count {self.number} {count}\n", f"count {self.number} {count + 1}\n"
        if await self._call(client, command="str_replace", path=path, old_str=old, new_str=new):
            self.counts[name] += 1
            self.uses[name] += 1

    async def _view(self, client: Client, call: int) -> None:
        name = self._shared()
        text = await self._call(client, command="view", path=f"/memories/global/{name}")
        self.uses[name] += bool(text)
        # What it wrote itself it sees, whatever the others do.
        for other, line in self.lines:
            if other == name and f"\t{line}" not in f"\n{text}":
                self._tally.blame("lost", f"{self.name} does not see its own {line} in {name}")

    async def _create(self, client: Client, call: int) -> None:
        self._made += 1
        path, text = f"{self.name}/{self._made}.md", f"made by {self.name} in call {call}\n"
        if await self._call(client, command="create", path=f"/memories/global/{path}", file_text=text):
            self.own[path] = text

    async def _rename(self, client: Client, call: int) -> None:
        old = self._choose.choice(sorted(self.own))
        new = f"{self.name}/deep/{call}.md"
        paths = {"old_path": f"/memories/global/{old}", "new_path": f"/memories/global/{new}"}
        if await self._call(client, command="rename", **paths):
            self.own[new] = self.own.pop(old)

    async def _delete(self, client: Client, call: int) -> None:
        path = self._choose.choice(sorted(self.own))
        if await self._call(client, command="delete", path=f"/memories/global/{path}"):
            del self.own[path]

    async def _search(self, client: Client, call: int) -> None:
        result = await client.call_tool("memory_search", {"query": f"count {self.number}", "limit": SHARED})
        text = getattr(result.content[0], "text", "")
        if result.is_error or text.count("\n- /memories/global/shared-") != SHARED:
            self._tally.blame("refused", f"{self.name} search: {text}")

    async def _read(self, client: Client, call: int) -> None:
        name = self._shared()
        await client.read_resource(f"memory:///memories/global/{name}", cache_mode="bypass")
        self.uses[name] += 1

    async def _list(self, client: Client, call: int) -> None:
        listed = {one.uri for one in (await client.list_resources(cache_mode="bypass")).resources}
        if not {f"memory:///memories/global/shared-{number}.md" for number in range(SHARED)} <= listed:
            self._tally.blame("lost", f"{self.name} does not see the shared memories")


async def everybody(ones: list[One], store: Store, calls: int) -> None:
    """All clients at once."""
    async with anyio.create_task_group() as group:
        for one in ones:
            group.start_soon(one.run, store, calls)


def judge(tally: Tally, store: Store, ones: list[One], engine: Engine, watcher: Watcher) -> None:
    """Compare what is there with what each client knows it did."""
    disk = {
        file.relative_to(store.folder).as_posix(): file.read_text()
        for file in store.folder.rglob("*")
        if file.is_file()
    }
    wanted = {path: text for one in ones for path, text in one.own.items()}
    if wanted != {path: text for path, text in disk.items() if not path.startswith("shared-")}:
        tally.blame("lost", f"the clients' own memories: {wanted.keys() ^ disk.keys()}")
    for one in ones:
        for name, line in one.lines:
            if disk[name].splitlines().count(line) != 1:
                tally.blame("lost", f"{line} in {name}")
        for name, count in one.counts.items():
            if f"count {one.number} {count}\n" not in disk[name]:
                tally.blame("lost", f"the count {count} of {one.name} in {name}")
    rows = {row.address.path: row for row in engine.rows.list().items}
    for name in sorted({name for one in ones for name in one.uses}):
        used = sum(one.uses[name] for one in ones)
        if rows[name].uses != used:
            tally.blame("uses lost", f"{name}: {rows[name].uses} of {used}")
    if not watcher.agrees({path: row.sha256 for path, row in rows.items()}):
        tally.blame("not shown", "the watching engine does not show what is there")


def attribute(tally: Tally, ones: list[One], engine: Engine, watcher: Watcher) -> None:
    """Compare who the audit says did it, and whom the watching engine told of, with who did."""
    done: Counter[str] = Counter()
    transactions: set[str] = set()
    known = {one.actor for one in ones}
    for record in engine.history.audit(limit=1_000_000):
        if record.actor not in known:
            tally.blame("misattributed", str(record))
        if record.state == "intent":
            tally.blame("undecided", str(record))
        elif record.state == "done" and record.txn not in transactions:
            transactions.add(record.txn)
            done[record.actor] += 1
    if done != Counter({one.actor: one.writes for one in ones if one.writes}):
        tally.blame("misattributed", f"{done} is not {[(one.actor, one.writes) for one in ones]}")
    if strangers := watcher.actors.keys() - known:
        tally.blame("misattributed", f"the watching engine told of {strangers}")


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 500 calls by each client, or a few."""
    tally = Tally(
        "clients", "calls", "lost", "protocol errors", "refused", "misattributed", "uses lost", "undecided", seed=seed
    )
    store = Store(base / "clients")
    ones = [One(number, tally, seed) for number in range(CLIENTS)]
    with store.engine() as engine:
        engine.watch.reconcile()
        watcher = Watcher(engine)
        started = time.monotonic()
        anyio.run(everybody, ones, store, 6 if short else 500)
        seconds = time.monotonic() - started
        judge(tally, store, ones, engine, watcher)
        attribute(tally, ones, engine, watcher)
        watcher.stop()
    tally.note(f"{tally.counts['calls'] / seconds:.0f} calls/s by {CLIENTS} clients")
    return tally.result()
