"""What a client may change: every verb asks, and a root its access does not allow stays as it is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.access import OFF, PLAN, READ_ONLY, READ_WRITE, Access
from memtui.engine.model import (
    Actor,
    Address,
    Change,
    Draft,
    FieldEdit,
    Outcome,
    Policy,
    Restoring,
    Root,
    SeenMark,
    Usage,
    Version,
)
from memtui.engine.steps import Rename, Write
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from tests.faults.world import ME, sha

OLD, NEW = b"---\ndescription: old\n---\nold\n", b"new\n"
AGENT = Actor("mcp:probe")
GLOBAL, PROJECT = "memtui:global", "memtui:project"
HELD, MINE = Address(PROJECT, "a.md"), Address(GLOBAL, "a.md")
BACK = Address(PROJECT, "back.md")

Verb = Callable[[Engine, str], object]


def news(engine: Engine) -> list[Change]:
    """What the user has not seen of the project's memories."""
    return [change for change in engine.changes.unseen() if change.address == HELD]


CHANGING: dict[str, Verb] = {
    "edit": lambda e, old: e.memories.edit(HELD, lambda old: NEW, actor=AGENT),
    "save": lambda e, old: e.save(HELD, NEW, expected_sha256=sha(OLD), actor=AGENT),
    "create": lambda e, old: e.memories.create(Address(PROJECT, "b.md"), NEW, actor=AGENT),
    "rename": lambda e, old: e.memories.rename(HELD, Address(PROJECT, "b.md"), actor=AGENT),
    "move": lambda e, old: e.memories.move(
        [(HELD, Address(GLOBAL, "b.md")), (MINE, Address(PROJECT, "c.md"))], actor=AGENT
    ),
    "copy": lambda e, old: e.memories.copy([(HELD, Address(PROJECT, "b.md"))], actor=AGENT),
    "delete": lambda e, old: e.memories.delete([HELD, Address(PROJECT, "folder")], actor=AGENT),
    "together": lambda e, old: e.together.do(
        [Write(Address(GLOBAL, "b.md"), NEW, None), Rename(HELD, Address(PROJECT, "b.md"))], actor=AGENT, label="both"
    ),
    "delete_tree": lambda e, old: e.folders.delete(HELD, actor=AGENT),
    "rename_tree": lambda e, old: e.folders.rename(HELD, Address(PROJECT, "b.md"), actor=AGENT),
    "restore": lambda e, old: e.memories.restore(HELD, version=old, actor=AGENT),
    "set_pinned": lambda e, old: e.pins.set([HELD], pinned=True, actor=AGENT),
    "edit_fields": lambda e, old: e.memories.edit_fields(
        HELD, [FieldEdit(("description",), None)], expected_sha256=sha(OLD), actor=AGENT
    ),
    "redact": lambda e, old: e.redaction.redact(HELD, old, reason="test", actor=AGENT),
    "redact_all": lambda e, old: e.redaction.redact_all([(HELD, old)], reason="test", actor=AGENT),
    "undo": lambda e, old: e.undo.undo(actor=AGENT),
    "restore_all": lambda e, old: e.trash.restore([Restoring(HELD, old, BACK)], actor=AGENT),
    "redo": lambda e, old: e.undo.redo(actor=AGENT),
    "review": lambda e, old: e.history.review([(HELD, sha(OLD))], actor=AGENT),
    "take_back": lambda e, old: e.undo.take_back(news(e), actor=AGENT),
    "mark_changes_seen": lambda e, old: e.changes.mark_shown(news(e)),
    "restore_seen": lambda e, old: e.changes.unmark([SeenMark(HELD, sha(OLD))]),
    "pin_along": lambda e, old: e.pins.bring([HELD], actor=AGENT, joins=None),
    "keep_versions": lambda e, old: e.history.keep(
        HELD, [(Version(sha(NEW), 4, "x", 1, "modified"), NEW)], actor=AGENT
    ),
    "take_uses": lambda e, old: e.pins.take_uses([Usage(HELD, 3)]),
    "mark_seen": lambda e, old: (e.changes.mark_seen([HELD]), e.changes.mark_seen(None)),
}
"""Each verb that changes memories or the user's marks on them, tried on the project's root."""

