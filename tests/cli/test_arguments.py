"""Words to values."""

import shlex
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.cli.arguments import parse, peek_json
from memtui.errors import UsageError
from memtui.features.table import verbs
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Verb

VERBS = verbs()

SHA = "9f" * 32
EXAMPLES = [(verb, line) for verb in VERBS for line, _ in verb.examples]


def words_of(line: str) -> Sequence[str]:
    """What `memtui` itself is given in an example, which may be part of a pipeline."""
    words = shlex.split(line.replace("$SHA", SHA))
    start = words.index("memtui") + 1
    rest = words[start:]
    ends = [rest.index(sign) for sign in ("|", ">") if sign in rest]
    return rest[: min(ends, default=len(rest))]


@pytest.mark.parametrize(("verb", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_every_example_is_understood(verb: Verb, line: str) -> None:
    assert parse(words_of(line)).verb is verb


@pytest.mark.parametrize("param", [param for param in GLOBALS if param.kind == "flag"], ids=lambda param: param.name)
def test_global_flags_are_taken_before_and_after_the_verb(param: object) -> None:
    name = getattr(param, "name", "")
    for words in ([name, "ls"], ["ls", name], ["ls", "notes", name]):
        parsed = parse(words)
        assert parsed.verb is not None
        assert parsed.verb.name == "ls"
        assert parsed.options.flag(getattr(param, "key", ""))


def test_roots_can_be_repeated_and_values_may_follow_a_sign() -> None:
    parsed = parse(["--root", "a=/a", "ls", "--root=b=/b,scope=project", "--sort=age"])
    assert parsed.options.texts("root") == ["a=/a", "b=/b,scope=project"]
    assert parsed.arguments.text("sort") == "age"


def test_a_verbs_own_option_wins_over_the_global_one() -> None:
    parsed = parse(["--actor", "me", "log", "--actor", "cli"])
    assert (parsed.options.text("actor"), parsed.arguments.text("actor")) == ("me", "cli")
    assert parse(["restore", "a/b", "--version", SHA]).arguments.text("version") == SHA


def test_after_two_dashes_everything_is_a_name() -> None:
    assert parse(["rm", "--", "notes/-rf.md", "--json"]).arguments.texts("addresses") == ["notes/-rf.md", "--json"]
    assert not peek_json(["rm", "--", "--json"])
    assert peek_json(["rm", "--json"])


def test_a_count_may_be_zero() -> None:
    assert parse(["serve", "--port", "0"]).arguments.number("port", -1) == 0
    assert parse(["log", "--after", "0"]).arguments.number("after", -1) == 0


def test_a_lone_dash_is_standard_input() -> None:
    assert parse(["create", "a/b", "-"]).arguments.text("source") == "-"
    assert parse(["create", "a/b", "--file", "-"]).arguments.text("file") == "-"


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("vieww", "no verb 'vieww'", "view"),
        ("memtui:global/a.md", "no verb", "memtui view memtui:global/a.md"),
        ("ls --unsen", "no option --unsen", "--unseen"),
        ("--unseen", "option of ls", "memtui ls --unseen"),
        ("ls --sort colour", "--sort takes name, uses, age, size or changed, not 'colour'.", ""),
        ("ls --sort nme", "not 'nme'", "Did you mean name?"),
        ("mcp --access off", "--access takes rw, plan or ro, not 'off'.", ""),
        (
            "install claud-code",
            "CLIENT takes claude-code, codex, gemini, qwen or vscode, not 'claud-code'.",
            "claude-code?",
        ),
        ("ls a b", "takes no 'b'", "Usage: memtui ls"),
        ("view", "needs ADDRESS", "Usage: memtui view"),
        ("save a/b -", "needs --expect", "Usage"),
        ("save a/b - --expect 9f9f9f", "not a version", "64 digits"),
        ("diff a/b xyz", "not a version", "memtui history"),
        ("restore a/b --version", "needs a value", ""),
        ("restore a/b --version --json", "needs a value", ""),
        ("search x --limit 0", "not a number", "10"),
        ("search x --limit ten", "not a number", ""),
        ("ls --json=yes", "takes no value", ""),
        ("ls --sort age --sort name", "given twice", ""),
        ("undo many", "not a number", ""),
        ("completion tcsh", "SHELL takes bash, zsh or fish, not 'tcsh'.", ""),
    ],
)
def test_a_malformed_line_says_what_and_what_else(line: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line.split())
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_upper_case_versions_are_the_same_versions() -> None:
    assert parse(["save", "a/b", "--expect", SHA.upper()]).arguments.need("expect") == SHA
    assert parse(["save", "a/b", "--expect", "ABSENT"]).arguments.need("expect") == "absent"


def test_help_needs_nothing_else() -> None:
    parsed = parse(["view", "-h"])
    assert parsed.options.flag("help")
    assert parsed.verb is not None


WORDS = st.one_of(
    st.sampled_from([verb.name for verb in VERBS] + [param.name for verb in VERBS for param in verb.options]),
    st.sampled_from([param.name for param in GLOBALS] + ["-", "--", "--=", "-x", "", "--json=", "absent"]),
    st.text(max_size=8),
)


@given(st.lists(WORDS, max_size=6))
def test_no_line_of_words_breaks_the_parser(words: list[str]) -> None:
    try:
        verb = parse(words).verb
    except UsageError:
        verb = None
    assert verb is None or verb in VERBS
