"""`memtui search`."""

import pytest

from tests.cli.conftest import Cli


def test_search_finds_and_says_where(here: Cli) -> None:
    result = here("search", "use", "TABS", "--json")
    (hit,) = result.items
    assert hit["address"] == "notes/plain.md"
    match = {"field": "body", "line": 4, "snippet": "Use tabs.", "column": 1, "marks": [[0, 3], [4, 8]], "places": 2}
    assert hit["match"] == match
    assert "notes/plain.md" in here("search", "tabs", terminal=True).out
    assert here("search", "nowhere", terminal=True).err == "Nothing found.\n"


def test_search_for_nothing_is_a_usage_error(here: Cli) -> None:
    assert here("search", " ", "--json").error["code"] == "E_QUERY"
    assert here("search", " ").status == 2


def test_search_takes_phrases_and_exclusions(here: Cli) -> None:
    assert [row["path"] for row in here("search", '"use tabs"', "--json").items] == ["plain.md"]
    assert here("search", '"tabs use"', "--json").items == []
    assert here("search", "use -tabs", "--json").items == []


def test_search_finds_old_versions_on_request(here: Cli) -> None:
    before = here("view", "notes/bare.md").raw
    sha = str(here("ls", "notes/bare.md", "--json").items[0]["sha256"])
    assert here("save", "notes/bare.md", "-", "--expect", sha, stdin=b"needle one\n").status == 0
    sha = str(here("ls", "notes/bare.md", "--json").items[0]["sha256"])
    assert here("save", "notes/bare.md", "-", "--expect", sha, stdin=before).status == 0
    assert here("search", "needle", "--json").items == []
    (hit,) = here("search", "needle", "--versions", "--json").items
    found_in = hit["found_in"]
    assert isinstance(found_in, dict)
    assert (hit["address"], found_in["sha256"]) == ("notes/bare.md", sha)
    shown = here("search", "needle", "--versions")
    assert shown.out == f"notes/bare.md@{sha[:12]}\t1\tneedle one\n"
    assert here("view", f"notes/bare.md@{sha[:12]}").raw == b"needle one\n"


def test_search_respects_its_limit(here: Cli) -> None:
    result = here("search", "md", "--limit", "1", "--json")
    assert (len(result.items), result.json["truncated"]) == (1, True)


def test_an_agent_is_not_told_of_what_is_marked_as_private(here: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    here("create", "notes/p.md", "-", stdin=b"open banana\n\n<private>a giraffe</private>\n\nmore banana\n")
    assert "giraffe" in here("search", "giraffe").out
    monkeypatch.setenv("CLAUDECODE", "1")
    assert here("search", "giraffe").out == ""
    shown = here("search", "banana").out
    assert "notes/p.md" in shown
    assert "giraffe" not in shown
