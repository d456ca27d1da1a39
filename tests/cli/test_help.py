"""Help, and the page of commands."""

import subprocess
import sys

import pytest

from memtui.cli.help import commands_page, overview, verb_help
from memtui.features.table import verbs
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Verb
from tests.cli.conftest import Cli
from tests.house.source import ROOT

VERBS = verbs()


def test_the_page_of_commands_is_the_table() -> None:
    written = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert written == commands_page(), "python -m memtui.cli.help > docs/commands.md"
    done = subprocess.run([sys.executable, "-m", "memtui.cli.help"], capture_output=True, text=True, timeout=30)
    assert done.stdout == written


def test_the_overview_names_every_verb_and_option() -> None:
    text = overview()
    assert not [verb.name for verb in VERBS if f"  {verb.name} " not in text]
    assert not [param.name for param in GLOBALS if param.name not in text]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_each_verbs_help_shows_its_arguments_and_an_example(verb: Verb) -> None:
    text = verb_help(verb)
    assert text.startswith(f"usage: memtui {verb.name}")
    assert all(param.name in text for param in verb.options)
    assert all(line in text for line, _ in verb.examples)
    assert max(map(len, text.splitlines())) <= 110


def test_help_is_asked_for_in_three_ways(cli: Cli) -> None:
    one, two, three = cli("ls", "--help"), cli("help", "ls"), cli("-h", "ls", "--json")
    assert one.status == two.status == three.status == 0
    assert one.out == two.out == three.json["help"]
    assert cli("--help").out == cli("help").out == overview()


def test_help_for_no_verb_is_a_usage_error(cli: Cli) -> None:
    result = cli("help", "lss")
    assert result.status == 2
    assert "ls" in result.err
