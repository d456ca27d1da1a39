"""Any sequence of changes, by memtui and by others, restarts between: nothing is lost, and undo leads back."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Done, Saved, Unchanged
from memtui.errors import ConflictError, MemtuiError, NotFoundError
from tests.examples import examples
from tests.faults.world import FIRST, ME, SECOND, World, at, ledger_of, new_world, open_intents, sha, stored

ADDRESSES = st.sampled_from([at(path, root) for root in (FIRST, SECOND) for path in ("a.md", "b.md", "x/c.md")])
FEW = st.sampled_from([at("a.md"), at("a.md", SECOND), at("x/c.md")])
TEXTS = st.one_of(st.sampled_from([b"", b"one\n", b"one\ntwo\n", b"two\n", b"\xff\x00"]), st.binary(max_size=300))
Disk = dict[str, bytes]


class Verb(Protocol):
    """Undo or redo."""

    def __call__(self, *, actor: Actor) -> Done:
        """Do it."""


class Sequences(RuleBasedStateMachine):
    """One world, one user, and a model of what must be there."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.world: World = new_world(self.base / "world")
        self.engine: Engine = self.world.engine()
        self.disk: Disk = {}
        self.kept: set[str] = set()
        """Versions that memtui wrote, refused or displaced."""
        self.done: list[tuple[Disk, Disk]] = []
        """What undo takes back: the disk before and after each change."""
        self.undone: list[tuple[Disk, Disk]] = []

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.base)

    # --- changes by memtui

    @rule(address=ADDRESSES, text=TEXTS)
    def save(self, address: Address, text: bytes) -> None:
        """Save over what is there, or where nothing is."""
        there = self.disk.get(str(address))
        expected = sha(there) if there is not None else None
        result = self.engine.save(address, text, expected_sha256=expected, actor=ME)
        assert isinstance(result, Unchanged if there == text else Saved)
        self._keep(there, text)
        self._changed({**self.disk, str(address): text})

    @rule(address=ADDRESSES, text=TEXTS)
    def save_from_a_stale_base(self, address: Address, text: bytes) -> None:
        """Save over a version that never was."""
        there = self.disk.get(str(address))
        result = self.engine.save(address, text, expected_sha256=sha(b"never was"), actor=ME)
        assert isinstance(result, Unchanged if there == text else Conflict)
        self._keep(there, text)

    @rule(address=ADDRESSES, text=TEXTS)
    def create(self, address: Address, text: bytes) -> None:
        there = self.disk.get(str(address))
        if there not in (None, text):
            with pytest.raises(ConflictError) as caught:
                self.engine.memories.create(address, text, actor=ME)
            assert caught.value.code == "E_EXISTS"
            return
        result = self.engine.memories.create(address, text, actor=ME)
        assert isinstance(result, Unchanged if there is not None else Saved)
        self._keep(text)
        self._changed({**self.disk, str(address): text})

    @rule(addresses=st.lists(ADDRESSES, min_size=1, max_size=4))
    def delete(self, addresses: list[Address]) -> None:
        """Delete some, of which some may not be there."""
        done = self.engine.memories.delete(addresses, actor=ME)
        after = dict(self.disk)
        for address in dict.fromkeys(addresses):
            self._keep(after.pop(str(address), None))
        assert {str(one.address) for one in done.outcomes if one.ok} == self.disk.keys() - after.keys()
        self._changed(after)

    @rule(pairs=st.lists(st.tuples(ADDRESSES, ADDRESSES), min_size=1, max_size=3, unique_by=lambda pair: pair[0]))
    def move(self, pairs: list[tuple[Address, Address]]) -> None:
        """Rename within a root or between the two."""
        done = self.engine.memories.move(pairs, actor=ME)
        after = dict(self.disk)
        for (old, new), outcome in zip(pairs, done.outcomes, strict=True):
            possible = str(old) in after and str(new) not in after
            assert outcome.ok is possible, outcome
            if possible:
                self._keep(after[str(old)])
                after[str(new)] = after.pop(str(old))
        self._changed(after, moved=any(outcome.ok for outcome in done.outcomes))

    @rule(address=ADDRESSES)
    def restore(self, address: Address) -> None:
        deleted = {entry.address: entry.sha256 for entry in self.engine.undo.trash.entries()}
        there = self.disk.get(str(address))
        try:
            result = self.engine.memories.restore(address, actor=ME)
        except NotFoundError:
            assert address not in deleted
            return
        except ConflictError:
            assert there is not None
            return
        assert isinstance(result, (Saved, Unchanged))
        text = stored(self.engine)[deleted[address]]
        self._changed({**self.disk, str(address): text})

    @rule(address=ADDRESSES, data=st.data())
    def restore_a_version(self, address: Address, data: st.DataObject) -> None:
        versions = sorted({version.sha256 for version in self.engine.history.of(address)})
        if not versions:
            return
        chosen = data.draw(st.sampled_from(versions))
        self.engine.memories.restore(address, version=chosen, actor=ME)
        self._keep(self.disk.get(str(address)))
        self._changed({**self.disk, str(address): stored(self.engine)[chosen]})

    @rule(address=ADDRESSES, pinned=st.booleans())
    def pin(self, address: Address, pinned: bool) -> None:
        root = self.engine.roots.find(address.root)
        record = ledger_of(self.engine).memories.record(self.engine.roots.uid(root), address.path)
        self.engine.pins.set([address], pinned=pinned, actor=ME)
        if (record is not None and record.pinned) is not pinned:
            self.done.append((self.disk, self.disk))
            self.undone.clear()

    # --- back and forth

    @rule()
    def undo(self) -> None:
        self._reverse(self.done, self.undone, self.engine.undo.undo)

    @rule()
    def redo(self) -> None:
        if self.undone:
            after, before = self.undone.pop()[::-1]
            self._whole(self.engine.undo.redo(actor=ME))
            self.disk = after
            self.done.append((before, after))
            return
        self._refused(self.engine.undo.redo)

    def _reverse(self, here: list[tuple[Disk, Disk]], there: list[tuple[Disk, Disk]], verb: Verb) -> None:
        if not here:
            self._refused(verb)
            return
        before, after = here.pop()
        self._whole(verb(actor=ME))
        self.disk = before
        there.append((before, after))

    def _refused(self, verb: Verb) -> None:
        with pytest.raises(NotFoundError) as caught:
            verb(actor=ME)
        assert caught.value.code == "E_NOTHING_TO_UNDO"

    def _whole(self, done: Done) -> None:
        assert all(outcome.ok for outcome in done.outcomes), done

    # --- others

    @rule()
    def start_again(self) -> None:
        self.engine.close()
        self.engine = self.world.engine()

    @rule()
    def look_for_changes(self) -> None:
        self.engine.changes.mark_seen(None)
        self.engine.watch.reconcile()
        assert not self.engine.changes.unseen()

    # --- what must hold

    def _keep(self, *texts: bytes | None) -> None:
        self.kept |= {sha(text) for text in texts if text is not None}

    def _changed(self, after: Disk, *, moved: bool = False) -> None:
        if moved or after != self.disk:  # what went there and back is a step as well
            self.done.append((self.disk, after))
            self.undone.clear()
            self.disk = after

    @invariant()
    def the_disk_is_as_told(self) -> None:
        """Each memory has the text the model says, and nothing else is there."""
        assert self.world.disk() == self.disk

    @invariant()
    def nothing_is_lost(self) -> None:
        there = stored(self.engine).keys() | {sha(data) for data in self.disk.values()}
        assert self.kept <= there
        assert not open_intents(self.engine)


