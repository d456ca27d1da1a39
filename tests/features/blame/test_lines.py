"""Who wrote each line: every level, none better than what is known, through retention, redaction and renames."""

import os
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.ledger.origins import LineOrigin, inherit
from memtui.engine.model import Actor, Address, Retention
from memtui.features.actors import taints
from memtui.features.blame.lines import about, blame, masked_lines
from memtui.features.changes.view_texts import show
from memtui.ui.draw.difference import DiffStyle
from tests.cli.conftest import Cli, cli, config
from tests.engine.settling import settle
from tests.features.claims.repository import git
from tests.features.sessions.world import Record, World, call, memory, said, world

__all__ = ["cli", "config", "memory", "world"]

DAY = 86_400_000
SECRET = "AKIA" + "IOSFODNN7" + "QWMPL3X"


def told(world: World, name: str = "a.md") -> list[tuple[str, str, str]]:
    """Each line: its text, the level, the session."""
    found = blame(world.engine, Address(world.root.id, name))
    return [
        (text, run.level, run.touch.session if run.touch else "")
        for run in found.runs
        for text in run.text
        if text or run is not found.runs[-1]
    ]


def put(world: World, session: str, name: str, asked: Record, **gave: Any) -> None:
    """Tell a session of one call that writes."""
    path = {"file_path": f"{world.memory}/a.md"}
    world.tell(session, [*said(1, f"write it down, {SECRET}"), *call(2, name, path | asked, **gave)])


def test_every_level_is_told_and_none_is_better_than_what_is_known(world: World) -> None:
    settle(world.engine)
    assert told(world) == [("# a.md", "before", "")]
    mine = world.engine.read(Address(world.root.id, "a.md"))
    text = "# a.md\nmine\n"
    world.engine.save(mine.address, text, expected_sha256=mine.sha256, actor=Actor("tui"))
    world.outside(text := text + "by an\nedit\n")
    put(world, "s1", "Edit", {"old_string": "mine\n", "new_string": "mine\nby an\nedit\n"})
    world.outside(text := text + "and more\nof theirs\nby nobody\n")
    put(world, "s2", "Edit", {"old_string": "?", "new_string": "and more\nof theirs\n"})
    world.clock.now += DAY
    world.outside(text + "by a shell\n")
    world.tell("s3", call(6, "Bash", {"command": "echo by a shell >> notes/a.md"}))
    world.read()
    levels = told(world)
    assert levels == [
        ("# a.md", "before", ""),
        ("mine", "proven", ""),
        *((line, "matched", "s1") for line in ("by an", "edit")),
        *((line, "lines", "s2") for line in ("and more", "of theirs")),
        ("by nobody", "outside", ""),
        ("by a shell", "near", "s3"),
    ]
    (run,) = (run for run in blame(world.engine, mine.address).runs if run.level == "matched")
    words = "\n".join(about(run, world.root.id))
    assert "asked: write it down, [masked:" in words
    assert SECRET not in words
    (world.home / ".claude/projects/-w/s1.jsonl").unlink()
    assert "gone with its transcript" in "\n".join(about(run, world.root.id))
    assert told(world) == levels
    world.engine.touches.forget()
    assert {level for _, level, _ in told(world)} == {"before", "proven", "outside"}


def test_review_names_the_session_and_what_it_took_in_beside_the_difference(world: World) -> None:
    settle(world.engine)
    world.outside(text := "# a.md\nfrom the web\n")
    fetched = [*said(1, f"look it up, {SECRET}"), *call(2, "WebFetch", {"url": "https://pkgs.example/x"})]
    world.tell("web", [*fetched, *call(4, "Write", {"file_path": f"{world.memory}/a.md", "content": text})])
    (change,) = world.engine.changes.unseen()
    shown = [str(show(world.engine, change, change.at, change.at, DiffStyle(90)).page)]
    world.read()
    shown.append(str(show(world.engine, change, change.at, change.at, DiffStyle(90)).page))
    assert ["after web: pkgs.example" in page for page in shown] == [False, True]
    assert "Session web of Claude Code says it wrote this" in shown[1]
    assert "Asked: look it up, [masked:" in shown[1]
    assert SECRET not in shown[1]


