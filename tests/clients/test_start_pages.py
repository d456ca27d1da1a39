"""The guide has a page for each client, and shows what is really written."""

import shlex
import sys
from pathlib import Path

import pytest

from memtui.agents.agent import USER
from memtui.agents.table import CLIENTS, canonical
from memtui.clients import entries
from memtui.clients.start import client_named, clients, wanted
from memtui.config.directories import Directories
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from tests.house import pages
from tests.house.source import ROOT

GUIDE = ROOT / "docs" / "guide"


@pytest.mark.parametrize("name", CLIENTS)
def test_the_page_shows_what_is_written(place: Surroundings, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (GUIDE / f"{name}.md").read_text("utf-8")
    settings = Settings(Directories("/c", "/s", "/d", "per user"), None)
    monkeypatch.setattr("memtui.clients.start.found_command", lambda *_: ("/home/ann/.local/bin/memtui",))
    for target in wanted(client_named(name), place, USER, settings):
        text = ""
        for entry in target.entries:
            text = entries.put(target, text, entry)
        assert f"```{target.format}\n{text}```\n" in page
        shown = Path(target.path).name if sys.platform == "darwin" else target.path.replace(str(place.home), "~")
        assert shown in page or f"`{Path(target.path).name}` of your profile" in page


def test_every_page_names_the_commands_of_its_client() -> None:
    for client in clients():
        page = (GUIDE / f"{client.name}.md").read_text("utf-8")
        for line in (f"memtui install {client.name} --write", f"memtui uninstall {client.name} --write"):
            assert line in page
        assert page.startswith(f"# Give {client.title} your memories in one minute\n")


def test_the_page_of_access_gives_each_client_the_name_it_has_in_history() -> None:
    rows = pages.table_rows((GUIDE / "access.md").read_text("utf-8"), "Per agent: the table")
    names = {name.strip("`"): actor.strip("`") for name, actor in rows if name.startswith("`")}
    assert names.keys() == CLIENTS.keys()
    for name, actor in names.items():
        assert canonical(actor) == name
        line = f"memtui log --actor {shlex.quote(actor)} "
        assert line in (GUIDE / f"{name}.md").read_text("utf-8")
