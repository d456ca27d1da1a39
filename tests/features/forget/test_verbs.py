"""`memtui forget`: shown first, done by id or by yes, and for good only when a person at a terminal says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result


class World:
    """A folder of memories with a secret in several of them."""

    def __init__(self, cli: Cli, base: Path) -> None:
        self.cli, self.base = cli, base
        base.mkdir(parents=True)
        self.write("likes.md", "- Use tabs\n- The door code is 4711-swordfish\n")
        self.write("code.md", "The door code is 4711-swordfish\n")

    def write(self, name: str, text: str) -> None:
        """Write as an agent does."""
        (self.base / name).write_text(text, encoding="utf-8")

    def __call__(self, *words: str) -> Result:
        return self.cli("--only-root", "--root", f"n={self.base}", *words)

    def held(self) -> dict[str, str]:
        """Every file."""
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(self.base.iterdir())}


@pytest.fixture
def world(cli: Cli, tmp_path: Path) -> World:
    return World(cli, tmp_path / "notes")


def test_it_is_shown_first_and_nothing_changes_without_yes_or_id(world: World) -> None:
    before = world.held()
    result = world("forget", "4711", "DOOR")
    assert [line.split("\t")[0].partition("@")[0] for line in result.lines] == ["n/code.md", "n/likes.md#2"]
    assert "--yes forgets all 2" in result.err
    document = world("forget", "door code", "--json").json
    assert (document["written"], document["txn"]) == (False, None)
    assert world("forget", "nobody-said-this").err == "Nothing to forget.\n"
    assert world.held() == before


def test_ids_and_yes_forget_and_one_undo_brings_back(world: World) -> None:
    before = world.held()
    items = world("forget", "tabs", "--json").items
    done = world("forget", "--id", str(items[0]["id"]))
    assert done.lines[-1] == f"forgot\t{items[0]['id']}"
    assert world.held()["likes.md"] == "- The door code is 4711-swordfish\n"
    assert world("undo").status == 0
    document = world("forget", "door code", "--yes", "--json").json
    assert document["written"] is True
    assert world.held() == {"likes.md": "- Use tabs\n"}
    assert world("undo").status == 0
    assert world.held() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "E_USAGE"),
        (("", "--yes"), "E_QUERY"),
        (("tabs", "--id", "n/likes.md"), "E_USAGE"),
        (("--id", "n/none.md"), "E_NOT_FOUND"),
        (("--id", "n/likes.md#9@abcdef"), "E_CONFLICT"),
        (("tabs", "--yes", "--redact"), "E_USAGE"),
        (("tabs", "--yes", "--redact", "--reason", "x"), "E_PERSON"),
    ],
)
def test_what_is_not_clear_is_refused(world: World, words: tuple[str, ...], code: str) -> None:
    before = world.held()
    assert world("forget", *words, "--json").error["code"] == code
    assert world.held() == before


def test_switched_off_it_is_only_shown(world: World, config: Path) -> None:
    config.write_text("[lifecycle]\nenabled = false\n")
    before = world.held()
    assert len(world("forget", "4711").lines) == 2
    for given in (("4711", "--yes"), ("--id", "n/code.md")):
        assert world("forget", *given, "--json").error["code"] == "E_DISABLED"
    assert world.held() == before


def test_so_many_never_go_by_words_alone(world: World) -> None:
    world.write("many.md", "".join(f"- number {number} swordfish\n" for number in range(101)))
    before = world.held()
    assert len(world("forget", "number", "--json").items) == 101
    assert world("forget", "number", "--yes", "--json").error["code"] == "E_TOO_MANY"
    assert world.held() == before


def test_what_an_agent_chooses_is_only_proposed(world: World) -> None:
    before = world.held()
    document = world("--actor", "agent:x", "forget", "tabs", "--yes", "--json").json
    assert (document["written"], document["state"]) == (False, "open")
    line = world("--actor", "agent:x", "forget", "--id", "n/code.md").lines[-1]
    assert line.startswith("proposed\t")
    assert line.endswith("\tn/code.md")
    assert world.held() == before


def test_an_agent_is_told_nothing_that_is_marked_as_private(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("plan.md", "---\nname: <private>zebra name</private>\n---\n<private>\nzebra\n</private>\npangolin\n")
    world.write("open.md", "- pangolin <private>zebra\n- a zebra pangolin\n")
    assert len(world("forget", "zebra", "--json").items) == 3
    monkeypatch.setenv("CLAUDECODE", "1")
    assert world("forget", "zebra", "--json").items == []
    items = world("forget", "pangolin", "--json").items
    assert [one["title"] for one in items] == ["pangolin [private]", "[private]"]
    for words in (("pangolin",), ("pangolin", "--yes"), ("--id", str(items[0]["id"]), "--id", "n/plan.md")):
        assert "zebra" not in world("forget", *words, "--json").out
        assert "zebra" not in world("forget", *words).out
    for number in ("1", "2"):
        assert "zebra" not in world("review", number).out
        assert "zebra" not in world("review", number, "--json").out
    assert "zebra" not in world("review", "--json").out


def test_for_good_leaves_it_in_no_file_of_memtui(world: World, person: Callable[[str], None], tmp_path: Path) -> None:
    world.write("likes.md", "- Use tabs\n- The door code is 4711-swordfish\n- Use ruff\n")
    assert world("changes").status == 0
    assert world("rm", "n/code.md").status == 0
    assert world("remember", "The door code is 4711-swordfish").status == 0  # it waits for a memtui that is open
    assert world("--actor", "agent:x", "remember", "The door code is 4711-swordfish, says the porter").status == 0
    person("yes\n")
    items = world("forget", "swordfish", "--json").items
    result = world("forget", "--id", str(items[0]["id"]), "--redact", "--reason", "was shown to agents", "--json")
    assert result.status == 0, result.err
    assert result.json["redacted"] == 2
    assert "agents' own session files, git" in result.err
    assert world.held() == {"likes.md": "- Use tabs\n- Use ruff\n"}
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"4711-swordfish" in path.read_bytes()]
    assert left == []


def test_an_id_is_shown_whole_however_narrow_the_terminal(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{'a-long-name-' * 5}.md"
    world.write(name, "Use spaces\n")
    monkeypatch.setenv("COLUMNS", "60")
    result = world.cli("--only-root", "--root", f"n={world.base}", "forget", "spaces", terminal=True)
    assert any(line.startswith(f"n/{name}") for line in result.lines)
