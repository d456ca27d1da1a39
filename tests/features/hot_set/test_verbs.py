"""`memtui context`: as text, as JSON and as the answer of a hook."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.engine.model import Actor
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.verbs import context_json
from tests.cli.conftest import Cli, Person
from tests.conftest import Clock
from tests.given.world import World

PREFERENCES = b"---\ndescription: How we write\n---\nUse tabs, caf\xc3\xa9.\n"


@pytest.fixture
def kept(cli: Cli) -> Cli:
    """The command line, with two memories of memtui's own, one of them pinned."""
    assert cli("create", "memtui:global/preferences.md", "-", stdin=PREFERENCES).status == 0
    assert cli("create", "memtui:workspace/todo.md", "-", stdin=b"Nothing.\n").status == 0
    assert cli("pin", "memtui:global/preferences.md").status == 0
    return cli


def test_it_prints_both_blocks(kept: Cli) -> None:
    result = kept("context")
    assert result.status == 0
    assert result.lines[0] == "<memory_index>"
    assert '- /memories/global/preferences.md — "How we write"' in result.lines
    assert "- /memories/workspace/todo.md" in result.lines
    assert "Use tabs, café." in result.lines
    assert result.lines[-1] == "</hot_memories>"
    assert kept("context", terminal=True).raw == result.raw


def test_parts(kept: Cli) -> None:
    index, hot = kept("context", "--part", "index"), kept("context", "--part", "hot")
    assert kept("context", "--part", "all").raw == index.raw + b"\n" + hot.raw
    assert "</hot_memories>" not in index.out
    assert "</memory_index>" not in hot.out


def test_nothing_is_said_of_nothing(cli: Cli) -> None:
    assert "(no memories yet)" in cli("context").lines
    assert cli("context", "--part", "hot").raw == b""


def test_json_has_what_was_chosen(kept: Cli) -> None:
    for words in (["--json"], ["--format", "json"]):
        document = kept("context", *words).json
        assert document["text"] == kept("context").out
        assert [item["path"] for item in document["items"]] == ["/memories/global/preferences.md"]  # type: ignore[attr-defined]


def test_a_hook_is_answered_in_its_own_words_and_within_its_limit(kept: Cli) -> None:
    short = kept("context", "--format", "hook", "--client", "claude-code").json
    assert short == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": kept("context").out}}
    for number in range(12):
        text = f"---\ndescription: {'long ' * 30}\n---\n{'é🔥 ' * 9_000}".encode()
        kept("create", f"memtui:global/big-{number}.md", "-", stdin=text)
        kept("pin", f"memtui:global/big-{number}.md")
    result = kept("context", "--format", "hook")
    assert len(result.out.encode("utf-16-le")) // 2 <= 10_000
    shown = str(result.json["hookSpecificOutput"]["additionalContext"])  # type: ignore[index]
    assert shown.endswith("</hot_memories>\n")
    assert "[truncated: view /memories/global/big-0.md" in shown


def test_agents_switched_off_get_nothing(kept: Cli, home: Path) -> None:
    (home / ".memtui-test" / "config.toml").write_text("[agents]\nenabled = false\n")
    result = kept("context")
    assert (result.status, result.raw) == (5, b"")
    assert "E_DISABLED" in result.err
    assert kept("context", "--json").error["code"] == "E_DISABLED"


def test_a_client_is_given_what_it_may_see(kept: Cli, home: Path) -> None:
    (home / ".memtui-test" / "config.toml").write_text('[access.codex]\nglobal = "off"\n')
    assert "preferences.md" not in kept("context", "--client", "codex").out
    assert "todo.md" in kept("context", "--client", "codex").out
    assert "preferences.md" in kept("context", "--client", "gemini").out


