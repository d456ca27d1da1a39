"""The table of agents: each entry leads to a module, a layout, and variables that are really read."""

import importlib
import re

import pytest

from memtui.agents.table import LAYOUTS, Layout, layout_of, policy_of
from memtui.config.settings import AGENT_VARIABLES
from memtui.engine.model import Policy


def test_agents_are_told_apart() -> None:
    for names in ([one.agent for one in LAYOUTS], [one.title for one in LAYOUTS], [one.module for one in LAYOUTS]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("layout", LAYOUTS, ids=[one.agent for one in LAYOUTS])
def test_an_entry_leads_to_a_module(layout: Layout) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*", layout.agent)
    assert layout_of(layout.agent) is layout
    assert layout.agent == importlib.import_module(f"memtui.agents.layouts.{layout.module}").AGENT
    policy = policy_of(layout)
    assert isinstance(policy, Policy)
    assert policy.include is None, "a root by hand is any folder"
    assert set(layout.variables) <= set(AGENT_VARIABLES), "the settings keep no other variables"
    assert layout.variables + layout.at_home + layout.in_config + layout.in_project + layout.in_system
    assert ("AGENTS.md" in layout.in_project) == (layout.agent == "agents-md"), "it shows what no other agent claims"


def test_an_unknown_agent_has_no_layout() -> None:
    assert layout_of("nobody") is None
