"""Whatever tells of changes, it tells which name in which folder, says when it cannot, and never ends the watch."""

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.look.root_pass import Glance
from memtui.engine.watch import hints
from memtui.engine.watch.hints import (
    AWAY_MS,
    COOKIES,
    FEW,
    FOCUSED_MS,
    LONGEST_MS,
    POLLING_MS,
    QUIET_MS,
    Batch,
    Place,
    Schedule,
    Source,
    Watchfiles,
    reason,
)

LIMIT = 50.0


@pytest.fixture
def source() -> Iterator[Watchfiles]:
    made = Watchfiles()
    yield made
    made.close()


@pytest.fixture
def cookies(tmp_path: Path) -> str:
    folder = tmp_path / "cookies"
    folder.mkdir()
    return str(folder)


class Heard:
    """Everything a source said."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.hints: set[tuple[Place, str]] = set()
        self.new: list[frozenset[Place]] = []
        self.lost = 0
        self.broken: list[OSError] = []

    def until(self, enough: Callable[[], object]) -> None:
        """Wait until it is so; what was heard after it was so before is left out."""
        end = time.monotonic() + LIMIT
        while not enough():
            assert time.monotonic() < end, (self.hints, self.new, self.lost, self.broken)
            batch = self.source.wait(0.05)
            self.hints |= set(batch.hints)
            self.lost += batch.lost
            if batch.new:
                self.new.append(batch.new)
            if batch.broken is not None:
                self.broken.append(batch.broken)

    def open(self, folders: Mapping[Place, str]) -> None:
        """Follow the first folders, and forget what is heard until it listens."""
        self.source.follow(folders)
        self.until(lambda: self.source.hears and self.lost)
        self.hints.clear()
        self.lost = 0

    def hears(self, *wanted: tuple[Place, str]) -> None:
        """Wait until all of it was heard."""
        self.until(lambda: self.hints >= set(wanted))


def listeners() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "memtui-listener"]


def test_a_write_in_a_followed_folder_is_heard(source: Watchfiles, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    heard = Heard(source)
    heard.open({("r", ""): str(tmp_path), ("r", "sub"): str(tmp_path / "sub")})
    (tmp_path / "sub" / "a.md").write_text("x")
    heard.hears((("r", "sub"), "a.md"))
    assert not {name for place, name in heard.hints if place == ("r", "")}


def test_a_folder_that_belongs_to_two_roots_is_heard_for_both(source: Watchfiles, tmp_path: Path) -> None:
    heard = Heard(source)
    heard.open({("r", ""): str(tmp_path), ("s", ""): str(tmp_path)})
    (tmp_path / "a.md").write_text("x")
    heard.hears((("r", ""), "a.md"), (("s", ""), "a.md"))


def test_names_the_library_s_filters_hide_are_heard(source: Watchfiles, tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "x"
    folder.mkdir(parents=True)
    heard = Heard(source)
    heard.open({("r", ""): str(folder)})
    (folder / "a.md").write_text("x")
    heard.hears((("r", ""), "a.md"))


def test_nothing_is_heard_of_nothing(tmp_path: Path) -> None:
    source = Source()
    source.follow({("r", ""): str(tmp_path)})
    (tmp_path / "a.md").write_text("x")
    assert source.wait(0.01) == Batch()
    source.wake()
    assert source.wait(None) == Batch()
    source.close()


def test_a_closed_source_leaves_no_thread(tmp_path: Path) -> None:
    before = set(listeners())
    source = Watchfiles()
    Heard(source).open({("r", ""): str(tmp_path)})
    assert len(set(listeners()) - before) == 1
    source.close()
    assert set(listeners()) == before


# --- other folders


def test_only_new_folders_are_to_be_listed_and_one_listener_stays(
    source: Watchfiles, tmp_path: Path, cookies: str
) -> None:
    folders: dict[Place, str] = {COOKIES: cookies}
    for number in range(300):
        (tmp_path / f"d{number}").mkdir()
        folders["r", f"d{number}"] = str(tmp_path / f"d{number}")
    heard = Heard(source)
    heard.open(folders)
    for number in range(3):
        (tmp_path / f"new{number}").mkdir()
        folders["r", f"new{number}"] = str(tmp_path / f"new{number}")
        source.follow(folders)
    heard.until(lambda: set().union(*heard.new) == {("r", f"new{number}") for number in range(3)})
    assert len(heard.new) <= 2, "what is asked for while a listener is opened waits, and comes together"
    assert not heard.lost
    heard.until(lambda: len(listeners()) == 1)
    (tmp_path / "new2" / "a.md").write_text("x")
    heard.hears((("r", "new2"), "a.md"))


def test_nothing_is_missed_while_listeners_change(source: Watchfiles, tmp_path: Path, cookies: str) -> None:
    folders: dict[Place, str] = {COOKIES: cookies, ("r", ""): str(tmp_path)}
    heard = Heard(source)
    heard.open(folders)
    done = threading.Event()
    written: list[str] = []

    def write() -> None:
        while not done.is_set():
            name = f"{len(written)}.md"
            (tmp_path / name).write_text("x")
            written.append(name)
            done.wait(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            (tmp_path / f"new{number}").mkdir()
            folders["r", f"new{number}"] = str(tmp_path / f"new{number}")
            source.follow(folders)
            place = ("r", f"new{number}")
            heard.until(lambda place=place: any(place in new for new in heard.new))  # type: ignore[misc]
    finally:
        done.set()
        writer.join()
    heard.hears(*((("r", ""), name) for name in written))
    assert not heard.lost


def test_a_folder_no_longer_followed_is_not_heard(source: Watchfiles, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    heard = Heard(source)
    heard.open({("r", "a"): str(tmp_path / "a"), ("r", "b"): str(tmp_path / "b")})
    source.follow({("r", "b"): str(tmp_path / "b")})
    (tmp_path / "a" / "x.md").write_text("x")
    (tmp_path / "b" / "y.md").write_text("x")
    heard.hears((("r", "b"), "y.md"))
    assert {place for place, _ in heard.hints} == {("r", "b")}


def test_a_folder_that_moved_or_was_made_anew_is_followed_anew(
    source: Watchfiles, tmp_path: Path, cookies: str
) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    wanted = {COOKIES: cookies, ("r", ""): str(tmp_path), ("r", "sub"): str(folder)}
    heard = Heard(source)
    heard.open(wanted)
    for leave in (lambda: folder.rename(tmp_path / "moved"), folder.rmdir):
        heard.new.clear()
        leave()
        heard.hears((("r", "sub"), ""))
        folder.mkdir()
        source.follow(wanted)
        heard.until(lambda: frozenset({("r", "sub")}) in heard.new)
        (folder / "a.md").write_text("x")
        heard.hears((("r", "sub"), "a.md"))
        (folder / "a.md").unlink()
        heard.until(lambda: not set(source.wait(0.2).hints))
        heard.hints.clear()
    assert not heard.lost


def test_links_and_what_is_no_folder_are_not_followed(source: Watchfiles, tmp_path: Path, cookies: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "file").write_text("x")
    (tmp_path / "to-root").symlink_to(tmp_path / "root")
    heard = Heard(source)
    heard.open({COOKIES: cookies})
    source.follow(
        {
            COOKIES: cookies,
            ("r", ""): str(tmp_path / "to-root"),
            ("r", "link"): str(tmp_path / "root/link"),
            ("r", "file"): str(tmp_path / "root/file"),
            ("r", "none"): str(tmp_path / "root/none"),
            ("r", "caf\udce9"): os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"),
        }
    )
    heard.until(lambda: heard.new)
    assert heard.new == [{("r", "")}], "the root itself may be a link, nothing below it"
    (tmp_path / "outside" / "a.md").write_text("x")
    (tmp_path / "root" / "b.md").write_text("x")
    heard.hears((("r", ""), "b.md"))
    assert not {hint for hint in heard.hints if hint[1] == "a.md"}


# --- what is lost


def test_a_name_that_is_no_text_ends_nothing(source: Watchfiles, tmp_path: Path) -> None:
    heard = Heard(source)
    heard.open({("r", ""): str(tmp_path)})
    for number in (1, 2):
        os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9%d.md" % number, os.O_CREAT))
        heard.until(lambda number=number: heard.lost == number)  # type: ignore[misc]
        (tmp_path / f"{number}.md").write_text("x")
        heard.hears((("r", ""), f"{number}.md"))
    assert not heard.broken


def test_names_that_are_no_text_do_not_open_a_listener_each_time(source: Watchfiles, tmp_path: Path) -> None:
    heard = Heard(source)
    heard.open({("r", ""): str(tmp_path)})
    name, start = os.fsencode(tmp_path) + b"/caf\xe9.md", time.monotonic()

    def write_often() -> bool:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
        os.unlink(name)
        return heard.lost > 0 and time.monotonic() - start > 2.5 * hints.REOPEN_S

    heard.until(write_often)
    assert heard.lost <= 2 + (time.monotonic() - start) / hints.REOPEN_S


CHILD = """
import sys
from memtui.engine.watch.hints import Watchfiles
source = Watchfiles()
source.follow({("r", ""): sys.argv[1]})
for word in ("open", "lost"):
    while not source.wait(None).lost:
        pass
    print(word, flush=True)
