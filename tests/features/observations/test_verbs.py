"""`memtui obs`: looked at by anybody, decided by a person who types yes, rebuilt as a task."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.features.observations import find
from tests.cli.conftest import Cli


@pytest.fixture
def kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A few memories, and questions that wait until they have cards."""
    monkeypatch.setattr(find, "CATCH_UP_SECONDS", 60.0)
    for name, text in {"retry": "Never retry a POST. zanzibar\n", "tabs": "# Tabs\n\nWe use tabs.\n"}.items():
        assert cli("create", f"memtui:global/{name}.md", "-", stdin=text.encode()).status == 0
    return cli


def test_looking(kept: Cli) -> None:
    (found,) = kept("obs", "search", "zanzibar", "--json").items
    name = str(found["name"])
    assert (found["address"], found["type"], found["state"]) == ("memtui:global/retry.md", "fact", "normal")
    assert kept("obs", "search", "zanzibar").lines[0].split("\t")[0] == name[:8]
    assert kept("obs", "zanzibar").lines == kept("obs", "search", "zanzibar").lines
    assert kept("obs").lines == kept("obs", "status").lines
    assert "Never retry" in kept("obs", "show", name[:8]).out
    (whole,) = kept("obs", "show", name, "--json").items
    assert (whole["narrative"], whole["span"]) == ("Never retry a POST. zanzibar", [0, 29])
    assert len(kept("obs", "timeline", name).lines) == 2
    assert kept("obs", "search", "tabs", "--type", "decision", "--json").items == []
    assert len(kept("obs", "search", "--since", "1h", "--json").items) == 2
    assert kept("obs", "search", "--until", "2001-01-01", "--json").items == []
    for words in (("show",), ("show", "abc"), ("search", " "), ("search", "x", "--since", "never")):
        assert kept("obs", *words, "--json").error["code"] in ("E_USAGE", "E_QUERY")
    assert kept("obs", "show", "abcdefgh", "--json").error["code"] == "E_NOT_FOUND"


def test_upkeep(kept: Cli, home: Path) -> None:
    assert kept("obs", "check").status == 7
    status = kept("obs", "status", "--json").json
    assert (status["total"], status["pending"], status["adrift"]) == (2, 2, [])
    assert kept("obs", "rebuild", "--json").json["processed"] == 2
    after = kept("status", "--json").json["observations"]
    assert isinstance(after, dict)
    assert (after["processed"], after["failed"], after["generation"]) == (2, 0, 2)
    assert kept("obs", "check").out == "The cards are sound.\n"
    said = kept("obs").out
    assert "memories and sessions\t2: 2 have cards, 0 wait, 0 failed\n" in said
    assert not any(word in said for word in ("adrift", "scrub", "generation", "T00", "Z\n"))
    (home / ".memtui-test/config.toml").write_text("[observe]\nenabled = false\n")
    for action in ("search", "status", "rebuild"):
        assert kept("obs", action, "tabs", "--json").error["code"] == "E_DISABLED"


def test_only_a_person_decides_and_sees_what_is_withheld(kept: Cli, person: Callable[[str], None]) -> None:
    name = str(kept("obs", "search", "zanzibar", "--json").items[0]["name"])

    def types_yes(*words: str) -> None:
        person("yes\n")
        assert kept("obs", *words).status == 0

    types_yes("mark", name, "--as", "private", "--reason", "mine")
    assert kept("obs", "search", "zanzibar", "--json").items == []
    assert kept("obs", "search", "zanzibar", "--all", "--json").items[0]["marks"] == "p"
    types_yes("rm", name)
    types_yes("restore", name)
    types_yes("edit", name, "--title", "Island")
    types_yes("mark", name, "--as", "normal")
    assert [row["title"] for row in kept("obs", "search", "island", "--json").items] == ["Island"]
    log = kept("obs", "show", name, "--all", "--json").items[0]["log"]
    assert isinstance(log, list)
    assert [one["after"] for one in log] == ["private", "private deleted", "private", "private edited", "normal edited"]
    assert kept("obs", "redact", name, "--json").error["code"] == "E_USAGE"
    types_yes("redact", name, "--reason", "a slip")
    assert kept("obs", "search", "zanzibar", "--all", "--json").items == []