def test_review_marks_a_change_of_which_a_session_wrote_some_lines_after_it_took_something_in(world: World) -> None:
    settle(world.engine)
    world.outside("# a.md\nfrom the web\nby hand\n")
    fetched = [*said(1), *call(2, "WebFetch", {"url": "https://pkgs.example/x"})]
    edit = {"file_path": f"{world.memory}/a.md", "old_string": "x", "new_string": "from the web"}
    world.tell("web", [*fetched, *call(4, "Edit", edit, userModified=True, originalFile="x")])
    world.read()
    (change,) = world.engine.changes.unseen()
    assert taints(world.engine, [change]) == {change.address: "web: pkgs.example"}
    world.outside("# a.md\nfrom the web\nby hand\nlater\n")
    (later,) = world.engine.changes.unseen()
    assert taints(world.engine, [later._replace(before=change.after)]) == {}


def test_a_text_that_was_there_before_and_came_back_was_there_before(world: World) -> None:
    settle(world.engine)
    where = Address(world.root.id, "a.md")
    world.clock.now += 1000
    world.engine.save(where, "new\n", expected_sha256=world.engine.read(where).sha256, actor=Actor("tui"))
    world.engine.undo.undo(actor=Actor("tui"))
    assert told(world) == [("# a.md", "before", "")]


def test_a_forged_session_never_proves_anything(world: World) -> None:
    settle(world.engine)
    world.outside(text := "# a.md\nthe very text\n")
    put(world, "right", "Write", {"content": text})
    put(world, "wrong", "Write", {"content": "# a.md\nanother text\n"})
    world.read()
    assert told(world)[1] == ("the very text", "matched", "right")
    world.clock.now += DAY
    world.outside(text := text + "by hand\nby somebody\n")
    put(world, "wrong2", "Write", {"content": "# a.md\nnot this\n"})
    put(world, "person", "Edit", {"old_string": "x", "new_string": "by hand"}, userModified=True, originalFile="x")
    world.read()
    assert told(world)[2:] == [("by hand", "lines", "person"), ("by somebody", "outside", "")]
    world.clock.now += DAY
    world.outside(text := text + "by two\n")
    for session in ("one", "two"):
        put(world, session, "Write", {"content": text})
    world.read()
    *_, run = blame(world.engine, Address(world.root.id, "a.md")).runs
    assert (run.level, len(run.rivals), run.who(world.root.id)) == ("matched", 1, "Claude Code?")


def test_what_is_known_outlives_old_versions_redactions_and_renames(world: World) -> None:
    settle(world.engine)
    text, address = "# a.md\n", Address(world.root.id, "a.md")
    for number in range(4):
        world.clock.now += DAY
        world.outside(text := text + f"line {number}\n")
        put(world, f"s{number}", "Write", {"content": text})
        world.read()
    known = [session for _, _, session in told(world)]
    assert known == ["", "s0", "s1", "s2", "s3"]
    world.engine.origins._database.connection().execute("DELETE FROM origins")
    old = world.engine.history.of(address)[1].sha256
    world.engine.redaction.redact(address, old, reason="r", actor=Actor("tui"))
    assert [session for _, _, session in told(world)] == known
    ledger = world.engine._ledger
    world.outside(text := text + "line 4\n")
    put(world, "s4", "Write", {"content": text})
    world.read()
    world.outside(text := text + "line 5\n")
    known += ["s4", ""]
    for _ in range(3):
        world.clock.now += DAY
        world.engine.pins.record_use(address, actor=Actor("mcp:x"))
    ledger.origins.catch_up(more_than=1)
    assert ledger.versions.prune(Retention(1, 1))
    assert len(world.engine.history.of(address)) == 2  # what the user saw, and what is there
    assert [session for _, _, session in told(world)] == known
    world.engine.memories.rename(address, Address(world.root.id, "y.md"), actor=Actor("tui"))
    assert [session for _, _, session in told(world, "y.md")] == known
    os.rename(world.memory / "y.md", world.memory / "z.md")
    settle(world.engine, deleted=True)
    world.outside(text + "more\n", "z.md")
    assert [session for _, _, session in told(world, "z.md")] == [*known, ""]


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcdxyz"), max_size=12))
def test_a_line_has_an_origin_of_an_equal_line_or_none(old: list[str], new: list[str]) -> None:
    before = tuple(LineOrigin(at, line, "outside") for at, line in enumerate(old))
    found = inherit(old, before, new)
    assert len(found) == len(new)
    assert all(one is None or one.actor == line for one, line in zip(found, new, strict=True))


