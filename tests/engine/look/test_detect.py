"""In whatever order things happen: what is believed becomes what is there; what is there is never told deleted."""

import time
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memtui.engine.look.detect import (
    DELETED_MS,
    EMPTIED_MS,
    PATIENCE_MS,
    QUIET_MS,
    ChangeDetector,
    Decision,
    DiskLook,
    Event,
    LastReported,
    NameView,
)
from memtui.engine.look.root_pass import lost_lines
from tests.examples import examples

SETTLE_MS = 100
NOTHING = Decision([], frozenset(), {}, None, emptied=False)


class Disk:
    """A disk, a ledger and a clock, all of them pretended."""

    def __init__(self, files: dict[str, str] | None = None, *, known: bool = True) -> None:
        self.now = 1_000
        self.files: dict[str, tuple[str, int]] = {}
        self.read: dict[str, tuple[str, int]] = {}
        """What the last look read, and since when."""
        self.ledger: dict[str, LastReported] = {}
        self.intended: dict[str, LastReported] = {}
        self.told: list[Event] = []
        self.next_inode = 1
        for path, text in (files or {}).items():
            self.put(path, text)
            if known:
                self.ledger[path] = LastReported(text, "outside")
        self.detector = ChangeDetector(dict(files or {}) if known else {})
        self.patient = True
        self.looked: int | None = None
        """When everything was last looked at."""

    def put(self, path: str, text: str) -> None:
        """Write a new file over a name."""
        self.files[path] = (text, self.next_inode)
        self.next_inode += 1

    def move(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)

    def save(self, path: str, text: str | None, *, here: bool = True, actor: str = "tui") -> None:
        """Write through memtui: on disk and in the ledger; told by this process itself if it is here."""
        if text is None:
            self.files.pop(path, None)
        else:
            self.put(path, text)
        self.ledger[path] = LastReported(text, actor)
        if here:
            self.detector.wrote(path, text)

    def view(self, path: str) -> NameView | None:
        found = self.files.get(path)
        if found is None:
            self.read.pop(path, None)
            return None
        text, inode = found
        if path not in self.read or self.read[path][0] != text:
            self.read[path] = (text, self.now)
        since = self.read[path][1]
        return NameView(text, inode, self.now - since >= SETTLE_MS, since)

    def step(self, *paths: str) -> Decision:
        """Look, and believe and record what is to be told."""
        look = DiskLook(
            self.now,
            self.view,
            self.ledger.get,
            ours=self.intended.get,
            empty=not self.files,
            patient=self.patient,
            saw=lambda _path: self.looked,
        )
        step = self.detector.step(look, paths)
        for event in step.events:
            self.told.append(event)
            if event.actor is None:
                if event.old_path is not None:
                    self.ledger[event.old_path] = LastReported(None, "outside")
                self.ledger[event.path] = LastReported(event.after, "outside")
            self.detector.accept(event)
        return step

    def quiet(self, ms: int) -> Decision:
        """Let time pass, looking only when something is due."""
        end = self.now + ms
        step = self.step()
        while step.due is not None and step.due <= end:
            self.now = max(self.now, step.due)
            step = self.step()
        self.now = end
        return self.step()

    def kinds(self) -> list[tuple[str, str]]:
        return [(event.kind, event.path) for event in self.told]


def test_a_text_that_never_rests_is_never_told() -> None:
    disk = Disk({"a": "1", "b": "1"})
    for number in range(100):
        disk.put("a", f"x{number}")
        disk.step("a")
        disk.now += 50
    assert disk.told == []
    disk.quiet(500)
    assert disk.kinds() == [("modified", "a")]


def test_a_hot_file_does_not_keep_others_waiting() -> None:
    disk = Disk({"hot": "1", "b": "1"})
    for number in range(20):
        disk.put("hot", f"x{number}")
        disk.step("hot")
        disk.now += 20
    disk.put("b", "2")
    start = disk.now
    while not disk.told:
        disk.put("hot", f"y{disk.now}")
        disk.step("hot", "b")
        disk.now += 20
    assert disk.kinds() == [("modified", "b")]
    assert disk.now - start <= PATIENCE_MS + 40


