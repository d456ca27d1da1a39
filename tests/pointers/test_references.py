"""Pointers, links and references follow what a person renames or trashes: in the same step of undo, and said."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk.paths import translate
from memtui.engine.model import Actor, Address, Done, Policy, Remove, Rename, Root, Snapshot, Step
from memtui.pointers import references
from memtui.pointers.references import plan, renamed, update
from tests.pointers.folder import INDEXED, at, disk

ME = Actor("cli")
FILES = {
    "MEMORY.md": b"# Index\r\n\r\n- [A](a.md) \xe2\x80\x94 one\r\n- [B](b.md) \xe2\x80\x94 two\r\n",
    "a.md": b"See [B](b.md), [[b]] and mem:topics/c.\n",
    "b.md": b"Back to [[a]]; no final newline: [A](a.md)",
    "topics/MEMORY.md": b"- [C](c.md)\n- [A](../a.md)\n",
    "topics/c.md": b"`mem:a`\n",
    "other.md": b"Nothing of it.\n",
}


def rename(engine: Engine, old: str, new: str, root: str = "notes") -> Done:
    """Rename, and let everything follow."""
    return references.rename(engine, [(at(old), at(new, root))], actor=ME)


def trash(engine: Engine, *names: str) -> Done:
    """Delete, and let everything follow."""
    return references.trash(engine, map(at, names), actor=ME)


def test_everything_follows_a_rename_in_one_step_of_undo(notes: Path, engine: Engine) -> None:
    done = rename(engine, "a.md", "user.md")
    assert (done.also, done.left) == ("5 links updated", "")
    after = {
        "MEMORY.md": FILES["MEMORY.md"].replace(b"a.md", b"user.md"),
        "b.md": b"Back to [[user]]; no final newline: [A](user.md)",
        "topics/MEMORY.md": b"- [C](c.md)\n- [A](../user.md)\n",
        "topics/c.md": b"`mem:user`\n",
        "user.md": FILES["a.md"],
        "other.md": FILES["other.md"],
    }
    assert disk(notes) == after
    (operation,) = engine.history.operations(done.txn, done.txn)
    assert (operation.label, operation.records) == ("rename notes/a.md to notes/user.md", 5)
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES
    engine.undo.redo(actor=ME)
    assert disk(notes) == after


def test_a_memory_that_moves_to_another_folder_takes_its_own_links_along(notes: Path, engine: Engine) -> None:
    rename(engine, "a.md", "topics/a.md")
    assert disk(notes)["topics/a.md"] == b"See [B](../b.md), [[b]] and mem:topics/c.\n"
    assert disk(notes)["topics/MEMORY.md"] == b"- [C](c.md)\n- [A](a.md)\n"
    assert b"[A](topics/a.md)" in disk(notes)["MEMORY.md"]
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES


def test_the_entries_of_what_is_trashed_go_and_links_in_prose_are_named(notes: Path, engine: Engine) -> None:
    done = trash(engine, "a.md")
    assert disk(notes)["MEMORY.md"] == b"# Index\r\n\r\n- [B](b.md) \xe2\x80\x94 two\r\n"
    assert disk(notes)["topics/MEMORY.md"] == b"- [C](c.md)\n"
    assert disk(notes)["b.md"] == FILES["b.md"]
    assert done.also == "2 links updated"
    assert "b.md" in done.left
    assert "topics/c.md" in done.left
    assert [entry.address for entry in engine.undo.trash.entries()] == [at("a.md")]
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES


def test_a_memory_that_leaves_the_root_leaves_its_indexes(notes: Path, engine: Engine) -> None:
    rename(engine, "a.md", "a.md", "other")
    assert b"a.md" not in disk(notes)["MEMORY.md"]
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES


def test_a_folder_takes_what_names_its_memories_along(notes: Path, engine: Engine) -> None:
    (notes / "MEMORY.md").write_bytes(b"- [all](topics/)\n- [C](topics/c.md)\n")
    before = disk(notes)
    rename(engine, "topics", "themes/x")
    assert disk(notes)["MEMORY.md"] == b"- [all](themes/x/)\n- [C](themes/x/c.md)\n"
    assert disk(notes)["themes/x/MEMORY.md"] == b"- [C](c.md)\n- [A](../../a.md)\n"
    assert disk(notes)["a.md"] == b"See [B](b.md), [[b]] and mem:themes/x/c.\n"
    engine.undo.undo(actor=ME)
    assert disk(notes) == before


def test_many_at_once_follow_together(notes: Path, engine: Engine) -> None:
    references.rename(engine, [(at("a.md"), at("x/a.md")), (at("b.md"), at("x/b.md"))], actor=ME)
    assert disk(notes)["MEMORY.md"].count(b"(x/") == 2
    assert disk(notes)["x/a.md"] == b"See [B](b.md), [[b]] and mem:topics/c.\n"
    trash(engine, "x/a.md", "x/b.md")
    assert disk(notes)["MEMORY.md"] == b"# Index\r\n\r\n"
    engine.undo.undo(actor=ME)
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES


def test_what_failed_carries_nothing(notes: Path, engine: Engine) -> None:
    stale = engine.memories.delete([at("a.md")], actor=ME, expected={at("a.md"): "0" * 64})
    assert update(engine, stale, actor=ME) == stale
    assert disk(notes) == FILES


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (INDEXED._replace(generated=("MEMORY.md",)), "generates it"),
        (INDEXED._replace(protected=("MEMORY.md",)), "protects it"),
        (INDEXED._replace(write_bytes=60), "E_TOO_BIG"),
    ],
)
def test_a_file_that_may_not_follow_is_left_and_named(
    policy: Policy, why: str, notes: Path, opened: Callable[[Policy], Engine]
) -> None:
    done = rename(opened(policy), "a.md", "a-long-name-of-a-user.md")
    assert disk(notes)["MEMORY.md"] == FILES["MEMORY.md"]
    assert " MEMORY.md" in done.left
    assert why in done.left
    assert disk(notes)["topics/MEMORY.md"] == b"- [C](c.md)\n- [A](../a-long-name-of-a-user.md)\n"


def test_a_file_that_changes_all_the_time_is_left_and_named(
    notes: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = notes / "MEMORY.md"

    real = engine.read

    def meddle(address: Address) -> Snapshot:
        snapshot = real(address)
        if address == at("MEMORY.md"):
            index.write_bytes(snapshot.bytes + b"more\n")
        return snapshot

    monkeypatch.setattr(engine, "read", meddle)
    done = rename(engine, "a.md", "user.md")
    assert "MEMORY.md (it was changed meanwhile)" in done.left
    assert index.read_bytes() == FILES["MEMORY.md"] + b"more\n" * 3
    assert disk(notes)["b.md"].startswith(b"Back to [[user]]")
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES | {"MEMORY.md": index.read_bytes()}


@pytest.mark.parametrize("verb", ["read_bytes", "read"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_what_could_not_be_read_is_named(
    notes: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, verb: str, number: int
) -> None:
    real = getattr(engine, verb)

    def broken(address: Address) -> object:
        if address == at("MEMORY.md"):
            raise translate(OSError(number, os.strerror(number)), f"Opening {address}")
        return real(address)

    monkeypatch.setattr(engine, verb, broken)
    assert "MEMORY.md" in plan(engine, [(at("a.md"), at("user.md"))]).rest
    done = rename(engine, "a.md", "user.md")
    assert disk(notes)["MEMORY.md"] == FILES["MEMORY.md"]
    assert done.also == "4 links updated"
    code = "E_IO" if number == errno.EIO else "E_PERMISSION"
    assert done.left == (
        f"Not searched for links to it: MEMORY.md ({code}: Opening notes/MEMORY.md failed: {os.strerror(number)})."
    )


def test_a_folder_that_could_not_be_listed_is_named(
    notes: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(root_id: str, **_: object) -> object:
        raise translate(OSError(errno.EIO, "I/O"), f"Listing {root_id}")

    monkeypatch.setattr(engine.folders, "items", broken)
    done = rename(engine, "a.md", "user.md")
    assert disk(notes)["MEMORY.md"] == FILES["MEMORY.md"]
    assert done.left == "Not searched for links to it: notes (E_IO: Listing notes failed: Input/output error)."


def test_a_change_in_between_is_followed(notes: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    index = notes / "MEMORY.md"
    real = engine.read

    def meddle(address: Address) -> Snapshot:
        snapshot = real(address)
        if address == at("MEMORY.md") and not index.read_bytes().endswith(b"more\n"):
            index.write_bytes(snapshot.bytes + b"more\n")
        return snapshot

    monkeypatch.setattr(engine, "read", meddle)
    assert not rename(engine, "a.md", "user.md").left
    assert index.read_bytes() == FILES["MEMORY.md"].replace(b"a.md", b"user.md") + b"more\n"


def test_the_plan_says_what_would_follow_and_can_be_done_together(notes: Path, engine: Engine) -> None:
    pairs = [(at("a.md"), at("topics/a.md"))]
    found = plan(engine, pairs, [at("b.md")])
    assert disk(notes) == FILES
    assert found.also == "4 links updated"
    assert [one.address for one in found.left] == [at("topics/a.md")]
    steps: tuple[Step, ...] = (Rename(*pairs[0]), Remove(at("b.md")), *found.steps)
    done = engine.together.do(steps, actor=ME, label="tidy up")
    assert all(outcome.ok for outcome in done.outcomes)
    assert disk(notes)["MEMORY.md"] == b"# Index\r\n\r\n- [A](topics/a.md) \xe2\x80\x94 one\r\n"
    engine.undo.undo(actor=ME)
    assert disk(notes) == FILES


def test_one_of_three_thousand_reads_the_index_and_the_nearest_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(3_000):
        (folder / f"m{number:04}.md").write_bytes(b"text %d\n" % number)
    (folder / "z.md").write_bytes(b"[[m0000]]\n")
    (folder / "MEMORY.md").write_bytes(b"- [0](m0000.md)\n")
    root = Root("many", str(folder), policy=INDEXED)
    with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
        reads = 0
        real = engine.read_bytes

        def counted(address: Address) -> bytes:
            nonlocal reads
            reads += 1
            return real(address)

        monkeypatch.setattr(engine, "read_bytes", counted)
        done = references.rename(engine, [(Address("many", "m0000.md"), Address("many", "a/first.md"))], actor=ME)
    assert (folder / "MEMORY.md").read_bytes() == b"- [0](a/first.md)\n"
    assert done.also == "1 link updated"
    assert done.left == f"{3_002 - references.MOST_FILES:,} more memories were not searched for links to it."
    assert reads <= references.MOST_FILES


def test_the_entries_of_what_is_trashed_go_from_the_rest_of_an_index_as_well(notes: Path, engine: Engine) -> None:
    (notes / "MEMORY-more.md").write_bytes(b"- [A](a.md)\n- [B](b.md)\n")
    before = disk(notes)
    trash(engine, "a.md")
    assert disk(notes)["MEMORY-more.md"] == b"- [B](b.md)\n"
    engine.undo.undo(actor=ME)
    assert disk(notes) == before


@pytest.mark.parametrize(
    ("name", "old", "new", "after"),
    [
        ("build", "build.md", "deep/Deploy_it.md", "Deploy_it"),
        ("Build steps", "project_build-steps.md", "project_deploy_it.md", "Deploy it"),
        ("build-steps", "build_steps.md", "deploy_it.md", "deploy-it"),
        ("Build", "build.md", "more-builds.md", "More builds"),
        ("Else", "build.md", "deploy.md", ""),
        ("build", "build.md", "deep/build.md", ""),
        ("[build]", "build.md", "deploy.md", ""),
    ],
)
def test_a_name_that_says_what_the_file_is_called_follows_it(name: str, old: str, new: str, after: str) -> None:
    data = f"---\nname: {name} # kept\n---\nname: {name}\n".encode()
    text, said = renamed(data, old, new)
    assert said == after
    assert text == (data.replace(f"name: {name} #".encode(), f"name: {after} #".encode()) if after else data)


def test_the_name_in_front_matter_follows_in_the_same_step_and_it_is_said(notes: Path, engine: Engine) -> None:
    (notes / "build.md").write_bytes(b"---\r\nname: build\r\n---\r\nText")
    before = disk(notes)
    done = rename(engine, "build.md", "deploy.md")
    assert (done.also, done.left) == ("name: is deploy now", "")
    assert disk(notes)["deploy.md"] == b"---\r\nname: deploy\r\n---\r\nText"
    engine.undo.undo(actor=ME)
    assert disk(notes) == before


def test_what_is_archived_leaves_its_agents_folder_and_index_as_one_step_and_never_into_a_checkout(
    tmp_path: Path,
) -> None:
    place = {name: tmp_path / name for name in ("claude", "global", "project", "workspace")}
    for folder in place.values():
        folder.mkdir()
    roots = (
        Root("memtui:global", str(place["global"]), "memtui", "global"),
        Root("memtui:project", str(place["project"]), "memtui", "project", in_checkout=True),
        Root("memtui:workspace", str(place["workspace"]), "memtui", "workspace"),
        Root("claude-code:project", str(place["claude"]), "claude-code", "project", policy=INDEXED),
    )
    (place["claude"] / "MEMORY.md").write_text("- [A](a.md)\n- [B](b.md)\n")
    (place["claude"] / "a.md").write_text("one\n")
    (place["project"] / "team.md").write_text("two\n")
    (place["global"] / "deep").mkdir()
    (place["global"] / "deep" / "mine.md").write_text("three\n")
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        names = ("claude-code:project/a.md", "memtui:project/team.md", "memtui:global/deep/mine.md")
        done = references.archive(engine, map(Address.parse, names), actor=ME)
        assert all(outcome.ok for outcome in done.outcomes)
        assert (place["workspace"] / "archive/claude-code/a.md").read_text() == "one\n"
        assert (place["workspace"] / "archive/memtui/team.md").read_text() == "two\n"
        assert (place["global"] / "archive/deep/mine.md").read_text() == "three\n"
        assert (place["claude"] / "MEMORY.md").read_text() == "- [B](b.md)\n"
        assert not list(place["project"].iterdir())
        engine.undo.undo(actor=ME)
        assert (place["claude"] / "MEMORY.md").read_text() == "- [A](a.md)\n- [B](b.md)\n"
        assert (place["claude"] / "a.md").exists()
