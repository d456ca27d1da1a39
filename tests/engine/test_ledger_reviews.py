"""In a checkout a version was written here, or a person reviewed these bytes, or a repository brought it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk.git import Repository, repository_of
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Actor, Address, Rename, Restoring, Root, Saved, Write
from memtui.errors import NotFoundError, RefusedError
from tests.conftest import Clock
from tests.engine.worktrees import git
from tests.reviews import review

ME, AGENT = Actor("tui"), Actor("mcp:agent")
NOTE, OTHER = Address("memtui:project", "note.md"), Address("memtui:project", "other.md")
HOME = Address("memtui:global", "home.md")


class Machine:
    """A checkout, a folder of one's own, and engines on both."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.memories = folder / "app/.memtui/memory"
        self.memories.mkdir(parents=True)
        (folder / "app/.git").mkdir()
        self.roots = (
            Root(
                "memtui:project", str(self.memories), "memtui", "project", in_checkout=True, project=str(folder / "app")
            ),
            Root("memtui:global", str(folder / "own"), "memtui", "global"),
        )

    def engine(self, *, read_only: bool = False) -> Engine:
        """Open a new engine, as another process would."""
        return Engine.open(self.roots, state_dir=str(self.state), read_only=read_only)

    def bring(self, text: str, address: Address = NOTE) -> None:
        """Write a file as git does."""
        (self.memories / address.path).write_text(text)


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def trust(engine: Engine, address: Address = NOTE) -> str:
    return engine.rows.get(address).trust


def test_each_version_is_local_reviewed_or_brought(here: Machine) -> None:
    here.bring("planted\n")
    with here.engine() as engine:
        assert trust(engine) == "brought"
        assert not engine.rows.status()[0].accepted
        assert review(engine) == 1
        assert trust(engine) == "reviewed"
        assert engine.rows.status()[0].accepted
        here.bring("pulled\n")
        assert trust(engine) == "brought"
        here.bring("planted\n")
        assert trust(engine) == "reviewed"
        here.bring("planted\n\n")
        assert trust(engine) == "brought"
        made = engine.save(NOTE, "mine\n", expected_sha256=engine.rows.get(NOTE).sha256, actor=ME)
        assert isinstance(made, Saved)
        assert trust(engine) == "local"
        assert engine.memories.create(HOME, "x", actor=ME)
        assert trust(engine, HOME) == ""
    with here.engine() as engine:
        assert trust(engine) == "local"
        assert engine.rows.list().items[0].trust == "local"


def test_every_open_engine_notices_a_review(here: Machine) -> None:
    here.bring("planted\n")
    with here.engine() as engine, here.engine() as other:
        assert other.rows.list().items[0].trust == "brought"
        review(engine)
        assert other.rows.list().items[0].trust == "reviewed"
        engine.memories.create(OTHER, "x", actor=AGENT)
        assert [row.trust for row in other.rows.list().items] == ["reviewed", "local"]
        assert other.save(OTHER, "planted\n", expected_sha256=other.rows.get(OTHER).sha256, actor=AGENT)
        assert [row.trust for row in other.rows.list().items] == ["reviewed", "reviewed"]


def test_looking_reviews_nothing(here: Machine) -> None:
    with here.engine() as engine:
        engine.watch.reconcile()
        here.bring("planted\n")
        engine.watch.reconcile()
        engine.changes.mark_seen(None)
        engine.read(NOTE)
        assert not engine.rows.get(NOTE).unseen
        assert trust(engine) == "brought"


def test_a_version_that_went_can_be_reviewed_and_what_came_instead_is_not(here: Machine) -> None:
    here.bring("planted\n")
    with here.engine() as engine:
        looked_at = engine.rows.get(NOTE).sha256
        assert looked_at is not None
        here.bring("pulled\n")
        assert engine.history.review([(NOTE, looked_at)], actor=ME) == 1
        assert trust(engine) == "brought"
        here.bring("planted\n")
        assert trust(engine) == "reviewed"


def test_a_review_is_in_the_audit_once_and_is_no_step_of_undo(here: Machine) -> None:
    here.bring("planted\n")
    with here.engine() as engine:
        sha = engine.rows.get(NOTE).sha256
        assert (review(engine), review(engine)) == (1, 0)
        assert [(one.address, one.operation, one.actor, one.after) for one in engine.history.audit()] == [
            (NOTE, "reviewed", "tui", sha)
        ]
        with pytest.raises(NotFoundError):
            engine.undo.undo(actor=ME)
        assert (here.memories / "note.md").read_text() == "planted\n"


def test_only_who_may_write_there_reviews(here: Machine) -> None:
    here.bring("planted\n")
    with here.engine(read_only=True) as engine, pytest.raises(RefusedError) as caught:
        review(engine)
    assert caught.value.code == "E_READ_ONLY"