class WithOthers(RuleBasedStateMachine):
    """The same world, written by others as well: whatever memtui does, no text that was there may vanish."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.world: World = new_world(self.base / "world")
        self.engine: Engine = self.world.engine()

    def teardown(self) -> None:
        """Take everything back that can be, and close."""
        for _ in range(50):
            if not self._act(lambda: self.engine.undo.undo(actor=ME)):
                break
        self.engine.close()
        shutil.rmtree(self.base)

    @rule(address=FEW, text=TEXTS, stale=st.booleans())
    def save(self, address: Address, text: bytes, stale: bool) -> None:
        """Save, from the version that is there or from another one."""
        there = self.world.disk().get(str(address))
        expected = sha(b"never was") if stale else sha(there) if there is not None else None
        self._act(lambda: self.engine.save(address, text, expected_sha256=expected, actor=ME))
        assert sha(text) in stored(self.engine) or self.world.disk().get(str(address)) == text

    @rule(pairs=st.lists(st.tuples(FEW, FEW), min_size=1, max_size=3, unique_by=lambda pair: pair[0]))
    def move(self, pairs: list[tuple[Address, Address]]) -> None:
        """Rename within a root or between the two."""
        self._act(lambda: self.engine.memories.move(pairs, actor=ME))

    @rule(addresses=st.lists(FEW, min_size=1, max_size=4))
    def delete(self, addresses: list[Address]) -> None:
        self._act(lambda: self.engine.memories.delete(addresses, actor=ME))

    @rule(address=FEW)
    def restore(self, address: Address) -> None:
        self._act(lambda: self.engine.memories.restore(address, actor=ME))

    @rule()
    def undo(self) -> None:
        """Take the last change back, where the disk still is as it was left."""
        self._act(lambda: self.engine.undo.undo(actor=ME))

    @rule()
    def redo(self) -> None:
        self._act(lambda: self.engine.undo.redo(actor=ME))

    @rule(address=FEW, text=TEXTS, in_place=st.booleans())
    def somebody_writes(self, address: Address, text: bytes, in_place: bool) -> None:
        """Another program writes a memory, in place or by a new file."""
        path = self.world.folder(address.root) / address.path
        path.parent.mkdir(exist_ok=True)
        if in_place:
            path.write_bytes(text)
        else:
            other = self.base / "agent"
            other.write_bytes(text)
            other.rename(path)

    @rule(address=FEW)
    def somebody_deletes(self, address: Address) -> None:
        (self.world.folder(address.root) / address.path).unlink(missing_ok=True)

    @rule(address=FEW, other=FEW)
    def somebody_renames(self, address: Address, other: Address) -> None:
        """Another program renames a memory, over whatever has the name."""
        old, new = (self.world.folder(one.root) / one.path for one in (address, other))
        if old.is_file() and old != new:
            new.parent.mkdir(exist_ok=True)
            old.rename(new)

    @rule()
    def start_again(self) -> None:
        self.engine.close()
        self.engine = self.world.engine()

    @rule()
    def look(self) -> None:
        self._act(self.engine.watch.reconcile)

    def _act(self, change: Callable[[], object]) -> bool:
        before = {sha(data) for data in self.world.disk().values()} | stored(self.engine).keys()
        try:
            change()
            done = True
        except MemtuiError:
            done = False
        after = {sha(data) for data in self.world.disk().values()} | stored(self.engine).keys()
        assert before <= after
        assert not self.world.strays()
        assert not open_intents(self.engine)
        return done


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=examples(40), stateful_step_count=25)
TestWithOthers = WithOthers.TestCase
TestWithOthers.settings = settings(max_examples=examples(60), stateful_step_count=25)
