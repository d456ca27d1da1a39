"""The n-th call about memory files fails: every error, every n of every change, natively and with the fallbacks."""

import contextlib
import errno
import gc
import os
import random
import resource
import subprocess
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.model import Address, Saved
from memtui.errors import MemtuiError
from tests.faults import children
from tests.faults.deeds import NEW, OLD
from tests.faults.injector import ERRORS, Call, Hook, failing, failing_from, hooked
from tests.faults.kills import Case, cases
from tests.faults.oracle import inspect
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, handles, new_world, sha

UNTOUCHED = ("The memory on disk is as it was.", "Nothing was changed.", "Memories stay readable and unchanged.")
"""What an error says when nothing happened on disk."""


def attempt(tally: Tally, case: Case, base: Path, hook: Hook, where: str) -> int:
    """Do a change under a hook and look at what it left; returns how many calls were made."""
    where = f"{case.deed.name}, {where}{', portable' if case.portable else ''}"
    world = case.template.copy(base / "world")
    open_before = handles(world.base)
    restore = fsio.without_native_calls() if case.portable else lambda: None
    failed: list[tuple[Address | None, MemtuiError]] = []
    left = ""  # what did not follow: said, and no failure of what was asked for
    with world.engine() as engine:
        with hooked(hook) as calls:
            try:
                done = case.deed.done(engine)
                failed = [(one.address, one.error) for one in done.outcomes if one.error is not None]
                left = done.left
            except MemtuiError as error:
                failed = [(None, error)]
            except Exception as error:  # noqa: BLE001
                frames = traceback.extract_tb(error.__traceback__)
                last = next((f for f in reversed(frames) if "/memtui/" in f.filename), frames[-1])
                tally.blame("tracebacks", f"{where}: {error!r} at {Path(last.filename).name}:{last.lineno}")
        made = len(calls)
        for address, refusal in failed:
            _claims(tally, case, world, refusal, address if case.deed.one_by_one else None, where)
    restore()
    if handles(world.base) != open_before:
        gc.collect()  # what an error's traceback holds in a circle is closed by the collector
    if handles(world.base) != open_before:
        tally.blame("leaked", f"{where}: {handles(world.base) - open_before} more open files")
    tally.add("refused with a code" if failed else "said to be left" if left else "done all the same")
    verdict = inspect(world, case.before, case.deed.texts, last=case.last, ended=not failed and not left)
    for what, sentence in verdict.found:
        tally.blame(what, f"{where}: {sentence}")
    world.remove()
    return made


def _claims(tally: Tally, case: Case, world: World, error: MemtuiError, of: Address | None, where: str) -> None:
    """An error that says nothing was changed has to be right: of one memory, or of all."""
    if not error.message or not error.unharmed:
        tally.blame("unclear", f"{where}: {error!r}")
    if error.unharmed not in UNTOUCHED:
        return
    disk = {name: data for name, data in world.disk().items() if "/.memtui-" not in name}
    wrong = sorted(
        name
        for name in disk.keys() | case.before.keys()
        if disk.get(name) != case.before.get(name) and (of is None or name == f"{of.root}/{of.path}")
    )
    if wrong:
        tally.blame("untrue", f"{where}: {error}: {wrong}")


def every_call(
    tally: Tally,
    case: Case,
    base: Path,
    hooks: Callable[[int], Iterator[tuple[str, Hook]]],
    first: int = 1,
    stride: int = 1,
) -> None:
    """Let each call fail in turn (or some of them), until a change makes fewer calls than that."""
    number = first
    while True:
        made = 0
        for what, hook in hooks(number):
            made = max(made, attempt(tally, case, base, hook, f"{what} at {number}"))
            tally.add("faults")
        if made < number:
            return
        number += stride


