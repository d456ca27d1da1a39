"""Memories of moved projects: found, and moved."""

import json
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.agents.known.mux import project_folder
from memtui.agents.layout import slug
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Snapshot
from memtui.errors import NotFoundError, UsageError
from memtui.features.moved_projects import moves
from memtui.features.moved_projects.moves import (
    EXACT,
    LIKELY,
    MERGED,
    MOVED,
    SAME,
    SEVERAL,
    SHARED,
    SPLIT,
    STAYS,
    UNKNOWN,
    RepointPlan,
    Survey,
    survey,
    where,
)
from tests.agents.machine import Machine
from tests.agents.test_layout import worktree
from tests.pointers.folder import with_missing


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return Machine(home, tmp_path)


def memories(machine: Machine, project: str, *, agent: str = ".claude", cwd: str | None = None) -> str:
    """Keep a memory of a project, and a session file that names it."""
    folder = f"~/{agent}/projects/{slug(project)}"
    machine.write(f"{folder}/memory/a.md")
    if cwd is not None:
        machine.write(f"{folder}/{cwd.rpartition('/')[2]}.jsonl", json.dumps({"cwd": cwd}) + "\n")
    name = "claude-code" if agent == ".claude" else "qwen-code"
    return f"{name}:project:{slug(project)}"


def look(machine: Machine) -> Survey:
    return survey(discover(machine.surroundings(), all_projects=True), str(machine.home))


def test_a_living_project_is_no_orphan(machine: Machine) -> None:
    machine.write("~/src/web/README")
    memories(machine, str(machine.home / "src/web"))
    assert look(machine) == Survey((), (), ())


def test_a_project_the_agent_names_is_exact_and_its_new_place_is_found_by_its_name(machine: Machine) -> None:
    old = str(machine.home / "src/my_app")
    root = memories(machine, old, cwd=old)
    (machine.home / "work/my_app").mkdir(parents=True)
    (orphan,) = look(machine).orphans
    assert orphan.root.id == root
    assert orphan.decoded.sure == EXACT
    assert orphan.decoded.projects == (old,)
    assert [(one.path, one.why) for one in orphan.moved] == [
        (str(machine.home / "work/my_app"), "it has the same name")
    ]
    assert orphan.sure == "one candidate"


def test_several_folders_of_its_name_are_all_said_the_nearest_first(machine: Machine) -> None:
    old = str(machine.home / "src/team/app")
    memories(machine, old, cwd=old)
    for place in ("elsewhere/app", "src/other/app"):
        (machine.home / place).mkdir(parents=True)
    memories(machine, str(machine.home / "elsewhere/app"))
    (orphan,) = look(machine).orphans
    assert orphan.sure == "2 candidates"
    assert orphan.moved[0].why == "it has the same name, and an agent has memories of it"


def test_without_a_word_of_the_agent_nothing_is_known(machine: Machine) -> None:
    memories(machine, "/nowhere/at-all")
    (orphan,) = look(machine).orphans
    assert orphan.decoded.sure == UNKNOWN
    assert orphan.decoded.projects == ()
    assert orphan.moved == ()
    assert orphan.sure.startswith("unknown")


def test_an_old_project_whose_slug_another_one_took_is_an_orphan_too(machine: Machine) -> None:
    old, other = machine.home / "src/a_b", machine.home / "src/a/b"
    other.mkdir(parents=True)
    memories(machine, str(old), cwd=str(old))
    (orphan,) = look(machine).orphans
    assert orphan.decoded.there == (str(other),)
    assert orphan.moved[0].why == "its path makes the same slug"


def test_a_living_project_is_no_place_for_itself_to_have_gone(machine: Machine) -> None:
    app = str(machine.home / "src/harbour")
    Path(app).mkdir(parents=True)
    root = memories(machine, app, cwd=app)
    roots = discover(machine.surroundings(), all_projects=True)
    found = where(next(one for one in roots if one.id == root), roots, str(machine.home))
    assert (found.decoded.sure, found.decoded.there, found.moved) == (EXACT, (app,), ())


def test_two_projects_on_one_slug_collide_and_it_says_how_sure(machine: Machine) -> None:
    one, two = str(machine.home / "src/a_b"), str(machine.home / "src/a-b")
    for path in (one, two):
        Path(path).mkdir(parents=True)
    root = memories(machine, one)
    found = look(machine)
    assert found.orphans == ()
    assert [(both.root.id, set(both.projects), both.sure) for both in found.collisions] == [(root, {one, two}, SEVERAL)]
    memories(machine, one, cwd=one)
    memories(machine, one, cwd=two)
    assert [both.sure for both in look(machine).collisions] == [EXACT]


