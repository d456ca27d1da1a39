"""Qwen Code: instruction files, the indexes of its tiers and their limits."""

import json

from tests.agents import homes
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    found = [(one.label, one.mark) for one in started(machine, "qwen-code")]
    assert ("user memory index", "") in found
    assert ("project memory index", "") in found
    assert ("local instructions", "") in found
    assert ("user memories", "on demand") in found


def test_the_index_is_cut_at_its_lines_and_the_team_is_off_by_default(machine: Machine) -> None:
    machine.write("~/.qwen/memories/MEMORY.md", "- x\n" * 250)
    machine.write("app/.qwen/team-memory/MEMORY.md", "- x\n")
    user, team = started(machine, "qwen-code")
    assert (user.mark, user.text.count(b"\n"), user.cut is not None) == ("cut", 200, True)
    assert team.mark == "skipped"
    machine.write("~/.qwen/settings.json", json.dumps({"memory": {"enableTeamMemory": True}}))
    assert [one.mark for one in started(machine, "qwen-code")] == ["cut", ""]


def test_names_come_from_its_settings(machine: Machine) -> None:
    machine.write("app/QWEN.md")
    machine.write("app/NOTES.md")
    machine.write("~/.qwen/settings.json", json.dumps({"context": {"fileName": ["NOTES.md", "../x", "*.md"]}}))
    assert [one.path for one in started(machine, "qwen-code")] == [str(machine.app / "NOTES.md")]
