"""A request that is queued durably, against one durable commit; and what it costs to look at lanes that are quiet."""

import itertools
import os
from collections.abc import Callable, Iterator

import apsw

from memtui.engine import Engine
from memtui.features.tasks.shown import glance
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare

CONTENT = "Deploys go through staging first, because the ferry terminal has no rollback. " * 4


def cases(plan: Plan) -> Iterator[Case]:
    """Queueing and looking, each against a commit in a write-ahead log with its flush."""
    rounds = plan.pick(150, 600)
    notes = world.make(plan.folder, "notes")
    os.sync()
    with world.engine(notes, os.path.join(plan.folder, "state")) as engine:
        queue, look = queueing(engine), looking(engine)

        def queued() -> Figure:
            return compare(queue, commit(world.make_new(plan.folder)), rounds=rounds, name="durable commit")

        def looked() -> Figure:
            return compare(look, commit(world.make_new(plan.folder)), rounds=rounds, name="durable commit")

        yield Case("a task queued", "300 B", queued, 3.0)
        yield Case("a look at quiet lanes", "1,000 tasks", looked, 1.0)


def queueing(engine: Engine) -> Callable[[], None]:
    """A job that queues a request, one lane after the other."""
    numbers = itertools.count()

    def queue() -> None:
        request = {"content": CONTENT, "contextMode": "workspace"}
        engine.tasks.enqueue("remember", f"lane-{next(numbers) // 16}", "cli", request, trigger="manual")

    return queue


def looking(engine: Engine) -> Callable[[], None]:
    """A job that looks at the lanes as an open workbench does twice a second."""
    for _ in range(1_000):
        task = engine.tasks.enqueue("remember", "old", "cli", {"content": CONTENT}, trigger="manual")
        engine.tasks.finish(task.id, "completed", result={})
    news = glance(engine.tasks, "old", None)

    def look() -> None:
        nonlocal news
        news = glance(engine.tasks, "old", news)

    return look


def commit(folder: str) -> Callable[[], None]:
    """A job that puts as much into a table of its own, durably."""
    database = apsw.Connection(os.path.join(folder, "one.db"))
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE requests (request TEXT)")

    def put() -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO requests VALUES (?)", (CONTENT,))
        database.execute("COMMIT")

    return put
