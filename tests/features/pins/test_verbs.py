"""pins: what Mux keeps is shown first, taken over when asked, and the pins are one undo step."""

import json
from pathlib import Path

import pytest

from memtui.agents.known.mux import project_folder
from tests.agents import homes
from tests.cli.conftest import Cli

PREFERENCES, COLON = "mux:global/preferences.md", "mux:global/topics/a:b.md"


@pytest.fixture
def app(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with Mux's memories, and the user in it."""
    folder = tmp_path / "app"
    (folder / ".git").mkdir(parents=True)
    homes.mux(home, folder)
    monkeypatch.chdir(folder)
    return folder


def marks(cli: Cli) -> dict[object, tuple[object, object]]:
    """Each memory of Mux: whether it is pinned, and its count."""
    found = cli("ls", "--agent", "mux", "--json").items
    return {row["address"]: (row["pinned"], row["uses"]) for row in found if "instructions" not in str(row["root"])}


def test_it_is_shown_first(cli: Cli, app: Path, home: Path) -> None:
    before = marks(cli)
    sidecar = (home / ".xum" / "memory-meta.json").read_bytes()
    shown = cli("pins", "mux", "--json").json
    assert (shown["written"], shown["txn"], shown["absent"], shown["gone"]) == (False, None, 0, 1)
    items = shown["items"]
    assert isinstance(items, list)
    assert [(row["address"], row["state"]) for row in items] == [
        (PREFERENCES, "pin"),
        (COLON, "pin"),
        ("mux:workspace:fix-login/plan.md", "pin"),
        (f"mux:project:{project_folder(str(app))}/build.md", "count"),
    ]
    assert marks(cli) == before
    assert (home / ".xum" / "memory-meta.json").read_bytes() == sidecar


def test_it_is_taken_over_and_the_pins_are_one_step(cli: Cli, app: Path) -> None:
    written = cli("pins", "mux", "--write")
    assert written.status == 0
    assert "3 pinned, counts: 4." in written.err
    assert "no longer there: 1." in written.err
    build = f"mux:project:{project_folder(str(app))}/build.md"
    plan = "mux:workspace:fix-login/plan.md"
    assert marks(cli) == {PREFERENCES: (True, 3), COLON: (True, 3), build: (False, 3), plan: (True, 9)}
    again = cli("pins", "mux", "--write", "--json").json
    assert (again["txn"], again["counted"]) == (None, 0)
    assert {row["state"] for row in cli("pins", "mux", "--json").items} == {"pinned", "same"}
    assert cli("undo").status == 0
    assert {pinned for pinned, _ in marks(cli).values()} == {False}
    assert marks(cli)[plan] == (False, 9)
    assert cli("redo").status == 0
    assert marks(cli)[PREFERENCES] == (True, 3)


def test_a_pin_of_ours_stays(cli: Cli, app: Path) -> None:
    build = f"mux:project:{project_folder(str(app))}/build.md"
    cli("pin", build, PREFERENCES)
    shown = cli("pins", "mux").out
    assert "pinned already" in shown
    cli("pins", "mux", "--write")
    assert marks(cli)[build] == (True, 3)
    cli("undo")
    assert marks(cli)[PREFERENCES] == (True, 3)
    assert marks(cli)[COLON] == (False, 3)


def test_other_projects_only_when_they_are_open(cli: Cli, app: Path, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    folder = project_folder(str(other))
    file = home / ".xum" / "memory" / "project" / folder / "a.md"
    file.parent.mkdir(parents=True)
    file.write_text("x\n")
    key = f"project:{other}:a.md"
    (home / ".xum" / "memory-meta.json").write_text(json.dumps({"entries": {key: {"pinned": True}}}))
    assert "--all-projects" in cli("pins", "mux", "--write").err
    assert cli("--all-projects", "pins", "mux", "--write", "--json").json["txn"] is not None


def test_without_mux_there_is_nothing(cli: Cli) -> None:
    result = cli("pins", "mux")
    assert (result.status, result.out) == (0, "")
    assert "nothing to take over" in result.err


def test_a_hostile_name_is_shown_and_not_obeyed(cli: Cli, app: Path, home: Path) -> None:
    entries = {"global:../../../outside.md": {"pinned": True}, "global:a\x1b[2J.md": {"pinned": True}}
    (home / ".xum" / "memory-meta.json").write_text(json.dumps({"entries": entries}))
    (home / ".xum" / "memory" / "global" / "a\x1b[2J.md").write_text("x\n")
    result = cli("pins", "mux", "--write", terminal=True)
    assert result.status == 0
    assert "\x1b[2J" not in result.out
    assert "no longer there: 1." in result.err


def test_a_pin_is_no_part_of_the_file(here: Cli, notes: Path) -> None:
    before = (notes / "bare.md").stat()
    assert here("pin", "notes/bare.md", "notes/plain.md").status == 0
    assert [row["pinned"] for row in here("ls", "--json").items] == [True, False, True]
    assert here("unpin", "notes/plain.md").status == 0
    assert [row["pinned"] for row in here("ls", "--json").items] == [True, False, False]
    assert (notes / "bare.md").stat().st_mtime_ns == before.st_mtime_ns


def test_what_is_not_there_cannot_be_pinned(here: Cli) -> None:
    result = here("pin", "notes/plain.md", "notes/nowhere.md", "--json")
    assert (result.status, result.error["code"]) == (4, "E_NOT_FOUND")
    assert not [row for row in here("ls", "--json").items if row["pinned"]]
    assert here("unpin", "notes/nowhere.md", "--json").error["code"] == "E_NOT_FOUND"