def test_worktrees_share_claude_s_folder_and_split_qwen_s(machine: Machine) -> None:
    app = machine.home / "src/app"
    worktree(app, machine.home / "src/fix")
    memories(machine, str(app))
    assert [(one.kind, one.checkouts) for one in look(machine).worktrees] == [
        (SHARED, (str(machine.home / "src/fix"),))
    ]
    for place in ("app", "fix"):
        memories(machine, str(machine.home / "src" / place), agent=".qwen")
    split = [one for one in look(machine).worktrees if one.kind == SPLIT]
    assert [(one.agent, one.main, len(one.roots)) for one in split] == [("qwen-code", str(app), 2)]


def test_one_folder_that_fits_is_only_likely(machine: Machine) -> None:
    (machine.home / "src/web").mkdir(parents=True)
    memories(machine, str(machine.home / "src/web"))
    from memtui.agents.layout import SlugDecoder
    from memtui.features.moved_projects.moves import decode

    roots = discover(machine.surroundings(), all_projects=True)
    (root,) = (one for one in roots if one.id.startswith("claude-code:project"))
    found = decode(root, SlugDecoder())
    assert found is not None
    assert found.sure == LIKELY


def test_mux_names_its_projects_itself(machine: Machine) -> None:
    from memtui.agents.known.mux import project_folder

    gone = "/home/ann/gone"
    machine.write(f"~/.xum/memory/project/{project_folder(gone)}/a.md")
    machine.write("~/.xum/config.json", json.dumps({"projects": [[gone, {"workspaces": []}]]}))
    (orphan,) = look(machine).orphans
    assert orphan.root.agent == "mux"
    assert (orphan.decoded.sure, orphan.decoded.projects) == (EXACT, (gone,))


def test_a_home_of_links_and_many_folders_ends_the_search(machine: Machine) -> None:
    old = str(machine.home / "src/app")
    memories(machine, old, cwd=old)
    (machine.home / "loop").symlink_to(machine.home)
    deep = machine.home
    for _ in range(8):
        deep = deep / "d"
    (deep / "app").mkdir(parents=True)
    (orphan,) = look(machine).orphans
    assert orphan.moved == ()


USER = Actor("cli")


class World:
    """A machine with one project that moved, and an engine on everything."""

    def __init__(self, machine: Machine, state: Path) -> None:
        self.machine = machine
        self.old = str(machine.home / "old/app")
        self.new = machine.home / "new/app"
        (self.new / ".git").mkdir(parents=True)
        self.state = str(state)

    def keep(self, project: str, path: str, text: str, agent: str = ".claude") -> Path:
        return self.machine.write(f"~/{agent}/projects/{slug(project)}/memory/{path}", text)

    def engine(self) -> Engine:
        return Engine.open(discover(self.machine.surroundings(), all_projects=True), state_dir=self.state)

    def files(self) -> dict[str, str]:
        home = self.machine.home
        return {str(one.relative_to(home)): one.read_text() for one in home.rglob("*") if one.is_file()}


@pytest.fixture
def world(tmp_path: Path) -> World:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return World(Machine(home, tmp_path), tmp_path / "state")


def plan(engine: Engine, world: World) -> RepointPlan:
    return moves.plan(engine, moves.meant(engine.roots.all(), world.old), str(world.new))


def test_a_plan_writes_nothing_and_doing_it_is_one_step_that_can_be_undone(world: World) -> None:
    world.keep(world.old, "MEMORY.md", "- [A](a.md) — one\n")
    world.keep(world.old, "a.md", "a\n")
    world.keep(world.old, "deep/b.md", "b\n")
    before = world.files()
    with world.engine() as engine:
        wanted = plan(engine, world)
        assert world.files() == before
        assert [(line.address.path, line.what) for line in wanted.lines] == [
            ("MEMORY.md", MOVED), ("a.md", MOVED), ("deep/b.md", MOVED),
        ]  # fmt: skip
        done = moves.apply(engine, wanted, actor=USER)
        assert all(one.ok for one in done.outcomes)
        lead = f".claude/projects/{slug(str(world.new))}/memory"
        assert {f"{lead}/{name}" for name in ("MEMORY.md", "a.md", "deep/b.md")} <= world.files().keys()
        assert not any(slug(world.old) in name for name in world.files())
        engine.undo.undo(actor=USER)
        assert world.files() == before


