"""The same call through the engine and through the command line gives the same answer.

Each case runs on a world of its own, once through `Engine` with the values turned into JSON as `memtui.wire` says, once
through `memtui … --json`; the two worlds are built alike, with the clock standing still where it matters.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Root
from memtui.errors import MemtuiError
from memtui.wire import outcomes, values
from memtui.wire.session import Options, open_session
from tests.cli.conftest import Cli, Person, cli, workbench

__all__ = ["cli", "workbench"]

ME = Actor("cli")
BARE, PLAIN, GONE = (Address("notes", name) for name in ("bare.md", "plain.md", "gone.md"))
OLD = hashlib.sha256(b"bare\n").hexdigest()
NEW = hashlib.sha256(b"new\n").hexdigest()


def build(folder: Path) -> Path:
    """Three memories, long settled."""
    (folder / "deep").mkdir(parents=True)
    for name, text in (
        ("bare.md", "bare\n"),
        ("plain.md", "---\ndescription: Plain\n---\ntabs\n"),
        ("deep/down.md", "x\n"),
    ):
        (folder / name).write_text(text)
        os.utime(folder / name, (1_767_000_000, 1_767_000_000))
    return folder


class Case(NamedTuple):
    """One call, said twice."""

    words: tuple[str, ...]
    call: Callable[[Engine], object]
    """Returns the JSON document, or raises."""
    stdin: bytes = b""
    before: tuple[tuple[str, ...], ...] = ()
    """Command lines that run in both worlds first; each text on standard input is `new`."""


def listed(engine: Engine) -> object:
    found = engine.rows.list(["notes"])
    return values.listing(map(values.memory, found.items), truncated=found.truncated)


def saved(engine: Engine) -> object:
    result = engine.save(BARE, b"new\n", expected_sha256=OLD, actor=ME)
    assert not isinstance(result, Conflict)
    return values.result(result)


def found(engine: Engine) -> object:
    hits, truncated = engine.search.once("tabs")
    return values.listing(map(values.hit, hits), truncated=truncated)


EDIT = ("save", "notes/bare.md", "-", "--expect", OLD)
CASES = {
    "ls": Case(("ls", "notes"), listed),
    "roots": Case(
        ("roots",),
        lambda e: values.listing(map(values.root, e.rows.status())) | {"in_no_root": [], "in_no_root_ended": None},
    ),
    "view": Case(("view", "notes/bare.md"), lambda e: values.content(e.read(BARE))),
    "view-gone": Case(("view", "notes/gone.md"), lambda e: values.content(e.read(GONE))),
    "view-link": Case(("view", "notes/../x"), lambda e: values.content(e.read(Address("notes", "../x")))),
    "create": Case(
        ("create", "notes/gone.md", "-"), lambda e: values.result(e.memories.create(GONE, b"new\n", actor=ME)), b"new\n"
    ),
    "create-taken": Case(
        ("create", "notes/bare.md", "-"), lambda e: values.result(e.memories.create(BARE, b"new\n", actor=ME)), b"new\n"
    ),
    "create-bad": Case(
        ("create", "notes/con.md", "-"),
        lambda e: values.result(e.memories.create(Address("notes", "con.md"), b"new\n", actor=ME)),
        b"new\n",
    ),
    "save": Case(EDIT, saved, b"new\n"),
    "mv": Case(
        ("mv", "notes/bare.md", "notes/gone.md"), lambda e: values.done(e.memories.rename(BARE, GONE, actor=ME))
    ),
    "mv-taken": Case(
        ("mv", "notes/bare.md", "notes/plain.md"), lambda e: values.done(e.memories.rename(BARE, PLAIN, actor=ME))
    ),
    "rm": Case(
        ("rm", "notes/bare.md", "notes/plain.md"), lambda e: values.done(e.memories.delete([BARE, PLAIN], actor=ME))
    ),
    "trash": Case(
        ("trash",),
        lambda e: values.listing(map(values.trash, e.undo.trash.entries())),
        before=(("rm", "notes/bare.md"),),
    ),
    "restore": Case(
        ("restore", "notes/bare.md"),
        lambda e: values.result(e.memories.restore(BARE, actor=ME)),
        before=(("rm", "notes/bare.md"),),
    ),
    "undo": Case(
        ("undo",), lambda e: values.listing([values.done(e.undo.undo(actor=ME))]), before=(("rm", "notes/bare.md"),)
    ),
    "undo-nothing": Case(("undo",), lambda e: values.listing([values.done(e.undo.undo(actor=ME))])),
    "redo": Case(
        ("redo",),
        lambda e: values.listing([values.done(e.undo.redo(actor=ME))]),
        before=(("rm", "notes/bare.md"), ("undo",)),
    ),
    "pin": Case(("pin", "notes/bare.md"), lambda e: values.done(e.pins.set([BARE], pinned=True, actor=ME))),
    "unpin": Case(("unpin", "notes/bare.md"), lambda e: values.done(e.pins.set([BARE], pinned=False, actor=ME))),
    "history": Case(
        ("history", "notes/bare.md"), lambda e: values.listing(map(values.version, e.history.of(BARE))), before=(EDIT,)
    ),
    "redact": Case(
        ("redact", f"notes/bare.md@{OLD}", "--reason", "why"),
        lambda e: values.version(e.redaction.redact(BARE, OLD, reason="why", actor=ME)),
        before=(EDIT,),
    ),
    "redact-current": Case(
        ("redact", f"notes/bare.md@{NEW}", "--reason", "why"),
        lambda e: values.version(e.redaction.redact(BARE, NEW, reason="why", actor=ME)),
        before=(EDIT,),
    ),
    "log": Case(
        ("log",), lambda e: values.listing(map(values.audit, e.history.audit())), before=(EDIT, ("rm", "notes/bare.md"))
    ),
    "search": Case(("search", "tabs"), found),
    "search-empty": Case(("search", " "), lambda e: e.search.once(" ")),
    "seen": Case(("seen", "--all"), lambda e: (e.watch.reconcile(), {"seen": e.changes.mark_seen(None)})[1]),
    "changes": Case(
        ("changes",),
        lambda e: (e.watch.reconcile(), values.listing(map(values.change, e.changes.unseen())))[1],
        before=(("seen", "--all"),),
    ),
}


def steady(document: object, folder: Path) -> object:
    """Leave out what differs between any two runs: times, transactions, and which world it was."""
    text = json.dumps(document, sort_keys=True).replace(str(folder), "WORLD")
    text = re.sub(r'"(txn|at|modified_at|last_written_at|last_used_at)": "[^"]*"', r'"\1": "…"', text)
    return json.loads(re.sub(r'"heat": [\d.e+-]+', '"heat": 0', text))


def through_the_engine(case: Case, folder: Path) -> tuple[int, object]:
    settings = load_settings(read_environment(), home=str(folder / "state"))
    options = Options(roots=(f"notes={folder / 'notes'}",), only_roots=True)
    with open_session(settings, options, lock_wait=30).engine as engine:
        try:
            document = case.call(engine)
        except MemtuiError as error:
            return outcomes.exit_code(error), outcomes.error_document(error)
    return 0, document


@pytest.mark.parametrize("name", CASES)
def test_same_call_same_answer(name: str, cli: Cli, tmp_path: Path, person: Person) -> None:
    person("yes\n" * 3)
    case = CASES[name]
    answers = []
    for world in ("one", "two"):
        folder = tmp_path / world
        build(folder / "notes")
        options = ("--home", str(folder / "state"), "--root", f"notes={folder / 'notes'}", "--only-root")
        for words in case.before:
            assert cli(*options, *words, stdin=b"new\n").status == 0
        if world == "one":
            answers.append(through_the_engine(case, folder))
        else:
            result = cli(*options, *case.words, "--json", stdin=case.stdin)
            answers.append((result.status, result.json))
        answers[-1] = (answers[-1][0], steady(answers[-1][1], folder))
    assert json.dumps(answers[0], indent=1).splitlines() == json.dumps(answers[1], indent=1).splitlines()


def test_a_conflict_is_the_same_refusal(cli: Cli, tmp_path: Path) -> None:
    folder = build(tmp_path / "notes")
    options = ("--root", f"notes={folder}", "--only-root")
    result = cli(*options, "save", "notes/bare.md", "-", "--expect", NEW, "--json", stdin=b"mine\n")
    with Engine.open([Root("notes", str(folder))], state_dir=str(tmp_path / "state")) as engine:
        value = engine.save(BARE, b"mine\n", expected_sha256=NEW, actor=ME)
    assert isinstance(value, Conflict)
    promised = values.conflict_details(value)
    del promised["txn"]
    assert result.status == 3
    assert {key: result.error[key] for key in promised} == promised
