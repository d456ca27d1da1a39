"""What was suggested is kept once, follows what the engine did, and is forgotten when its time has come."""

import random
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Retention, Step, Write
from memtui.engine.proposal import Evidence, MarkChange, Proposal
from memtui.errors import ConflictError, NotFoundError
from tests.conftest import Clock
from tests.faults.world import ME, World, at, ledger_of

SHOWN = (Evidence("turn", "session-41c", place="18", quote="make it twelve hours"),)


def suggested(*steps: Step, mark: str = "f1", why: str = "it says so", shown: tuple[Evidence, ...] = SHOWN) -> Proposal:
    return Proposal("", "run-1", "claude", "replace", steps, (), why, shown, 0.5, mark, folders=(("notes", "/x"),))


def a_write(data: bytes = b"new\n", base: bytes | None = b"old\n", path: str = "a.md") -> Write:
    return Write(at(path), data, None if base is None else sha256(base).hexdigest())


def test_what_is_stored_is_read_back_whole(engine: Engine) -> None:
    awkward = Write(Address("notes", "a \udce9\n.md"), b"\xff\x00\r\n", None)
    marks = (MarkChange("obs-1", 3, {"title": "T"}),)
    (kept,) = engine.proposals.add([suggested(awkward)._replace(marks=marks, note="loses text")])
    assert kept.id == "1"
    assert kept.at
    assert kept._replace(id="", at=0) == suggested(awkward)._replace(marks=marks, note="loses text")
    assert engine.proposals.get("1") == kept
    assert engine.proposals.all() == engine.proposals.all(["open"]) == (kept,)
    assert engine.proposals.all(["rejected"]) == ()
    for unknown in ("2", "x", "1" * 40, "-1"):
        with pytest.raises(NotFoundError, match="no proposal"):
            engine.proposals.get(unknown)


def test_a_proposal_without_evidence_is_none(engine: Engine) -> None:
    with pytest.raises(ValueError, match="without evidence"):
        engine.proposals.add([suggested(shown=())])


def test_the_same_suggestion_waits_once_and_a_newer_one_about_it_takes_its_place(engine: Engine) -> None:
    table = engine.proposals
    (first,) = table.add([suggested(a_write())])
    assert table.add([suggested(a_write(), why="in other words")]) == (first,)
    (newer,) = table.add([suggested(a_write(base=b"old, and more\n"))])
    assert newer.id != first.id
    assert table.get(first.id).state == "superseded"
    assert [one.id for one in table.all(["open"])] == [newer.id]


def test_what_was_rejected_stays_away_until_what_it_is_about_changes(engine: Engine) -> None:
    table = engine.proposals
    (first,) = table.add([suggested(a_write())])
    table.decide([first.id], "rejected", by="tui", note="we keep both")
    (known,) = table.add([suggested(a_write())])
    assert (known.id, known.state, known.note) == (first.id, "rejected", "we keep both")
    other = (Evidence("turn", "session-42", place="3"),)
    assert table.add([suggested(a_write(), shown=other)])[0].state == "open"
    assert table.add([suggested(a_write(base=b"another\n"))])[0].state == "open"
    (new,) = table.add([suggested(a_write(base=None), mark="f2")])
    table.decide([new.id], "rejected", by="tui")
    away = table.add([suggested(a_write(base=None), mark="f2", shown=other)])[0]
    assert away.state == "rejected", "what has no target stays away"


def test_a_decision_is_made_about_all_or_none(engine: Engine) -> None:
    table = engine.proposals
    one, two, barred = table.add(
        [
            suggested(a_write(), mark="a"),
            suggested(a_write(), mark="b"),
            suggested(a_write(), mark="c")._replace(state="blocked", note="It is pinned."),
        ]
    )
    with pytest.raises(ConflictError, match=r"Proposal 3 is blocked and cannot be accepted. It is pinned."):
        table.decide([one.id, two.id, barred.id], "accepted", by="tui")
    assert {each.state for each in table.all()} == {"open", "blocked"}
    table.decide([one.id, two.id], "accepted", by="tui")
    assert table.claim([one.id, two.id, barred.id], "c-1") == {one.id, two.id}
    assert table.claim([one.id, two.id], "c-2") == frozenset(), "two windows cannot both carry it out"
    assert table.claimed() == {one.id: "c-1", two.id: "c-1"}
    with pytest.raises(ConflictError, match="is applying"):
        table.decide([one.id], "rejected", by="tui")
    table.settle({one.id: ("stale", "The memory is gone."), two.id: ("accepted", "")})
    table.decide([one.id, barred.id], "rejected", by="tui")
    assert [each.state for each in table.all()] == ["rejected", "accepted", "rejected"]


def test_hunks_are_decided_one_by_one_and_an_edit_makes_that_void(engine: Engine) -> None:
    (one,) = engine.proposals.add([suggested(a_write())])
    engine.proposals.decide_hunk(one.id, 0, 2, rejected=True)
    engine.proposals.decide_hunk(one.id, 0, 1, rejected=True)
    engine.proposals.decide_hunk(one.id, 0, 2, rejected=False)
    assert engine.proposals.rejected_hunks(one.id) == {(0, 1)}
    revised = engine.proposals.revise(one.id, [a_write(b"edited\n")])
    assert revised.steps == (a_write(b"edited\n"),)
    assert engine.proposals.rejected_hunks(one.id) == frozenset()