def test_an_agent_is_not_told_that_somebody_decided(
    kept: Cli, person: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(kept("obs", "search", "zanzibar", "--json").items[0]["name"])
    person("")
    assert (
        kept(
            "turn", "request", "--session", "s1", "--channel", "c", "--chat", "c", "--person", "u", "--name", "Ann"
        ).status
        == 0
    )
    person("yes\n")
    assert kept("obs", "mark", name, "--as", "private").status == 0

    def told() -> tuple[bool, bool]:
        operations = [row["operation"] for row in kept("log", "--json").items]
        assert "created" in operations
        journal = [str(row["body"]) for row in kept("log", "--kind", "change", "--json").items]
        assert any("observed" in body for body in journal) == ("observed" in operations)
        newest = kept("log", "--limit", "1", "--json").items
        assert len(newest) == 1
        chained = kept("log", "--channel", "c", "--json").items[0]
        numbered = [row[name] is not None for row, name in ((newest[0], "seq"), (newest[0], "txn"), (chained, "n"))]
        assert numbered == ["observed" in operations] * 3  # a hole tells, too
        assert (kept("log", "--verify").status == 0) == ("observed" in operations)
        return "observed" in operations, "adrift" in kept("obs", "status", "--json").json

    assert told() == (True, True)
    assert "adrift" not in str(kept("status", "--json").json)
    monkeypatch.setenv("CLAUDECODE", "1")
    assert told() == (False, False)


def test_an_agent_is_not_given_the_memory_by_other_verbs(
    kept: Cli, person: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"---\ndescription: The ferry to Zanzibar\n---\nThe ferry to Zanzibar leaves at noon.\n"
    assert kept("create", "memtui:global/ferry.md", "-", stdin=text).status == 0
    (card,) = kept("obs", "search", "ferry", "--json").items
    person("yes\n")
    assert kept("obs", "mark", str(card["name"]), "--as", "private").status == 0
    monkeypatch.delenv("CLAUDECODE", raising=False)
    asked = (("search", "ferry"), ("recall", "ferry"), ("recall", "ferry", "--prompt"), ("ls", "--json"))

    def given() -> list[bool]:
        return ["Zanzibar" in (said := kept(*words).out) or "ferry.md" in said for words in asked]

    def told() -> tuple[bool, bool]:
        return "withheld" in kept("ls", "--json").out, "not given: you withhold it" in kept("pin", address).err

    address = "memtui:global/ferry.md"
    assert (given(), told()) == ([True] * 4, (True, True))
    monkeypatch.setenv("CLAUDECODE", "1")
    assert (given(), told()) == ([False] * 3 + [True], (False, False))
    assert "Zanzibar" not in kept("ls", "--json").out


def test_notes_are_kept_with_their_time_and_found(kept: Cli) -> None:
    assert kept("observe", "the", "pool", "dies", "--type", "error", "--tag", "#db x").status == 0
    said = kept("observe", "budget <private>hush</private> three", "--json")
    assert str(said.json["address"]).startswith("memtui:notes/2")
    assert "1 private part" in said.err
    key = "ghp_" + "a1B2" * 9
    said = kept("observe", "tagged", "--tag", key, "--tag", "<private>hush</private>", "--tag", "ok")
    assert "2 tags" in said.err
    tagged = kept("obs", "search", "tagged", "--json").items[0]
    assert (tagged["concepts"], key in kept("view", str(tagged["address"])).out) == (["ok"], False)
    (found,) = kept("obs", "search", "pool", "--json").items
    assert (found["kind"], found["type"], found["title"], found["concepts"]) == (
        "note",
        "error",
        "the pool dies",
        ["db-x"],
    )
    assert [row["title"] for row in kept("obs", "search", "budget", "--json").items] == ["budget [private] three"]
    assert kept("obs", "search", "hush", "--json").items == []
    assert kept("recall", "pool", "dies", "--json").items == []
    assert "pool" not in kept("context").out
    for words, code in (
        ([" "], "E_USAGE"),
        (["a\n## b"], "E_ENTRY"),
        (["x" * 20_000], "E_TOO_BIG"),
        (["<no-memory> x"], "E_ACCESS"),
    ):
        assert kept("observe", *words, "--json").error["code"] == code
    for _ in range(3):
        kept("undo")
    assert kept("obs", "search", "pool", "--json").items == []


def test_a_session_is_looked_at_and_a_note_keeps_nothing_private(kept: Cli, person: Callable[[str], None]) -> None:
    for words in (("grep", "pool"), ("describe", "abc-1")):
        assert kept("obs", *words, "--json").error["code"] == "E_DISABLED"
    name = str(kept("obs", "search", "zanzibar", "--json").items[0]["name"])
    person("yes\n")
    assert kept("obs", "edit", name, "--note", "walrus <private>hush</private>").status == 0
    (found,) = kept("obs", "show", name, "--json").items
    assert found["note"] == "walrus [private]"
    person("yes\n")
    assert kept("obs", "edit", name, "--note", "<no-memory>", "--json").error["code"] == "E_PATCH"


def test_a_private_part_without_an_end_is_told(kept: Cli) -> None:
    kept("create", "memtui:global/pool.md", "-", stdin=b"The pool.\n\nDied <private> at night.\n")
    assert kept("obs", "search", "pool", "--json").items[0]["cut"] == 1
    said = kept("obs", "check")
    assert "pool.md: The <private> in line 3 has no end: all behind it is private." in f"{said.out}{said.err}"


def test_nobody_decides_without_a_terminal(kept: Cli) -> None:
    name = str(kept("obs", "search", "zanzibar", "--json").items[0]["name"])
    for words in (("mark", name, "--as", "private"), ("rm", name), ("search", "x", "--all")):
        assert kept("obs", *words, "--json").error["code"] == "E_PERSON"


def test_words_that_are_no_utf8_are_refused_in_words(kept: Cli) -> None:
    for words in (["obs", "search", "a\udcff"], ["observe", "a\udcff"], ["obs", "search", "x", "--path", "\udcff"]):
        assert kept(*words, "--json").error["message"] == "A word is not UTF-8."


def test_a_memory_is_made_of_a_card_after_its_bytes_were_shown(kept: Cli, person: Callable[[str], None]) -> None:
    kept("create", "memtui:global/taken.md", "-", stdin=b"Taken.\n")
    name = str(kept("obs", "search", "zanzibar", "--json").items[0]["name"])

    def code(to: str) -> object:
        person("yes\n")
        return kept("obs", "promote", name, "--to", to, "--json").error["code"]

    assert kept("obs", "promote", name, "--json").error["code"] == "E_PERSON"
    assert [code(to) for to in ("memtui:global/taken.md", "memtui:global/", "memtui:other/x.md")] == [
        *("E_EXISTS", "E_USAGE", "E_NAME")
    ]
    person("yes\n")
    made = kept("obs", "promote", name, "--to", "memtui:global/zanzibar.md")
    assert "Never retry a POST. zanzibar" in made.out
    assert f"From observation {name}" in kept("view", "memtui:global/zanzibar.md").out
    assert kept("undo").status == 0
    assert kept("view", "memtui:global/zanzibar.md", "--json").error["code"] == "E_NOT_FOUND"
