"""Sessions with calls, in the shapes that four agents write, made of what was said and done."""

import json
import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.transcripts import made

Record = dict[str, Any]
WRITTEN = 1_772_625_600
"""Noon of the day on which these sessions were, in seconds; nobody goes on with them any more at `NOW`."""
NOW = 1_772_668_800_000
"""The midnight after it, in milliseconds."""


class Step(NamedTuple):
    """One thing in a session: what was said, or a call of an editor (`edit`) or a shell (`run`)."""

    by: str
    """`user`, `agent`, `edit` or `run`."""
    text: str
    """What was said; the path or the command of a call."""
    failure: str = ""
    """What a call gave back that failed."""


def user(text: str) -> Step:
    return Step("user", text)


def agent(text: str) -> Step:
    return Step("agent", text)


def edit(path: str, failure: str = "") -> Step:
    return Step("edit", path, failure)


def run(command: str, failure: str = "") -> Step:
    return Step("run", command, failure)


def write(
    kind: str, home: Path, cwd: str, name: str, steps: Sequence[Step], *, begin: str = "", written: float = WRITTEN
) -> Path:
    """Write a session of an agent where that agent would.

    Args:
        kind: the agent's id.
        home: of the user.
        cwd: the agent's working directory.
        name: the session's.
        steps: what happened.
        begin: what the ids begin with, for sessions that share events; else the name.
        written: when it was written last, in seconds.
    """
    path, records = SHAPES[kind](home, cwd, name, begin or name, steps)
    made.write(path, records)
    os.utime(path, (written, written))
    return path


def _claude(home: Path, cwd: str, name: str, ids: str, steps: Sequence[Step]) -> tuple[Path, list[Record]]:
    found: list[Record] = []
    last: str | None = None
    for at, step in enumerate(steps, start=1):
        parts: list[tuple[str, Any]] = [("user", step.text)]
        if step.by == "agent":
            parts = [("assistant", [{"type": "text", "text": step.text}])]
        elif step.by != "user":
            key = f"{ids}-c{at}"
            asked = {"file_path": step.text} if step.by == "edit" else {"command": step.text}
            asked |= {"old_string": "a", "new_string": "b"} if step.by == "edit" else {}
            use = {"type": "tool_use", "id": key, "name": "Edit" if step.by == "edit" else "Bash", "input": asked}
            result = {"type": "tool_result", "tool_use_id": key, "is_error": bool(step.failure)}
            parts = [("assistant", [use]), ("user", [result | {"content": step.failure or "ok"}])]
        for number, (kind, content) in enumerate(parts):
            record = made.claude(at, None, kind, content) | {"sessionId": name, "cwd": cwd, "parentUuid": last}
            last = record["uuid"] = f"{ids}-u{at}.{number}"
            found.append(record)
    return home / ".claude/projects" / cwd.replace("/", "-") / f"{name}.jsonl", found


def _qwen(home: Path, cwd: str, name: str, ids: str, steps: Sequence[Step]) -> tuple[Path, list[Record]]:
    found: list[Record] = []
    last: str | None = None
    for at, step in enumerate(steps, start=1):
        more: Record = {"provenance": "real_user"} if step.by == "user" else {}
        parts: list[tuple[str, list[Record], Record]] = [
            ("user" if step.by == "user" else "assistant", [{"text": step.text}], more)
        ]
        if step.by in ("edit", "run"):
            key = f"{ids}-c{at}"
            asked = {"file_path": step.text} if step.by == "edit" else {"command": step.text}
            call = {"id": key, "name": "edit" if step.by == "edit" else "run_shell_command", "args": asked}
            status = {"callId": key, "status": "error" if step.failure else "success", "resultDisplay": step.failure}
            parts = [("assistant", [{"functionCall": call}], {}), ("tool_result", [], {"toolCallResult": status})]
        for number, (kind, content, extra) in enumerate(parts):
            record = made.qwen(at, None, kind, content, **extra) | {"sessionId": name, "cwd": cwd, "parentUuid": last}
            last = record["uuid"] = f"{ids}-u{at}.{number}"
            found.append(record)
    return home / ".qwen/projects" / cwd.replace("/", "-") / "chats" / f"{name}.jsonl", found


def _codex(home: Path, cwd: str, name: str, ids: str, steps: Sequence[Step]) -> tuple[Path, list[Record]]:
    found = [made.codex(0, "session_meta", id=name, cwd=cwd, source="cli")]
    for at, step in enumerate(steps, start=1):
        key = f"{ids}-c{at}"
        if step.by in ("user", "agent"):
            found.append(made.codex(at, "event_msg", type=f"{step.by}_message", message=step.text))
        else:
            patch = f"*** Begin Patch\n*** Update File: {step.text}\n@@\n-a\n+b\n*** End Patch"
            call = {"name": "apply_patch", "input": patch}
            if step.by == "run":
                call = {"name": "exec_command", "arguments": json.dumps({"cmd": step.text})}
            code = f"Process exited with code {int(bool(step.failure))}\n{step.failure or 'ok'}"
            kind = "custom_tool_call" if step.by == "edit" else "function_call"
            found.append(made.codex(at, "response_item", type=kind, call_id=key, **call))
            found.append(made.codex(at, "response_item", type=f"{kind}_output", call_id=key, output=code))
    return home / ".codex/sessions/2026/03/04" / f"rollout-{name}.jsonl", found


def _gemini(home: Path, cwd: str, name: str, ids: str, steps: Sequence[Step]) -> tuple[Path, list[Record]]:
    folder = sha256(os.fsencode(cwd)).hexdigest()
    found: list[Record] = [{"sessionId": name, "projectHash": folder, "startTime": made.at(0), "kind": "main"}]
    for at, step in enumerate(steps, start=1):
        said = made.gemini(at, "user" if step.by == "user" else "gemini", step.text)
        if step.by in ("edit", "run"):
            asked = {"file_path": step.text} if step.by == "edit" else {"command": step.text}
            call = {"id": f"{ids}-c{at}", "name": "replace" if step.by == "edit" else "run_shell_command"}
            status = {"status": "error" if step.failure else "success", "resultDisplay": step.failure}
            said = made.gemini(at, "gemini", "", toolCalls=[call | {"args": asked} | status])
        found.append(said | {"id": f"{ids}-m{at}"})
    return home / ".gemini/tmp" / folder / "chats" / f"session-{name}.jsonl", found


SHAPES: dict[str, Callable[..., tuple[Path, list[Record]]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen-code": _qwen,
}
