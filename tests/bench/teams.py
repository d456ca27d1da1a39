"""What a team costs who saves: nothing waits for its server, whatever that does.

A save is a whole command, as a hook of an agent runs it; or one of a program that stays open and asks the server
meanwhile, every tenth of a second in place of every five. Beside each stands the same without a team.
"""

import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread

from memtui.config.read import load_settings
from memtui.features.team import postgres
from memtui.features.team.postgres import team_server_of
from memtui.wire.session import Options, Session, open_session
from tests import team_server
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, SkippedError, duration, percentile, timed
from tests.bench.commands import START, start
from tests.bench.saves import SIZE, fresh_texts, saver

ASKED_S = 0.1
LIMIT = 1.1
"""Times the 95th percentile of a save without a team."""


def cases(plan: Plan) -> Iterator[Case]:
    """Saves while the server answers, while it is silent, and when it is gone."""
    if team_server.INITDB is None:
        yield Case("save in a team", "", _skipped, LIMIT)
        return
    rounds = plan.pick(20, 100)
    with team_server.made() as server:
        server.fresh()
        alone, joined = (_home(plan.folder, name) for name in ("alone", "joined"))
        url = server.url("ann")
        Path(joined["MEMTUI_HOME"], "config.toml").write_text(f'[team]\nurl = "{url}"\n')
        with _opened(alone) as ours, _opened(joined) as theirs:
            for one in (ours, theirs):
                one.engine.journal.add("team", {"joined": "ann"})
            team_server_of(url).call("join_as", postgres.store_name(theirs.engine, theirs.settings))
            for state, put in (("answers", tuple), ("is silent", server.pause), ("is gone", server.stop)):
                put()
                yield Case("memtui save, process", f"server {state}", partial(_commands, joined, alone, rounds), LIMIT)
                with _asking(theirs):
                    yield Case(
                        "save while it is asked", f"server {state}", partial(_saves, theirs, ours, 5 * rounds), LIMIT
                    )


def _skipped() -> Figure:
    raise SkippedError("no PostgreSQL server is installed here (initdb)")


def _home(folder: str, name: str) -> Mapping[str, str]:
    """The environment of a home with twenty memories."""
    place = world.make(folder, name)
    env = world.environment(place)
    notes = world.make(place, "notes")
    os.makedirs(env["MEMTUI_HOME"])
    world.memories(notes, 20, size=SIZE, folders=0)
    return env


@contextmanager
def _opened(env: Mapping[str, str]) -> Iterator[Session]:
    notes = os.path.join(os.path.dirname(env["MEMTUI_HOME"]), "notes")
    options = Options(roots=(f"notes={notes}",), only_roots=True)
    session = open_session(load_settings(env), options, lock_wait=5.0)
    with session.engine:
        yield session


@contextmanager
def _asking(session: Session) -> Iterator[None]:
    """Send what the journal has, again and again, as a lane does."""
    ended = Event()

    def ask() -> None:
        while not ended.wait(ASKED_S):
            postgres.begin(session, session.settings)

    thread = Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _commands(joined: Mapping[str, str], alone: Mapping[str, str], rounds: int) -> Figure:
    texts = fresh_texts()

    def job(env: Mapping[str, str]) -> Callable[[], None]:
        place = Path(env["MEMTUI_HOME"]).parent
        memory, text = place / "notes" / "memory-00005.md", place / "text"
        words = [f"--root=notes={memory.parent}", "--only-root", "save", f"notes/{memory.name}", f"--file={text}"]

        def save() -> None:
            text.write_text(next(texts))
            start(START, [*words, f"--expect={sha256(memory.read_bytes()).hexdigest()}"], env)

        return save

    return _tails(job(joined), job(alone), rounds)


def _saves(joined: Session, alone: Session, rounds: int) -> Figure:
    return _tails(saver(joined.engine, "memory-00003.md"), saver(alone.engine, "memory-00003.md"), rounds)


def _tails(ours: Callable[[], None], theirs: Callable[[], None], rounds: int) -> Figure:
    """Compare the 95th percentiles of two jobs that take turns."""
    own, other = list[float](), list[float]()
    for round_ in range(rounds + 1):
        pair = [(ours, own), (theirs, other)]
        for job, times in pair if round_ % 2 else reversed(pair):
            times.append(timed(job))
    tails = [percentile(sorted(times[1:]), 0.95) for times in (own, other)]
    ratio = tails[0] / tails[1]
    middle = statistics.median(own[1:]) / statistics.median(other[1:])
    return Figure(
        ratio, min(middle, ratio), max(middle, ratio), f"p95 {duration(tails[0])}", f"without p95 {duration(tails[1])}"
    )
