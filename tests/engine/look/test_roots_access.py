"""What a client may change, and that open folders stay few however many roots there are."""

import os
import resource
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk.handles import RootHandle
from memtui.engine.look.roots import MOST, OFF, PLAN, READ_ONLY, READ_WRITE, Access, Handles
from memtui.engine.model import (
    Actor,
    Address,
    Change,
    Draft,
    FieldEdit,
    Outcome,
    Policy,
    Rename,
    Restoring,
    Root,
    SeenMark,
    UseCount,
    Version,
    Write,
)
from memtui.engine.proposal import Evidence, Proposal
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
    "memories.edit": lambda e, old: e.memories.edit(HELD, lambda old: NEW, actor=AGENT),
    "save": lambda e, old: e.save(HELD, NEW, expected_sha256=sha(OLD), actor=AGENT),
    "memories.save": lambda e, old: e.memories.save(HELD, NEW, sha(OLD), actor=AGENT),
    "memories.create": lambda e, old: e.memories.create(Address(PROJECT, "b.md"), NEW, actor=AGENT),
    "memories.rename": lambda e, old: e.memories.rename(HELD, Address(PROJECT, "b.md"), actor=AGENT),
    "memories.move": lambda e, old: e.memories.move(
        [(HELD, Address(GLOBAL, "b.md")), (MINE, Address(PROJECT, "c.md"))], actor=AGENT
    ),
    "memories.copy": lambda e, old: e.memories.copy([(HELD, Address(PROJECT, "b.md"))], actor=AGENT),
    "memories.delete": lambda e, old: e.memories.delete([HELD, Address(PROJECT, "folder")], actor=AGENT),
    "together.do": lambda e, old: e.together.do(
        [Write(Address(GLOBAL, "b.md"), NEW, None), Rename(HELD, Address(PROJECT, "b.md"))], actor=AGENT, label="both"
    ),
    "folders.delete": lambda e, old: e.folders.delete(HELD, actor=AGENT),
    "folders.rename": lambda e, old: e.folders.rename(HELD, Address(PROJECT, "b.md"), actor=AGENT),
    "memories.restore": lambda e, old: e.memories.restore(HELD, version=old, actor=AGENT),
    "pins.set": lambda e, old: e.pins.set([HELD], pinned=True, actor=AGENT),
    "memories.edit_fields": lambda e, old: e.memories.edit_fields(
        HELD, [FieldEdit(("description",), None)], expected_sha256=sha(OLD), actor=AGENT
    ),
    "redaction.redact": lambda e, old: e.redaction.redact(HELD, old, reason="test", actor=AGENT),
    "redaction.redact_all": lambda e, old: e.redaction.redact_all([(HELD, old)], reason="test", actor=AGENT),
    "undo.undo": lambda e, old: e.undo.undo(actor=AGENT),
    "trash.restore": lambda e, old: e.undo.trash.restore([Restoring(HELD, old, BACK)], actor=AGENT),
    "undo.redo": lambda e, old: e.undo.redo(actor=AGENT),
    "history.review": lambda e, old: e.history.review([(HELD, sha(OLD))], actor=AGENT),
    "undo.take_back": lambda e, old: e.undo.take_back(news(e), actor=AGENT),
    "changes.mark_shown": lambda e, old: e.changes.mark_shown(news(e)),
    "changes.choose": lambda e, old: e.changes.choose(news(e), "rejected"),
    "changes.decide": lambda e, old: e.changes.decide(e.proposals.all(), "later", actor=AGENT),
    "changes.decide_hunk": lambda e, old: e.changes.decide_hunk(e.proposals.get("1"), 0, 0, rejected=True),
    "changes.revise": lambda e, old: e.changes.revise(e.proposals.get("1"), [Write(HELD, b"another\n", sha(OLD))]),
    "changes.unmark": lambda e, old: e.changes.unmark([SeenMark(HELD, sha(OLD))]),
    "pins.bring": lambda e, old: e.pins.bring([HELD], actor=AGENT, joins=None),
    "history.keep": lambda e, old: e.history.keep(HELD, [(Version(sha(NEW), 4, "x", 1, "modified"), NEW)], actor=AGENT),
    "pins.take_uses": lambda e, old: e.pins.take_uses([UseCount(HELD, 3)]),
    "changes.mark_seen": lambda e, old: (e.changes.mark_seen([HELD]), e.changes.mark_seen(None)),
}
"""Each verb that changes memories or the user's marks on them, tried on the project's root."""

