"""The tool `memory_recall`: texts, uses, and a switch that shuts it at once."""

import json
from collections.abc import Iterator

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import Actor
from memtui.errors import UsageError
from memtui.features import table
from memtui.features.feature import load
from memtui.features.recall.tool import answer, call
from memtui.given.tokens import estimate
from tests.mcp_server.conftest import store
from tests.mcp_server.talk import OBSERVE, Store, talk

__all__ = ["store"]
ME = Actor("mcp:codex")


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    store.write("global/deploy.md", "We deploy by ferry.\n")
    store.write("global/other.md", "Tabs.\n")
    with store.engine() as made:
        yield made


def test_it_gives_texts_and_counts_a_use_of_each(engine: Engine, store: Store) -> None:
    said = call(engine, ME, {"query": "how do we deploy"})
    assert said.ok
    assert "### deploy (/memories/global/deploy.md)" in said.text
    assert "We deploy by ferry." in said.text
    assert call(engine, ME, {"query": "football", "limit": 0}).text == "No memory helps with that."
    engine.close()
    uses = {path: row.uses for path, row in store.rows().items()}
    assert uses == {"memtui:global/deploy.md": 1, "memtui:global/other.md": 0}


@pytest.mark.parametrize("given", [{}, {"query": 7}, {"query": "x", "limit": -1}, {"query": "x", "limit": "many"}])
def test_what_it_refuses(engine: Engine, given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        call(engine, ME, given)


async def test_switched_off_it_is_neither_offered_nor_answered(store: Store) -> None:
    store.write("global/deploy.md", "We deploy by ferry.\n")
    async with talk() as it:
        await it.hello()
        assert (await it.call("memory_recall", query="deploy"))[0]
        for text in ("[lifecycle]\nrecall = false\n", "[lifecycle]\nenabled = false\n"):
            store.configure(text)
            names = [tool["name"] for tool in (await it.ask("tools/list"))["tools"]]
            assert names == ["memory", "memory_search", *OBSERVE]
            done, said = await it.call("memory_recall", query="deploy")
            assert (done, said.split(":")[0]) == (False, "E_DISABLED")
        store.configure("")
        assert (await it.call("memory_recall", query="deploy"))[0]


def test_all_tools_together_cost_little(engine: Engine) -> None:
    offers = [(tool.name, load(tool.offer)(engine)) for tool in table.tools()]
    told = [{"name": name, "description": one.description, "inputSchema": one.schema} for name, one in offers]
    assert estimate(json.dumps(told)) < 1_500


def test_over_http_no_word_of_what_is_private_is_confirmed(engine: Engine, store: Store) -> None:
    store.write("global/plan.md", "ferry <private>pin zebra</private>\n")
    store.write("global/never.md", "ferry zebra <no-memory>\n")
    settings = load_settings(read_environment())
    assert answer(engine, settings, "http:x", {"query": "zebra", "limit": 5})["items"] == []
    items = answer(engine, settings, "http:x", {"query": "ferry", "limit": 5})["items"]
    assert isinstance(items, list)
    assert sorted(one["address"] for one in items) == ["memtui:global/deploy.md", "memtui:global/plan.md"]
