"""What waits for a decision in the demonstration, and what was done in the background before it opened.

The memories to tidy up lie in `untidy/`. It is apart from the world because the guide's pictures are taken without it.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256

from memtui.agents.layout import slug
from memtui.demo import worker
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Draft, Write
from memtui.engine.observation import PRIVATE, REDACTED, STATES, ObservationMark
from memtui.engine.task import COMPLETED, FAILED

UNTIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "untidy")
CONFIG = """\
project_memory = "checkout"

[transcripts]
read = "all"
keep = "cards"

[gateways.bot]
channels = ["harbour"]

[approvals.room]
what = ["channel"]
of = ["me", "chat:harbour"]
need = 2
"""
"""The settings of the demonstration; nobody is asked, because its sessions are made up."""
_MINUTE = 60_000
_OLD = "77b1d0ce-52f3-4b0e-8f7a-3d92c6e51a03"
"""A session too old for the look through the last week; the failed look was to read it."""

_SESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sessions.json")
"""Sessions of Claude Code, in which who said what takes a minute each."""

REMEMBERED = (
    "memtui:global",
    "user/tides.md",
    """\
---
description: Times of tides are in harbour time, which is UTC all year
type: user
---
Times of tides are in harbour time, which is UTC all year.
""",
)
"""Root, path and text of what was remembered in the background, `HOURS` ago."""
HOURS = 26
_WORK_ID = "7a1d3f60-52be-4f0c-9e6a-b8c40d91e704"

UNUSED = (
    ("memtui:global", "style/sql.md", 200),
    ("claude-code:project", "reference_dashboards.md", 95),
    ("qwen-code:global", "user/editor.md", 64),
)
"""What no agent used and nobody changed for so many days."""

DAYS = 200
"""Days of work that Claude Code has logged in its index, a line each: more than it loads."""
_LOGGED = (
    "went on with the standby queue; three tests, one of them slow",
    "looked for the deadlock of the load test, without finding it",
    "fares: wrote the tests first, then the rule for residents",
    "waited for the harbour's importer; nothing merged",
    "reviewed lane metres with Marit; notes are in the ticket",
)

_WORKED = (
    ("user", "The load test deadlocks in `decks`. Find out why, and mend it."),
    ("Bash", "pytest tests/decks", "E  Deadlock: lane 3 waits for lane 1, and lane 1 for lane 3"),
    ("Edit", "decks/locks.py", ""),
    ("Bash", "pytest tests/decks", ""),
    ("assistant", "Both took the same lanes in another order.\n\nDecision: lock lanes in the order of their numbers."),
    ("user", "Book it on the account <private>4711-Kestrel</private>, and add a test for it."),
    ("Edit", "tests/decks/test_locks.py", ""),
    ("assistant", "Booked on 4711-Kestrel; the test fails without the order."),
)
"""A session with work in it: who said what; or a tool, its target, and how it failed."""

_NOTES = (
    (74, "error #db", "The pool dies at night, when the importer holds its connections: `pool_pre_ping` mends it."),
    (52, "constraint #coaches", "Coaches are booked by the agency desk alone, never on the web page."),
    (7, "note #refunds", "Before a refund above 500 call <private>Ines, 555 0142</private>."),
)
"""Hours ago, type and tag, and text."""

_WITHHELD = (("memtui:global", "people.md", PRIVATE), ("memtui:workspace", "complaint.md", REDACTED))

_CONFLICT = ("memtui:project", "deploy.md")
_SHARED = "(four minutes)"
_MINE, _THEIRS = "(six minutes; ten in August)", "(four minutes, and never while a sailing boards)"
"""What the user began to write there, and what an agent wrote meanwhile."""


def log_in_index(folder: str, now: int) -> None:
    """Insert a log after the first line of an index, as an agent might, so that the other lines are cut off."""
    path = os.path.join(folder, "MEMORY.md")
    with open(path, encoding="utf-8") as file:
        first, *lines = file.readlines()
    days = [datetime.fromtimestamp(now / 1000 - 86_400 * back, UTC) for back in range(DAYS, 0, -1)]
    log = [f"- {day:%Y-%m-%d}: {_LOGGED[number % len(_LOGGED)]}\n" for number, day in enumerate(days)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join([first, "\n# Log\n\n", *log, "\n# Memories\n\n", *lines]))


def leave_conflict(engine: Engine) -> None:
    """Let the user begin an edit, and an agent write the same line before it is saved."""
    root, path = _CONFLICT
    address = Address(engine.roots.find(root).id, path)
    base = engine.read(address)
    line = base.text[: base.text.index(_SHARED)].count("\n")
    draft = Draft(address, base.sha256, base.text.replace(_SHARED, _MINE), (line, 0), base.modified_at, base.bytes)
    engine.drafts.save(draft)
    text = base.text.replace(_SHARED, _THEIRS)
    engine.save(address, text, expected_sha256=base.sha256, actor=Actor("mcp:claude-code"))


def write_sessions(home: str, project: str, now: int) -> None:
    """Write the sessions where Claude Code keeps its own."""
    with open(_SESSIONS, encoding="utf-8") as file:
        sessions = json.load(file)
    for kept in sessions:
        talk = [(role, text if role == "user" else [{"type": "text", "text": text}]) for role, text in kept["said"]]
        _write_session(home, project, kept["session"], now - kept["minutes_ago"] * _MINUTE, talk)
    _write_session(home, project, _WORK_ID, now - 30 * 60 * _MINUTE, [*_worked(project)])


def _worked(project: str) -> Iterator[tuple[str, object]]:
    for number, (who, what, *failed) in enumerate(_WORKED):
        if not failed:
            yield who, what if who == "user" else [{"type": "text", "text": what}]
            continue
        asked = {"command": what} if who == "Bash" else {"file_path": os.path.join(project, what)}
        gave = {"tool_use_id": f"toolu_w{number}", "is_error": bool(failed[0]), "content": failed[0] or "Done."}
        yield "assistant", [{"type": "tool_use", "id": gave["tool_use_id"], "name": who, "input": asked}]
        yield "user", [{"type": "tool_result", **gave}]


def write_notes(folder: str, now: int) -> None:
    """Write what the user noted with `memtui observe`."""
    os.makedirs(folder, mode=0o700)
    days = [datetime.fromtimestamp(now / 1000 - 3_600 * hours, UTC) for hours, _, _ in _NOTES]
    for day, (_, kind, text) in zip(days, _NOTES, strict=True):
        with open(os.path.join(folder, f"{day:%Y-%m}.md"), "a", encoding="utf-8") as file:
            file.write(f"## {day:%Y-%m-%dT%H:%M:%S}Z {kind}\n\n{text}\n\n")


def withhold(engine: Engine) -> None:
    """Let the user decide about observations."""
    for root_id, path, state in _WITHHELD:
        root, you = engine.roots.find(root_id), Actor("tui")
        # A card that is a whole memory is found by its place alone.
        name = sha256(path.encode()).digest()[:10]
        mark = ObservationMark(name, 0, engine.roots.uid(root), path, b"", name, b"", state)
        if state == REDACTED:
            engine.redaction.redact_observation(mark, reason="a passenger's name", actor=you)
        else:
            label = f"make an observation of {root.id}/{path} {STATES[state]}"
            engine.changes.observed.put([mark], actor=you, label=label, reason="it names people")


def write_author(home: str, project: str, path: str, now: int) -> None:
    """Write the session in which an agent wrote the memory at `path`, after it had looked at a page of the web."""
    with open(path, encoding="utf-8") as file:
        wrote = {"file_path": path, "content": file.read()}
    calls = (("WebFetch", {"url": "https://audits.example/tidewater", "prompt": "the dates"}), ("Write", wrote))
    talk: list[tuple[str, object]] = [("user", "When does the audit end? Their page should say it by now.")]
    for number, (name, asked) in enumerate(calls):
        talk.append(("assistant", [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": asked}]))
        talk.append(("user", [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "Done."}]))
    _write_session(home, project, "e27d90b4-6c1f-4b83-a5de-10f4c2b76603", now - 10 * _MINUTE, talk)


def _write_session(home: str, project: str, session: str, at: int, talk: Sequence[tuple[str, object]]) -> None:
    folder = os.path.join(home, ".claude", "projects", slug(project))
    path, before = os.path.join(folder, f"{session}.jsonl"), None
    with open(path, "x", encoding="utf-8") as file:
        for number, (role, content) in enumerate(talk):
            at += _MINUTE
            uuid = f"{session[:-4]}{number:04}"
            record = {
                "type": role,
                "uuid": uuid,
                "parentUuid": before,
                "sessionId": session,
                "cwd": project,
                "timestamp": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
                "message": {"role": role, "content": content},
            }
            file.write(json.dumps(record) + "\n")
            before = uuid
    os.utime(path, ns=(at * 1_000_000,) * 2)


def remember(engine: Engine, lane: str) -> None:
    """Let something be remembered in the background, as of now."""
    root, path, text = REMEMBERED
    address = Address(engine.roots.find(root).id, path)
    tasks = engine.tasks
    asked = {"content": text.splitlines()[-1], "contextMode": "workspace"}
    task = tasks.enqueue("remember", lane, "tui", asked, trigger="manual")
    tasks.start(task.id)
    step = Write(address, text.encode(), None)
    done = engine.together.do((step,), actor=Actor("tui"), label=f"remember {address}", cause=task.id)
    result = {"summary": f"Saved {address}.", "outcome": "saved", "addresses": [str(address)]}
    tasks.finish(task.id, COMPLETED, result=result, txn=done.txn)


def fail(engine: Engine, lane: str, home: str, project: str) -> None:
    """Let a look through an older session fail, as of now; trying it again works."""
    session = os.path.join(home, ".claude", "projects", slug(project), f"{_OLD}.jsonl")
    task = engine.tasks.enqueue("extract", lane, "tui", {"session": session}, trigger="manual")
    engine.tasks.start(task.id)
    engine.tasks.finish(task.id, FAILED, error=("E_STOPPED", "It took longer than 295 s."))


def choose_worker(memtui_home: str, seconds: int = worker.SECONDS) -> tuple[str, ...]:
    """Write the demonstration's worker into its settings, and return its command."""
    command = (sys.executable, "-I", os.path.abspath(worker.__file__), str(seconds))
    with open(os.path.join(memtui_home, "config.toml"), "a", encoding="utf-8") as file:
        file.write(f'\n[lifecycle]\nworker = "command"\ncommand = {json.dumps(command)}\n')
    return command