def test_an_index_that_is_there_takes_in_the_pointers_of_what_comes(world: World) -> None:
    world.keep(world.old, "MEMORY.md", "# Old\n- [A](a.md) — one\n- [B](b.md) — mine\n- [C](c.md) — gone\n")
    for name in ("a.md", "b.md", "same.md"):
        world.keep(world.old, name, f"old {name}\n")
    index = world.keep(str(world.new), "MEMORY.md", "- [B](b.md) — theirs\r\n")
    world.keep(str(world.new), "b.md", "another text\n")
    world.keep(str(world.new), "same.md", "old same.md\n")
    before = {name: Path(world.machine.home / name).read_bytes() for name in world.files()}
    with world.engine() as engine:
        wanted = plan(engine, world)
        what = {line.address.path: line.what for line in wanted.lines}
        assert what == {"a.md": MOVED, "b.md": STAYS, "same.md": SAME, "MEMORY.md": MERGED}
        assert wanted.words.endswith("; 1 stays")
        moves.apply(engine, wanted, actor=USER)
        assert index.read_bytes() == b"- [B](b.md) \xe2\x80\x94 theirs\r\n- [A](a.md) \xe2\x80\x94 one\r\n"
        left = [name for name in world.files() if slug(world.old) in name]
        assert left == [f".claude/projects/{slug(world.old)}/memory/b.md"]
        engine.undo.undo(actor=USER)
    assert {name: Path(world.machine.home / name).read_bytes() for name in world.files()} == before


