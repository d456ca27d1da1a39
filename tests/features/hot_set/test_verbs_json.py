"""The JSON of a context has the names scripts rely on, and says what the value says."""

import json
from pathlib import Path

from memtui.engine.model import Actor
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.verbs import context_json
from tests.conftest import Clock
from tests.given.world import World

TUI = Actor("tui")


def test_everything_is_said(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock)
    with world.engine() as engine:
        address = world.write("global", "a.md", "key ghp_" + "a1B2" * 9)
        planted = world.write("project", "b.md", "x")
        engine.pins.set([address, planted], pinned=True, actor=TUI)
        world.use(engine, address, 2)
        found = build(engine)
    document = json.loads(json.dumps(context_json(found)))
    assert document["text"] == found.text
    assert document["sha256"] == found.sha256
    assert document["masked"] == 1
    assert document["unreviewed"] == ["memtui:project"]
    assert {key: document["index"][key] for key in ("memories", "listed", "unlisted", "masked")} == {
        "memories": 2,
        "listed": 2,
        "unlisted": [],
        "masked": 0,
    }
    assert document["index"]["limits"] == {"bytes": 24_576, "tokens": 8_000}
    assert document["hot"]["bytes"] == len(found.hot_block.text.encode())
    assert document["hot"]["limits"] == {
        "items": 8, "item_bytes": 16_384, "text_bytes": 49_152, "tokens": 12_000, "tries": 64,
    }  # fmt: skip
    (item,) = document["items"]
    assert item == {
        "address": "memtui:global/a.md", "path": "/memories/global/a.md", "place": 1, "pinned": True, "heat": 2.0,
        "uses": 2, "size": 44, "bytes": found.hot_text_bytes, "tokens": found.items[0].tokens, "truncated": False,
        "masked": 1,
    }  # fmt: skip
    (left_out,) = document["left_out"]
    assert (left_out["address"], left_out["reason"]) == ("memtui:project/b.md", "unreviewed")
