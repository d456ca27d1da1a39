"""Session files of four agents, in the shapes that their own programs write, made of what was said."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.transcripts import made

Said = tuple[str, str]
"""`user`, `agent`, or for Claude Code `tool`, and what."""
AGENTS = ("claude-code", "codex", "gemini", "qwen-code")


def write(agent: str, home: Path, cwd: str, name: str, said: Sequence[Said]) -> Path:
    """Write a session of an agent where that agent would, and give its path."""
    place, records = SHAPES[agent](home, cwd, name, said)
    return made.write(place, records)


def _claude(home: Path, cwd: str, name: str, said: Sequence[Said]) -> tuple[Path, list[dict[str, Any]]]:
    kinds = {"user": "user", "agent": "assistant", "tool": "user"}

    def content(by: str, text: str) -> Any:
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": text}]}
        return [answer] if by == "tool" else text

    records = [
        made.claude(at, at - 1 if at > 1 else None, kinds[by], content(by, text))
        | {"sessionId": name, "cwd": cwd, "uuid": f"u{at}"}
        for at, (by, text) in enumerate(said, start=1)
    ]
    return home / ".claude/projects" / cwd.replace("/", "-") / f"{name}.jsonl", records


def _qwen(home: Path, cwd: str, name: str, said: Sequence[Said]) -> tuple[Path, list[dict[str, Any]]]:
    kinds = {"user": ("user", {"provenance": "real_user"}), "agent": ("assistant", {})}
    records = [
        made.qwen(at, at - 1 if at > 1 else None, kinds[by][0], [{"text": text}], **kinds[by][1])
        | {"sessionId": name, "cwd": cwd}
        for at, (by, text) in enumerate(said, start=1)
    ]
    return home / ".qwen/projects" / cwd.replace("/", "-") / "chats" / f"{name}.jsonl", records


def _codex(home: Path, cwd: str, name: str, said: Sequence[Said]) -> tuple[Path, list[dict[str, Any]]]:
    kinds = {"user": "user_message", "agent": "agent_message"}
    records = [made.codex(0, "session_meta", id=name, cwd=cwd, source="cli")]
    records += [
        made.codex(at, "event_msg", type=kinds[by], message=text) for at, (by, text) in enumerate(said, start=1)
    ]
    return home / ".codex/sessions/2026/03/04" / f"rollout-{name}.jsonl", records


def _gemini(home: Path, cwd: str, name: str, said: Sequence[Said]) -> tuple[Path, list[dict[str, Any]]]:
    kinds = {"user": "user", "agent": "gemini"}
    folder = sha256(os.fsencode(cwd)).hexdigest()
    records: list[dict[str, Any]] = [
        {"sessionId": name, "projectHash": folder, "startTime": made.at(0), "kind": "main"}
    ]
    records += [made.gemini(at, kinds[by], text) for at, (by, text) in enumerate(said, start=1)]
    return home / ".gemini/tmp" / folder / "chats" / f"session-{name}.jsonl", records


SHAPES = {"claude-code": _claude, "codex": _codex, "gemini": _gemini, "qwen-code": _qwen}
