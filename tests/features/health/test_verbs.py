"""health, and an index made anew."""

import os
from pathlib import Path

import pytest

from memtui.agents.layout import slug
from memtui.features.health.checks import COMES_BACK
from tests.cli.conftest import Cli, Person

GONE = "- [gone.md](gone.md) — was here\n"
HERE = "- [a.md](a.md) — is here\n"


@pytest.fixture
def index(cli: Cli, home: Path) -> Path:
    """The index of Claude Code's memories of this project, with a dangling line, and a memory it does not name."""
    folder = home / ".claude/projects" / slug(str(Path.cwd())) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(GONE + HERE, encoding="utf-8")
    (folder / "a.md").write_text("a\n", encoding="utf-8")
    (folder / "b.md").write_text("---\ndescription: See\n---\nb\n", encoding="utf-8")
    return folder / "MEMORY.md"


def test_findings_one_a_line(cli: Cli, index: Path) -> None:
    result = cli("health")
    assert result.status == 0
    rows = [line.split("\t") for line in result.lines]
    assert [(row[0], row[2], row[3], row[4]) for row in rows] == [
        ("dangling", "1", "yes", "gone.md"),
        ("unnamed", "", "yes", "b.md"),
    ]
    assert rows[0][1].endswith("/MEMORY.md")


def test_json_has_the_indexes_as_well(cli: Cli, index: Path) -> None:
    document = cli("health", "--json").json
    items, indexes = document["items"], document["indexes"]
    assert isinstance(items, list)
    assert isinstance(indexes, list)
    assert [(one["kind"], one["path"], one["fix"]) for one in items] == [
        ("dangling", "gone.md", "remove the line"),
        ("unnamed", "b.md", "add a line"),
    ]
    assert indexes[0]["limits"]["lines"] == 200
    assert indexes[0]["lines"] == 2
    assert indexes[0]["cut"] is None


def test_what_is_switched_off_is_said_before_anything_is_fixed(cli: Cli, index: Path, home: Path) -> None:
    assert "loads nothing of this folder" not in cli("health", terminal=True).err.replace("\n", " ")
    (home / ".claude" / "settings.json").write_text('{"autoMemoryEnabled": false}')
    said = "The agent loads nothing of this folder now, switched off in ~/.claude/settings.json"
    assert said in cli("health", terminal=True).err.replace("\n", " ")
    assert said in cli("health", "--fix", "all").err.replace("\n", " ")
    indexes: list[dict[str, object]] = cli("health", "--json").json["indexes"]  # type: ignore[assignment]
    assert str(indexes[0]["off"]).startswith(said)
    roots: list[dict[str, object]] = cli("roots", "--json").json["items"]  # type: ignore[assignment]
    assert [one["switched_off"] for one in roots if one["switched_off"]] == ["in ~/.claude/settings.json"]


def test_without_a_terminal_fixing_only_shows(cli: Cli, index: Path) -> None:
    result = cli("health", "--fix", "all")
    assert result.status == 0
    assert "-" + GONE.rstrip() in result.lines
    assert "+- [b.md](b.md) — See" in result.lines
    assert "Nothing was written. To make the change: memtui health --fix all --yes" in result.err
    assert index.read_text(encoding="utf-8") == GONE + HERE


def test_with_yes_it_is_made_and_undone_at_once(cli: Cli, index: Path) -> None:
    result = cli("health", "--fix", "all", "--yes")
    assert "Made 2 fixes in " in result.err
    assert index.read_text(encoding="utf-8") == HERE + "- [b.md](b.md) — See\n"
    assert cli("undo").status == 0
    assert index.read_text(encoding="utf-8") == GONE + HERE


@pytest.mark.parametrize(("answer", "made"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"", False)])
def test_on_a_terminal_it_asks(cli: Cli, index: Path, answer: bytes, made: bool) -> None:
    result = cli("health", "--fix", "dangling", terminal=True, stdin=answer)
    assert "Make 1 fix in " in result.err
    assert (index.read_text(encoding="utf-8") == HERE) is made
    assert ("Nothing was written" in result.err) is not made