def test_undo_opens_it_again_and_redo_applies_it_however_often(engine: Engine) -> None:
    seed = 20_261_123
    chance = random.Random(seed)
    table = engine.proposals
    (one,) = table.add([suggested(a_write(base=None))])
    table.decide([one.id], "accepted", by="tui")
    table.claim([one.id], "c-1")
    done = engine.together.do(one.steps, actor=ME, label="accept a proposal")
    table.settle({one.id: ("applied", "")}, done.txn)
    applied, by_itself = True, None
    for turn in range(21):
        assert table.get(one.id).state == ("applied" if applied else "open"), (seed, turn)
        assert bool(table.get(one.id).txn) is applied
        assert [each.id for each in table.all(["open"])] == ([] if applied else [one.id])
        assert [each.id for each in table.all(["applied"])] == ([one.id] if applied else [])
        if applied and chance.random() < 0.4:
            engine.undo.undo(actor=ME, txn=done.txn)
            by_itself = engine.undo.next()  # a step of its own, which undo takes back; None: it was the newest
        elif applied or by_itself:
            engine.undo.undo(actor=ME)
            by_itself = None
        else:
            engine.undo.redo(actor=ME)
        applied = not applied
    assert not applied
    table.decide([one.id], "rejected", by="tui")
    assert table.get(one.id).state == "rejected"


def test_texts_go_when_their_time_has_come_and_the_decision_stays(world: World) -> None:
    clock = Clock()
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        table = engine.proposals
        table.keep_base(b"old\n")
        gone, waits = table.add([suggested(a_write()), suggested(a_write(path="b.md"), mark="f2")])
        table.decide([gone.id], "rejected", by="tui")
        for _ in range(31):
            clock.advance(days=1)
            engine.memories.save(at("day.md"), str(clock.now), None if clock.now < 0 else _now(engine), actor=ME)
        assert table.prune(Retention(days=40)) == 0
        assert table.prune(Retention(days=30)) == 1
        assert table.prune(Retention(days=30)) == 0
        left = table.get(gone.id)
        assert (left.steps, left.why, left.evidence, left.state) == ((), "", (), "rejected")
        assert table.get(waits.id) == waits
        assert table.add([suggested(a_write())])[0].id == gone.id
        ledger_of(engine).versions.prune(Retention(versions=1, days=1))
        assert table.base(sha256(b"old\n").hexdigest()) == b"old\n", "what one that waits starts from is kept"


def _now(engine: Engine) -> str | None:
    try:
        return engine.read(at("day.md")).sha256
    except NotFoundError:
        return None


@pytest.mark.parametrize("early", [False, True], ids=["", "backup-without-the-text"])
@pytest.mark.parametrize("where", ["step", "why", "quote"])
def test_a_redacted_text_is_in_no_proposal_and_in_no_backup_of_one(world: World, where: str, *, early: bool) -> None:
    secret = b"the launch code is KILO-9917-ZULU\n"
    with world.engine() as engine:
        said = secret.decode().strip()
        (one, other) = engine.proposals.add(
            [
                suggested(
                    a_write(secret + b"more\n" if where == "step" else b"other\n"),
                    why=said if where == "why" else "short",
                    shown=(Evidence("memory", "notes/a.md", quote=said if where == "quote" else ""),),
                ),
                suggested(a_write(b"nothing of it\n"), mark="f2"),
            ]
        )
        if early:
            ledger_of(engine).back_up()
        sha = engine.memories.create(at("a.md"), secret, actor=ME).sha256
        ledger_of(engine).back_up()
        engine.save(at("a.md"), b"clean\n", expected_sha256=sha, actor=ME)
        engine.redaction.redact(at("a.md"), sha, reason="a test", actor=ME)
        assert engine.proposals.get(one.id).state == "superseded"
        assert engine.proposals.get(one.id).note == "[redacted]"
        assert engine.proposals.get(other.id).state == "open"
    import base64

    for file in filter(Path.is_file, world.state.rglob("*")):
        held = file.read_bytes()
        assert b"KILO-9917" not in held, file
        assert base64.b64encode(secret)[:40] not in held, file


def test_a_mended_ledger_has_the_proposals_of_its_backup(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("a.md"), b"old\n", actor=Actor("cli"))
        (one,) = engine.proposals.add([suggested(a_write())])
        ledger_of(engine).back_up()
    path = world.state / "state.db"
    data = bytearray(path.read_bytes())
    place = data.index(b"session-41c")
    page = place // 4_096
    data[page * 4_096 : (page + 1) * 4_096] = b"\xaa" * 4_096
    path.write_bytes(data)
    with world.engine() as engine:
        kept = engine.proposals.get(one.id)
        assert (kept.evidence, kept.steps) == (one.evidence, one.steps)
