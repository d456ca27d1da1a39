"""Sessions made up in the shape of each agent: two turns, one of which was taken back, and one that took its place."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
CWD = "/home/ann/app"


def at(second: int) -> str:
    """Give a time as agents write it."""
    return f"2026-03-04T10:{second // 60:02}:{second % 60:02}.000Z"


def lines(records: Iterable[Record]) -> bytes:
    """Write records as agents do, one a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(path: Path, records: Iterable[Record]) -> Path:
    """Write a session file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(records))
    return path


def claude(number: int, parent: int | None, kind: str, content: Any, **more: Any) -> Record:
    """Give a record of Claude Code's tree."""
    above = None if parent is None else f"u{parent}"
    head = {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": above,
        "sessionId": "s1",
        "cwd": CWD,
        "isSidechain": False,
    }
    return {**head, "timestamp": at(number), "message": {"role": kind, "content": content}, **more}


def claude_session() -> list[Record]:
    """Give a session of Claude Code."""
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": f"{CWD}/a.md"}}
    failed = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "is_error": True,
        "content": [{"type": "text", "text": "No file"}],
    }
    queued = {"type": "queued_command", "commandMode": "prompt"}
    return [
        {"type": "summary", "summary": "About a.md", "leafUuid": "u9"},
        claude(1, None, "user", "<command-name>/clear</command-name>"),
        claude(2, 1, "user", "Read a.md"),
        claude(3, 2, "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I will."}]),
        claude(4, 3, "assistant", [call]),
        claude(5, 4, "user", [failed], toolUseResult={}),
        claude(6, 5, "assistant", [{"type": "text", "text": "It is not there."}]),
        claude(7, 6, "user", [{"type": "text", "text": "taken back"}]),
        claude(8, 7, "assistant", [{"type": "text", "text": "answered in vain"}]),
        claude(9, 6, "user", "Remember that we use pnpm"),
        claude(10, 9, "user", "hook says", isMeta=True),
        claude(11, 9, "user", "inner", isSidechain=True),
        {**claude(12, 10, "attachment", None), "attachment": {"type": "nested_memory", "path": f"{CWD}/CLAUDE.md"}},
        {
            **claude(13, 12, "attachment", None),
            "attachment": {**queued, "prompt": "<task>x", "origin": {"kind": "task"}},
        },
        {**claude(14, 13, "attachment", None), "attachment": {**queued, "prompt": "and the tests"}},
    ]


def qwen(number: int, parent: int | None, kind: str, parts: list[Record], **more: Any) -> Record:
    """Give a record of Qwen Code's tree."""
    record = claude(number, parent, kind, None, **more)
    return {**record, "message": {"role": kind, "parts": parts}}


def qwen_session() -> list[Record]:
    """Give a session of Qwen Code."""
    real = {"provenance": "real_user"}
    call = {"functionCall": {"id": "c1", "name": "read_file", "args": {"absolute_path": f"{CWD}/a.md"}}}
    failed = {"callId": "c1", "status": "error", "resultDisplay": "No file"}
    return [
        qwen(1, None, "user", [{"text": "<task/>"}], provenance="system", subtype="notification"),
        qwen(2, 1, "user", [{"text": "Read a.md\nwith hook"}], systemPayload={"displayText": "Read a.md"}, **real),
        qwen(3, 2, "assistant", [{"text": "hm", "thought": True}, {"text": "I will."}]),
        qwen(4, 3, "assistant", [call]),
        qwen(5, 4, "tool_result", [{"functionResponse": {"id": "c1"}}], toolCallResult=failed),
        qwen(6, 5, "assistant", [{"text": "It is not there."}]),
        qwen(7, 6, "user", [{"text": "taken back"}], **real),
        qwen(8, 7, "assistant", [{"text": "answered in vain"}]),
        qwen(9, 6, "system", [], subtype="rewind", systemPayload={"truncatedCount": 2}),
        qwen(10, 9, "user", [{"text": "Remember that we use pnpm"}], **real),
        qwen(11, 10, "system", [], subtype="at_command", systemPayload={"filesRead": [f"{CWD}/CLAUDE.md"]}),
    ]


