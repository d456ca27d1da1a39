"""The table of verbs is whole."""

import pytest

from memtui.features.table import GLOBALS, GROUPS, VERBS, find
from memtui.wire.verb import Verb

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
