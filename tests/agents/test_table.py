"""The table of agents: each line leads to a file, and a file says no more and no less than its line."""

import re

import pytest

from memtui.agents.table import KNOWN, ONLY_RUN, Traces, agent_of, title_of, traces_of
from memtui.config.settings import AGENT_VARIABLES
from tests.house.source import ROOT


def test_agents_are_told_apart() -> None:
    every = (*KNOWN, *ONLY_RUN)
    for names in ([one.id for one in every], [one.title for one in every]):
        assert len(set(names)) == len(names)


def test_every_file_has_a_line() -> None:
    files = {path.stem for path in (ROOT / "memtui" / "agents" / "known").glob("*.py")}
    assert files - {"__init__", "memtui_native"} == {one.id.replace("-", "_") for one in KNOWN}


@pytest.mark.parametrize("line", KNOWN, ids=[one.id for one in KNOWN])
def test_a_line_leads_to_a_file(line: Traces) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*", line.id)
    assert traces_of(line.id) is line
    agent = agent_of(line.id)
    assert (agent.id, agent.title) == (line.id, line.title)
    assert ("AGENTS.md" in line.in_project) == (line.id == "agents-md"), "it shows what no other agent claims"
    assert (agent.roots is not None) == (agent.policy is not None) == line.folders
    assert agent.policy is None or agent.policy.include is None, "a root by hand is any folder"
    assert (agent.client.name if agent.client is not None else None) == (line.client[0] if line.client else None)
    assert agent.roots or agent.loads, "a file says something"


def test_the_settings_keep_every_variable_that_a_file_or_a_line_asks_for_and_no_other() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "memtui" / "agents" / "known").glob("*.py")]
    asked = {name for text in texts for name in re.findall(r'variable\("(\w+)"\)', text)}
    asked |= {name for one in KNOWN for name in (*one.variables, *agent_of(one.id).home.variables)}
    assert asked <= set(AGENT_VARIABLES)
    unasked = {name for name in AGENT_VARIABLES if not any(f'"{name}"' in text for text in texts)}
    assert unasked == {"XDG_CONFIG_HOME"}, "in which several agents keep their folders"


def test_an_agent_that_is_not_in_the_table_is_known_by_its_id_alone() -> None:
    assert traces_of("nobody") is None
    assert title_of("nobody") == "nobody"
    assert not any((agent_of("nobody").roots, agent_of("nobody").loads, agent_of("nobody").policy))
