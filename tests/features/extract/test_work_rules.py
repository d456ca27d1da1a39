"""Rules: what of a turn is worth keeping, how it is said then, and that no turn takes long."""

from datetime import UTC, datetime
from time import thread_time

import pytest

from memtui.features.extract.work import SHORT_TURN, sayings

WEDNESDAY = int(datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp() * 1000)


def found(text: str, *, answers: bool = True) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in sayings(text, WEDNESDAY, answers=answers)]


@pytest.mark.parametrize(
    ("text", "rule", "kept"),
    [
        ("Remember that we deploy from main.", "explicit", "We deploy from main."),
        ("please remember: never commit to main", "explicit", "Never commit to main"),
        ("From now on use pnpm for everything", "explicit", "From now on use pnpm for everything"),
        ("Remember that the freeze starts today.", "explicit", "The freeze starts 2026-03-04."),
        ("记住我们用pnpm管理依赖", "explicit", "我们用pnpm管理依赖"),
        ("Remember this: the API is frozen", "explicit", "The API is frozen"),
        ("No, use pnpm instead of npm", "correction", "Use pnpm instead of npm"),
        ("No. Always run ruff through make.", "correction", "Always run ruff through make."),
        ("actually, we never mock the database", "correction", "We never mock the database"),
        ("I prefer answers without a summary", "preference", "I prefer answers without a summary"),
        ("Bugs are tracked in Linear", "reference", "Bugs are tracked in Linear"),
        ("The release is on Friday", "project", "The release is on 2026-03-06"),
        ("- Merge freeze begins Thursday", "project", "Merge freeze begins 2026-03-05"),
    ],
)
def test_a_sentence_is_kept_by_the_first_rule_that_fits(text: str, rule: str, kept: str) -> None:
    assert found(text) == [(rule, kept)]


@pytest.mark.parametrize(
    "text",
    [
        "Remember?",
        "Do you remember that we use pnpm?",
        "remember this",
        "Remember that it is broken again",
        "No, that's wrong",
        "Don't touch that file",
        "I want you to add a button",
        "We prefer pnpm for this task",
        "I like it a lot, go on",
        "Look at https://example.org/issues/3 and fix it",
        "The release is currently blocked until Friday",
        "Prepare the release for Friday",
        "> Remember that somebody else said so.",
        "```\nremember that this is code\n```",
        "Remember that the key is [masked: GitHub token]",
        "Remember that [private] is the one",
        "Everything is fine with the thing that you did to the other thing",
    ],
)
def test_what_is_meant_for_the_moment_is_not_kept(text: str) -> None:
    assert found(text) == []


def test_each_sentence_counts_by_itself_and_reasons_go_with_what_is_asked_for() -> None:
    text = (
        "Fix the bug in a.py. Remember that main is protected.\nWhy: the auditors\nI prefer small commits for it all."
    )
    assert found(text) == [
        ("explicit", "Main is protected.\nWhy: the auditors"),
        ("preference", "I prefer small commits for it all."),
    ]


def test_a_correction_answers_the_agent() -> None:
    assert found("No, use pnpm instead of npm", answers=False) == []
    assert found("Good. No, use pnpm instead of npm") == []


def test_of_a_long_turn_only_what_is_asked_for_is_kept() -> None:
    text = "Remember that main is protected. I prefer small commits everywhere. " + "Do more of it. " * (
        SHORT_TURN // 10
    )
    assert found(text) == [("explicit", "Main is protected.")]


@pytest.mark.parametrize(
    "piece",
    [
        "remember that ",
        "no, ",
        "```\n",
        "please ",
        "I prefer ",
        "in ",
        "a. B",
        "is at ",
        "today ",
        "note: ",
        "- ",
        "不",
    ],
)
def test_a_megabyte_takes_no_longer_than_its_size(piece: str) -> None:
    text = piece * (1_048_576 // len(piece.encode()))
    started = thread_time()
    found(text)
    assert thread_time() - started < 20