OTHER = frozenset(
    {
        "cached",
        "changes.chosen",
        "changes.seen_version",
        "changes.unseen",
        "close",
        "doctor.findings",
        "doctor.salvage",
        "drafts.all",
        "drafts.conflict",
        "drafts.drop",
        "drafts.keep_apart",
        "drafts.save",
        "drafts.save_conflict",
        "drafts.take",
        "folders.follow",
        "folders.items",
        "folders.kind",
        "folders.make_root",
        "folders.tree",
        "folders.unlink",
        "history.actors",
        "history.audit",
        "history.check_settable",
        "history.last",
        "history.line_times",
        "history.of",
        "history.operations",
        "history.read",
        "history.read_audited",
        "history.record_setting",
        "history.since",
        "history.trusted_version",
        "open",
        "pins.not_given",
        "pins.record_given",
        "pins.record_use",
        "read",
        "read_bytes",
        "redaction.drop_damaged",
        "redaction.redact_observation",
        "redaction.require_person",
        "redaction.unerased",
        "rows.cached",
        "rows.get",
        "rows.lift_limits",
        "rows.list",
        "rows.some",
        "rows.status",
        "rows.vanished",
        "rows.written_at",
        "search.close",
        "search.find",
        "search.holders",
        "search.forget",
        "search.once",
        "search.settle",
        "trash.entries",
        "undo.beyond",
        "undo.decides",
        "undo.next",
        "undo.of_person",
        "undo.passed_over",
        "undo.unexpected",
        "undo.unopened",
        "watch.due",
        "watch.files",
        "watch.folders",
        "watch.keep",
        "watch.ledger_version",
        "watch.look",
        "watch.reconcile",
        "watch.roots",
        "watch.start",
        "watch.version",
        "watch.wants",
    }
)
"""Verbs that only read, that look after the ledger, or that keep the user's own drafts."""

INSIDE = frozenset({"memories.move_one", "memories.move_within", "together.take_back", "undo.roll_back"})
"""Steps of the verbs above, in a transaction that those began."""


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
        shown = (Evidence("turn", "s"),)
        engine.proposals.add([Proposal("", "", "x", "replace", (Write(HELD, NEW, sha(OLD)),), (), "", shown, 1.0, "f")])
        engine.pins.set([Address(PROJECT, "folder/b.md")], pinned=True, actor=ME)
        engine.undo.undo(actor=ME)
    return found


def held(engine: Engine, folder: Path) -> tuple[object, ...]:
    """Everything about the project's root that a client could change."""
    files = {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
    listing = engine.rows.list([PROJECT])
    histories = [engine.history.of(row.address) for row in listing.items]
    audit = [one for one in engine.history.audit(limit=1_000) if one.address.root == PROJECT and one.state == "done"]
    return (
        files,
        listing.items,
        histories,
        audit,
        engine.undo.trash.entries(),
        engine.proposals.all(),
        engine.proposals.rejected_hunks("1"),
        engine.changes.chosen(engine.changes.unseen()),
        [s.accepted for s in engine.rows.status()],
    )


def verbs(engine: Engine) -> set[str]:
    """Every public method of the engine and of its parts, a part's as `part.method`, but for the ledger's tables."""
    kinds = {
        name: type(getattr(engine, name))
        for name, value in vars(Engine).items()
        if isinstance(value, cached_property) and name[0] != "_"
    }
    kinds = {name: kind for name, kind in kinds.items() if not kind.__module__.startswith("memtui.engine.ledger.")}
    kinds["trash"] = type(engine.undo.trash)
    found = {f"{part}.{name}" for part, kind in kinds.items() for name in dir(kind) if callable(getattr(kind, name))}
    own = {name for name in dir(Engine) if callable(getattr(Engine, name))}
    return {name for name in found | own if not name.rpartition(".")[2].startswith("_")}


def test_every_verb_is_classified(roots: list[Root], tmp_path: Path) -> None:
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        assert verbs(engine) == CHANGING.keys() | OTHER | INSIDE


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


@pytest.fixture
def folders(tmp_path: Path) -> list[Root]:
    made = []
    for number in range(MOST + 40):
        folder = tmp_path / f"root-{number}"
        folder.mkdir()
        (folder / "a.md").write_text(f"number {number}\n")
        made.append(Root(f"r{number}", str(folder)))
    return made


def test_the_one_used_longest_ago_gives_way(folders: list[Root]) -> None:
    handles = Handles(2)
    first, second = (handles.put(root.id, RootHandle(root)) for root in folders[:2])
    assert handles.get("r0") is first
    handles.put("r2", RootHandle(folders[2]))
    assert handles.get("r1") is None, "r0 was used after it"
    assert handles.get("r0") is first
    os.fstat(second.fd)  # still open, because this test reads through it
    number = second.fd
    del second
    with pytest.raises(OSError):
        os.fstat(number)
    handles.close()
    with pytest.raises(OSError):
        os.fstat(first.fd)


def test_more_roots_than_open_files_are_listed_and_followed(folders: list[Root], tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    here = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 60
    with Engine.open(folders, state_dir=str(tmp_path / "state")) as engine:
        resource.setrlimit(resource.RLIMIT_NOFILE, (here + MOST + 25, hard))
        try:
            for _ in range(2):
                listing = engine.rows.list()
                assert len(listing.items) == len(folders)
                assert not any(status.problems for status in listing.roots)
                engine.watch.reconcile()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(engine.roots.all()) == len(folders)
