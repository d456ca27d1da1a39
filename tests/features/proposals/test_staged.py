"""What Gemini CLI and Hermes stage is decided here as there: guarded, with the staged file in the same step of undo."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import unified
from memtui.engine import Engine
from memtui.engine.model import Actor, Policy, Root
from memtui.engine.proposal import Proposal
from memtui.errors import RefusedError
from memtui.features.changes import view_rows
from memtui.features.proposals import apply
from memtui.features.proposals.staged import _changed, _patched

ME = Actor("tui")
INDEX = "# Memory\n\n- build with make\n- test with pytest\n- deploy on Fridays\n"
ENTRIES = "uses pnpm\n§\nlives in Oslo\n§\nlikes tabs"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A Gemini project's memory, Gemini's own folder and a profile of Hermes."""
    for folder in ("g/tmp/p/memory/.inbox/private", "g/tmp/p/memory/.inbox/global", "h/memories", "h/pending/memory"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "g/tmp/p/memory/MEMORY.md").write_text(INDEX)
    (tmp_path / "g/GEMINI.md").write_text("Be brief.\n")
    (tmp_path / "h/memories/USER.md").write_text(ENTRIES)
    (tmp_path / "h/SOUL.md").write_text("I am.\n")
    return tmp_path


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    limits = Policy(shown_chars=(("MEMORY.md", 2_200), ("USER.md", 60)))
    only = ((home / "g", "gemini", "GEMINI.md"), (home / "h", "hermes", "SOUL.md"))
    roots = [
        Root("gemini:project:p", str(home / "g/tmp/p/memory"), "gemini", "project", policy=Policy(ignore=("inbox",))),
        Root("hermes:global", str(home / "h/memories"), "hermes", "global", policy=limits),
        *(Root(f"{agent}:i", str(path), agent, "global", policy=Policy(include=(name,))) for path, agent, name in only),
    ]
    with Engine.open(roots, state_dir=str(home / "state")) as engine:
        yield engine


def section(path: Path, before: str | None, after: str) -> str:
    old = "/dev/null" if before is None else str(path)
    return "".join(f"{line}\n" for line in unified(before or "", after, old, str(path)))


def stage(home: Path, *sections: str, kind: str = "private") -> Path:
    path = home / f"g/tmp/p/memory/.inbox/{kind}/extraction.patch"
    path.write_text("".join(sections))
    return path


def record(home: Path, number: int, **payload: object) -> Path:
    path = home / f"h/pending/memory/{number:08x}.json"
    path.write_text(json.dumps({"id": f"{number:08x}", "subsystem": "memory", "summary": "said", "payload": payload}))
    return path


def accept(engine: Engine, *ones: Proposal) -> list[str]:
    ids = [one.id for one in ones]
    apply.decide(engine, ids, "accepted", actor=ME)
    apply.carry_out(engine, ids, actor=ME)
    return [apply.find(engine, number).state for number in ids]