def test_a_moved_block_keeps_its_origins() -> None:
    old = [f"{at}\n" for at in range(12)]
    before = tuple(LineOrigin(at, "x", "outside") for at in range(12))
    found = inherit(old, before, [*old[6:], "new\n", *old[1:6]])
    assert [one.at if one else None for one in found] == [*range(6, 12), None, *range(1, 6)]


def test_a_secret_is_masked_in_its_line_and_lines_stay_as_many() -> None:
    text = f"a\ntoken {SECRET} x\nb\n"
    assert masked_lines(text)[1].startswith("token [masked: ")
    assert len(masked_lines(text)) == len(text.split("\n"))


def test_the_command_says_it_line_by_line(cli: Cli, notes: Path) -> None:
    (notes / "a.md").write_text("one\ntwo\n")
    given = ("--root", f"notes={notes}")
    found = cli("blame", "notes/a.md", "--json", *given).json
    assert found["lines"] == [
        {"first": 1, "last": 2, "actor": "outside", "level": "outside", "agent": None, "session": None}
        | {"commit": None, "who": None, "at": found["lines"][0]["at"], "taint": None, "candidates": []}  # type: ignore[index]
    ]
    assert "two" in cli("blame", "notes/a.md", "--line", "2", *given).out
    assert cli("blame", "notes/a.md", "--line", "3", "--json", *given).error["code"] == "E_USAGE"


def test_git_names_the_author_of_lines_nobody_else_is_known_for(world: World) -> None:
    folder, clock = world.memory, world.clock
    old, moved = folder / "old.md", folder / "moved.md"
    git(folder, "init", "-q", "-b", "main")

    def commit(text: str, days: int, author: str, path: Path = old) -> None:
        path.write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "x", f"--author={author} <x@localhost>", at=clock.now - days * DAY)

    commit("a\nb\n", 9, "Ann")
    commit("a\nb\nc\n", 8, "you\x1b[2J")
    old.unlink()
    commit("a\nb\nc\n", 7, "Mover", moved)
    commit("a\nb\nc\nd\n", 6, "Bea", moved)
    moved.write_text("a\nb\nnew\nc\nd\n")
    settle(world.engine)
    moved.write_text("a\nb\nnew\nc\nd\nlate\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--author=Late <x@localhost>", at=clock.now + DAY)
    runs = blame(world.engine, Address(world.root.id, "moved.md")).runs
    assert [(run.text[0], run.level, run.who(world.root.id)) for run in runs[:5]] == [
        ("a", "git", "git says Ann"),
        ("new", "before", "outside memtui"),
        ("c", "git", "git says you\x1b[2J"),
        ("d", "git", "git says Bea"),
        ("late", "outside", "outside memtui"),
    ]
    assert f"Commit {runs[0].commit}" in about(runs[0], world.root.id)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    assert {run.level for run in blame(world.engine, Address(world.root.id, "moved.md")).runs} <= {"before", "outside"}
