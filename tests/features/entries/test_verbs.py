"""entries: one of many is listed, shown, added, edited and removed; another one is never hit."""

from pathlib import Path

import pytest

from memtui.engine.model import Address, Snapshot
from memtui.features.entries.model import parse, usage
from memtui.features.entries.verbs import entries_json, entry_json
from tests.cli.conftest import Cli, Editor, Result, left_overs

TEXT = "Ann uses zsh.\n§\nTests run with pytest.\n§\nReleases are on Fridays.\n"
AT = "mine/MEMORY.md"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory of Hermes, whose layout says that it holds entries."""
    path = tmp_path / "memories" / "MEMORY.md"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


@pytest.fixture
def here(here: Cli, memory: Path) -> Cli:
    """The command line with the root of that memory too."""

    def call(*words: str, stdin: bytes | None = b"", terminal: bool = False) -> Result:
        return here("--root", f"mine={memory.parent},agent=hermes", *words, stdin=stdin, terminal=terminal)

    return call


def name(here: Cli, number: int) -> str:
    """What `list` calls an entry."""
    return str(here("entries", "list", AT, "--json").items[number - 1]["name"])


def test_the_list_names_each_entry_and_says_how_full_the_file_is(here: Cli, memory: Path) -> None:
    found = here("entries", "list", AT, "--json").json
    assert (found["format"], found["characters"], found["limit"]) == ("hermes", len(TEXT) - 1, 2_200)
    rows = here("entries", "list", AT).lines
    assert [row.split("\t")[0] for row in rows] == [name(here, number) for number in (1, 2, 3)]
    assert rows[1].endswith("\tTests run with pytest.")
    shown = here("entries", "list", AT, terminal=True)
    assert "FIRST WORDS" in shown.out
    assert "3 entries, 65 of 2,200 characters (2 %)." in shown.err
    memory.write_text("x" * 2_300)
    assert "100 over the agent's limit." in here("entries", "list", AT, terminal=True).err


def test_an_entry_is_shown_by_number_check_or_words(here: Cli, memory: Path) -> None:
    assert here("entries", "show", AT, "2").out == "Tests run with pytest."
    assert here("entries", "show", AT, name(here, 2)).out == "Tests run with pytest."
    assert here("entries", "show", AT, "1@Releases").out == "Releases are on Fridays."
    assert here("entries", "show", AT, "3", "--json").json["text"] == "Releases are on Fridays."
    assert here("entries", "show", AT, "1", terminal=True).out == "Ann uses zsh.\n"
    missing = here("entries", "show", AT, "4", "--json")
    assert (missing.status, missing.error["code"]) == (4, "E_NOT_FOUND")


@pytest.mark.parametrize("words", [["-"], ["--file", "-"], []])
def test_an_entry_is_added_behind_the_last_one(here: Cli, memory: Path, words: list[str]) -> None:
    result = here("entries", "add", AT, *words, "--json", stdin=b"One more.\n")
    assert (result.status, result.json["result"]) == (0, "saved")
    assert memory.read_text() == TEXT[:-1] + "\n§\nOne more.\n"
    assert here("undo").status == 0
    assert memory.read_text() == TEXT


def test_an_entry_is_replaced_and_removed_by_name(here: Cli, memory: Path) -> None:
    second = name(here, 2)
    assert here("entries", "edit", AT, second, "-", stdin=b"Tests run with make.\n").status == 0
    assert memory.read_text() == TEXT.replace("pytest", "make")
    assert here("entries", "rm", AT, name(here, 1)).status == 0
    assert memory.read_text() == "Tests run with make.\n§\nReleases are on Fridays.\n"
    assert here("undo", "2").status == 0
    assert memory.read_text() == TEXT


@pytest.mark.parametrize("words", [["rm", AT, "2"], ["edit", AT, "2", "-"]])
def test_a_bare_number_is_not_enough_to_change_anything(here: Cli, memory: Path, words: list[str]) -> None:
    result = here("entries", *words, "--json", stdin=b"x")
    assert (result.status, result.error["code"]) == (2, "E_USAGE")
    assert name(here, 2) in str(result.error["hint"])
    assert memory.read_text() == TEXT


def test_another_entry_is_never_hit(here: Cli, memory: Path) -> None:
    second = name(here, 2)
    theirs = "New.\n§\n" + TEXT
    memory.write_text(theirs)
    assert here("entries", "rm", AT, second).status == 0
    assert memory.read_text() == theirs.replace("Tests run with pytest.\n§\n", "")
    again = here("entries", "rm", AT, second, "--json")
    assert (again.status, again.error["code"], again.error["number"]) == (3, "E_CONFLICT", 2)
    assert memory.read_text() == theirs.replace("Tests run with pytest.\n§\n", "")


def test_what_cannot_be_is_refused(here: Cli, memory: Path, notes: Path) -> None:
    two = here("entries", "add", AT, "-", "--json", stdin="a\n§\nb".encode())
    assert (two.status, two.error["code"]) == (5, "E_ENTRY")
    plain = here("entries", "list", "notes/plain.md", "--json")
    assert (plain.status, plain.error["code"]) == (5, "E_ENTRY")
    assert here("entries", "add", AT, "3", stdin=b"x").status == 2
    assert here("entries", "rm", AT).status == 2
    assert here("entries", "show", AT, "three").status == 2
    assert here("entries", "burn", AT).status == 2
    refused = here("entries", "rm", AT, name(here, 1), "--read-only", "--json")
    assert (refused.status, refused.error["code"]) == (5, "E_READ_ONLY")
    assert memory.read_text() == TEXT


# In an editor


def test_the_editor_gets_the_entry_alone(here: Cli, editor: Editor, memory: Path, home: Path) -> None:
    log = editor('sed -i s/zsh/fish/ "$1"')
    result = here("entries", "edit", AT, "1", "--json")
    assert (result.status, result.json["result"]) == (0, "saved")
    assert memory.read_text() == TEXT.replace("zsh", "fish")
    assert Path(f"{log}.1").read_text() == "Ann uses zsh.\n"
    assert left_overs(home) == []


def test_an_editor_that_changes_nothing_writes_nothing(here: Cli, editor: Editor, memory: Path) -> None:
    editor("true", 'printf "\\n\\n" >> "$1"')
    before = memory.stat().st_mtime_ns
    for _ in range(2):
        result = here("entries", "edit", AT, "1", "--json")
        assert (result.status, result.json["result"]) == (0, "unchanged")
    assert memory.stat().st_mtime_ns == before


def test_what_an_agent_added_while_the_editor_was_open_stays(
    here: Cli,
    editor: Editor,
    memory: Path,
) -> None:
    editor(f'printf "First.\\n§\\n" | cat - "{memory}" > "{memory}.x"; mv "{memory}.x" "{memory}"; echo mine > "$1"')
    assert here("entries", "edit", AT, "3").status == 0
    assert memory.read_text() == "First.\n§\n" + TEXT.replace("Releases are on Fridays.", "mine")


def test_an_entry_that_an_agent_changed_meanwhile_is_a_conflict_of_the_file(
    here: Cli,
    editor: Editor,
    memory: Path,
    home: Path,
) -> None:
    editor(f'sed -i s/zsh/bash/ "{memory}"; sed -i s/zsh/fish/ "$1"')
    result = here("entries", "edit", AT, "1", "--json")
    assert (result.status, result.error["code"]) == (3, "E_CONFLICT")
    assert memory.read_text() == TEXT.replace("zsh", "bash")
    assert here("view", f"{AT}@{result.error['yours_sha256']}").out == TEXT.replace("zsh", "fish")
    assert "goes on with the whole file" in result.err


def test_the_conflict_is_merged_when_the_user_says_so(
    here: Cli,
    editor: Editor,
    memory: Path,
) -> None:
    editor(f'sed -i "s/zsh/zsh,\\nand bash/" "{memory}"; echo "Ann uses fish." > "$1"', 'echo "Ann uses both." > "$1"')
    result = here("entries", "edit", AT, "1", stdin=b"m\n", terminal=True)
    assert result.status == 0
    assert memory.read_text() == "Ann uses both.\n"


def test_a_text_that_is_no_entry_is_kept_for_the_user(
    here: Cli,
    editor: Editor,
    memory: Path,
    home: Path,
) -> None:
    editor('printf "a\\n§\\nb\\n" > "$1"')
    result = here("entries", "edit", AT, "1")
    assert result.status == 5
    assert "the edited text is in" in result.err
    assert [path.read_text() for path in left_overs(home)] == ["a\n§\nb\n"]
    assert memory.read_text() == TEXT


def test_nothing_opens_where_nothing_can_be_saved(here: Cli, editor: Editor, memory: Path) -> None:
    log = editor("true")
    assert here("entries", "edit", AT, "1", "--read-only").status == 5
    assert here("entries", "edit", AT, "7").status == 4
    assert not log.exists()


FILE = parse(b"# t u\nalpha\n\n\xff\n\n", "goose")
SNAPSHOT = Snapshot(Address("notes", "a.txt"), FILE.data, "0" * 64, 1)


def test_a_list_says_what_the_file_is() -> None:
    found = entries_json(SNAPSHOT, FILE, usage(FILE, 50))
    assert {key: value for key, value in found.items() if key != "items"} == {
        "truncated": False,
        "address": "notes/a.txt",
        "sha256": "0" * 64,
        "format": "goose",
        "characters": 16,
        "limit": 50,
        "notes": [],
    }
    items = found["items"]
    assert isinstance(items, list)
    assert [item["name"] for item in items] == [entry.name for entry in FILE.entries]


def test_an_entry_has_its_text_or_its_bytes() -> None:
    first = entry_json(SNAPSHOT, FILE.entries[0], FILE.text(FILE.entries[0]))
    assert (first["text"], first["tags"], first["line"], first["bytes"]) == ("# t u\nalpha", ["t", "u"], 1, 11)
    second = entry_json(SNAPSHOT, FILE.entries[1], FILE.text(FILE.entries[1]))
    assert (second["text"], second["base64"], second["number"], second["title"]) == (None, "/w==", 2, "\ufffd")
