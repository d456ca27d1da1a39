"""Who wrote each line of a memory as it is on disk: runs of lines with what is known of each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import title_of
from memtui.diff.differences import split_lines
from memtui.engine.disk.git_objects import CheckoutHistory, CommittedChange, GitObjects, blob, history
from memtui.engine.ledger.origins import (
    BEFORE,
    GIT,
    LINES,
    MATCHED,
    NEAR,
    NEAR_MS,
    OUTSIDE,
    PROVEN,
    LineOrigin,
    inherit,
    origins_of_text,
)
from memtui.errors import MemtuiError, UsageError
from memtui.features.actors import UNKNOWN, who_words
from memtui.mask import BEGIN, secrets
from memtui.transcripts.sessions import prompt_at
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.times import rfc3339

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.ledger.touches import Touch
    from memtui.engine.model import Address


SAID = {
    PROVEN: "memtui wrote it",
    MATCHED: "its session says it wrote this very text",
    LINES: "its session says it wrote these lines",
    NEAR: "its session wrote the file then; what it wrote is not known",
    OUTSIDE: "no session claims it",
    BEFORE: "it was there before memtui looked",
}


class BlamedRun(NamedTuple):
    """Lines with the same origin."""

    first: int
    last: int
    text: tuple[str, ...]
    at: int
    actor: str
    level: str
    touch: Touch | None = None
    """The call that wrote them."""
    rivals: tuple[Touch, ...] = ()
    """Other calls that may have written them."""
    asked: str = ""
    """Who asked for it, where a gateway said so: `ann · qwen · team-eng`."""
    commit: str = ""
    """Their commit, with the level `git`."""

    def who(self, root: str) -> str:
        """Name who wrote them."""
        if self.asked:
            return self.asked
        if self.touch is not None:
            return title_of(self.touch.agent) + ("?" if self.rivals else "")
        if self.level == GIT:
            return f"git says {self.actor}"
        return who_words(self.actor, root)


class Blamed(NamedTuple):
    """A memory with its runs."""

    address: Address
    sha256: str
    runs: tuple[BlamedRun, ...]


def blame(engine: Engine, address: Address) -> Blamed:
    """Find out who wrote each line of a memory."""
    now = engine.read(address)
    uid = engine.roots.uid(engine.roots.find(address.root))
    sha, origins = engine.origins.of(uid, address.path)
    old = None
    if sha and sha != now.sha256:
        try:
            old = engine.history.read(address, sha)
        except MemtuiError:
            old = None  # then all of it counts as new
    known = origins_of_text(sha, origins, old, now.bytes, now.modified_at)
    touches = engine.touches.numbered({one for each in known for one in (each.touch, each.rival) if one})
    lines = masked_lines(now.bytes.decode("utf-8", "replace"))
    makers = engine.turns.makers(uid, address.path)
    shas = {(one.at, one.actor): one.sha256 for one in engine.history.of(address)} if makers else {}
    gits = _of_git(engine, address, known, now.bytes)
    runs, at = [], 0
    for (origin, git), group in groupby(zip(known, gits, strict=True)):
        count = len([*group])
        run = _run(origin, touches, at, tuple(lines[at : at + count]))
        if git is not None:
            run = run._replace(at=git.at, actor=git.author, level=GIT, commit=git.commit)
        turn = makers.get(shas.get((origin.at, origin.actor), ""))
        if turn is None and run.touch is not None and run.touch.prompt is not None and makers:
            turn = engine.turns.of_prompt(run.touch.session, run.touch.prompt.sha)
        runs.append(run._replace(asked=turn.words if turn else ""))
        at += count
    return Blamed(address, now.sha256, tuple(runs))


def _of_git(
    engine: Engine, address: Address, known: Sequence[LineOrigin], data: bytes
) -> Sequence[CommittedLine | None]:
    """Return what git says of the lines with no better origin, where a commit had them before memtui did."""
    unknown = [not one.touch and one.level in (OUTSIDE, BEFORE) for one in known]
    if not any(unknown):
        return [None] * len(known)
    found = committed(engine.roots.file_path(address), split_lines(data.decode("utf-8", "surrogateescape")))
    return [
        git if asked and git is not None and git.at <= one.at + NEAR_MS else None
        for one, asked, git in zip(known, unknown, found, strict=True)
    ]


def masked_lines(text: str) -> list[str]:
    """Split a text into lines, with each secret masked in the line where it begins."""
    parts, at = list[str](), 0
    for one in secrets(text):
        parts += [text[at : one.start], f"{BEGIN}{one.kind}]", "\n" * text[one.start : one.end].count("\n")]
        at = one.end
    return "".join([*parts, text[at:]]).split("\n")


def _run(origin: LineOrigin, touches: dict[int, Touch], at: int, text: tuple[str, ...]) -> BlamedRun:
    touch = touches.get(origin.touch)
    level = OUTSIDE if origin.touch and touch is None else origin.level  # what said so was forgotten
    rivals = tuple(touches[one] for one in (origin.rival,) if one in touches)
    return BlamedRun(at + 1, at + len(text), text, origin.at, origin.actor, level, touch, rivals)


def run_json(run: BlamedRun, *, prompts: bool) -> Json:
    """Convert a run to JSON; with `prompts` what was asked is read again, masked."""
    touch = run.touch
    candidates = [{"agent": one.agent, "session": one.session, "at": rfc3339(one.at)} for one in run.rivals]
    found: Json = {
        "first": run.first,
        "last": run.last,
        "actor": run.actor,
        "level": run.level,
        "agent": touch.agent if touch else None,
        "session": touch.session if touch else None,
        "commit": run.commit or None,
        "who": run.asked or None,
        "at": rfc3339(touch.at if touch else run.at),
        "taint": (touch.taint or None) if touch else None,
        "candidates": candidates,
    }
    if prompts:
        found = {**found, "prompt": prompt_at(touch.agent, touch.prompt) or None if touch else None}
    return found


def about(run: BlamedRun, root: str) -> list[str]:
    """Say all that is known of a run."""
    who = run.who(root)
    if run.level == BEFORE:
        said = SAID[BEFORE][:1].upper() + SAID[BEFORE][1:]
    elif run.level == GIT:
        said = f"Git names {run.actor} as its author; anybody can write that into a commit"
    elif who == UNKNOWN:
        said = f"Changed {UNKNOWN}; {SAID[run.level]}"
    else:
        said = f"{who[0].upper()}{who[1:]}: {SAID[run.level]}"
    lines = [f"{said}.", *([f"Commit {run.commit}"] if run.commit else [])]
    if run.touch is None:
        return lines
    asked = prompt_at(run.touch.agent, run.touch.prompt)
    lines.append(f"Session {run.touch.session}")
    lines.append(f"asked: {asked}" if asked else "What was asked is gone with its transcript.")
    if run.touch.taint:
        lines.append(f"after {run.touch.taint}")
    lines += [f"The same can be said of session {one.session} of {title_of(one.agent)}." for one in run.rivals]
    return lines


# Whom git names: anybody can write what a commit says of its author, so this tells less than a session does

_AUTHOR = re.compile(rb"^author (.{0,200}?) ?<([^>\n]{0,200})>", re.M)


class CommittedLine(NamedTuple):
    """Commit of a line; empty if it is older than the commits looked at."""

    commit: str = ""
    at: int = 0
    author: str = ""
    """As the commit says; unchecked."""


def committed(path: str, lines: Sequence[str]) -> Sequence[CommittedLine | None]:
    """Return the commit of each line of a file; None: not committed, or unknown."""
    folder, name = os.path.split(os.path.realpath(path))
    found = history(folder)
    if found is None:
        return [None] * len(lines)
    past, objects = found
    own = os.path.relpath(os.path.join(folder, name), past.checkout)
    changes = [*_changes(past, own)]
    old = _lines(objects, changes[-1].old if changes else past.names.get(own))
    first = CommittedLine(past.root, past.since, _author(objects, past.root)) if past.root else CommittedLine()
    known: Sequence[CommittedLine] = [first] * len(old)
    for change in reversed(changes):
        new = _lines(objects, change.new)
        here = CommittedLine(change.commit, change.at, _author(objects, change.commit))
        old, known = new, [one or here for one in inherit(old, known, new)]
    return [one if one is not None and one.commit else None for one in inherit(old, known, lines)]


def _changes(past: CheckoutHistory, path: str) -> Iterator[CommittedChange]:
    """Yield what commits did to a file, newest first, across pure renames."""
    came = {(new, commit): old for (old, commit), new in past.moved.items()}
    waiting = list(past.changes.get(path, ()))
    while waiting:
        change = waiting.pop(0)
        before = came.get((change.path, change.commit)) if change.old is None else None
        if before is None:
            yield change
        else:
            older = [one.commit for one in past.changes[before]].index(change.commit) + 1
            waiting = list(past.changes[before][older:])


def _lines(objects: GitObjects, sha: bytes | None) -> list[str]:
    return split_lines((blob(objects, sha) or b"").decode("utf-8", "surrogateescape"))


def _author(objects: GitObjects, commit: str) -> str:
    found = objects.read(bytes.fromhex(commit))
    named = _AUTHOR.search(found[1].partition(b"\n\n")[0]) if found is not None else None
    return (named[1] or named[2]).decode("utf-8", "replace") if named else ""


SHORT = 8


def blame_verb(call: Call) -> int:
    """Print who wrote each line of a memory, or of one line."""
    address = call.engine.roots.resolve(call.args.text("address") or "")
    found = blame(call.engine, address)
    wanted = call.args.number("line", 0)
    last = found.runs[-1].last if found.runs else 0
    if wanted > last:
        raise UsageError(f"There is no line {wanted}: {address} has {last}.", hint="Lines count from 1.")
    runs = [run for run in found.runs if not wanted or run.first <= wanted <= run.last]
    if call.out.json:
        lines = [run_json(run, prompts=call.args.flag("prompts")) for run in runs]
        call.out.document({"address": str(address), "sha256": found.sha256, "lines": lines})
        return outcomes.DONE
    columns = (Column("LINE", "number"), Column("AGE", "age"), Column("BY"), Column("HOW"), Column("SESSION"))
    rows = [row for run in runs for row in _rows(run, address.root, wanted)]
    call.out.table((*columns, Column("AFTER", optional=True), Column("TEXT", flexible=True)), rows)
    return outcomes.DONE


def _rows(run: BlamedRun, root: str, wanted: int) -> list[tuple[str | int | None, ...]]:
    touch = run.touch
    known = (touch.session[:SHORT], touch.taint) if touch is not None else (run.commit[:SHORT], "")
    return [
        (run.first + at, touch.at if touch else run.at, run.who(root), run.level, *known, text)
        for at, text in enumerate(run.text)
        if not wanted or run.first + at == wanted
    ]
