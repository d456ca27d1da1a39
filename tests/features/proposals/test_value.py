"""The same suggestion has the same fingerprint, whatever stands beside it; and no proposal quotes a secret."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Remove, Rename, Step, Write
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import NotFoundError, UsageError
from memtui.features.proposals.value import QUOTE_CHARS, WHY_CHARS, fingerprint, proposal
from tests.faults.world import World, at, new_world, sha

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def world(tmp_path: Path) -> World:
    return new_world(tmp_path / "world")


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as engine:
        yield engine


def suggest(engine: Engine, *steps: Step, kind: str = "replace", quote: str = "q", why: str = "because") -> Proposal:
    shown = [Evidence("turn", "s", quote=quote)]
    return proposal(engine, kind=kind, steps=steps, by="claude", why=why, evidence=shown)


def write(world: World, name: str, text: str, change: tuple[str, str]) -> Write:
    """A change of a memory that is on disk with this text."""
    (world.folder() / name).write_text(text)
    return Write(at(name), text.replace(*change).encode(), sha(text.encode()))


def test_edits_elsewhere_in_the_file_do_not_change_the_fingerprint(engine: Engine, world: World) -> None:
    change = ("lasts 24 h", "lasts 12 h")
    first = suggest(engine, write(world, "a.md", "one\ntwo\nit lasts 24 h\n", change))
    assert (
        suggest(engine, write(world, "a.md", "ONE\ntwo\nit lasts 24 h\nfour\n", change)).fingerprint
        == first.fingerprint
    )
    others = [
        suggest(engine, write(world, "a.md", "one\ntwo\nit lasts 24 h\n", ("24", "13"))),
        suggest(engine, write(world, "b.md", "one\ntwo\nit lasts 24 h\n", change)),
        suggest(engine, write(world, "a.md", "one\ntwo\nit lasts 24 h\n", change), kind="merge"),
        suggest(engine, Remove(at("a.md"))),
        suggest(engine, Rename(at("a.md"), at("c.md"))),
        suggest(engine, Rename(at("a.md"), at("d.md"))),
    ]
    assert len({first.fingerprint, *(other.fingerprint for other in others)}) == 7


def test_case_blanks_and_line_ends_do_not_count(engine: Engine) -> None:
    one, other = (suggest(engine, Write(at("n.md"), data, None)) for data in (b"Use  PNPM.\n", b"use pnpm.\r\n"))
    assert one.fingerprint == other.fingerprint
    assert fingerprint(engine, "note", (), "a") != fingerprint(engine, "note", (), "b")


def test_a_fingerprint_says_nothing_without_the_key(engine: Engine, tmp_path: Path) -> None:
    step = Write(at("n.md"), b"x\n", None)
    with new_world(tmp_path / "second").engine() as second:
        assert suggest(engine, step).fingerprint != suggest(second, step).fingerprint


def test_a_proposal_knows_its_folders_and_needs_evidence(engine: Engine, world: World) -> None:
    made = suggest(engine, Rename(at("a.md"), at("b.md", "other")), kind="move")
    assert dict(made.folders) == {"notes": str(world.folder("notes")), "other": str(world.folder("other"))}
    assert made.targets == ("notes/a.md", "other/b.md")
    with pytest.raises(UsageError, match="needs a known kind and evidence"):
        proposal(engine, kind="replace", steps=[], by="x", why="w", evidence=[])
    with pytest.raises(UsageError, match="needs a known kind and evidence"):
        suggest(engine, kind="improve")
    with pytest.raises(NotFoundError):
        suggest(engine, Remove(at("a.md", "elsewhere")))


def test_what_only_says_something_is_about_the_memories_it_shows(engine: Engine, world: World) -> None:
    def note(name: str, text: str) -> Proposal:
        shown = [Evidence("memory", f"notes/{name}", sha(text.encode()), quote="q")]
        made = proposal(engine, kind="note", steps=(), by="rule:outdated", why="It may be outdated.", evidence=shown)
        return engine.proposals.add([made])[0]

    one, other = note("a.md", "1"), note("b.md", "1")
    assert one.id != other.id
    assert one.folders == (("notes", str(world.folder("notes"))),)
    engine.proposals.decide([one.id], "rejected", by="tui")
    assert note("a.md", "1").state == "rejected"
    assert note("a.md", "2").state == "open"


@given(st.text(max_size=400), st.text(max_size=400))
def test_what_it_quotes_is_short_and_holds_no_secret(before: str, after: str) -> None:
    from memtui.features.proposals.value import _short

    for most in (QUOTE_CHARS, WHY_CHARS):
        said = _short(f"{before} {TOKEN} {after}", most)
        assert len(said) <= most
        assert TOKEN not in said
        assert "\n" not in said
