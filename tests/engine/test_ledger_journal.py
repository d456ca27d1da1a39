"""The journal: one chain whoever writes, and whatever is changed in it by force is named."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.engine.policy import Root
from memtui.errors import StorageError, UsageError
from tests.conftest import ROOT, Clock
from tests.examples import sized, tried

WRITER = """
import sys
from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.engine.policy import Root
folder, name, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Engine.open([Root("memtui:global", folder + "/memory")], state_dir=folder + "/state") as engine:
    for number in range(many):
        engine.memories.create(Address("memtui:global", f"{name}-{number}.md"), b"x\\n", actor=Actor("cli"))
        print(number, flush=True)
"""


def opened(folder: Path, clock: Clock) -> Engine:
    (folder / "memory").mkdir(exist_ok=True)
    return Engine.open([Root("memtui:global", str(folder / "memory"))], state_dir=str(folder / "state"), clock=clock)


def written(folder: Path, clock: Clock, many: int = 8) -> Engine:
    engine = opened(folder, clock)
    engine.journal.add("turn", {"turn": "t"})
    for number in range(many):
        engine.memories.create(Address("memtui:global", f"{number}.md"), b"x\n", actor=Actor("cli"))
    return engine


def test_nothing_is_written_before_the_first_record_and_every_change_after_it(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as engine:
        a, b = (Address("memtui:global", name) for name in ("a.md", "b.md"))
        engine.memories.create(a, b"a\n", actor=Actor("cli"))
        assert engine.journal.verify() == (0, "")
        engine.journal.add("turn", {"turn": "t"})
        engine.memories.rename(a, b, actor=Actor("cli"))
        engine.save(b, b"b\n", expected_sha256=engine.read(b).sha256, actor=Actor("cli"))
        engine.memories.delete([b], actor=Actor("cli"))
        engine.undo.undo(actor=Actor("cli"))
        kinds = [
            (one.kind, one.body.partition('"operation":"')[2].partition('"')[0]) for one in engine.journal.records()
        ]
        assert kinds == [
            ("begin", ""), ("turn", ""), ("change", "renamed"), ("change", "modified"), ("change", "deleted"),
            ("change", "restored"),
        ]  # fmt: skip
        assert engine.journal.verify().records == 6


def test_writers_that_are_killed_leave_one_chain(tmp_path: Path, clock: Clock) -> None:
    writers, changes, kills = sized(3, 8), sized(30, 2_000), sized(3, 500)
    written(tmp_path, clock, 1).close()
    pace = writers * changes * 9 // (10 * kills)  # changes between two kills

    def write(number: int) -> int:
        """Make all changes of one writer, one process after the other; gives how many of them were killed."""
        chance, made, killed = random.Random(number), 0, 0
        while made < changes:
            words = [sys.executable, "-c", WRITER, str(tmp_path), f"{number}-{made}", str(changes - made)]
            with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
                assert process.stdout is not None
                mine = kills * (number + 1) // writers - kills * number // writers
                most = chance.randrange(1, 2 * pace) if killed < mine else changes
                made += sum(1 for _ in islice(process.stdout, most))
                if made < changes and killed < mine:
                    process.kill()
                    killed += 1
                    made += sum(1 for _ in process.stdout)
        return killed

    with ThreadPoolExecutor(writers) as pool:
        killed = sum(pool.map(write, range(writers)))
    with opened(tmp_path, clock) as engine:
        engine.rows.list()
        done = [one.seq for one in engine.history.audit(limit=50_000) if one.state == "done"]
        assert engine.journal.verify().records == 2 + len(done)
        assert len(done) >= writers * changes
    tried(changes=len(done), kills=killed, forks=0)


def test_a_record_cannot_be_changed_and_one_that_is_by_force_is_named(tmp_path: Path, clock: Clock) -> None:
    random.seed(11)
    with written(tmp_path, clock) as engine:
        head = engine.journal.head()
    path = str(tmp_path / "state" / "state.db")
    database = apsw.Connection(path)
    for statement in ("UPDATE journal SET kind = 'x' WHERE n = 3", "DELETE FROM journal WHERE n = 3"):
        with pytest.raises(apsw.ConstraintError):
            database.execute(statement)
    for trigger in ("journal_update", "journal_delete"):
        database.execute(f"DROP TRIGGER {trigger}")
    found = 0
    for _ in range(sized(60, 1_000)):
        number, column = random.randrange(1, 11), random.choice(["at", "kind", "body", "prev", "hash"])
        (before,) = next(iter(database.execute(f"SELECT {column} FROM journal WHERE n = ?", (number,))))
        after: object = before + 1 if isinstance(before, int) else None
        if isinstance(before, (str, bytes)):
            place, data = (
                random.randrange(len(before)),
                bytearray(before.encode() if isinstance(before, str) else before),
            )
            data[place] ^= random.choice([1, 2, 4, 16])
            after = bytes(data).decode("latin-1") if isinstance(before, str) else bytes(data)
        database.execute(f"UPDATE journal SET {column} = ? WHERE n = ?", (after, number))
        with opened(tmp_path, clock) as engine, pytest.raises(StorageError) as refused:
            engine.journal.verify()
        assert refused.value.code == "E_CHAIN"
        found += refused.value.details["record"] in (number, number + 1)
        database.execute(f"UPDATE journal SET {column} = ? WHERE n = ?", (before, number))
    assert found == sized(60, 1_000)
    tried(byte_edits_found=found)
    with opened(tmp_path, clock) as engine:
        assert engine.journal.verify(head).head == head
        database.execute("UPDATE audit SET actor = 'tui' WHERE seq = 4")
        with pytest.raises(StorageError, match="record 4 of the audit"):
            engine.journal.verify()
        database.execute("UPDATE audit SET actor = 'cli' WHERE seq = 4")
        for forged in (
            "root = root + 1", "new_root = 1", "new_path = x'78'", "note = 'accepted by you'", "state = 'aborted'",
            "state = 'conflict', after = NULL", "state = 'intent'", "before = after", "operation = 'seen'",
        ):  # fmt: skip
            (kept,) = database.execute("SELECT * FROM audit WHERE seq = 4")
            database.execute(f"UPDATE audit SET {forged} WHERE seq = 4")
            with pytest.raises(StorageError, match="record 4 of the audit"):
                engine.journal.verify()
            database.execute(f"INSERT OR REPLACE INTO audit VALUES ({', '.join('?' * len(kept))})", kept)
            database.execute("DELETE FROM journal_due")
        engine.journal.verify()
        database.execute("DELETE FROM journal WHERE n > 7")
        engine.journal.verify()  # a chain that was cut is a chain: only a head kept elsewhere shows it
        with pytest.raises(StorageError, match="Record 8 of the journal is missing"):
            engine.journal.verify(head)
        with pytest.raises(StorageError, match="another journal"):
            engine.journal.verify("00000000:1:" + "0" * 64)
        for wrong in ("x", "1:2", "00000000:-1:" + "0" * 64):
            with pytest.raises(UsageError):
                engine.journal.verify(wrong)
        database.execute("DELETE FROM journal WHERE n = 4")
        with pytest.raises(StorageError, match="Record 4"):
            engine.journal.verify()


def test_a_change_without_its_audit_record_is_damage_and_the_mended_ledger_goes_on(
    tmp_path: Path, clock: Clock
) -> None:
    with written(tmp_path, clock) as engine:
        with pytest.raises(StorageError, match="is mended now"), engine._ledger.transaction() as database:
            database.execute("INSERT INTO journal_due VALUES (999)")
        engine.memories.create(Address("memtui:global", "after.md"), b"x\n", actor=Actor("cli"))
        assert engine.journal.verify().records == 11