source.close()
"""
"""Says when it listens, and when it knows that events were lost."""


@pytest.mark.skipif(sys.platform != "linux", reason="the length of the queue is Linux's")
def test_more_events_than_the_system_keeps_are_said_to_be_lost(tmp_path: Path) -> None:
    many = hints._queue_length()
    if many > 50_000:
        pytest.skip("the system's queue is too long to fill in a test")
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        child.send_signal(signal.SIGSTOP)
        for number in range(many):
            os.close(os.open(tmp_path / f"{number}", os.O_CREAT | os.O_WRONLY))
        child.send_signal(signal.SIGCONT)
        assert child.stdout.readline() == "lost\n"
    assert child.returncode == 0


def test_a_listener_that_was_not_asked_for_a_second_may_have_lost_events(source: Watchfiles, tmp_path: Path) -> None:
    heard = Heard(source)
    heard.open({("r", ""): str(tmp_path)})
    listener = source._now
    assert listener is not None
    assert listener._asked is not None
    listener._asked -= 2 * hints.STOOD_STILL_S
    heard.until(lambda: heard.lost)


def test_a_system_that_takes_no_more_watchers_says_so(source: Watchfiles, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    heard = Heard(source)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) - 1, hard))
    try:
        source.follow({("r", ""): str(tmp_path)})
        heard.until(lambda: heard.broken)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert heard.broken[0].errno == errno.EMFILE


@pytest.mark.parametrize(
    ("number", "word"),
    [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances"), (errno.ENOSYS, "no events")],
)
def test_a_limit_is_named_with_its_setting(number: int, word: str) -> None:
    assert word in reason(OSError(number, os.strerror(number)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("OS file watch limit reached. (Error { kind: MaxFilesWatch, paths: [] })", errno.ENOSPC),
        ("Error creating recommended watcher: Too many open files (os error 24)", errno.EMFILE),
        ("something else", 0),
    ],
)
def test_the_library_s_words_are_the_system_s_numbers(text: str, number: int) -> None:
    assert hints._system_error(RuntimeError(text)).errno == number


ROOTS = ["r", "s"]
EVERYTHING = {"r": Glance(), "s": Glance()}


def started(now: int = 0, *, took: int = 1) -> Schedule:
    """An agenda whose first scan is over."""
    agenda = Schedule(now)
    assert agenda.take(now, ROOTS) == EVERYTHING
    agenda.looked(EVERYTHING, now, now + took, found=False)
    return agenda


def names(glances: Mapping[str, Glance]) -> dict[tuple[str, str], set[str]]:
    """The names to be looked at, by root and folder."""
    return {
        (root_id, folder): set(some) for root_id, glance in glances.items() for folder, some in glance.names.items()
    }


def test_nothing_to_look_at_is_no_busy_waiting() -> None:
    agenda = Schedule(0)
    assert agenda.take(0, []) == {}
    assert agenda.next() >= FOCUSED_MS * 0.9


def test_a_hinted_name_is_looked_at_at_once_and_its_folder_after_quiet() -> None:
    agenda = started()
    agenda.hint("r", "sub", "a.md", 100)
    assert agenda.next() <= 100
    assert names(agenda.take(100, ROOTS)) == {("r", "sub"): {"a.md"}}
    assert agenda.next() == 100 + QUIET_MS
    glances = agenda.take(100 + QUIET_MS, ROOTS)
    assert glances == {"r": Glance(everything=False, folders=frozenset({"sub"}))}
    assert agenda.next() > 1_000


def test_a_folder_that_never_rests_is_listed_all_the_same() -> None:
    agenda = started()
    now = 100
    while now < 100 + LONGEST_MS:
        agenda.hint("r", "", "hot.md", now)
        assert not any(glance.folders for glance in agenda.take(now, ROOTS).values())
        now += 50
    agenda.hint("r", "", "hot.md", now)
    assert agenda.take(now, ROOTS)["r"].folders == {""}


def test_a_folder_watched_late_is_listed_at_once() -> None:
    agenda = started()
    agenda.list([("r", "new")], 100)
    assert agenda.take(100, ROOTS) == {"r": Glance(everything=False, folders=frozenset({"new"}))}


@pytest.mark.parametrize(
    ("focused", "polling", "took", "least", "most"),
    [
        (True, False, 1, FOCUSED_MS * 0.9, FOCUSED_MS),
        (False, False, 1, AWAY_MS * 0.9, AWAY_MS),
        (True, False, 40, 14_400, 16_000),
        (True, False, 10_000, AWAY_MS * 0.9, AWAY_MS),
        (True, True, 1, POLLING_MS * 0.9, POLLING_MS),
        (False, True, 1, POLLING_MS * 0.9, POLLING_MS),
    ],
)
def test_scans_come_however_quiet_it_is(focused: bool, polling: bool, took: int, least: float, most: float) -> None:
    agenda = Schedule(0)
    agenda.focused, agenda.polling = focused, polling
    for _ in range(2):
        agenda.scan(0)
        agenda.take(0, ROOTS)
        agenda.looked(EVERYTHING, 0, took, found=False)
    assert least <= agenda.next() - took <= most


def test_a_scan_asked_for_during_a_scan_comes() -> None:
    agenda = Schedule(0)
    agenda.take(0, ROOTS)
    agenda.scan(5)
    agenda.looked(EVERYTHING, 0, 10, found=False)
    assert agenda.next() == 5


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["", "x", "x/y"]), st.sampled_from(["a", "b", ""]))))
def test_every_hint_is_looked_at_in_time(hints: list[tuple[int, str, str]]) -> None:
    agenda = started()
    now = 10
    waiting: dict[tuple[str, str], int] = {}
    for pause, folder, name in [*hints, (FOCUSED_MS, "", "")]:
        end = now + pause
        while (due := agenda.next()) <= end:
            now = max(now, due)
            glances = agenda.take(now, ROOTS)
            for (where, what), at in list(waiting.items()):
                glance = glances.get("r")
                if glance is not None and (
                    glance.everything or where in glance.folders or what in glance.names.get(where, ())
                ):
                    assert now - at <= LONGEST_MS
                    del waiting[where, what]
            agenda.looked(glances, now, now + 1, found=True)
        now = end
        agenda.hint("r", folder, name, now)
        waiting.setdefault((folder, name), now)
    del waiting["", ""]
    assert not waiting


def test_what_is_undecided_rests_like_names_after_a_look_that_took_long() -> None:
    agenda = Schedule(0)
    agenda.take(0, ["a"])
    agenda.looked({}, 1_000, 1_010, found=True)
    assert agenda.rested(None) is None
    assert agenda.rested(1_011) == 1_080
    assert agenda.rested(2_000) == 2_000
    agenda.looked({}, 2_000, 2_900, found=True)
    assert agenda.rested(2_901) == 3_050


@pytest.mark.parametrize(("files", "least", "most"), [(FEW - 1, POLLING_MS * 0.9, POLLING_MS), (FEW, 11_250, 12_500)])
def test_where_nobody_listens_a_scan_of_few_memories_comes_whatever_it_costs(
    files: int, least: float, most: float
) -> None:
    agenda = Schedule(0)
    agenda.polling, agenda.files = True, files
    for _ in range(2):
        agenda.scan(0)
        agenda.take(0, ROOTS)
        agenda.looked(EVERYTHING, 0, 100, found=False)
    assert least <= agenda.next() - 100 <= most
