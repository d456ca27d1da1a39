"""What Gemini CLI and Hermes stage for approval, as proposals; deciding does what that agent expects.

Formats as read in google-gemini/gemini-cli (`scripts/seed-test-inbox.js`, tests of `commands/memory`) and
NousResearch/hermes-agent (`tools/write_approval.py`, `tools/memory_tool.py`), September 2026.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from memtui.agents.layout import names_in
from memtui.agents.table import agent_of, title_of
from memtui.engine import Engine
from memtui.engine.model import Address, Remove, Root, Step, Write
from memtui.engine.proposal import WAITING, Evidence, Proposal
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from memtui.features.proposals.value import judge_all, proposal

STAGED = "staged"
"""Evidence kind of a staged file: its path, the SHA-256 of the part, and its target."""
_MOST = 100
_DIVIDER = "\n§\n"
_ITSELF = "Only Hermes itself can decide about it."
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class _Part(NamedTuple):
    """One decision in a staged file."""

    text: str
    about: str
    kind: str = "note"
    step: Step | None = None
    """None when it cannot be done; `problem` says why."""
    why: str = ""
    problem: str = ""

    @property
    def sha(self) -> str:
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def look(engine: Engine) -> None:
    """Store what is staged now as proposals; those no longer staged become `superseded`."""
    waiting = {_key(one): one for one in engine.proposals.all((*WAITING, "accepted")) if _key(one) is not None}
    there: set[tuple[str, ...] | None] = set()
    new = []
    for root, path in _files(engine):
        for part in _parts(engine, root, path):
            key = (os.path.join(root.path, path), part.about, part.sha)
            there.add(key)
            if key not in waiting or waiting[key].state == "stale":
                new.append(_proposal(engine, root, key, part))
    engine.proposals.add(judge_all(engine, new))
    open_here = {root.path for root in engine.roots.all()}
    dropped = [one for key, one in waiting.items() if key not in there]
    gone = [one for one in dropped if one.folders and one.folders[-1][1] in open_here]
    if gone:
        engine.proposals.settle({one.id: ("superseded", "The agent does not stage it any more.") for one in gone})


def signs(engine: Engine) -> tuple[object, ...]:
    """Return names, times and sizes of the staged files, to notice changes."""
    found: list[object] = []
    for root, path in _files(engine):
        with contextlib.suppress(OSError):  # it went meanwhile
            status = os.lstat(os.path.join(root.path, path))
            found.append((root.id, path, status.st_mtime_ns, status.st_size))
    return tuple(found)


def leavings(engine: Engine, decided: Iterable[Proposal]) -> tuple[Step, ...]:
    """Return the steps that remove decided parts from staged files, deleting empty ones."""
    keys = {key for one in decided if (key := _key(one)) is not None}
    steps: list[Step] = []
    for root, path in _files(engine):
        name, parts = os.path.join(root.path, path), _parts(engine, root, path)
        left = [part.text for part in parts if (name, part.about, part.sha) not in keys]
        if len(left) < len(parts):
            address = Address(root.id, path)
            sha = engine.read(address).sha256
            steps.append(Write(address, "".join(left).encode(), sha) if left else Remove(address, sha))
    return tuple(steps)


def _key(one: Proposal) -> tuple[str, ...] | None:
    """Return which staged part a proposal is, or None."""
    shown = next((shown for shown in one.evidence if shown.kind == STAGED), None)
    return None if shown is None else (shown.name, shown.place, shown.sha)


def _proposal(engine: Engine, root: Root, key: tuple[str, str, str], part: _Part) -> Proposal:
    steps = () if part.step is None else (part.step,)
    why = part.why or f"{title_of(root.agent)} staged it{'' if part.step else f' in {key[0]}'}."
    added = " ".join(line[1:] for line in part.text.split("\n") if line[:1] == "+" and line[:3] != "+++")
    evidence = [Evidence(STAGED, key[0], key[2], key[1], added or part.text)]
    made = proposal(engine, part.kind, steps, f"agent:{root.agent}", why, evidence)
    folders = (*(pair for pair in made.folders if pair[0] != root.id), (root.id, root.path))
    made = made._replace(folders=folders)
    return made._replace(state="blocked", note=part.problem) if part.problem else made


def _files(engine: Engine) -> Iterator[tuple[Root, str]]:
    for root in engine.roots.all():
        for folder, suffix in agent_of(root.agent).staged:
            staged = [name for name in names_in(os.path.join(root.path, folder)) if name.endswith(suffix)]
            yield from ((root, f"{folder}/{name}") for name in staged[:_MOST])


def _parts(engine: Engine, root: Root, path: str) -> list[_Part]:
    try:
        text = engine.read(Address(root.id, path)).text
        return _READERS[os.path.splitext(path)[1]](engine, root, path, text)
    except MemtuiError as error:
        return [_Part("", path, problem=error.message)]


# --- Gemini CLI


def _patch(engine: Engine, root: Root, path: str, text: str) -> list[_Part]:
    """Split a patch into files; one that Gemini CLI would refuse makes all of it invalid."""
    found = []
    for section in re.split(r"(?m)^(?=--- \S.*\n\+\+\+ )", text)[1:]:
        old, new = (line[4:].partition("\t")[0].rstrip("\r") for line in section.split("\n")[:2])
        target = _target(engine, root, path, new) if old in (new, "/dev/null") else None
        if target is None:
            return [_Part(text, path, problem=f"Gemini CLI would refuse it: it may not change {new}.")]
        found.append(_section(engine, target, section, creates=old == "/dev/null"))
    return found or [_Part(text, path, problem="Gemini CLI would refuse it: it is no patch of a file.")]


def _target(engine: Engine, root: Root, path: str, name: str) -> Address | None:
    folder, file = os.path.split(name)
    if "/global/" in path:
        home = next((each for each in engine.roots.all() if each.agent == root.agent and each.scope == "global"), None)
        return Address(home.id, file) if home is not None and folder == home.path and file == "GEMINI.md" else None
    return Address(root.id, file) if folder == root.path and file.endswith(".md") and file[:1] != "." else None


def _section(engine: Engine, target: Address, section: str, *, creates: bool) -> _Part:
    part = _Part(section, str(target), "add" if creates else "replace")
    try:
        there = None if creates else engine.read(target)
        before = "" if there is None else there.text
        after = _patched(before, section.split("\n")[2:])
    except MemtuiError as error:
        return part._replace(kind="note", problem=error.message)
    if after is None:
        return part._replace(kind="note", problem=f"The patch does not fit {target} any more.")
    return part._replace(step=Write(target, after.encode(), None if there is None else there.sha256))


def _patched(text: str, lines: list[str]) -> str | None:
    """Apply hunks at their position, or at the only match; None when one does not fit."""
    have = re.findall(r"[^\n]*\n|[^\n]+", text)
    shift = at = 0
    while at < len(lines):
        head = _HUNK.match(lines[at])
        at += 1
        if head is None:
            continue
        old: list[str] = []
        new: list[str] = []
        while at < len(lines) and lines[at][:1] in (" ", "+", "-", "\\") and lines[at]:
            sign, line = lines[at][0], lines[at][1:] + "\n"
            if sign == "\\":
                for side in {"-": [old], "+": [new]}.get(lines[at - 1][0], [old, new]):
                    side[-1] = side[-1].rstrip("\n")
            else:
                for side in {"-": [old], "+": [new]}.get(sign, [old, new]):
                    side.append(line)
            at += 1
        size = len(old)
        start = max(0, int(head[1]) - (1 if size else 0)) + shift
        if have[start : start + size] != old:
            places = [place for place in range(len(have) - size + 1) if have[place : place + size] == old]
            if len(places) != 1:
                return None
            start = places[0]
        have[start : start + size] = new
        shift += len(new) - size
    return "".join(have) if all(line.endswith("\n") for line in have[:-1]) else None


# --- Hermes


def _record(engine: Engine, root: Root, path: str, text: str) -> list[_Part]:
    """Parse one staged write; other records are left to Hermes."""
    try:
        record: Any = json.loads(text)
        payload = record["payload"]
        operations = payload["operations"] if payload["action"] == "batch" else [payload]
        file = {"memory": "MEMORY.md", "user": "USER.md"}[payload["target"]]
        said = str(record.get("summary", ""))
        kind = {"add": "add", "replace": "replace", "remove": "remove"}.get(payload["action"], "merge")
    except (KeyError, TypeError, ValueError, RecursionError):
        return [_Part(text, path, problem=_ITSELF)]
    home = os.path.join(root.path, "memories")
    memory = next((each for each in engine.roots.all() if each.path == home), None)
    if memory is None:
        return [_Part(text, path, problem=f"{home} is not open here.")]
    address = Address(memory.id, file)
    part = _Part(text, str(address), kind, why=said)
    try:
        there = engine.read(address)
    except NotFoundError:
        there = None
    try:
        after = _changed("" if there is None else there.text, operations)
    except RefusedError as error:
        return [part._replace(kind="note", problem=error.message)]
    limit = memory.policy.limit_of(file)
    if limit is not None and len(after) > limit:
        return [part._replace(kind="note", problem=f"{file} would have {len(after):,} characters of {limit:,}.")]
    return [part._replace(step=Write(address, after.encode(), None if there is None else there.sha256))]


def _changed(text: str, operations: Any) -> str:
    """Apply operations to a file of entries as Hermes does; raises RefusedError where it would refuse."""
    entries = _entries(text)
    if _DIVIDER.join(entries) != text.strip():
        raise RefusedError("Hermes would refuse it: the file is not in the form it writes itself.")
    for each in operations if isinstance(operations, list) else [None]:
        fields = each if isinstance(each, dict) else {}
        action, content, pinned = (str(fields.get(name) or "") for name in ("action", "content", "matched_entry"))
        content = content.strip()
        if action not in ("add", "replace", "remove") or (action != "remove" and not content):
            raise RefusedError(_ITSELF)
        if action == "add":
            entries += [] if content in entries else [content]
        elif entries.count(pinned) != 1:
            raise RefusedError("Hermes would refuse it: the entry it is about is not pinned, or not there any more.")
        else:
            place = entries.index(pinned)
            entries[place : place + 1] = [content] if action == "replace" else []
    after = _DIVIDER.join(entries)
    if _entries(after) != entries:
        raise RefusedError(_ITSELF)
    return after


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(_DIVIDER) if entry.strip()]


_READERS: dict[str, Callable[[Engine, Root, str, str], list[_Part]]] = {".patch": _patch, ".json": _record}
