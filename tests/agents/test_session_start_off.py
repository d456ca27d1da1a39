"""Every agent whose memories can be switched off: the folders are shown all the same, and nothing of them is loaded."""

import os

import pytest

from memtui.agents.layout import short_path
from tests.agents import homes, homes_more
from tests.agents.homes_off import HOMES_OFF
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started

LABELS = {
    "claude-code": {"memory index", "memories"},
    "codex": {"memory summary", "memories"},
    "qwen-code": {f"{tier} {what}" for tier in ("user", "project", "team") for what in ("memory index", "memories")},
    "serena": {"user memories", "project memories"},
    "letta": {"memory index", "system memories", "memories"},
    "hermes": {"memory", "memory about you"},
}
"""What of each is a memory."""


@pytest.mark.parametrize("agent", HOMES_OFF)
def test_nothing_is_loaded_and_the_file_that_says_so_is_named(machine: Machine, agent: str) -> None:
    leave, file = HOMES_OFF[agent]
    leave(machine.home, machine.app)
    where = short_path(str(machine.path(file)), str(machine.home))
    found = [one for one in started(machine, agent) if one.label in LABELS[agent]]
    assert {one.label for one in found} == LABELS[agent]
    for one in found:
        assert (one.mark, one.text, one.gaps) == ("skipped", b"", ()), one
        assert one.why.startswith(f"Not loaded: switched off in {where}"), one
        assert os.path.exists(one.path)


@pytest.mark.parametrize("agent", HOMES_OFF)
def test_its_folders_are_shown_as_when_it_is_on(machine: Machine, agent: str) -> None:
    {**homes.HOMES, **homes_more.HOMES_MORE}[agent](machine.home, machine.app)
    before = machine.roots()
    HOMES_OFF[agent][0](machine.home, machine.app)
    after = machine.roots()
    assert list(after) == list(before)
    assert [root.path for root in after.values()] == [root.path for root in before.values()]
    said = [root.id for root in after.values() if "switched off" in root.note and root.agent == agent]
    assert said or agent in ("letta", "hermes"), "a note says it where discovery reads the file anyway"