def restored(engine: Engine) -> None:
    engine.memories.restore(NOTE, actor=ME)


def restored_under_another_name(engine: Engine) -> None:
    (entry,) = engine.undo.trash.entries()
    engine.undo.trash.restore([Restoring(NOTE, entry.sha256, OTHER)], actor=ME)
    engine.memories.rename(OTHER, NOTE, actor=ME)


def undone(engine: Engine) -> None:
    engine.undo.undo(actor=ME)


def undone_redone_undone(engine: Engine) -> None:
    engine.undo.undo(actor=ME)
    engine.undo.redo(actor=ME)
    engine.undo.undo(actor=ME)


@pytest.mark.parametrize("back", [restored, restored_under_another_name, undone, undone_redone_undone])
@pytest.mark.parametrize("reviewed", ["reviewed", "brought", "local"])
def test_what_is_brought_back_is_what_it_was(here: Machine, back: Callable[[Engine], None], reviewed: str) -> None:
    with here.engine() as engine:
        if reviewed == "local":
            engine.memories.create(NOTE, "text\n", actor=AGENT)
        here.bring("text\n")
        if reviewed == "reviewed":
            review(engine)
        engine.memories.delete([NOTE], actor=ME)
        back(engine)
        assert trust(engine) == reviewed


def test_an_old_version_that_is_put_back_is_what_it_was(here: Machine) -> None:
    here.bring("brought\n")
    with here.engine() as engine:
        brought = engine.rows.get(NOTE).sha256
        engine.watch.reconcile()
        made = engine.save(NOTE, "mine\n", expected_sha256=brought, actor=ME)
        assert isinstance(made, Saved)
        engine.memories.restore(NOTE, version=brought, actor=ME)
        assert trust(engine) == "brought"
        engine.memories.restore(NOTE, version=made.sha256, actor=ME)
        assert trust(engine) == "local"


def test_a_copy_or_a_move_of_what_nobody_reviewed_is_not_written_here(here: Machine) -> None:
    here.bring("planted\n")
    here.bring("linked\n", OTHER)
    with here.engine() as engine:
        third = Address("memtui:project", "third.md")
        engine.memories.copy([(NOTE, third)], actor=AGENT)
        assert trust(engine, third) == "brought"
        engine.memories.rename(third, Address("memtui:project", "fourth.md"), actor=AGENT)
        assert trust(engine, Address("memtui:project", "fourth.md")) == "brought"
        engine.memories.copy([(NOTE, HOME)], actor=AGENT)
        back = Address("memtui:project", "back.md")
        engine.memories.copy([(HOME, back)], actor=AGENT)
        assert (trust(engine, back), trust(engine)) == ("brought", "brought")
        engine.memories.rename(HOME, Address("memtui:project", "again.md"), actor=AGENT)
        assert trust(engine) == "brought"
        engine.memories.create(HOME, "own\n", actor=ME)
        engine.memories.copy([(HOME, third)], actor=ME)
        assert trust(engine, third) == "local"


def test_words_that_a_renaming_changes_in_a_text_nobody_reviewed_make_it_no_local_one(here: Machine) -> None:
    here.bring("see note.md, and obey\n", OTHER)
    here.bring("x\n")
    with here.engine() as engine:
        sha, new = engine.rows.get(OTHER).sha256, Address("memtui:project", "new.md")
        steps = (Rename(NOTE, new), Write(OTHER, b"see new.md, and obey\n", sha))
        engine.together.do(steps, actor=AGENT, label="rename")
        assert trust(engine, OTHER) == "brought"
        review(engine)
        back = (Rename(new, NOTE), Write(OTHER, b"see note.md again\n", engine.rows.get(OTHER).sha256))
        engine.together.do(back, actor=AGENT, label="rename")
        assert trust(engine, OTHER) == "local"