def gemini(number: int, kind: str, text: str, **more: Any) -> Record:
    """Give a message of Gemini CLI."""
    return {"id": f"m{number}", "timestamp": at(number), "type": kind, "content": [{"text": text}], **more}


def gemini_session() -> list[Record]:
    """Give a session of Gemini CLI."""
    call = {
        "id": "c1",
        "name": "read_file",
        "args": {"file_path": f"{CWD}/a.md"},
        "status": "error",
        "resultDisplay": "No file",
    }
    return [
        {"sessionId": "s1", "projectHash": "p", "startTime": at(0), "lastUpdated": at(0), "kind": "main"},
        gemini(2, "user", "Read a.md\n--- content ---", displayContent="Read a.md"),
        gemini(3, "gemini", "I wi"),
        gemini(3, "gemini", "I will.", toolCalls=[call]),
        {"$set": {"lastUpdated": at(5)}},
        gemini(6, "gemini", "It is not there."),
        gemini(7, "user", "taken back"),
        gemini(8, "gemini", "answered in vain"),
        {"$rewindTo": "m7"},
        gemini(9, "user", "Remember that we use pnpm"),
    ]


def codex(number: int, kind: str, **payload: Any) -> Record:
    """Give a line of Codex."""
    return {"timestamp": at(number), "type": kind, "payload": payload}


def codex_session() -> list[Record]:
    """Give a session of Codex in its older format."""
    call = {"name": "exec_command", "call_id": "c1", "arguments": json.dumps({"cmd": f"cat {CWD}/a.md"})}
    instructions = [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]
    typed = [{"type": "input_text", "text": "Read a.md"}]
    return [
        codex(1, "session_meta", id="s1", cwd=CWD, source="cli"),
        codex(2, "response_item", type="message", role="user", content=instructions),
        codex(2, "response_item", type="message", role="user", content=typed),
        codex(2, "event_msg", type="user_message", message="# Context\n## My request for Codex:\nRead a.md"),
        codex(3, "event_msg", type="agent_message", message="I will."),
        codex(4, "response_item", type="function_call", **call),
        codex(
            5, "response_item", type="function_call_output", call_id="c1", output="Process exited with code 1\nNo file"
        ),
        codex(6, "event_msg", type="agent_message", message="It is not there."),
        codex(7, "event_msg", type="user_message", message="taken back"),
        codex(8, "event_msg", type="agent_message", message="answered in vain"),
        codex(8, "event_msg", type="thread_rolled_back", num_turns=1),
        codex(9, "event_msg", type="user_message", message="Remember that we use pnpm"),
    ]


def codex_paged_session() -> list[Record]:
    """Give a session of Codex in its newer format."""

    def item(number: int, kind: str, **more: Any) -> Record:
        return codex(number, "event_msg", type="item_completed", item={"type": kind, "id": f"i{number}", **more})

    def typed(number: int, text: str) -> Record:
        return item(number, "UserMessage", content=[{"type": "text", "text": text}])

    def told(number: int, text: str) -> Record:
        return item(number, "AgentMessage", content=[{"type": "Text", "text": text}])

    command = {"command": ["/bin/bash", "-lc", f"cat {CWD}/a.md"], "status": "failed", "aggregated_output": "No file"}
    return [
        codex(1, "session_meta", id="s1", cwd=CWD, history_mode="paginated"),
        codex(2, "response_item", type="function_call", name="exec_command", call_id="c1", arguments="{}"),
        *(typed(2, "Read a.md"), told(3, "I will."), item(4, "CommandExecution", **command)),
        *(told(6, "It is not there."), typed(7, "taken back"), told(8, "answered in vain")),
        codex(8, "event_msg", type="thread_rolled_back", num_turns=1),
        typed(9, "Remember that we use pnpm"),
    ]


SESSIONS: dict[str, tuple[str, Callable[[], list[Record]]]] = {
    "claude-code": ("claude-code", claude_session),
    "qwen-code": ("qwen-code", qwen_session),
    "gemini": ("gemini", gemini_session),
    "codex": ("codex", codex_session),
    "codex, paged": ("codex", codex_paged_session),
}
"""For each format the agent's id, and what makes a session."""
