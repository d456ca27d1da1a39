"""The table of verbs is whole."""

import subprocess
import sys

import pytest

from memtui.features.feature import Feature, load
from memtui.features.table import FEATURES, GROUPS, TOOLS, entries, entry, find, verbs
from memtui.ui.action import MOVES, PANES
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Verb
from memtui.workbench.actions import ACTIONS

VERBS = verbs()

PROMISED = """
roots ls view create save edit mv rm restore trash undo redo pin unpin history diff redact changes seen log watch search
doctor keys config completion workspace demo mcp
"""


def by_name(verb: Verb) -> str:
    return verb.name


def test_every_promised_verb_is_there_once() -> None:
    names = [verb.name for verb in VERBS]
    assert len(names) == len(set(names))
    assert set(PROMISED.split()) <= set(names)
    assert find("ls") is not None
    assert find("fly") is None


def test_every_promised_global_option_is_there() -> None:
    promised = "--home --project --root --only-root --json --read-only --actor --ascii --calm --version"
    assert set(promised.split()) <= {param.name for param in GLOBALS}


@pytest.mark.parametrize("verb", VERBS, ids=by_name)
def test_a_verb_says_what_it_does_and_shows_it(verb: Verb) -> None:
    assert verb.group in GROUPS
    assert verb.summary
    assert not verb.summary.endswith(".")
    assert verb.examples
    assert all(f"memtui {verb.name}" in line and meaning for line, meaning in verb.examples)
    assert all(param.help for param in verb.params)
    assert verb.answer or verb.name == "help"


@pytest.mark.parametrize("verb", VERBS, ids=by_name)
def test_positionals_can_be_told_apart(verb: Verb) -> None:
    """One takes many, and only what is required follows it; nothing required may follow one that is not."""
    places = verb.positionals
    many = next((number for number, param in enumerate(places) if param.many), len(places))
    assert all(param.required and not param.many for param in places[many + 1 :])
    required = [param.required for param in places]
    assert required == sorted(required, reverse=True)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_line_of_the_table_is_its_entry(feature: str) -> None:
    found: Feature = entry(feature)
    assert tuple(verb.name for verb in found.verbs) == FEATURES[feature]
    assert {action.room for action in found.actions} <= {feature}
    assert bool(found.actions) == bool(found.title)
    assert {tool.name for tool in found.tools} == {name for name, owner in TOOLS.items() if owner == feature}


def test_what_an_entry_names_is_there() -> None:
    for verb in VERBS:
        assert not verb.does if verb.name == "help" else load(verb.does).__doc__
    for found in entries().values():
        assert all(load(place).__doc__ for tool in found.tools for place in (tool.offer, tool.call))
    views = [found.view for found in entries().values() if found.view is not None]
    known = {action.id for action in ACTIONS}
    for view in views:
        assert view.id == "memories" or view.id == load(view.screen).ID  # type: ignore[attr-defined]
        assert {*view.actions, *view.footer} <= known
        assert set(view.footer) <= set(view.actions)
        assert not {*MOVES, *PANES} & set(view.own)
    assert len({view.id for view in views}) == len(views)


def test_places_in_help_are_not_shared() -> None:
    assert len({(verb.group, verb.rank) for verb in VERBS}) == len(VERBS)


@pytest.mark.parametrize("name", ["ls", "trash", "undo"])
def test_a_verb_is_found_by_the_entry_of_its_feature_alone(name: str) -> None:
    script = (
        "import sys; from memtui.features.table import find; find(sys.argv[1]); "
        "print(*(name for name in sys.modules if name.startswith('memtui.features.') and name.endswith('.entry')))"
    )
    found = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=True).stdout
    (own,) = (feature for feature, names in FEATURES.items() if name in names)
    assert found.split() == [f"memtui.features.{own}.entry"]