def test_a_checkout_is_reviewed_before_its_texts_are_given(cli: Cli, tmp_path: Path, person: Person) -> None:
    person("yes\n")
    planted = tmp_path / "work" / ".memtui" / "memory" / "planted.md"
    planted.parent.mkdir(parents=True)
    (tmp_path / "work" / ".git").mkdir()
    planted.write_text("Obey.\n")
    pinned = " ".join(cli("pin", "memtui:project/planted.md").err.split())
    assert "no text before you review it: g a in the workbench, or memtui roots --accept memtui:project" in pinned
    before = cli("context")
    assert "- /memories/project/planted.md" in before.lines
    assert "Obey." not in before.out
    assert cli("context", "--json").json["unreviewed"] == ["memtui:project"]
    assert cli("roots", "--accept", "memtui:project").status == 0
    assert "Obey." in cli("context").lines
    assert cli("context", "--json").json["unreviewed"] == []
    assert "review" not in cli("pin", "memtui:project/planted.md").err


@pytest.mark.parametrize("kept_aside", [True, False])
def test_another_checkout_at_the_same_path_is_reviewed_again(
    cli: Cli, tmp_path: Path, person: Person, *, kept_aside: bool
) -> None:
    person("yes\nyes\n")
    work = tmp_path / "work"

    def plant(text: str) -> None:
        (work / ".git").mkdir(parents=True)
        (work / ".memtui" / "memory").mkdir(parents=True)
        (work / ".memtui" / "memory" / "note.md").write_text(text)

    plant("Good.\n")
    cli("roots", "--accept", "memtui:project")
    cli("pin", "memtui:project/note.md")
    assert "Good." in cli("context", "--part", "hot").lines
    os.rename(work, tmp_path / "aside")
    if not kept_aside:
        shutil.rmtree(tmp_path / "aside")
    plant("Obey.\n")
    os.chdir(work)
    assert "Obey." not in cli("context", "--part", "hot").out
    assert "- /memories/project/note.md" in cli("context").lines
    assert cli("roots", "--accept", "memtui:project").status == 0
    assert "Obey." in cli("context", "--part", "hot").lines


def test_two_processes_print_the_same_bytes(kept: Cli) -> None:
    words = [sys.executable, "-m", "memtui", "context"]
    first, second = (
        subprocess.run(words, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    )
    assert first == second == kept("context").raw


def test_it_loads_nothing_slow(kept: Cli) -> None:
    code = "import sys; from memtui.cli.main import run; run(['context'])\nsys.stderr.write(','.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=dict(os.environ))
    loaded = set(done.stderr.decode().split(","))
    assert "memtui.features.hot_set.assemble" in loaded
    assert not loaded & {"textual", "asyncio", "yaml", "mcp", "portalocker", "shutil", "watchfiles"}


@pytest.mark.parametrize("text", ["agents.enabled = false\n", "[access]\nclaude-code = 'off'\n"])
def test_what_the_user_switched_off_is_quiet(cli: Cli, config: Path, text: str) -> None:
    config.write_text(text)
    result = cli("context", "--format", "hook", "--client", "claude-code")
    assert (result.status, result.json, result.err) == (0, {}, "")
    assert cli("context", "--client", "claude-code").status == 5


def test_what_is_wrong_is_told_to_the_user_and_stops_nobody(cli: Cli, config: Path) -> None:
    config.write_text("calm = maybe\n")
    result = cli("context", "--format", "hook")
    assert (result.status, list(result.json)) == (0, ["systemMessage"])
    assert "E_CONFIG" in str(result.json["systemMessage"])
    assert "doctor" in str(result.json["systemMessage"])
    assert str(config.parent.parent) not in result.out  # an agent may read it too
    assert "config.toml" in result.err
    assert cli("context").status == 2


def test_a_hook_is_asked_for_alone(cli: Cli) -> None:
    for words in (("--json",), ("--part", "hot")):
        result = cli("context", "--format", "hook", *words)
        assert result.status == 2
        assert "hookSpecificOutput" not in json.dumps(result.out)


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
        "uses": 2, "size": 44, "bytes": found.hot_text_bytes, "tokens": found.items[0].shown.tokens, "truncated": False,
        "masked": 1,
    }  # fmt: skip
    (left_out,) = document["left_out"]
    assert (left_out["address"], left_out["reason"]) == ("memtui:project/b.md", "unreviewed")
