"""The same bytes make the same cards; secrets and private spans are in no field of any, wherever they stand."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.features.entries.formats import FORMATS
from memtui.features.observations import rules
from memtui.features.observations.rules import derive
from tests.examples import examples

KEY = "sk-ant-api03-" + "a1B2" * 24 + "AA"


def test_a_memory_is_one_card() -> None:
    text = """---
name: Retry
description: How often we retry
type: feedback
tags: [http, budget]
---
Three tries in all, see `src/api/retry.py` and tests/test_retry.py. Not http://x.org/a.py #calls

- **Why:** four layers sent 81 calls
- retryPost, pool_size
"""
    (one,) = derive(text.encode(), None).items
    assert (one.title, one.type, one.first) == ("How often we retry", "preference", "")
    assert one.span == (0, len(text.encode()))
    assert one.facts == ("**Why:** four layers sent 81 calls", "retryPost, pool_size")
    assert set(one.concepts) >= {"http", "budget", "calls", "retryPost", "pool_size"}
    assert one.files == ("src/api/retry.py", "tests/test_retry.py")
    assert one.narrative.startswith("Three tries")
    (never,) = derive(text.replace("Retry", "never").encode(), None).items
    assert (never.title, never.narrative.partition("\n")[0]) == ("How often we retry", "never")  # still found by it
    (unsaid,) = derive(b"---\nname: pool\n---\nIt dies at night.\n", None).items
    assert unsaid.title == "pool"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# `make all` builds it", "make all builds it"),
        ("Build with `make`", "Build with make"),
        ("- **Why:** `a` and ``b`c``", "Why: a and b`c"),
        ("_A title_", "A title"),
        ("`__all__` is in __init__.py", "__all__ is in __init__.py"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_a_title_has_no_signs_of_markdown(line: str, title: str) -> None:
    assert derive(f"{line}\n\nmore\n".encode(), None).items[0].title == title


def test_front_matter_that_is_no_yaml_is_read_as_the_tree_reads_it() -> None:
    text = f"---\nname: deploys\ndescription: Deploys: only from main {KEY}\ntype: feedback\n---\nUse the pipeline.\n"
    (one,) = derive(text.encode(), None).items
    assert (one.title[:23], one.type, one.masked) == ("Deploys: only from main", "preference", 1)
    assert (one.narrative, one.facts) == ("Use the pipeline.", ("Use the pipeline.",))
    long = derive(f"{text.replace(KEY, '')}intro\n# Part\n{'word ' * 1_300}\n".encode(), None).items
    assert [card.title for card in long] == ["Deploys: only from main", "Part"]


def test_entries_and_long_memories_are_divided() -> None:
    found = derive(b"# db\nUse quokka.\n\nAsk first.\n\nAsk first.\n", "goose").items
    assert [one.title for one in found] == ["Use quokka.", "Ask first.", "Ask first."]
    assert "db" in found[0].concepts
    long = "intro\n" + "".join(f"# Part {n}\n```\n# no part\n```\n{'word ' * 400}\n" for n in range(5))
    parts = derive(long.encode(), None).items
    assert [one.title for one in parts] == ["intro", *(f"Part {n}" for n in range(5))]
    assert parts[-1].span[1] == len(long.encode())
    many = derive(b"a\n\n" * (rules.MAX_CARDS + 7), "plain")
    assert (len(many.items), many.more) == (rules.MAX_CARDS, 7)


@pytest.mark.parametrize("kind", [None, *FORMATS])
@given(
    st.lists(st.sampled_from(["hush", "loud", "\n\n", "\n§\n", "\n# x\n", "`", "```\n", " ", f" {KEY} "]), max_size=30)
)
@settings(max_examples=examples(40))
def test_nothing_private_and_no_secret_is_in_any_field(kind: str | None, parts: list[str]) -> None:
    text = "".join(f"<private>{part}</private>" if part == "hush" else part for part in parts)
    for data in (text, f"{text}<PRIVATE >hush"):
        kept = json.dumps([one[3:] for one in derive(data.encode(), kind).items])
        assert "hush" not in kept
        assert "a1B2a1B2" not in kept


def test_a_span_over_entries_is_cut_in_all_of_them() -> None:
    found = derive(b"one <private>hush\n\nhush too\n\nhush</private> end\n\nlast\n", "plain").items
    assert [one.narrative for one in found] == ["one [private]", "[private]", "[private] end", "last"]
    assert [one.title for one in derive(b"a\n\n<no-memory> b\n\n`<no-memory>` c\n", "plain").items][:1] == ["a"]
    assert len(derive(b"a\n\n<no-memory> b\n\n`<no-memory>` c\n", "plain").items) == 2
    assert derive(b"one\n<no-memory>\n", None).items == ()


@given(st.binary(max_size=200), st.sampled_from([None, *FORMATS]))
def test_any_bytes_are_a_memory(data: bytes, kind: str | None) -> None:
    found = derive(data, kind)
    assert found == derive(data, kind)
    assert all(a.span[1] <= b.span[0] for a, b in pairwise(found.items))
    assert all(len(one.title) <= 160 and len(one.facts) <= 12 and len(one.concepts) <= 12 for one in found.items)


def test_front_matter_is_cut_and_no_tag_of_an_entry_keeps_what_was_cut() -> None:
    (one,) = derive(b"---\nname: x\n# <private>\ndescription: hush\n# </private>\ntags: [a]\n---\nbody\n", None).items
    assert "hush" not in json.dumps(one[3:])
    found = derive(f"lion <private>a\n\n# hush b\nUse it.\n</private>\n\n# x {KEY}\nend\n".encode(), "goose").items
    kept = json.dumps([one[3:] for one in found])
    assert "hush" not in kept
    assert "a1B2a1B2" not in kept