def test_worktrees_share_what_was_written_and_reviewed_and_clones_only_what_was_reviewed(tmp_path: Path) -> None:
    app, second, clone, liar = (tmp_path / name for name in ("app", "second", "clone", "liar"))
    memories = app / ".memtui/memory"
    memories.mkdir(parents=True)
    (memories / "note.md").write_text("brought\n")
    git(app, "init")
    git(app, "remote", "add", "origin", "https://example.com/app.git")

    def trusts() -> list[list[str]]:
        found = []
        for checkout in (app, second, clone, liar):
            root = Root("memtui:project", f"{checkout}/.memtui/memory", "memtui", "project", in_checkout=True)
            with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
                found.append([row.trust for row in engine.rows.list().items])
        return found

    root = Root("memtui:project", str(memories), "memtui", "project", in_checkout=True)
    with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
        engine.memories.create(OTHER, "mine\n", actor=AGENT)
    git(app, "add", "-A")
    git(app, "commit", "-m", "one")
    git(app, "worktree", "add", str(second))
    git(tmp_path, "clone", str(app), str(clone))
    git(clone, "remote", "set-url", "origin", "git@example.com:app.git")
    git(tmp_path, "clone", str(app), str(liar))
    assert trusts() == [["brought", "local"], ["brought", "local"], ["brought", "brought"], ["brought", "brought"]]
    with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
        review(engine)
    assert trusts() == [["reviewed"] * 2, ["reviewed"] * 2, ["reviewed"] * 2, ["brought"] * 2]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return a repository with one commit, and its worktree `fix` beside it."""
    app = tmp_path / "app"
    app.mkdir()
    git(app, "init", "-q")
    git(app, "commit", "-q", "--allow-empty", "-m", "x")
    git(app, "worktree", "add", "-q", "../fix")
    return app


def found(path: Path) -> Repository:
    repository = repository_of(str(path))
    assert repository is not None
    return repository


def test_worktrees_are_one_repository(app: Path, tmp_path: Path) -> None:
    git(app, "worktree", "add", "-q", "inner/most")
    main = found(app)
    assert found(tmp_path / "fix") == main
    assert found(app / "inner/most") == main
    assert (main.path, main.inside) == (str(app / ".git"), ".")
    assert found(tmp_path / "fix/.memtui/memory")._replace(inside=".") == main
    assert found(tmp_path / "fix/.memtui/memory").inside == ".memtui/memory"


def test_a_separate_clone_is_another_one_of_the_same_lineage(app: Path, tmp_path: Path) -> None:
    git(app, "remote", "add", "origin", "https://me:secret@example.com/me/app.git")
    for number, url in enumerate(("git@example.com:me/app", "ssh://git@Example.com:22/me/app.git/")):
        git(tmp_path, "clone", "-q", "app", str(number))
        git(tmp_path / str(number), "remote", "set-url", "origin", url)
        assert found(tmp_path / str(number)).lineage == found(app).lineage == "example.com/me/app"
        assert found(tmp_path / str(number)).common != found(app).common


def test_a_repository_stays_itself_where_it_is_moved_and_another_one_does_not_take_its_place(
    app: Path, tmp_path: Path
) -> None:
    before = found(app)
    app.rename(tmp_path / "elsewhere")
    assert found(tmp_path / "elsewhere").common == before.common
    git(tmp_path, "init", "-q", "app")
    assert found(app).common != before.common
    assert repository_of(str(tmp_path / "fix")) is None  # what it names is not there any more


def test_a_claim_on_another_repository_is_not_believed(app: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    own = app / ".git/worktrees/fix"
    (planted / ".git").write_text(f"gitdir: {own}\n")
    assert repository_of(str(planted)) is None
    mine = planted / "git"
    mine.mkdir()
    (mine / "commondir").write_text(str(app / ".git"))
    (mine / "gitdir").write_text(str(planted / ".git"))
    (planted / ".git").write_text(f"gitdir: {mine}\n")
    assert repository_of(str(planted)) is None
    (planted / ".git").unlink()
    (planted / ".git").symlink_to(app / ".git")
    assert repository_of(str(planted)) is None
    (planted / ".git").unlink()
    (planted / ".git").write_text(f"gitdir: {app / '.git'}\n")  # as a submodule has it, which nothing confirms
    assert found(planted).common != found(app).common


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: \0", b"gitdir: nowhere", b"x", b"gitdir: a\nb"])
def test_a_broken_git_file_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert repository_of(str(tmp_path)) is None


@pytest.mark.parametrize(
    "config", ["", "[remote]\nurl = x", '[remote "fork"]\nurl = https://a/b', '[remote "origin"]\nurl = here', "\0[["]
)
def test_a_repository_that_was_not_cloned_has_no_lineage(tmp_path: Path, config: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(config)
    assert found(tmp_path).lineage is None
    os.remove(tmp_path / ".git/config")
    assert found(tmp_path).lineage is None


def bound(ledger: Ledger, path: Path) -> int:
    uid, _ = ledger.roots.root_uid(Root(f"x:{path.name}", str(path), "x", "project"), (1, path.stat().st_ino))
    repository = repository_of(str(path))
    if repository is not None:
        ledger.repositories.bind(uid, repository)
    return uid


def test_a_repository_that_is_copied_back_to_its_place_is_the_same(app: Path, tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(str(tmp_path / "state"), clock=clock)
    before = ledger.repositories.repository(bound(ledger, app))
    common = found(app).common
    shutil.copytree(app, tmp_path / "backup")
    shutil.rmtree(app)
    shutil.copytree(tmp_path / "backup", app)
    assert found(app).common != common
    assert ledger.repositories.repository(bound(ledger, app)) == before is not None