def half_written(number: int) -> Hook:
    """The disk is full in the middle of a write."""

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if name == "write_all":
            handle, data = arguments
            call(handle, data[: len(data) // 2])
            raise OSError(number, os.strerror(number))
        return call(*arguments)

    return hook


@contextmanager
def tiny_writes() -> Iterator[None]:
    """Every write takes one byte only."""
    real = os.write

    def write(handle: int, data: Any) -> int:
        return real(handle, data[:1])

    os.write = write
    try:
        yield
    finally:
        os.write = real


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[bool]:
    """A real file system that is soon full; says whether one may be mounted here."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def _growing(engine: Engine, path: str, start: bytes, step: int) -> tuple[bytes, MemtuiError]:
    """Save ever larger texts until one is refused; returns the last one saved."""
    text = start
    for count in range(1, 2_000):
        more = text + os.urandom(step // 2).hex().encode() + b"\n"
        try:
            result = engine.save(at(path), more, expected_sha256=sha(text), actor=ME)
        except MemtuiError as error:
            return text, error
        assert isinstance(result, Saved), (count, result)
        text = more
    raise AssertionError("the disk never filled up")


def full_disks(tally: Tally, base: Path) -> None:
    """Fill real file systems: the one of the memories, then the one of the ledger; by bytes, then by inodes."""
    for place, options in (
        ("notes", "size=128k"),
        ("notes", "size=1m,nr_inodes=3"),
        ("state", "size=512k"),
        ("state", "size=4m,nr_inodes=5"),
    ):
        world = new_world(base / "full")
        with small_disk(world.base / place, options) as mounted:
            if not mounted:
                tally.add("skipped: no mount permitted here")
                world.remove()
                continue
            (world.folder() / "a.md").write_bytes(OLD)
            before = handles(world.base)
            with world.engine() as engine:
                text, error = _fill(engine, by_inodes="nr_inodes" in options)
                if error.code not in ("E_DISK_FULL", "E_IO", "E_STORE"):
                    tally.blame("unclear", f"full {place}, {options}: {error}")
            if (world.folder() / "a.md").read_bytes() != text:
                tally.blame("torn", f"full {place}, {options}")
            if handles(world.base) != before:
                tally.blame("leaked", f"full {place}, {options}")
            if world.strays():
                tally.blame("stray", f"full {place}, {options}: {world.strays()}")
            tally.add("full disks")
        world.remove()


def _fill(engine: Engine, *, by_inodes: bool) -> tuple[bytes, MemtuiError]:
    if not by_inodes:
        return _growing(engine, "a.md", OLD, 4_096)
    for number in range(100):
        try:
            engine.memories.create(at(f"{number}.md"), NEW, actor=ME)
        except MemtuiError as error:
            return OLD, error
    raise AssertionError("there were always more inodes")


def use_up_handles() -> None:
    """Open files until no more may be opened."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with contextlib.suppress(OSError):
        while True:
            os.open("/dev/null", os.O_RDONLY)


def few_handles(tally: Tally, base: Path, operations: int) -> None:
    """Thousands of changes and refusals leave no file open, and running out of handles is a clear refusal."""

    def work() -> tuple[int, list[str]]:
        world = new_world(base / "handles")
        (world.folder() / "a.md").write_bytes(OLD)
        codes: list[str] = []
        with world.engine() as engine:
            engine.save(at("a.md"), NEW, expected_sha256=sha(OLD), actor=ME)
            engine._late_writes.drain()
            before = handles(world.base)
            text = NEW
            for number in range(operations):
                if number % 3 == 0:
                    engine.save(at("a.md"), OLD, expected_sha256="0" * 64, actor=ME)
                elif number % 3 == 1:
                    engine.read(at("a.md"))
                else:
                    new = f"{number}\n".encode()
                    engine.save(at("a.md"), new, expected_sha256=sha(text), actor=ME)
                    text = new
            engine._late_writes.drain()
            grown = handles(world.base) - before
            use_up_handles()
            for act in (
                lambda: engine.read(at("a.md")),
                lambda: engine.save(at("a.md"), OLD, expected_sha256=sha(text), actor=ME),
                lambda: engine.memories.create(at("x/b.md"), OLD, actor=ME),
            ):
                try:
                    act()
                except MemtuiError as error:
                    codes.append(error.code)
        return grown, codes

    ended = children.run(work)
    if ended.trace:
        tally.blame("tracebacks", f"without handles: {ended.trace}")
        return
    grown, codes = ended.value
    if grown:
        tally.blame("leaked", f"{grown} handles after {operations} operations")
    if set(codes) - {"E_IO", "E_STORE"} or not codes:
        tally.blame("unclear", f"without handles: {codes}")
    tally.add("operations without a leak", operations)


def file_size_limit(tally: Tally, base: Path) -> None:
    """A limit on file sizes is met like a full disk."""

    def work() -> str:
        world = new_world(base / "limit")
        (world.folder() / "a.md").write_bytes(OLD)
        with world.engine() as engine:
            engine.save(at("a.md"), NEW, expected_sha256=sha(OLD), actor=ME)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
            try:
                engine.save(at("a.md"), os.urandom(40_000), expected_sha256=sha(NEW), actor=ME)
            except MemtuiError as error:
                return error.code if (world.folder() / "a.md").read_bytes() == NEW else "torn"
        return "no limit"

    ended = children.run(work)
    if ended.value not in ("E_DISK_FULL", "E_IO", "E_STORE"):
        tally.blame("unclear", f"file size limit: {ended.value}: {ended.trace}")
    tally.add("faults")


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign."""
    tally = Tally("io-errors", "faults", "tracebacks", "lost", "torn", "stray", "leaked", "untrue", seed=seed)
    rng = random.Random(seed)

    def one_error(number: int) -> Iterator[tuple[str, Hook]]:
        chosen = [rng.choice(ERRORS)] if short else list(ERRORS)
        for error in chosen:
            yield errno.errorcode[error], failing(number, error)

    def for_good(number: int) -> Iterator[tuple[str, Hook]]:
        for error in (errno.EROFS, errno.ENOSPC):
            if not short or rng.random() < 0.2:
                yield f"{errno.errorcode[error]} from then on", failing_from(number, error)
        yield "nothing", lambda count, name, call, arguments: call(*arguments)

    for portable in (False, True):
        for case in cases(base, portable=portable, skip=lambda: short and rng.random() < 0.85):
            stride = 9 if short else 1
            every_call(tally, case, base, one_error, rng.randint(1, stride), stride)
            if not short:
                every_call(tally, case, base, for_good)
            for error in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                attempt(tally, case, base, half_written(error), f"{errno.errorcode[error]} in the middle of a write")
                tally.add("faults")
            with tiny_writes():
                attempt(tally, case, base, lambda count, name, call, arguments: call(*arguments), "writes of one byte")
            case.template.remove()
    full_disks(tally, base)
    few_handles(tally, base, 100 if short else 10_000)
    file_size_limit(tally, base)
    return tally.result()
