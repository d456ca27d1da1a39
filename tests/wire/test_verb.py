"""A verb's own words."""

from memtui.wire.verb import Param, Verb

SORT = Param("--sort-by", "the order", choices=("name", "age"))
PLACES = Param("addresses", "the memories", "address", "ADDRESS", many=True, required=True)


def test_a_usage_line_shows_what_may_be_left_out() -> None:
    verb = Verb("x", "look", "Do it", (SORT, PLACES, Param("--all", "everything", "flag")), ())
    assert verb.usage == "x ADDRESS... [--sort-by SORT_BY] [--all]"
    assert verb.positionals == (PLACES,)


def test_an_option_has_a_key_and_explains_its_choices() -> None:
    assert SORT.key == "sort_by"
    assert SORT.explanation == "the order: name, age"
    assert Param("shell", "which", choices=("bash", "zsh"), required=True).usage == "bash|zsh"