def disk(home: Path) -> dict[str, bytes]:
    found = (path for folder in ("g", "h") for path in (home / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def test_each_file_of_a_patch_is_decided_by_itself_and_the_rest_stays_staged(engine: Engine, home: Path) -> None:
    memory = home / "g/tmp/p/memory"
    changed = INDEX.replace("on Fridays", "on Mondays")
    patch = stage(
        home, section(memory / "MEMORY.md", INDEX, changed), section(memory / "verify.md", None, "Run it twice.\n")
    )
    before = disk(home)
    one, other = apply.waiting(engine)
    assert (one.by, one.kind, other.kind) == ("agent:gemini", "replace", "add")
    assert [each.id for each in apply.waiting(engine)] == [one.id, other.id], "looking again makes no new ones"
    (memory / "MEMORY.md").write_text("# Memory of p\n" + INDEX[9:])
    assert [each.id for each in apply.waiting(engine)] == [one.id, other.id], "nor does a change elsewhere"
    assert accept(engine, one) == ["applied"]
    assert (memory / "MEMORY.md").read_text() == "# Memory of p\n" + changed[9:]
    assert patch.read_text() == section(memory / "verify.md", None, "Run it twice.\n")
    assert [each.id for each in apply.waiting(engine)] == [other.id]
    assert accept(engine, other) == ["applied"]
    assert (memory / "verify.md").read_text() == "Run it twice.\n"
    assert not patch.exists()
    assert apply.waiting(engine) == ()
    engine.undo.undo(actor=ME)
    engine.undo.undo(actor=ME)
    assert disk(home) == before | {"g/tmp/p/memory/MEMORY.md": b"# Memory of p\n" + INDEX[9:].encode()}
    assert [(each.id, each.state) for each in apply.waiting(engine)] == [(one.id, "open"), (other.id, "open")]
    assert engine.changes.unseen() == ()


def test_a_rejected_one_goes_to_the_trash_and_comes_back_with_undo(engine: Engine, home: Path) -> None:
    path = home / "g/GEMINI.md"
    patch = stage(home, section(path, "Be brief.\n", "Be brief.\nBe kind.\n"), kind="global")
    (one,) = apply.waiting(engine)
    assert one.targets == ("gemini:i/GEMINI.md",)
    apply.decide(engine, [one.id], "rejected", actor=ME, note="no")
    assert not patch.exists()
    assert [entry.address.path for entry in engine.undo.trash.entries()] == [".inbox/global/extraction.patch"]
    assert apply.waiting(engine) == ()
    engine.undo.undo(actor=ME)
    assert patch.exists()
    assert [(each.id, each.state) for each in apply.waiting(engine)] == [(one.id, "open")]


def test_a_rejection_leaves_the_file_until_it_is_carried_out(engine: Engine, home: Path) -> None:
    path = home / "g/GEMINI.md"
    patch = stage(home, section(path, "Be brief.\n", "Be brief.\nBe kind.\n"), kind="global")
    (one,) = apply.waiting(engine)
    apply.decide(engine, [one.id], "rejected", actor=ME, tidy=False)
    assert patch.exists()
    assert not apply.waiting(engine)
    assert view_rows.load(engine).staged == {one.id}
    apply.carry_out(engine, [one.id], actor=ME)
    assert not patch.exists()
    assert view_rows.load(engine).staged == set()
    engine.undo.undo(actor=ME)
    assert patch.exists()
    assert view_rows.load(engine).staged == {one.id}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("private", name) for name in (".extraction-state.json", ".inbox/private/review.md", "skills/x/SKILL.md")),
        *(("private", name) for name in ("notes.txt", "nested/topic.md", "../x.md", "../../../GEMINI.md")),
        *(("global", name) for name in ("../../../settings.json", "../../../GEMINI.md/nested.md", "topic.md")),
    ],
)
def test_a_patch_of_anything_else_is_shown_as_refused(engine: Engine, home: Path, kind: str, name: str) -> None:
    memory = home / "g/tmp/p/memory"
    good = section(memory / "MEMORY.md", INDEX, INDEX + "- more\n")
    target = memory / name if name.startswith("../x") else (memory / name).resolve()
    patch = stage(home, good, section(target, None, "x\n"), kind=kind)
    (one,) = apply.waiting(engine)
    assert (one.state, one.steps, one.note[:26]) == ("blocked", (), "Gemini CLI would refuse it")
    apply.decide(engine, [one.id], "rejected", actor=ME)
    assert not patch.exists()


def test_what_the_agent_decides_itself_is_off_the_list(engine: Engine, home: Path) -> None:
    patch = stage(home, section(home / "g/tmp/p/memory/x.md", None, "x\n"))
    record(home, 1, action="add", target="user", content="owns a cat")
    one, other = apply.waiting(engine)
    patch.unlink()
    assert [each.id for each in apply.waiting(engine)] == [other.id]
    assert engine.proposals.get(one.id).state == "superseded"


