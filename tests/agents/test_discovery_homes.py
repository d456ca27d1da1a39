"""Discovery on a machine where every agent is in use at once: in order, described, and without reading a memory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.agents.table import KNOWN
from tests.agents.homes import HOMES
from tests.agents.homes_more import HOMES_MORE
from tests.agents.machine import Machine
from tests.agents.test_discovery import WATCHED

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "layouts.md").read_text("utf-8")
EVERY = {**HOMES, **HOMES_MORE}


@pytest.fixture
def crowded(machine: Machine) -> Machine:
    """Everything every agent leaves."""
    for lay in EVERY.values():
        lay(machine.home, machine.app)
    return machine


def test_agents_stand_in_the_order_of_the_table(crowded: Machine) -> None:
    order = [one.id for one in KNOWN if one.folders]
    agents = [root.agent for root in crowded.roots("app/api", all_projects=True).values() if root.agent != "memtui"]
    assert agents == sorted(agents, key=order.index)
    assert set(agents) == set(order)


@pytest.mark.parametrize("agent", EVERY)
def test_every_root_is_on_the_page(machine: Machine, agent: str) -> None:
    EVERY[agent](machine.home, machine.app)
    names = re.findall(r"`([a-z-]+:[^`]*)`", PAGE)
    forms = [re.compile(re.sub(r"<\\?\w+\\?>", ".+", re.escape(name))) for name in names]
    found = [root for root in machine.roots("app/api", all_projects=True).values() if root.agent != "memtui"]
    assert found
    assert not [root.id for root in found if not any(form.fullmatch(root.id) for form in forms)]
    assert f"`{agent}`" in PAGE, "it can be followed by hand"


def test_every_root_says_who_writes_it(crowded: Machine) -> None:
    for root in crowded.roots("app/api", all_projects=True).values():
        assert root.agent == "memtui" or root.note.endswith("."), root.id
        assert root.kind == ("instructions" if "instructions" in root.id else root.kind)


@pytest.mark.parametrize("reach", ["here", "all"])
def test_no_memory_is_read(crowded: Machine, reach: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(crowded.app), str(crowded.folder / "etc"), reach],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, **crowded.environ},
    )
    told = [line.partition(" ") for line in done.stdout.splitlines()]
    assert not [what for kind, _, what in told if kind == "CHANGE"]
    read = {os.path.basename(what) for kind, _, what in told if kind == "READ"}
    assert read <= {
        "settings.json",
        "settings.local.json",
        "managed-settings.json",
        "config.json",
        "config.toml",
        "config.yaml",
        "projects.json",
        ".project_root",
        "workspace.json",
        "meta.json",
        "serena_config.yml",
        "project.yml",
        "project.local.yml",
        "openclaw.json",
    }
    assert {"serena_config.yml", "workspace.json"} <= read
