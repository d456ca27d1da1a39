"""An index made anew: proposed and not written, the newest first, within what the agent loads."""

import os
from pathlib import Path

import pytest

from memtui.agents.layout import slug
from tests.cli.conftest import Cli, Person

ROOT = "claude-code:project"
HEAD = "# What I know\n\n"


@pytest.fixture
def folder(cli: Cli, home: Path) -> Path:
    """Claude Code's memories of this project: three, and an index with a heading and one dead line."""
    made = home / ".claude/projects" / slug(str(Path.cwd())) / "memory"
    made.mkdir(parents=True)
    (made / "MEMORY.md").write_text(f"{HEAD}- [gone](gone.md) — was here\n- [A](a.md) — is here\n", "utf-8")
    for number, name in enumerate("abc"):
        (made / f"{name}.md").write_text(f"---\ndescription: What {name} is\n---\n{name}\n", "utf-8")
        os.utime(made / f"{name}.md", (1_750_000_000 + number,) * 2)
    return made


def test_it_is_proposed_and_a_person_accepts_it(cli: Cli, folder: Path, person: Person) -> None:
    before = (folder / "MEMORY.md").read_bytes()
    done = cli("health", ROOT, "--rebuild")
    assert (done.status, done.lines[-1].split("\t")[:2]) == (0, ["proposed", "1"])
    assert (folder / "MEMORY.md").read_bytes() == before
    person("yes\n")
    assert cli("accept", "1", terminal=True).status == 0
    lines = ["- [C](c.md) — What c is", "- [B](b.md) — What b is", "- [A](a.md) — What a is"]
    assert (folder / "MEMORY.md").read_text("utf-8") == HEAD + "\n".join(lines) + "\n"
    again = cli("health", ROOT, "--rebuild")
    assert (again.status, again.lines) == (0, [])
    assert "so already" in again.err


def test_what_does_not_fit_is_the_oldest_and_is_named(cli: Cli, folder: Path) -> None:
    for number in range(300):
        path = folder / f"n{number:03}.md"
        path.write_text(f"---\ndescription: {'long ' * 60}\n---\nx\n", "utf-8")
        os.utime(path, (1_760_000_000 + number,) * 2)
    document = cli("health", ROOT, "--rebuild", "--json").json
    left, changes = document["left"], document["changes"]
    assert isinstance(left, list)
    assert isinstance(changes, list)
    added = [line[1:] for line in str(changes[0]["diff"]).split("\n") if line.startswith("+- ")]
    assert added[0].startswith("- [N299](n299.md) — long")
    assert all(len(line) <= 150 for line in added)
    assert left[-3:] == ["c.md", "b.md", "a.md"]
    assert len(added) + len(left) == 303
    for more, whole in (([], True), (["- [B](b.md) — What b is" + " and more" * 13], False)):
        (folder / "MEMORY.md").write_text(HEAD + "\n".join([*added, *more]) + "\n", "utf-8")
        indexes = cli("health", ROOT, "--json").json["indexes"]
        assert isinstance(indexes, list)
        assert (indexes[0]["cut"] is None) is whole


def test_an_index_that_somebody_keeps_by_hand_is_left_alone(cli: Cli, folder: Path) -> None:
    with (folder / "MEMORY.md").open("a") as index:
        index.write("\nAlways read a.md first.\n")
    refused = cli("health", ROOT, "--rebuild")
    assert (refused.status, "keeps it by hand" in refused.err) == (2, True)
    assert cli("health", "--rebuild").status == 2


def test_a_folder_in_the_place_of_the_index_is_said(cli: Cli, folder: Path) -> None:
    (folder / "MEMORY.md").unlink()
    (folder / "MEMORY.md").mkdir()
    done = cli("health", ROOT, "--rebuild")
    assert done.status == 2
    assert "MEMORY.md is a folder, so no index can be written there." in done.err
    assert cli("review", "--json").items == []
