"""The world the pictures are taken in: the demo's samples with a past, at a fixed time, and agents that act on demand.

Nothing random, nothing of this machine: whoever takes the pictures again gets the same ones.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from memtui.agents.discovery import discover
from memtui.config.directories import find_directories
from memtui.config.settings import Settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world
from memtui.demo import world as past
from memtui.demo.life_cycle import leave_conflict
from memtui.demo.world import furnish_newcomer
from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from screenshots.still.sitecustomize import START

CHECKOUT = Path(__file__).resolve().parent.parent
NOW = START // 1_000_000
"""Milliseconds since the epoch."""
MINUTE = 60_000
CLAUDE, CODEX, YOU = Actor("mcp:claude-code"), Actor("mcp:codex-mcp-client"), Actor("tui")
READING = (
    "The northern line holds places for eight minutes and loses one booking in ninety.",
    "Paper says: a standby list that is shown to passengers doubles the number who wait.",
    "Nobody measures vehicles at the booking; everybody measures them at the ramp.",
    "A fare that changes while the page is open is the complaint people remember.",
    "Their importer stops at the first bad line, and that is the one thing they would keep.",
)
"""Lines of long notes."""

HERMES = """\
The ferry API is Python 3.12 with FastAPI; `make test` starts the database first, pytest alone does not.
§
Fares are integers in cents. The old float columns are still there and nobody reads them.
§
Deploys: Tuesdays and Thursdays, never on a Friday.
Whoever is on call presses the button; ask in #harbour first.
§
The staging database is a copy of last night. Agents may read it; migrations only after a yes from the office.
§
`uv lock` twice a day breaks the cache of CI: `make cache-clear`, then push again.
§
The map of the piers comes from the harbour master as a PDF. Its numbers are the ones on the signs: pier 7 is berth 12.
§
Timetables change on the first Monday of May and October. Until then new ones are behind the flag `next_season`.
§
Logs: one line a decision, with the sailing's id. No names of passengers, ever.
§
When the payment provider is down, sales go on and are booked by `tide settle --since`, which can run twice.
§
Docs live in docs/ and are built by `make docs`; a page without an owner is taken down after a month.
§
The review wants one reason for each change and a test that failed before it.
§
Old branches are deleted on Fridays by a job: rebase what you still need on Thursday."""
"""What Hermes remembers."""


class Stage:
    """One throw-away world. Leaving it removes it."""

    def __init__(self, folder: str | None = None, *, empty: bool = False, newcomer: bool = False) -> None:
        """Build it.

        Args:
            folder: where; it must not exist. None: anywhere.
            empty: a home in which no agent has ever written anything.
            newcomer: the home of somebody who has never seen memtui.
        """
        self.world = world.build(folder)
        self.now = NOW
        directories = find_directories({}, self.world.folder)
        settings = Settings(directories=directories, home=self.world.folder)
        self._state, self._config = settings.state_dir, settings.config_file
        empty = empty or newcomer
        if empty:
            for entry in Path(self.world.folder).iterdir():
                shutil.rmtree(entry)
            if newcomer:
                self.world = self.world._replace(project=furnish_newcomer(self.world.folder, START))
            Path(self.world.project, ".git").mkdir(parents=True, exist_ok=True)
        else:
            data = Path(directories.data)
            data.parent.mkdir(parents=True)
            Path(self.world.memtui_home).rename(data)
        around = surroundings_from(settings, cwd=self.world.project)._replace(system_dir=self.world.system)
        self._roots = () if empty else discover(around)
        if not empty:
            past.live(around, self._state, now=NOW - 25 * MINUTE)
            self._lately()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        world.remove(self.world)

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of a program on this stage."""
        kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
        here = os.pathsep.join((str(CHECKOUT), str(CHECKOUT / "screenshots" / "still")))
        own = {"HOME": self.world.folder, "LANG": "C.UTF-8", "TZ": "UTC"}
        return {**kept, **own, "PYTHONPATH": here}

    @property
    def command(self) -> list[str]:
        """The program."""
        return [sys.executable, "-m", "memtui"]

    def configure(self, text: str) -> None:
        """Write `config.toml`."""
        file = Path(self._config)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    @contextmanager
    def engine(self, minutes: float = 0) -> Iterator[Engine]:
        """Act as another process does, so many minutes ago."""
        self.now = NOW - round(minutes * MINUTE)
        with Engine.open(self._roots, state_dir=self._state, clock=self._clock) as engine:
            yield engine

    def saves(self, address: str, old: str, new: str, *, actor: Actor = CLAUDE, minutes: float = 0) -> None:
        """Let an agent replace a piece of a memory through memtui; without `old` the text is added at the end."""
        with self.engine(minutes) as engine:
            place = self.place(engine, address)
            before = engine.read(place)
            assert old in before.text, f"{address} does not hold {old!r}"
            text = before.text.replace(old, new) if old else before.text + new
            engine.save(place, text, expected_sha256=before.sha256, actor=actor)
            self._date(engine.roots.file_path(place))

    def writes(self, address: str, text: str, *, minutes: float = 0) -> None:
        """Let a program that knows nothing of memtui write a file."""
        with self.engine(minutes) as engine:
            path = Path(engine.roots.file_path(self.place(engine, address)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self._date(path)

    def neglects_an_index(self) -> None:
        """Let Claude Code leave its index behind: a line that leads nowhere, one twice, one too long, three missing."""
        here = "claude-code:project"
        for name, words in (
            ("feedback_reviews", "Wants one reason for each change, not a list"),
            ("project_standby", "The standby list is shown to staff only"),
            ("reference_ledger", "Where refunds are booked, and who may look"),
        ):
            self.writes(f"{here}/{name}.md", f"---\ndescription: {words}\n---\n\n{words}.\n", minutes=30)
        with self.engine() as engine:
            index = engine.read(self.place(engine, f"{here}/MEMORY.md")).text
        lines = index.splitlines(keepends=True)
        lines.insert(1, "- [Harbour map](reference_harbour_map.md) — piers, berths and who answers for them\n")
        lines.append(lines[0])
        lines[2] = lines[2].rstrip() + "; the ledger of the tests is thrown away after each run, and so is every fare\n"
        self.writes(f"{here}/MEMORY.md", "".join(lines), minutes=30)

    def has_hermes(self) -> None:
        """Let Hermes have worked here too."""
        folder = Path(self.world.folder, ".hermes", "memories")
        folder.mkdir(parents=True)
        self.now = NOW - 90 * MINUTE
        path = folder / "MEMORY.md"
        path.write_text(HERMES, "utf-8")
        self._date(path)

    def has_serena(self) -> None:
        """Let Serena keep memories of the project too."""
        folder = Path(self.world.project, ".serena", "memories")
        folder.mkdir(parents=True)
        self.now = NOW - 90 * MINUTE
        path = folder / "harbour.md"
        path.write_text("# The harbour\n\nPier 3 belongs to the pilots.\n", "utf-8")
        self._date(path)

    def fills_an_index(self) -> None:
        """Let Claude Code's index grow past its limit, and CLAUDE.md import a page of the project and one above it."""
        with self.engine() as engine:
            index = engine.read(self.place(engine, "claude-code:project/MEMORY.md")).text
            instructions = engine.read(self.place(engine, "claude-code:project:instructions/CLAUDE.md")).text
        more = [
            f"- [Sailing {number}](sailing_{number}.md) — what the skipper said about the {number}th crossing\n"
            for number in range(1, 241)
        ]
        self.writes("claude-code:project/MEMORY.md", index + "".join(more), minutes=30)
        imports = "\n@docs/ledger.md\n@../harbour-rules.md\n"
        self.writes("claude-code:project:instructions/CLAUDE.md", instructions + imports, minutes=30)
        ledger = Path(self.world.project, "docs", "ledger.md")
        ledger.parent.mkdir(exist_ok=True)
        ledger.write_text("# The ledger\n\nEvery fare is booked twice. Nothing is ever taken out.\n", "utf-8")

    def deletes(self, address: str) -> None:
        """Let an agent delete a memory through memtui."""
        with self.engine() as engine:
            engine.memories.delete([self.place(engine, address)], actor=CLAUDE)

    def place(self, engine: Engine, address: str) -> Address:
        """An address as it is typed; `claude-code:project` is this project's."""
        root, _, path = address.partition("/")
        return Address(engine.roots.find(root).id, path)

    def _clock(self) -> int:
        self.now += 1
        return self.now

    def _date(self, path: str | Path) -> None:
        os.utime(path, ns=(self.now * 1_000_000,) * 2)

    def _lately(self) -> None:
        """What happened in the last half hour, of which the user has seen nothing yet."""
        with self.engine(21) as engine:
            for row in engine.rows.list().items:
                path = engine.roots.file_path(row.address)
                if os.stat(path).st_mtime_ns > START:
                    self._date(path)
            engine.watch.reconcile()
            note = Address("memtui:workspace", "scratch.md")
            engine.memories.delete([self.place(engine, str(note))], actor=YOU)
        self.saves("memtui:project/decisions.md", "an hour while", "two hours, in two load tests, while", minutes=14)
        with self.engine(13) as engine:
            text = (
                "---\ndescription: Refunds are paid within three working days\n---\n# Refunds\n\n"
                "- A refund goes back the way the money came.\n- The harbour office signs off anything above 200.\n"
            )
            address = Address("memtui:project", "domain/refunds.md")
            engine.memories.create(address, text, actor=CLAUDE)
            self._date(engine.roots.file_path(address))
        self.saves("memtui:global/style/python.md", "", "- Log what was decided, not what was tried.\n", minutes=12)
        with self.engine(4) as engine:
            engine.memories.delete([self.place(engine, "memtui:global/style/sql.md")], actor=CODEX)
            engine.pins.record_use(Address("memtui:project", "decisions.md"), actor=CODEX)

    def disagrees(self) -> None:
        """Leave a draft of the user's, and let an agent write the same line."""
        with self.engine(3) as engine:
            leave_conflict(engine)
            self._date(engine.roots.file_path(self.place(engine, "memtui:project/deploy.md")))

    def grows(self) -> None:
        """Pin more than an agent is given."""
        with self.engine(9 * 60) as engine:
            for name in ("fares", "importers", "queues"):
                address = Address("memtui:global", f"research/{name}.md")
                lines = "".join(f"- {READING[number % len(READING)]}\n" for number in range(300))
                engine.memories.create(address, f"---\ndescription: How others do {name}\n---\n{lines}", actor=YOU)
                engine.pins.set([address], pinned=True, actor=YOU)
                self._date(engine.roots.file_path(address))

    def checks_out(self) -> None:
        """Let a checkout bring many memories at once."""
        months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
        for number in range(24):
            name = f"memtui:project/timetable/{months[number % 12]}-{'early' if number < 12 else 'late'}.md"
            self.writes(name, f"# Sailings\n\n- {8 + number} a day, the last at 21:{number:02}\n", minutes=2)
