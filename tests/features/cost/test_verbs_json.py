"""What agents start with, as JSON."""

import json

from memtui.agents.agent import CUT_OFF, ON_DEMAND
from memtui.agents.loaded_text import CUT, Gap
from memtui.agents.session_start import LoadedFile
from memtui.engine.model import Address
from memtui.features.cost.start_cost import Cost, CountedFile
from memtui.features.cost.verbs import cost_json, summary_json

ITEMS = (
    CountedFile(
        LoadedFile("index", "/a/MEMORY.md", CUT_OFF, "Why.", 20, b"one\ntwo\nthree\n", (Gap(8, 20, CUT),)),
        8,
        2,
        Address("r", "m"),
    ),
    CountedFile(LoadedFile("memories", "/a/b.md", ON_DEMAND, "", 5), 0, 0),
    CountedFile(LoadedFile("hot set", "hot set", raw=b"x", made=True), 1, 1),
)
COST = Cost("x", "X", "/p", ITEMS, "estimate", "Estimated.", "Note.")


def test_sums_and_items() -> None:
    document = cost_json(COST)
    assert document["files"] == 2
    assert (document["bytes"], document["tokens"], document["tokens_by"]) == (9, 3, "estimate")
    assert document["below_limits"] == 12
    assert document["marks"] == {"cut": 1, "on demand": 1}
    items = document["items"]
    assert isinstance(items, list)
    index, memory, made = items
    assert index == {
        "what": "index",
        "path": "/a/MEMORY.md",
        "address": "r/m",
        "mark": "cut",
        "why": "Why.",
        "size": 20,
        "bytes": 8,
        "tokens": 2,
        "below_limits": 12,
        "cut_line": 3,
        "depth": 0,
        "files": 1,
    }
    assert (memory["address"], memory["cut_line"], made["path"]) == (None, None, None)
    assert json.dumps(document)


def test_the_summary_is_the_same_without_items() -> None:
    document = cost_json(COST)
    assert summary_json(COST) == {key: value for key, value in document.items() if key not in ("items", "note")}