def test_json_tells_what_was_written(cli: Cli, index: Path) -> None:
    shown = cli("health", "--fix", "dangling", "--json").json
    assert (shown["written"], shown["fixes"]) == (False, 1)
    made = cli("health", "--fix", "dangling", "--yes", "--json").json
    assert made["written"] is True
    assert made["txn"]
    changes = made["changes"]
    assert isinstance(changes, list)
    assert "-" + GONE in changes[0]["diff"]


def test_long_lines_are_shortened_only_by_name(cli: Cli, index: Path) -> None:
    index.write_text("- [a.md](a.md) — " + "word " * 60 + "\n- [b.md](b.md)\n", encoding="utf-8")
    result = cli("health", "--fix", "all", "--yes")
    assert "Long lines are left as they are (1)" in result.err
    assert "There is nothing to fix." in result.err
    assert cli("health", "--fix", "long", "--yes").status == 0
    assert len(index.read_text(encoding="utf-8").split("\n")[0]) <= 150


def test_an_index_that_is_made_anew_is_fixed_only_by_name(cli: Cli, home: Path) -> None:
    folder = home / ".qwen/memories"
    folder.mkdir(parents=True)
    index = folder / "MEMORY.md"
    index.write_text(GONE, encoding="utf-8")
    result = cli("health", "--fix", "all", "--yes")
    assert "Left alone, because the agent makes them anew: qwen-code:global/MEMORY.md." in result.err
    assert index.read_text(encoding="utf-8") == GONE
    result = cli("health", "qwen-code:global", "--fix", "all", "--yes")
    assert "The agent makes this index anew from the memories: the fix holds only until it does." in result.err
    assert index.read_text(encoding="utf-8") == ""


def test_one_root(cli: Cli, index: Path) -> None:
    assert cli("health", "claude-code:project").lines
    assert not cli("health", "memtui:global").lines
    assert cli("health", "nobody:here").status == 4


def test_a_sound_machine_says_so(cli: Cli) -> None:
    assert "No agent keeps an index here." in cli("health", terminal=True).err


def test_nothing_is_fixed_where_nothing_may_be_written(cli: Cli, index: Path) -> None:
    assert cli("--read-only", "health", "--fix", "all", "--yes").status == 5
    assert index.read_text(encoding="utf-8") == GONE + HERE


def test_an_index_that_is_no_text_is_refused(cli: Cli, index: Path) -> None:
    data = (GONE + HERE).encode("utf-16")
    index.write_bytes(data)
    result = cli("health", "--fix", "all", "--yes")
    assert "E_TEXT" in result.err
    assert result.status != 0
    assert index.read_bytes() == data


@pytest.mark.parametrize("kind", ["cut", "all"])
def test_an_index_that_is_too_big_to_be_looked_at_is_refused(cli: Cli, index: Path, kind: str) -> None:
    for path in index.parent.glob("*.md"):
        path.unlink()
    index.write_text(HERE + "- line\n" * 200_000, encoding="utf-8")
    for more in ((), ("--json",)):
        result = cli("health", "--fix", kind, "--yes", *more)
        assert "E_TOO_BIG" in result.err + result.out
        assert "was not looked at" in result.err + result.out
        assert "nothing to fix" not in result.err
        assert result.status == 5
    assert index.stat().st_size > 1 << 20


def test_one_that_is_not_looked_at_is_told_beside_what_is_fixed(cli: Cli, index: Path, home: Path) -> None:
    (home / ".qwen/memories").mkdir(parents=True)
    (home / ".qwen/memories/MEMORY.md").write_text("- line\n" * 200_000, encoding="utf-8")
    result = cli("health", "--fix", "all", "--yes")
    assert result.status == 0
    assert "Made 2 fixes" in result.err
    assert "qwen-code:global/MEMORY.md was not looked at" in result.err.replace("\n", " ")