OTHER = {
    "access", "actors", "add_roots", "audit", "beyond", "cached", "changeable", "changes", "close", "drafts",
    "drop_damaged", "drop_draft", "file_path", "find", "find_root", "findings", "folder", "follow", "forget_texts",
    "history",
    "keep_drafts_apart", "keep_place", "kind", "lift_limits", "list", "make_way", "progress", "stop_soon",
    "make_root", "memories", "memory", "next_undo", "notices", "open", "open_conflict", "operations", "place", "read",
    "passed_over", "read_bytes",
    "read_audited", "read_version", "reconcile", "record_use", "recover", "resolve", "root_status", "roots", "salvage",
    "save_conflict", "save_draft", "search", "seen_version", "subscribe", "take_draft", "trash", "trusted_version",
    "tree", "unlink",
    "unerased", "unopened", "vanished",
    "virtual_path", "watch", "written_at",
}  # fmt: skip
"""Verbs that only read, that look after the ledger, or that keep the user's own drafts."""


@pytest.fixture
def roots(tmp_path: Path) -> list[Root]:
    """A root on this host, and one in a checkout with two memories and an older version."""
    project = tmp_path / "project" / ".memtui" / "memory"
    (project / "folder").mkdir(parents=True)
    (tmp_path / "global").mkdir()
    found = [
        Root(GLOBAL, str(tmp_path / "global"), "memtui", "global", policy=Policy(102_400)),
        Root(PROJECT, str(project), "memtui", "project", policy=Policy(102_400), in_checkout=True),
    ]
    with Engine.open(found, state_dir=str(tmp_path / "state")) as engine:
        engine.watch.reconcile()
        engine.memories.create(MINE, OLD, actor=AGENT)
        engine.memories.create(HELD, b"first\n", actor=AGENT)
        engine.save(HELD, OLD, expected_sha256=sha(b"first\n"), actor=AGENT)
        engine.memories.create(Address(PROJECT, "folder/b.md"), NEW, actor=AGENT)
        engine.memories.delete([Address(PROJECT, "folder/b.md")], actor=ME)
        engine.undo.undo(actor=ME)
        engine.pins.set([Address(PROJECT, "folder/b.md")], pinned=True, actor=ME)
        engine.undo.undo(actor=ME)
    return found