def test_records_of_hermes_become_entries_and_go(engine: Engine, home: Path) -> None:
    path = home / "h/memories/USER.md"
    added = record(home, 1, action="add", target="user", content="owns a cat")
    record(home, 2, action="replace", target="user", old_text="Oslo", matched_entry="lives in Oslo", content="in Rome")
    record(home, 3, action="remove", target="user", old_text="tabs", matched_entry="likes tabs")
    record(home, 4, action="add", target="memory", content="the first one")
    ones = apply.waiting(engine)
    assert [one.kind for one in ones] == ["add", "replace", "remove", "add"]
    before = disk(home)
    assert accept(engine, ones[1], ones[3]) == ["applied", "applied"]
    assert path.read_text() == ENTRIES.replace("lives in Oslo", "in Rome")
    assert (home / "h/memories/MEMORY.md").read_text() == "the first one"
    assert sorted(file.name for file in added.parent.iterdir()) == ["00000001.json", "00000003.json"]
    engine.undo.undo(actor=ME)
    assert disk(home) == before


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"action": "replace", "old_text": "Oslo", "content": "in Rome"}, "is not pinned"),
        ({"action": "remove", "matched_entry": "lives"}, "is not pinned"),
        ({"action": "add", "content": "x" * 60}, "characters of 60"),
        ({"action": "add", "content": "a\n§\nb"}, "Only Hermes"),
        ({"action": "extraction_proposal", "content": "x"}, "Only Hermes"),
        ({"action": "batch", "operations": [{"action": "add", "content": "x"}, 3]}, "Only Hermes"),
        ({"action": "batch"}, "Only Hermes"),
        ({"action": ["add"]}, "Only Hermes"),
    ],
)
def test_what_hermes_would_refuse_is_refused(engine: Engine, home: Path, payload: dict[str, object], why: str) -> None:
    record(home, 1, target="user", **payload)
    (one,) = apply.waiting(engine)
    assert (one.state, one.steps, why in one.note) == ("blocked", (), True), one.note
    assert (home / "h/memories/USER.md").read_text() == ENTRIES


def test_staged_links_and_damage_are_shown_and_nothing_is_followed(engine: Engine, home: Path) -> None:
    (home / "secret.json").write_text(json.dumps({"payload": {"action": "add", "target": "user", "content": "k"}}))
    (home / "h/pending/memory/1.json").symlink_to(home / "secret.json")
    (home / "h/pending/memory/2.json").write_bytes(b"\xff{")
    (home / "h/pending/memory/3.json").write_text("[" * 100_000)
    assert [one.state for one in apply.waiting(engine)] == ["blocked"] * 3
    (home / "h/memories/USER.md").write_text("free text\n\n§\n\n  more")
    record(home, 4, action="remove", target="user", matched_entry="more")
    assert "not in the form" in apply.waiting(engine)[-1].note


@given(st.lists(st.sampled_from("abcx"), max_size=12), st.lists(st.sampled_from("abcx"), max_size=12), st.booleans())
def test_a_patch_makes_the_text_it_was_made_of(old: list[str], new: list[str], ended: bool) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    before, after = (before, after) if ended else (before[:-1], after[:-1])
    lines = unified(before, after, "a", "b")[2:]
    assert _patched(before, lines) == after
    moved = _patched("head\n" * 3 + before, lines)
    assert moved is None or moved.count("head\n") == 3


@given(st.lists(st.text("ab§\n ", max_size=8), max_size=5), st.text("ab§\n ", min_size=1, max_size=8))
def test_no_entry_of_hermes_is_lost_by_adding_one(entries: list[str], content: str) -> None:
    text = "\n§\n".join(entries)
    with suppress(RefusedError):
        changed = _changed(text, [{"action": "add", "content": content}])
        kept = [entry.strip() for entry in text.split("\n§\n") if entry.strip()]
        assert [entry.strip() for entry in changed.split("\n§\n") if entry.strip()][: len(kept)] == kept