def test_a_cut_line_is_fixed_only_by_name_into_a_second_file(cli: Cli, index: Path) -> None:
    text = HERE + "- [b.md](b.md)\n" + "".join(f"- line {number}\n" for number in range(300))
    index.write_text(text, encoding="utf-8")
    more = index.with_name("MEMORY-more.md")
    left = cli("health", "--fix", "all", "--yes")
    assert "Over the line: " in left.err
    assert "--fix cut moves what is not loaded to a second file." in left.err
    assert "There is nothing to fix." in left.err
    shown = cli("health", "--fix", "cut")
    assert "+- line 299" in shown.lines
    assert "-- line 299" in shown.lines
    assert any(line.startswith("+++ ") and line.endswith("/MEMORY-more.md") for line in shown.lines)
    assert "103 lines move to MEMORY-more.md; the agent opens it when it needs more." in shown.err
    assert not more.exists()
    made = cli("health", "--fix", "cut", "--yes")
    assert "Made 1 fix in " in made.err
    assert "/MEMORY.md. `memtui undo` takes it back." in made.err
    kept, _, last = index.read_text(encoding="utf-8").rpartition("- [MEMORY-more.md](MEMORY-more.md) — ")
    assert last.count("\n") == 1
    assert kept + more.read_text(encoding="utf-8") == text
    assert not cli("health").lines
    again = cli("health", "--fix", "cut", "--yes")
    assert "There is nothing to fix." in again.err
    assert cli("undo").status == 0
    assert index.read_text(encoding="utf-8") == text
    assert not more.exists()


def test_each_command_that_shows_a_fix_is_named_with_how_much_it_is_about(cli: Cli, index: Path) -> None:
    long = "- [a.md](a.md) — " + "word " * 60 + "\n"
    index.write_text(GONE + long + "".join(f"- line {number}\n" for number in range(300)), encoding="utf-8")
    said = cli("health", terminal=True).err.replace("\n", " ")
    offers = "--fix all (2 findings), --fix long (1 finding), --fix cut (1 finding)."
    assert f"To see what a fix would change: memtui health {offers}" in said
    said = cli("health", "claude-code:project", terminal=True).err.replace("\n", " ")
    assert f"memtui health claude-code:project {offers}" in said


def test_where_a_cut_line_has_no_fix_it_is_said_why(cli: Cli, home: Path) -> None:
    folder = home / ".qwen/memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- line\n" * 300, encoding="utf-8")
    result = cli("health", "qwen-code:global", "--fix", "cut", "--yes")
    assert "There is nothing to fix." in result.err
    assert f"qwen-code:global/MEMORY.md: {COMES_BACK}" in result.err


def test_what_is_fixed_one_by_one_needs_its_line(cli: Cli, index: Path) -> None:
    text = HERE + "- [Out](../out.md) — x\n" + "- line\n" * 198 + "- [b.md](b.md)\n"
    index.write_text(text, encoding="utf-8")
    for kind in ("outside", "below"):
        refused = cli("health", "--fix", kind, "--yes")
        assert refused.status == 2
        assert "Name its line: --line N." in refused.err
    shown = cli("health", "--fix", "outside", "--line", "2")
    assert "+- Out `../out.md` — x" in shown.lines
    assert "memtui health --fix outside --line 2 --yes" in shown.err
    assert "There is nothing to fix." in cli("health", "--fix", "outside", "--line", "3", "--yes").err
    assert index.read_text(encoding="utf-8") == text
    assert "Made 1 fix in " in cli("health", "--fix", "outside", "--line", "2", "--yes").err
    text = text.replace("[Out](../out.md)", "Out `../out.md`")
    assert index.read_text(encoding="utf-8") == text
    assert "Made 1 fix in " in cli("health", "--fix", "below", "--line", "201", "--yes").err
    assert index.read_text(encoding="utf-8") == "- [b.md](b.md)\n" + text.removesuffix("- [b.md](b.md)\n")


def test_one_line_of_a_kind_alone(cli: Cli, index: Path) -> None:
    index.write_text(GONE + HERE + GONE, encoding="utf-8")
    assert cli("health", "--fix", "dangling", "--line", "3", "--yes").status == 0
    assert index.read_text(encoding="utf-8") == GONE + HERE


def test_several_indexes_with_such_a_line_are_told_apart_by_the_root(cli: Cli, home: Path, index: Path) -> None:
    folder = home / ".claude/agent-memory/helper"
    folder.mkdir(parents=True)
    for file in (folder / "MEMORY.md", index):
        file.write_text("- [Out](../../out.md)\n", encoding="utf-8")
    refused = cli("health", "--fix", "outside", "--line", "1", "--yes")
    assert (refused.status, "Name the root." in refused.err) == (2, True)
    assert cli("health", "claude-code:project", "--fix", "outside", "--line", "1", "--yes").status == 0
    assert (folder / "MEMORY.md").read_text(encoding="utf-8") == "- [Out](../../out.md)\n"


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