def held(engine: Engine, folder: Path) -> tuple[object, ...]:
    """Everything about the project's root that a client could change."""
    files = {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
    listing = engine.rows.list([PROJECT])
    histories = [engine.history.of(row.address) for row in listing.items]
    audit = [one for one in engine.history.audit(limit=1_000) if one.address.root == PROJECT and one.state == "done"]
    return files, listing.items, histories, audit, engine.trash.entries(), [s.accepted for s in engine.rows.status()]


def test_every_verb_is_classified() -> None:
    public = {name for name in dir(Engine) if not name.startswith("_")}
    assert public == CHANGING.keys() | OTHER


@pytest.mark.parametrize("access", [READ_ONLY, PLAN, Access("for tests", (("project", "plan"), ("global", "rw")))])
@pytest.mark.parametrize("verb", CHANGING)
def test_no_verb_changes_what_its_access_does_not_allow(
    verb: str, access: Access, roots: list[Root], tmp_path: Path
) -> None:
    state = str(tmp_path / "state")
    with Engine.open(roots, state_dir=state, access=access) as engine:
        before = held(engine, Path(roots[1].path))
        old = engine.history.of(HELD)[-1].sha256
        with pytest.raises(RefusedError) as caught:
            raise refusal(CHANGING[verb](engine, old))
        assert caught.value.code == "E_ACCESS"
        assert str(tmp_path) not in str(caught.value)
        assert held(engine, Path(roots[1].path)) == before
    with Engine.open(roots, state_dir=state) as engine:
        assert not isinstance(refusal(CHANGING[verb](engine, old)), RefusedError)
        assert held(engine, Path(roots[1].path)) != before


def refusal(done: object) -> Exception:
    """The error of an operation that answers with outcomes."""
    outcomes: tuple[Outcome, ...] = getattr(done, "outcomes", ())
    return next((outcome.error for outcome in outcomes if outcome.error is not None), LookupError("it was done"))


def test_a_planning_client_writes_what_lies_outside_the_checkout(roots: list[Root], tmp_path: Path) -> None:
    hosted = roots[1]._replace(in_checkout=False)
    with Engine.open([roots[0], hosted], state_dir=str(tmp_path / "state"), access=PLAN) as engine:
        engine.memories.create(Address(GLOBAL, "b.md"), NEW, actor=AGENT)
        engine.memories.create(Address(PROJECT, "b.md"), NEW, actor=AGENT)


@pytest.mark.parametrize("scope", ["global", "project", "workspace"])
def test_a_planning_client_writes_nothing_below_a_repository_whatever_the_root_is_called(
    scope: str, tmp_path: Path
) -> None:
    (tmp_path / "checkout/.git").mkdir(parents=True)
    os.symlink(tmp_path / "checkout", tmp_path / "link")
    for base in ("checkout", "link"):
        root = Root("notes", str(tmp_path / base / "state/memory"), scope=scope)
        with (
            Engine.open([root], state_dir=str(tmp_path / "state"), access=PLAN) as engine,
            pytest.raises(RefusedError) as caught,
        ):
            engine.memories.create(Address("notes", "b.md"), NEW, actor=AGENT)
        assert caught.value.code == "E_ACCESS"
    assert os.listdir(tmp_path / "checkout") == [".git"]


def test_reading_and_counting_uses_is_allowed(roots: list[Root], tmp_path: Path) -> None:
    with Engine.open(roots, state_dir=str(tmp_path / "state"), access=READ_ONLY) as engine:
        assert engine.read(HELD).bytes == OLD
        engine.pins.record_use(HELD, actor=AGENT)
        assert engine.rows.get(HELD).uses == 1


def test_a_root_that_is_off_is_none_of_the_engine(roots: list[Root], tmp_path: Path) -> None:
    access = Access("no project", (("project", "off"), ("global", "rw")))
    with Engine.open(roots, state_dir=str(tmp_path / "state"), access=access) as engine:
        engine.roots.add(roots)
        assert [root.id for root in engine.roots.all()] == [GLOBAL]
        with pytest.raises(NotFoundError):
            engine.read(HELD)
        engine.memories.create(Address(GLOBAL, "b.md"), NEW, actor=AGENT)
    with Engine.open(roots, state_dir=str(tmp_path / "state"), access=OFF) as engine:
        assert engine.roots.all() == ()


def test_an_undo_that_reaches_a_root_which_is_not_allowed_takes_nothing_back(roots: list[Root], tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    with Engine.open(roots, state_dir=state) as engine:
        engine.memories.delete([MINE, HELD], actor=ME)
    with Engine.open(roots, state_dir=state, access=PLAN) as engine:
        with pytest.raises(RefusedError):
            engine.undo.undo(actor=AGENT)
        with pytest.raises(NotFoundError):
            engine.read(MINE)
    with Engine.open(roots, state_dir=state) as engine:
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)


@pytest.mark.parametrize(
    ("access", "levels"),
    [
        (READ_WRITE, ["rw", "rw"]),
        (Access("rw", (("project", "off"),)), ["rw", "off"]),
        (Access("custom"), ["ro", "ro"]),
        (Access("custom", (("global", "nonsense"), ("project", "plan"))), ["ro", "plan"]),
    ],
)
def test_levels(access: Access, levels: list[str], roots: list[Root]) -> None:
    assert [access.level(root) for root in roots] == levels


def test_drafts_are_the_users_own(roots: list[Root], tmp_path: Path) -> None:
    with Engine.open(roots, state_dir=str(tmp_path / "state"), access=READ_ONLY) as engine:
        engine.drafts.save(Draft(HELD, sha(OLD), "text", (0, 0), 1, OLD))
        with pytest.raises(MemtuiError):
            engine.save(HELD, b"text", expected_sha256=sha(OLD), actor=ME)
