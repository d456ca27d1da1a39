"""The audit, undo and redo."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_the_log_can_be_narrowed(here: Cli) -> None:
    here("create", "notes/a.md", "-", stdin=b"1")
    here("create", "notes/b.md", "-", "--actor", "me", stdin=b"2")
    assert [row["address"] for row in here("log", "--json").items][:2] == ["notes/b.md", "notes/a.md"]
    assert [row["address"] for row in here("log", "--actor", "me", "--json").items] == ["notes/b.md"]
    assert here("log", "--since", "9999-01-01", "--json").items == []
    limited = here("log", "--limit", "1", "--json")
    assert (len(limited.items), limited.json["truncated"]) == (1, True)
    assert here("log", "--since", "sometime").status == 2
    assert "notes/a.md" in here("log", "--since", "1h", terminal=True).out


def test_a_name_that_nobody_has_is_answered_with_those_there_are(here: Cli) -> None:
    assert "Nothing is recorded yet." in here("log", "--actor", "codex").err
    here("create", "notes/a.md", "-", stdin=b"1")
    here("create", "notes/b.md", "-", "--actor", "mcp:codex-mcp-client", stdin=b"2")
    for terminal in (False, True):
        found = here("log", "--actor", "mcp:codex", terminal=terminal)
        assert (found.status, found.out) == (0, "")
        assert found.err == "No actor is called 'mcp:codex'. There are: mcp:codex-mcp-client, cli.\n"
    as_json = here("log", "--actor", "mcp:codex", "--json")
    assert as_json.items == []
    assert "mcp:codex-mcp-client" in as_json.err
    assert here("log", "--actor", "cli", "--since", "9999-01-01").err == "Nothing of cli is recorded there.\n"
    assert here("log", "--actor", "cli").err == ""


def test_undo_and_redo_several_steps(here: Cli, notes: Path) -> None:
    here("create", "notes/a.md", "-", stdin=b"1")
    here("mv", "notes/a.md", "notes/b.md")
    result = here("undo", "2", "--json")
    assert [item["operation"] for item in result.items] == ["undo", "undo"]
    assert not (notes / "a.md").exists()
    assert not (notes / "b.md").exists()
    assert here("redo", "2").status == 0
    assert (notes / "b.md").read_text() == "1"


def test_an_agent_takes_back_no_step_of_a_person(here: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here("create", "notes/a.md", "-", stdin=b"1")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert here("undo", "--json").error["code"] == "E_PERSON"
    assert (notes / "a.md").exists()
    here("create", "notes/b.md", "-", stdin=b"1")
    assert here("undo").status == 0
    assert not (notes / "b.md").exists()
    assert here("redo").status == 0


def test_undo_past_the_beginning_says_so(here: Cli) -> None:
    for verb in ("undo", "redo"):
        nothing = here(verb, "--json")
        assert (nothing.status, nothing.error["code"]) == (4, "E_NOTHING_TO_UNDO")
        assert here(verb, "5").status == 4
    here("create", "notes/a.md", "-", stdin=b"1")
    here("create", "notes/b.md", "-", stdin=b"1")
    for verb, word in (("undo", "undone"), ("redo", "redone")):
        some = here(verb, "5")
        assert (some.status, some.lines) == (
            0,
            [f"{word}\tnotes/{name}.md" for name in ("ba" if word == "undone" else "ab")],
        )
        assert some.err == f"2 {word}; there is nothing more to {verb}.\n"
    as_json = here("undo", "5", "--json")
    assert (as_json.status, len(as_json.items)) == (0, 2)
    assert "E_NOTHING_TO_UNDO" not in as_json.err


def test_undo_tells_on_the_terminal_what_it_took_back(here: Cli, notes: Path) -> None:
    here("rm", "notes/bare.md", "notes/plain.md")
    here("pin", "notes/deep/down.md")
    assert here("undo", "2", terminal=True).lines == ["undone: pin notes/deep/down.md", "undone: delete 2 memories"]
    assert here("redo", terminal=True).lines == ["redone: delete 2 memories"]
    (notes / "bare.md").write_text("somebody else's\n")
    partly = here("undo", terminal=True)
    assert partly.lines == ["undone: delete 2 memories (1 of 2)", "undone notes/plain.md"]
    assert partly.status == 3
    assert "notes/bare.md" in partly.err
