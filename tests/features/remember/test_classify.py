"""What a text to remember is: type, scope, reasons, name; and what is not stored."""

from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memtui.engine.disk import paths
from memtui.engine.frontmatter import read
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.features.remember.classify import LIMIT, checked, classify, same, scope_of, split_reasons

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("text", "kind", "scope"),
    [
        ("Deploys go through staging first, because the ferry terminal has no rollback.", "feedback", "global"),
        ("Bugs are tracked in https://tracker.example/ingest", "reference", "project"),
        ("The on-call dashboard is in Grafana, I prefer its dark theme", "reference", "project"),
        ("I prefer short answers.", "user", "global"),
        ("My favourite editor is Helix", "user", "global"),
        ("我喜欢简短的回答", "user", "global"),
        ("Never mock the database in tests", "feedback", "global"),
        ("In this repository always run make lint before a commit", "feedback", "project"),
        ("harbor: never push to main", "feedback", "project"),
        ("Merges are frozen after 2026-03-05", "project", "project"),
        ("The project uses pnpm", "project", "project"),
    ],
)
def test_the_first_type_that_fits_counts_and_says_where_it_holds(text: str, kind: str, scope: str) -> None:
    fact = classify(text)
    assert (fact.type, scope_of(fact, "harbor")) == (kind, scope)


def test_a_chosen_type_counts_more_than_the_words() -> None:
    fact = classify("I prefer tabs", "project")
    assert (fact.type, scope_of(fact, None)) == ("project", "project")


def test_reasons_become_lines_of_their_own_and_nothing_else_is_added() -> None:
    text = (
        "Use the real database.\n**Why:** a mock hid a broken\tbuild\n- How to apply: in integration tests\nWhy: second"
    )
    fact = classify(text)
    assert (fact.text, fact.why) == ("Use the real database.\nWhy: second", "a mock hid a broken build")
    assert fact.body == (
        "Use the real database.\nWhy: second\n\nWhy: a mock hid a broken build\n\nHow to apply: in integration tests\n"
    )
    assert split_reasons("Use it. Why: so; How to apply: always") == ("Use it.", "so;", "always")
    assert split_reasons("Why: alone") == ("Why: alone", "", "")


@pytest.mark.parametrize(
    ("text", "name", "description", "slug"),
    [
        (
            "Deploys go through staging first, because the ferry has no rollback. And more.",
            "Deploys go through staging first",
            "Deploys go through staging first, because the ferry has no rollback",
            "deploys-go-through-staging-first",
        ),
        ("Don't use `rm -rf`!", "Don't use `rm -rf`", "Don't use `rm -rf`", "dont-use-rm-rf"),
        ("# Heading\ntext", "Heading", "Heading", "heading"),
        ("Use ruff, e.g. for imports", "Use ruff", "Use ruff, e.g. for imports", "use-ruff"),
        ("部署先到测试环境。然后上线。", "部署先到测试环境", "部署先到测试环境", "部署先到测试环境"),
        ("!!!", "!!!", "!!!", "note"),
    ],
)
def test_the_name_comes_from_the_first_sentence(text: str, name: str, description: str, slug: str) -> None:
    fact = classify(text)
    assert (fact.name, fact.description, fact.slug) == (name, description, slug)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Use pnpm.", "use  PNPM"), ("ｕｓｅ pnpm", "use pnpm!"), ("用 pnpm。", "用 pnpm"), ("a\r\nb", "a b")],
)
def test_texts_that_say_the_same_are_equal(one: str, other: str) -> None:
    assert same(one) == same(other) != same("use npm")


def test_what_may_not_be_stored_is_refused_and_no_secret_is_repeated() -> None:
    assert checked("x" * LIMIT + "\n") == ("x" * LIMIT, 0, False)
    for text, code in (
        ("", "E_USAGE"),
        (" !\n", "E_USAGE"),
        ("a\0b", "E_TEXT"),
        ("a\ud800b", "E_TEXT"),
        ("ä" * (LIMIT // 2) + "x", "E_TOO_BIG"),
        ("<private>all of it</private>", "E_USAGE"),
        ("keep this <no-memory>", "E_USAGE"),
    ):
        with pytest.raises(MemtuiError) as caught:
            checked(text)
        assert caught.value.code == code
    with pytest.raises(RefusedError) as secret:
        checked(f"The token is {TOKEN}")
    assert (secret.value.code, secret.value.details["kind"]) == ("E_SECRET", "GitHub token")
    assert TOKEN not in str(secret.value)
    assert checked(f"The token is {TOKEN}", secrets=True).text.endswith(TOKEN)


def test_front_matter_escape_sequences_and_what_nobody_sees_are_no_part_of_the_text() -> None:
    memory = "---\nname: retry\n---\n\n\x1b[1;31mRetry\x1b[0m four\u200b times.\r\n\tWith jitter.\x1b]8;;x\x07"
    assert checked(memory) == ("Retry four times.\n\tWith jitter.", 0, True)
    assert checked("\ufeffa \u202eb").text == "a b"
    assert checked("👩\u200d💻 writes\n---\nno head").text == "👩\u200d💻 writes\n---\nno head"
    with pytest.raises(UsageError, match="nothing in it"):
        checked("---\nname: retry\n---\n")


def test_private_parts_are_cut_and_counted_and_a_secret_in_one_does_no_harm() -> None:
    assert checked(f"Deploys use <private>{TOKEN}</private>the vault") == ("Deploys use the vault", 1, False)


@given(st.text(max_size=300))
def test_any_text_that_may_be_stored_gets_a_name_a_path_and_a_body_that_holds_it(text: str) -> None:
    kept = ""
    with suppress(MemtuiError):
        kept = checked(text, secrets=True).text
    assume(kept)
    fact = classify(kept)
    paths.require_creatable(["project", f"{fact.slug}.md"])
    assert fact.name
    assert "\n" not in fact.name + fact.description
    assert read.split(f"\n{fact.body}".encode()).status == "none"
    words = {word for word in kept.split() if word.isalnum() and word.lower() not in ("why", "how", "to", "apply")}
    assert words <= set(fact.body.split())