def test_a_text_that_came_back_to_what_it_was_is_no_news() -> None:
    disk = Disk({"a": "1"})
    disk.put("a", "2")
    disk.step("a")
    disk.put("a", "1")
    disk.quiet(1_000)
    assert disk.told == []


def test_a_write_this_process_is_about_to_tell_is_left_to_it() -> None:
    disk = Disk({"a": "1"})
    disk.save("a", "2", here=False)
    disk.step("a")
    disk.quiet(QUIET_MS // 2)
    disk.detector.wrote("a", "2")
    disk.quiet(1_000)
    assert disk.told == []


def test_a_write_that_is_not_recorded_yet_is_known_by_its_intent() -> None:
    disk = Disk({"a": "1"})
    disk.put("a", "2")
    disk.intended["a"] = LastReported("2", "cli")
    disk.step("a")
    disk.quiet(1_000)
    assert [(event.kind, event.actor) for event in disk.told] == [("modified", "cli")]
    disk.intended.clear()
    disk.ledger["a"] = LastReported("2", "cli")
    disk.quiet(1_000)
    assert len(disk.told) == 1


def test_an_intent_that_never_came_to_be_changes_nothing() -> None:
    disk = Disk({"a": "1"})
    disk.intended["a"] = LastReported("2", "cli")
    disk.step("a")
    disk.quiet(1_000)
    assert disk.told == []


def test_an_outside_write_over_our_own_names_ours_as_before() -> None:
    disk = Disk({"a": "1"})
    disk.save("a", "mine")
    disk.put("a", "theirs")
    disk.step("a")
    disk.quiet(500)
    assert [(event.kind, event.before, event.after, event.actor) for event in disk.told] == [
        ("modified", "mine", "theirs", None)
    ]


def test_what_came_back_and_goes_again_is_waited_for_anew() -> None:
    disk = Disk({"a": "1", "b": "1"})
    del disk.files["a"]
    disk.step("a")
    disk.quiet(DELETED_MS - 500)
    disk.put("a", "1")
    disk.step("a")
    del disk.files["a"]
    disk.step("a")
    disk.quiet(DELETED_MS - 1)
    assert disk.told == []
    disk.quiet(1)
    assert disk.kinds() == [("deleted", "a")]


def test_a_file_that_comes_back_under_another_name_at_the_last_moment_is_a_rename() -> None:
    disk = Disk({"a": "1", "b": "1"})
    del disk.files["a"]
    disk.step("a")
    disk.quiet(DELETED_MS - 150)
    disk.files["c"] = ("1", 1)
    disk.step("c")
    disk.quiet(1_000)
    assert disk.kinds() == [("renamed", "c")]


def test_the_only_memory_of_a_root_can_be_deleted() -> None:
    disk = Disk({"a": "1"})
    disk.files.clear()
    disk.step("a")
    disk.quiet(DELETED_MS)
    assert disk.kinds() == [("deleted", "a")]


def test_a_folder_of_equal_files_is_renamed_file_by_file() -> None:
    disk = Disk({f"x/{name}": "same" for name in "abc"} | {"z": "1"})
    for name in "abc":
        disk.move(f"x/{name}", f"y/{name}")
    disk.step(*[f"{folder}/{name}" for folder in "xy" for name in "abc"])
    disk.quiet(1_000)
    assert sorted((event.kind, event.old_path, event.path) for event in disk.told) == [
        ("renamed", f"x/{name}", f"y/{name}") for name in "abc"
    ]


def test_a_copy_and_a_deletion_are_a_rename_only_when_that_is_plain() -> None:
    disk = Disk({"a": "same", "b": "same", "c": "1"})
    del disk.files["a"], disk.files["b"]
    disk.put("d", "same")
    disk.step("a", "b", "d")
    disk.quiet(DELETED_MS + 1)
    assert sorted(disk.kinds()) == [("created", "d"), ("deleted", "a"), ("deleted", "b")]


@pytest.mark.parametrize("way", ["copied", "linked"])
def test_what_was_seen_beside_a_file_later_is_its_new_name_only_as_the_same_file(way: str) -> None:
    disk = Disk({"a": "same", "b": "1"})
    if way == "linked":
        disk.files["c"] = disk.files["a"]
    for _ in range(5):  # a text that does not come to rest is noticed, and not told
        disk.put("c", "same") if way == "copied" else None
        disk.read.pop("c", None)
        disk.step("a", "c")
        disk.looked = disk.now
        disk.now += 50
    assert disk.told == []
    del disk.files["a"]
    disk.step("a", "c")
    disk.quiet(DELETED_MS + 1_000)
    expected = [("created", "c"), ("deleted", "a")] if way == "copied" else [("renamed", "c")]
    assert sorted(disk.kinds()) == expected


def test_a_copy_that_was_first_seen_in_the_last_look_at_the_old_file_is_its_new_name() -> None:
    disk = Disk({"a": "same", "b": "1"})
    disk.put("c", "same")
    disk.step("c")
    disk.looked = disk.now
    disk.now += 20
    del disk.files["a"]
    disk.step("a")
    disk.looked = disk.now
    disk.quiet(1_000)
    assert disk.kinds() == [("renamed", "c")]


NAMES = st.sampled_from(["a", "b", "c", "d/a", "d/b"])
TEXTS = st.sampled_from(["", "1", "2", "3"])


class Life(RuleBasedStateMachine):
    """Programs, people and memtui at work in one root, heard of late, early, twice or not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk({"a": "1", "b": "2"})
        self.heard: list[str] = []
        self.counted = 0

    @rule(path=NAMES, text=TEXTS)
    def write(self, path: str, text: str) -> None:
        self.disk.put(path, text)
        self.heard.append(path)

    @rule(path=NAMES)
    def remove(self, path: str) -> None:
        self.disk.files.pop(path, None)
        self.heard.append(path)

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        if old in self.disk.files and old != new:
            self.disk.move(old, new)
            self.heard += [new, old]

    @rule(path=NAMES, text=st.none() | TEXTS, here=st.booleans())
    def save(self, path: str, text: str | None, here: bool) -> None:
        self.disk.save(path, text, here=here)

    @precondition(lambda self: self.heard)
    @rule(data=st.data())
    def hear(self, data: st.DataObject) -> None:
        """Some of what happened is heard of, in any order."""
        some = data.draw(st.lists(st.sampled_from(self.heard), max_size=3))
        self.look(some)

    @rule()
    def lose(self) -> None:
        """Nothing of what happened is ever heard of."""
        self.heard.clear()

    @rule(ms=st.sampled_from([1, 10, 50, 100, 300, 1_000, 6_000]))
    def wait(self, ms: int) -> None:
        """Time passes, with looks where they are due."""
        before = len(self.disk.told)
        self.disk.quiet(ms)
        self.check(self.disk.told[before:])

    @rule()
    def scan(self) -> None:
        self.look(self.everything())

    def everything(self) -> list[str]:
        return [*self.disk.files, *self.disk.ledger, *self.disk.detector.known]

    def look(self, paths: Iterable[str]) -> None:
        before = len(self.disk.told)
        self.disk.step(*paths)
        self.check(self.disk.told[before:])

    def check(self, events: list[Event]) -> None:
        """Nothing that is there is told deleted, and nothing is told that is not there."""
        for event in events:
            if event.kind == "deleted":
                assert event.path not in self.disk.files
            else:
                assert self.disk.files[event.path][0] == event.after
            if event.old_path is not None:
                assert event.old_path not in self.disk.files

    @invariant()
    def what_is_due_comes(self) -> None:
        """Whatever is undecided has a time at which it is looked at again."""
        step = self.disk.step()
        self.check(step.events)
        undecided = [path for path in self.disk.detector.noticed if path in self.disk.files]
        assert not undecided or step.due is not None

    def teardown(self) -> None:
        """After a quiet time everything that is there is believed, recorded, and told by name."""
        disk = self.disk
        self.look(self.everything())
        disk.quiet(EMPTIED_MS + 1_000)
        self.look(self.everything())
        texts = {path: text for path, (text, _) in disk.files.items()}
        assert {path: known.sha256 for path, known in disk.detector.known.items()} == texts
        assert {path: told.sha256 for path, told in disk.ledger.items() if told.sha256 is not None} == texts
        assert disk.step() == NOTHING


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=examples(150), stateful_step_count=30, deadline=None)


@given(
    before=st.dictionaries(NAMES, TEXTS, max_size=5),
    after=st.dictionaries(NAMES, TEXTS, max_size=5),
    patient=st.booleans(),
)
def test_whatever_happened_while_nobody_looked_is_found(
    before: dict[str, str], after: dict[str, str], patient: bool
) -> None:
    disk = Disk(before)
    disk.patient = patient
    disk.files.clear()
    for path, text in after.items():
        disk.put(path, text)
    disk.step(*before, *after)
    disk.quiet(EMPTIED_MS + 1_000)
    assert {path: known.sha256 for path, known in disk.detector.known.items()} == after
    # What was told, applied to what was there, gives what is there.
    story = dict(before)
    for event in disk.told:
        for gone in (event.old_path, event.path if event.kind == "deleted" else None):
            if gone is not None:
                assert story.pop(gone) == event.before
        if event.after is not None:
            if event.kind == "modified":
                assert story[event.path] == event.before
            story[event.path] = event.after
    assert story == after


texts = st.lists(st.sampled_from(["a", "b", "c", "", "  ", "a\r"]), max_size=8).map("\n".join)


def test_a_write_from_a_stale_base_takes_the_edit_back() -> None:
    base = "# Tools\nuse npm\nkeep short\n"
    edited = "# Tools\nuse pnpm\nkeep short\nnew line\n"
    taken = lost_lines(base, edited, base + "agent's own line\n")
    assert taken.lost == ("use pnpm", "new line")
    assert taken.returned == ("use npm",)
    assert taken


def test_a_write_on_top_of_the_edit_does_not() -> None:
    base, edited = "a\nb\n", "a\nB\nc\n"
    for later in (edited, edited + "more\n", "c\nB\na\n", "x\na\nB\n\nc\n", edited.replace("\n", "\r\n"), "a\nB\nc"):
        assert not lost_lines(base, edited, later), later


def test_changing_the_edited_line_again_counts() -> None:
    taken = lost_lines("count: 1\n", "count: 2\n", "count: 3\n")
    assert (taken.lost, taken.returned) == (("count: 2",), ())


def test_a_removed_line_that_is_back_counts() -> None:
    taken = lost_lines("a\nb\n", "a\n", "a\nb\nc\n")
    assert (taken.lost, taken.returned) == ((), ("b",))


def test_an_edit_of_one_of_several_equal_lines_counts_once() -> None:
    assert lost_lines("x\nx\n", "x\nx\nx\n", "x\nx\n").lost == ("x",)
    assert not lost_lines("x\nx\n", "x\n", "x\ny\n")
    assert lost_lines("x\nx\n", "x\n", "x\nx\n").returned == ("x",)


def test_deleting_the_whole_text_takes_the_edit_back() -> None:
    assert lost_lines("", "a\nb\n", "").lost == ("a", "b")


@given(texts, texts)
def test_going_back_to_the_start_undoes_every_change(before: str, after: str) -> None:
    taken = lost_lines(before, after, before)
    meant = {line.rstrip("\r") for line in after.split("\n")} ^ {line.rstrip("\r") for line in before.split("\n")}
    assert bool(taken) or not any(line.strip() for line in meant)
    assert not lost_lines(before, after, after)
    assert not lost_lines(before, before, after)


@given(texts, texts, texts)
def test_what_is_named_was_there(before: str, after: str, later: str) -> None:
    taken = lost_lines(before, after, later)
    assert set(taken.lost) <= {line.rstrip("\r") for line in after.split("\n")}
    assert set(taken.returned) <= {line.rstrip("\r") for line in later.split("\n")}


def test_it_is_linear() -> None:
    def took(lines: int) -> float:
        texts = ["\n".join(f"{side}{n % 900}" for n in range(lines)) for side in "abc"]
        start = time.thread_time()
        lost_lines(*texts)
        return time.thread_time() - start

    assert took(80_000) < 24 * max(min(took(10_000) for _ in range(3)), 0.001)
