"""What a request recalls: the best first, only what may be given, the same with and without an index."""

import os
import time
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.find.index import NAME
from memtui.engine.model import Root
from memtui.engine.policy import Policy
from memtui.features.recall.find import SEED, Recalled, recall
from tests.given.world import World
from tests.reviews import review

HOSTILE = [
    '"',
    "NEAR(deploy ferry)",
    "deploy* OR ferry",
    "the of and",
    " ",
    "",
    "\ud800deploy",
    "\0",
    "记",
    "e" * 1_000_000,
]


def names(found: Recalled) -> list[str]:
    return [one.row.address.path for one in found.items]


def filled(world: World) -> None:
    world.write("global", "deploy.md", "---\ndescription: How we release to production\n---\nBy ferry, on Mondays.\n")
    world.write("global", "queue.md", "The retry queue has three workers and is drained by a cron job.\n")
    world.write("global", "部署.md", "部署脚本在根目录\n")
    world.write("workspace", "ferry.md", "Terminal and timetable.\n")
    world.write("workspace", "noise.md", "Nothing of note about production.\n")


def test_the_best_comes_first_and_says_why(world: World, engine: Engine) -> None:
    filled(world)
    found = recall(engine, "Which ferry do we deploy with?")
    assert names(found) == ["deploy.md", "ferry.md"] or names(found) == ["ferry.md", "deploy.md"]
    assert {one.row.address.path: one.words for one in found.items}["deploy.md"] == ("ferry", "deploy")
    assert names(recall(engine, "release production"))[0] == "deploy.md"
    assert names(recall(engine, "部署脚本")) == ["部署.md"]
    assert names(recall(engine, "production", limit=1)) == ["noise.md"] or names(recall(engine, "production", limit=1))
    assert names(recall(engine, "production", limit=0)) == []
    assert names(recall(engine, "retry", scorer=SEED))[0] == "queue.md"


def test_a_word_that_no_memory_has_counts_as_its_other_forms(world: World, engine: Engine) -> None:
    world.write("global", "a.md", "Deploys go through staging, because the ferry has no rollback.\n")
    world.write("global", "b.md", "Caching is off on Mondays.\n")
    assert names(recall(engine, "How do we deploy?")) == ["a.md"]
    assert names(recall(engine, "the cached pages")) == ["b.md"]
    assert names(recall(engine, "the process of classes")) == []
    world.write("global", "c.md", "Who may deploy.\n")
    assert names(recall(engine, "deploy")) == ["c.md"], "a memory has the word itself"


def test_what_is_not_asked_for_has_to_fit(world: World, engine: Engine) -> None:
    filled(world)
    assert names(recall(engine, "drain the retry queue", asked=False))[0] == "queue.md"
    for prompt in ("thanks!", "undo that", "production", "write a haiku about autumn"):
        assert names(recall(engine, prompt, asked=False)) == []


def test_only_reviewed_memories_and_no_index_and_no_instructions(world: World, engine: Engine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("MEMORY.md", "topic.md"):
        (other / name).write_text("ferry\n")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "CLAUDE.md").write_text("ferry\n")
    policy = Policy(index_file="MEMORY.md")
    engine.roots.add(
        [
            Root("claude-code:project", str(other), "claude-code", "project", policy=policy),
            Root("claude-code:rules", str(tmp_path / "rules"), "claude-code", "project", kind="instructions"),
            Root("codex:global", str(world.folder / "codex"), "codex"),
        ]
    )
    world.write("project", "brought.md", "ferry\n")
    (world.folder / "codex").mkdir()
    (world.folder / "codex" / "c.md").write_text("ferry\n")
    found = recall(engine, "ferry")
    assert (sorted(names(found)), found.waiting) == (["c.md", "topic.md"], 1)
    assert names(recall(engine, "ferry", agent="mcp:claude-code-vscode")) == ["topic.md"]
    assert names(recall(engine, "ferry", agent="somebody")) == []
    assert review(engine) == 1
    found = recall(engine, "ferry", agent="somebody")
    assert (names(found), found.waiting) == (["brought.md"], 0)


@pytest.mark.parametrize("request_", HOSTILE, ids=range(len(HOSTILE)))
def test_no_request_is_an_error(world: World, engine: Engine, request_: str) -> None:
    filled(world)
    for asked in (True, False):
        for _ in range(2):
            recall(engine, request_, asked=asked)
    recall(engine, request_, scorer=SEED)


def answer(world: World) -> list[tuple[str, float]]:
    with world.engine() as engine:
        return [(str(one.row.address), one.score) for one in recall(engine, "deploy by ferry 部署 production").items]


def test_the_answer_is_the_same_without_the_index_and_with_a_damaged_or_busy_one(world: World) -> None:
    import apsw

    filled(world)
    first = answer(world)
    assert len(first) == 4
    path = Path(world.state) / NAME
    assert answer(world) == first
    assert path.stat().st_size > 0
    busy = apsw.Connection(str(path))
    busy.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    assert answer(world) == first
    busy.close()
    path.write_bytes(os.urandom(8_192))
    assert answer(world) == first
    path.unlink(missing_ok=True)
    assert answer(world) == first


def test_a_text_that_changed_is_found_by_what_it_says_now(world: World, engine: Engine) -> None:
    address = world.write("global", "a.md", "ferry\n")
    assert names(recall(engine, "ferry")) == ["a.md"]
    path = world.path("global", "a.md")
    path.write_text("bridge\n")
    os.utime(path, (time.time() - 60, time.time() - 60))
    assert names(recall(engine, "ferry")) == []
    assert [one.row.address for one in recall(engine, "bridge").items] == [address]