@pytest.mark.parametrize("side", ["old", "new"])
def test_an_index_that_somebody_is_writing_is_not_merged(
    world: World, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.keep(world.old, "a.md", "a\n")
    indexes = {"old": world.keep(world.old, "MEMORY.md", "- [A](a.md)\n")}
    indexes["new"] = world.keep(str(world.new), "MEMORY.md", "- [B](b.md)\n")
    with world.engine() as engine:
        read = engine.read

        def between(address: Address) -> Snapshot:
            """Somebody writes after the rows were listed, before the text is read."""
            indexes[side].write_text("- [C](c.md)\n")
            return read(address)

        monkeypatch.setattr(engine, "read", between)
        wanted = plan(engine, world)
        assert [(line.address.path, line.why) for line in wanted.staying] == [
            ("MEMORY.md", "Somebody is writing it; try again.")
        ]
        monkeypatch.undo()
        moves.apply(engine, wanted, actor=USER)
    assert indexes[side].read_text() == "- [C](c.md)\n"
    assert indexes["old"].exists()
    assert [one.what for one in wanted.lines if one.address.path == "a.md"] == [MOVED]


def test_what_may_be_gone_is_not_moved(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.keep(world.old, "a.md", "a\n")
    with world.engine() as engine:
        monkeypatch.setattr(engine.rows, "list", with_missing(engine))
        assert [line.address.path for line in plan(engine, world).lines] == ["a.md"]


def test_a_pointer_that_both_indexes_have_is_not_written_twice(world: World) -> None:
    world.keep(world.old, "MEMORY.md", "- [Same](same.md) — old words\n")
    world.keep(world.old, "same.md", "same\n")
    index = world.keep(str(world.new), "MEMORY.md", "- [Same](same.md) — new words\n")
    world.keep(str(world.new), "same.md", "same\n")
    with world.engine() as engine:
        moves.apply(engine, plan(engine, world), actor=USER)
        assert index.read_text() == "- [Same](same.md) — new words\n"
        assert not any(slug(world.old) in name for name in world.files())


@pytest.mark.parametrize("side", ["old", "new"])
def test_an_index_that_is_no_text_is_not_merged(world: World, side: str) -> None:
    world.keep(world.old, "a.md", "a\n")
    indexes = {"old": world.keep(world.old, "MEMORY.md", "- [A](a.md)\n")}
    indexes["new"] = world.keep(str(world.new), "MEMORY.md", "- [B](b.md)\n")
    indexes[side].write_bytes("- [A](a.md)\n".encode("utf-16"))
    before = {name: path.read_bytes() for name, path in indexes.items()}
    with world.engine() as engine:
        wanted = plan(engine, world)
        assert [line.why for line in wanted.staying] == ["One of the two indexes is not UTF-8 text."]
        moves.apply(engine, wanted, actor=USER)
    assert {name: path.read_bytes() for name, path in indexes.items()} == before


def test_a_memory_that_changed_since_the_plan_stops_all_of_it(world: World) -> None:
    world.keep(world.old, "a.md", "a\n")
    changing = world.keep(world.old, "b.md", "b\n")
    with world.engine() as engine:
        wanted = plan(engine, world)
        changing.write_text("somebody else\n")
        before = world.files()
        done = moves.apply(engine, wanted, actor=USER)
        assert not all(one.ok for one in done.outcomes)
        assert world.files() == before


def test_every_agent_s_memories_of_a_project_come_along(world: World) -> None:
    world.keep(world.old, "a.md", "a\n")
    world.keep(world.old, "q.md", "q\n", ".qwen")
    home = world.machine.home
    world.machine.write(f"~/.xum/memory/project/{project_folder(world.old)}/m.md", "m\n")
    world.machine.write("~/.xum/config.json", json.dumps({"projects": [[world.old, {}]]}))
    with world.engine() as engine:
        wanted = plan(engine, world)
        assert sorted(old.agent for old, _ in wanted.pairs) == ["claude-code", "mux", "qwen-code"]
        moves.apply(engine, wanted, actor=USER)
    assert (home / ".qwen/projects" / slug(str(world.new)) / "memory/q.md").read_text() == "q\n"
    assert (home / ".xum/memory/project" / project_folder(str(world.new)) / "m.md").read_text() == "m\n"


def test_a_worktree_s_memories_go_where_claude_looks_for_its_main_checkout(world: World) -> None:
    main = world.machine.home / "main"
    worktree(main, world.machine.home / "tree")
    world.keep(world.old, "a.md", "a\n")
    with world.engine() as engine:
        (root,) = moves.meant(engine.roots.all(), world.old)
        assert moves.target(root, str(world.machine.home / "tree")).path.endswith(f"{slug(str(main))}/memory")


def test_what_cannot_be_is_refused_in_words(world: World) -> None:
    world.keep(world.old, "a.md", "a\n")
    with world.engine() as engine:
        with pytest.raises(NotFoundError, match="No agent keeps memories"):
            moves.meant(engine.roots.all(), "/nowhere")
        roots = moves.meant(engine.roots.all(), slug(world.old))
        with pytest.raises(NotFoundError, match="no folder"):
            moves.plan(engine, roots, str(world.new / "missing"))
        Path(world.old).mkdir(parents=True)
        with pytest.raises(UsageError, match="already"):
            moves.plan(engine, roots, world.old)
        long = world.machine.home / ("a" * 150) / ("b" * 150)
        long.mkdir(parents=True)
        with pytest.raises(UsageError, match="cuts the name"):
            moves.plan(engine, roots, str(long))
        with pytest.raises(UsageError, match="nothing to move"):
            moves.apply(engine, RepointPlan((), "/x", (), ()), actor=USER)


def test_an_unreadable_memory_stays_and_is_said(world: World) -> None:
    file = world.keep(world.old, "a.md", "a\n")
    (file.parent / "link.md").symlink_to(file)
    with world.engine() as engine:
        wanted = plan(engine, world)
        stays = {line.address.path: line.why for line in wanted.staying}
    assert "symbolic link" in stays["link.md"]


def test_undo_brings_back_modes_and_leaves_no_empty_folder(world: World) -> None:
    world.keep(world.old, "deep/b.md", "b\n")
    deep = world.machine.home / ".claude/projects" / slug(world.old) / "memory/deep"
    deep.chmod(0o755)
    new = world.machine.home / ".claude/projects" / slug(str(world.new))
    before = world.files()
    with world.engine() as engine:
        moves.apply(engine, plan(engine, world), actor=USER)
        assert new.is_dir()
        assert not deep.exists()
        engine.undo.undo(actor=USER)
        assert world.files() == before
        assert deep.stat().st_mode & 0o777 == 0o755
        assert not new.exists()
        engine.undo.redo(actor=USER)
        assert (new / "memory/deep/b.md").read_text() == "b\n"
        engine.undo.undo(actor=USER)
        assert (world.files(), new.exists()) == (before, False)


def test_a_step_between_projects_is_opened_and_one_within_a_project_is_not(world: World) -> None:
    world.keep(world.old, "a.md", "a\n")
    world.keep(str(world.new), "b.md", "b\n")
    world.keep(str(world.new), "c.md", "c\n", agent=".qwen")
    roots = discover(world.machine.surroundings(), all_projects=True)
    claude, qwen = (world.machine.home / f"{agent}/projects" for agent in (".claude", ".qwen"))
    old, new = (str(claude / slug(one) / "memory") for one in (world.old, str(world.new)))
    both = moves.parted(roots, [old, new])
    assert [root.path for root in both] == [old, new]
    assert moves.parted(roots, [new, str(qwen / slug(str(world.new)) / "memory")]) == ()
    assert moves.parted(roots, [old]) == ()
    assert moves.parted(roots, [old, str(world.machine.home / "elsewhere")]) == ()
    assert moves.parted(roots, [old, str(claude / "x/deep/memory")]) == ()
    gone = str(claude / slug("/not/there") / "memory")
    (first, second) = moves.parted(roots, [old, gone])
    assert (second.path, second.agent, second.policy) == (gone, "claude-code", first.policy)
    assert second.id == f"claude-code:project:{slug('/not/there')}"
