"""Thread workers only post messages."""

import pytest

from tests.house.source import Source, sources
from tests.house.workers import thread_workers, worker_offences

ALLOWED = {
    ("memtui/ui/process.py", "_last_words"): "runs while the process dies, when there is no event loop to post to",
}

PASSED = frozenset(ALLOWED)

HEAD = "class Screen:\n    @work(thread=True)\n    def load(self):\n        "


def test_thread_workers_only_post_messages() -> None:
    found = [
        str(offence)
        for source in sources("memtui/ui", "memtui/workbench")
        for offence in worker_offences(source, frozenset(ALLOWED))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "self.query_one(Tree).clear()",
        HEAD + "self.app.push_screen(Ask())",
        HEAD + "self.rows = self.engine.list()",
        HEAD + "node.allow_expand = True",
        HEAD + "self.apply(1)",
        "class S:\n def go(self):\n  self.run_worker(partial(self.load), thread=True)\n def load(self):\n  self.act()",
        "class S:\n def go(self):\n  self.run_worker(lambda: self.notify('x'), thread=True)",
        "class S:\n def go(self):\n  self.bridge.run(lambda engine: self.show(engine.list()), then=self.show)",
        "class S:\n def go(self):\n  Thread(target=self.load).start()\n def load(self):\n  self.rows = 1",
        "class S:\n def go(self):\n  self.pool.submit(self.load)\n def load(self):\n  self.refresh()",
    ],
)
def test_a_worker_that_does_more_is_found(text: str) -> None:
    assert list(worker_offences(Source.of(text)))


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "rows = self.engine.list()\n        self.post_message(Rows(rows))",
        "class S:\n def go(self):\n  self.bridge.run(lambda engine: engine.list(), then=self.show)",
        "class S:\n    def load(self):\n        self.rows = 1",
        "class S:\n    @work\n    async def load(self):\n        self.rows = 1",
    ],
)
def test_a_worker_that_posts_and_plain_methods_pass(text: str) -> None:
    assert not list(worker_offences(Source.of(text)))


def test_the_bridge_has_thread_workers() -> None:
    assert [source.name for source in sources("memtui/ui", "memtui/workbench") if list(thread_workers(source))]


def test_no_exception_outlives_its_reason() -> None:
    there = {
        (source.name, getattr(function, "name", "lambda"))
        for source in sources("memtui/ui", "memtui/workbench")
        for function, _ in thread_workers(source)
    }
    assert set(ALLOWED) <= there


def test_an_exception_lets_only_its_own_function_pass() -> None:
    source = Source.of(HEAD + "self.apply(1)")
    assert list(worker_offences(source, frozenset({(source.name, "other")})))
    assert not list(worker_offences(source, frozenset({(source.name, "load")})))
