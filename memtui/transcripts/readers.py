"""Readers of the lines of agents' sessions, by agent, and of the tokens that replies took.

Claude Code (seen in 2.1) and Qwen Code (0.24) write a tree of records, Codex (0.169) a list of items in two formats;
in Gemini CLI's files (0.61) the last message of an id counts. Sources: anthropics/claude-agent-sdk-python,
`_internal/sessions.py`; QwenLM/qwen-code and google-gemini/gemini-cli, `core/src/services/chatRecordingService.ts`;
openai/codex, `codex-rs/rollout/src/policy.rs`.
"""

from __future__ import annotations

import re
from hashlib import sha256

from memtui.transcripts.event import (
    AGENT,
    MAYBE,
    NOTHING,
    SUMMARY,
    TOOL,
    USER,
    Log,
    Reader,
    as_list,
    as_mapping,
    as_string,
    message_text,
    parsed,
    target_of,
)

_CLAUDE_CODE_KINDS = frozenset(
    (
        *("user", "assistant", "system", "attachment", "summary", "progress", "file-history-snapshot", "last-prompt"),
        *("queue-operation", "custom-title", "ai-title", "agent-name", "mode", "permission-mode", "tag", "pr-link"),
    )
)
_CLAUDE_CODE_NOT_TYPED = (
    "<command-",
    "<local-command",
    "<system-reminder>",
    "<task-notification>",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
)
"""Beginnings of user messages that no person typed."""


def _head(log: Log, record: dict[str, object]) -> tuple[str, bool]:
    """Read the fields common to Claude Code's and Qwen Code's records; return id and whether it is in the main tree."""
    log.session = as_string(record.get("sessionId")) or log.session
    log.cwd = as_string(record.get("cwd")) or log.cwd
    log.sidechain = record.get("isSidechain") is True
    log.program = record.get("entrypoint") == "sdk-cli"
    uuid = as_string(record.get("uuid"))
    in_tree = bool(uuid) and not log.sidechain
    if in_tree:
        log.node(uuid, as_string(record.get("parentUuid")))
    return uuid or log.key, in_tree


def _read_claude_code(log: Log, record: dict[str, object]) -> bool:
    kind = as_string(record.get("type"))
    uuid, in_tree = _head(log, record)
    if kind not in _CLAUDE_CODE_KINDS:
        return False
    content = as_mapping(record.get("message")).get("content")
    if kind == "system" and record.get("subtype") == "compact_boundary":
        log.seal(uuid)
    elif kind == "attachment":
        attached = as_mapping(record.get("attachment"))
        if attached.get("type") == "nested_memory":
            log.add(uuid, TOOL, tool="nested_memory", target=target_of(attached))
        elif attached.get("type") == "queued_command" and attached.get("commandMode") == "prompt":
            by_person = as_mapping(attached.get("origin")).get("kind") in (None, "human")
            log.add(uuid, USER, message_text(attached.get("prompt")), meta=not by_person)
    elif kind == "assistant":
        if said := message_text(content):
            log.add(uuid, AGENT, said)
        for call in map(as_mapping, as_list(content)):
            if call.get("type") == "tool_use":
                name, asked = as_string(call.get("name")), as_mapping(call.get("input"))
                log.add(as_string(call.get("id")) or log.key, TOOL, tool=name, target=target_of(asked), asked=asked)
    elif kind == "user":
        _claude_code_user(log, record, uuid, content, in_tree=in_tree)
    return True


def _claude_code_user(log: Log, record: dict[str, object], uuid: str, content: object, *, in_tree: bool) -> None:
    results = [part for part in map(as_mapping, as_list(content)) if part.get("type") == "tool_result"]
    for part in results:
        failed = part.get("is_error") is True
        gave = as_mapping(record.get("toolUseResult")) if len(results) == 1 else NOTHING
        log.result(as_string(part.get("tool_use_id")), message_text(part.get("content")), failed=failed, gave=gave)
    said = message_text(content)
    if results or not said:
        return
    meta = (
        record.get("isMeta") is True
        or record.get("isCompactSummary") is True
        or said.startswith(_CLAUDE_CODE_NOT_TYPED)
    )
    if in_tree and not meta:
        log.branch(uuid)
        log.begin(uuid)
    log.add(uuid, USER, said, meta=meta, tool=SUMMARY if record.get("isCompactSummary") is True else "")


_QWEN_CODE_TYPED = (None, "mid_turn_user_message")


def _read_qwen_code(log: Log, record: dict[str, object]) -> bool:
    kind, subtype = record.get("type"), record.get("subtype")
    uuid, in_tree = _head(log, record)
    if kind not in ("user", "assistant", "tool_result", "system"):
        return False
    parts = as_mapping(record.get("message")).get("parts")
    payload = as_mapping(record.get("systemPayload"))
    if kind == "user":
        typed = subtype in _QWEN_CODE_TYPED and record.get("provenance") in (None, "real_user")
        if said := as_string(payload.get("displayText")) or message_text(parts):
            if typed and in_tree:
                log.branch(uuid)
                log.begin(uuid)
            log.add(uuid, USER, said, meta=not typed)
    elif kind == "assistant":
        if said := message_text(parts):
            log.add(uuid, AGENT, said)
        for call in (as_mapping(as_mapping(part).get("functionCall")) for part in as_list(parts)):
            if call:
                name, asked = as_string(call.get("name")), as_mapping(call.get("args"))
                log.add(as_string(call.get("id")) or log.key, TOOL, tool=name, target=target_of(asked), asked=asked)
    elif kind == "tool_result":
        result = as_mapping(record.get("toolCallResult"))
        failed = result.get("status") in ("error", "cancelled")
        shown = result.get("resultDisplay")
        log.result(as_string(result.get("callId")), message_text(shown), failed=failed, gave=as_mapping(shown))
    elif subtype == "rewind" and in_tree:
        log.branch(uuid)
    elif subtype == "at_command" and (target := target_of(payload)):
        log.add(uuid, TOOL, tool="at_command", target=target, failed=payload.get("status") == "error")
    return True


def _read_gemini(log: Log, record: dict[str, object]) -> bool:
    if "$rewindTo" in record:
        log.rewind(as_string(record["$rewindTo"]))
        return True
    if "$set" in record:
        return _gemini_session(log, dict(as_mapping(record["$set"])))
    if "sessionId" in record:
        return _gemini_session(log, record)
    return _gemini_message(log, record)


def _gemini_session(log: Log, record: dict[str, object]) -> bool:
    """Read session fields; messages among them replace all earlier ones."""
    log.session = as_string(record.get("sessionId")) or log.session
    log.sidechain = record.get("kind", "subagent" if log.sidechain else "main") == "subagent"
    messages = as_list(record.get("messages"))
    if messages:
        log.rewind("")
    for message in messages:
        log.record(*log.line, as_mapping(message).get("timestamp"))
        _gemini_message(log, dict(as_mapping(message)))
    return True


def _gemini_message(log: Log, record: dict[str, object]) -> bool:
    kind, uuid = record.get("type"), as_string(record.get("id"))
    if not uuid or kind not in ("user", "gemini", "info", "warning", "error"):
        return False
    said = message_text(record.get("displayContent")) or message_text(record.get("content"))
    if kind in ("user", "gemini"):
        log.begin(uuid)
        if said:
            log.add(uuid, USER if kind == "user" else AGENT, said, meta=said.startswith("<session_context>"))
    for call in map(as_mapping, as_list(record.get("toolCalls"))):
        name, target = as_string(call.get("name")), target_of(call.get("args"))
        failed = call.get("status") in ("error", "cancelled")
        output = message_text(call.get("resultDisplay")) if failed else ""
        asked, gave = as_mapping(call.get("args")), as_mapping(call.get("resultDisplay"))
        key = as_string(call.get("id")) or uuid
        log.add(key, TOOL, output, tool=name, target=target, failed=failed, asked=asked, gave=gave)
    return True


_CODEX_KINDS = frozenset(
    (
        *("session_meta", "turn_context", "event_msg", "response_item", "compacted", "world_state"),
        "inter_agent_communication",
    )
)
_CODEX_NOT_TYPED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
)
_LOADED = "# AGENTS.md instructions for "
"""Beginning of the message that loads a folder's instructions."""
_REQUEST = "## My request for Codex:"
"""Precedes the typed text where an editor adds context."""
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|\"exit_code\":)[ \t]*+(-?[0-9]{1,9})", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def _read_codex(log: Log, record: dict[str, object]) -> bool:
    kind, payload = as_string(record.get("type")), as_mapping(record.get("payload"))
    if kind not in _CODEX_KINDS:
        return False
    if kind == "session_meta" and not log.session:
        log.session = as_string(payload.get("id"))
        log.paged = payload.get("history_mode") == "paginated"
        log.sidechain = "subagent" in as_mapping(payload.get("source"))
        log.program = payload.get("source") == "exec"
    if kind in ("session_meta", "turn_context"):
        log.cwd = as_string(payload.get("cwd")) or log.cwd
    elif kind == "event_msg":
        _codex_event(log, as_string(payload.get("type")), dict(payload))
    elif kind == "response_item" and not log.paged:
        _codex_item(log, as_string(payload.get("type")), dict(payload))
    elif kind == "compacted" and (said := as_string(payload.get("message"))):
        log.add(log.key, USER, said, meta=True, tool=SUMMARY)
    return True


def _codex_event(log: Log, kind: str, payload: dict[str, object]) -> None:
    if kind == "user_message":
        _codex_typed(log, as_string(payload.get("message")))
    elif kind == "agent_message" and (said := as_string(payload.get("message"))):
        log.add(_codex_id(log, said), AGENT, said)
    elif kind == "thread_rolled_back":
        turns = payload.get("num_turns")
        log.roll_back(turns if isinstance(turns, int) and turns > 0 else 0)
    elif kind == "turn_aborted":
        log.add(log.key, USER, "[interrupted]", meta=True)
    elif kind == "patch_apply_end":
        log.result(
            as_string(payload.get("call_id")), as_string(payload.get("stderr")), failed=payload.get("success") is False
        )
    elif kind == "item_completed" and log.paged:
        _codex_completed(log, dict(as_mapping(payload.get("item"))))


def _codex_typed(log: Log, said: str) -> None:
    said = said.rpartition(_REQUEST)[2].strip()
    if said:
        log.formal = True
        uuid = _codex_id(log, said)
        log.begin(f"{uuid}:{log.key}")
        log.add(uuid, USER, said, meta=said.startswith(_CODEX_NOT_TYPED))


def _codex_item(log: Log, kind: str, payload: dict[str, object]) -> None:
    """Add an item of the model, which in the oldest sessions alone holds the user's text."""
    call = as_string(payload.get("call_id")) or log.key
    if kind == "message" and payload.get("role") == "user":
        said = message_text(payload.get("content"))
        if said.startswith(_LOADED):
            folder = said.removeprefix(_LOADED).partition("\n")[0].strip()
            log.add(log.key, TOOL, tool="instructions", target=f"{folder}/AGENTS.md")
        elif said and not said.startswith(_CODEX_NOT_TYPED):
            log.add(f"item {_codex_id(log, said)}", MAYBE, said)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        given = as_string(payload.get("input")) or as_string(payload.get("arguments"))
        asked = as_mapping(_parsed(given)) or as_mapping(payload.get("action"))
        patched = "\n".join(_PATCHED.findall(given))
        target = patched or target_of(asked)
        name = as_string(payload.get("name")) or kind
        log.add(call, TOOL, tool=name, target=target, asked={"patch": given} if patched else asked)
    elif kind == "web_search_call":
        log.add(log.key, TOOL, tool="web_search")
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = payload.get("output")
        text = as_string(output) or message_text(output) or message_text(as_mapping(output).get("content"))
        code = _EXIT.search(text[:600])
        failed = as_mapping(output).get("success") is False or bool(code and int(code[1]))
        log.result(call, text, failed=failed)


def _codex_completed(log: Log, item: dict[str, object]) -> None:
    kind, uuid = item.get("type"), as_string(item.get("id")) or log.key
    failed = item.get("status") in ("failed", "declined")
    if kind == "UserMessage":
        _codex_typed(log, message_text(item.get("content")))
    elif kind == "AgentMessage" and (said := message_text(item.get("content"))):
        log.add(_codex_id(log, said), AGENT, said)
    elif kind == "CommandExecution":
        output = as_string(item.get("aggregated_output")) or as_string(item.get("stderr"))
        command = item.get("command")
        target = as_string(command) or as_string((as_list(command) or [""])[-1])
        output = output if failed else ""
        log.add(uuid, TOOL, output, tool="shell", target=target, failed=failed, asked={"command": target})
    elif kind == "FileChange":
        target = "\n".join(as_mapping(item.get("changes")))
        output = as_string(item.get("stderr")) if failed else ""
        log.add(uuid, TOOL, output, tool="apply_patch", target=target, failed=failed, asked=item)
    elif kind == "McpToolCall":
        name = f"{as_string(item.get('server'))}.{as_string(item.get('tool'))}"
        output = as_string(item.get("error")) if failed else ""
        asked = as_mapping(item.get("arguments"))
        log.add(uuid, TOOL, output, tool=name, target=target_of(asked), failed=failed, asked=asked)


def _codex_id(log: Log, said: str) -> str:
    """Make an id of time and text, equal in copies of a session: only calls have ids."""
    return sha256(f"{log.stamp or log.key}\n{said}".encode("utf-8", "replace")).hexdigest()[:32]


def _parsed(text: str) -> object:
    try:
        return parsed(text)
    except (ValueError, RecursionError):
        return None


_MOST = 10**9


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else 0


def _place(log: Log, record: dict[str, object]) -> None:
    log.session = as_string(record.get("sessionId")) or log.session
    log.cwd = as_string(record.get("cwd")) or log.cwd


def _claude_code_usage(log: Log, record: dict[str, object]) -> bool:
    _place(log, record)
    message = as_mapping(record.get("message"))
    used = as_mapping(message.get("usage"))
    read = sum(
        _number(used.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    )
    if read:
        log.add(as_string(message.get("id")) or log.key, AGENT, str(read))
    return True


def _qwen_code_usage(log: Log, record: dict[str, object]) -> bool:
    _place(log, record)
    used = as_mapping(record.get("usageMetadata"))
    total = _number(used.get("totalTokenCount")) or sum(
        _number(used.get(name)) for name in ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    )
    if total:
        log.add(as_string(record.get("uuid")) or log.key, AGENT, str(total))
    return True


def _codex_usage(log: Log, record: dict[str, object]) -> bool:
    said = as_mapping(record.get("payload"))
    if record.get("type") == "session_meta":
        log.session, log.cwd = as_string(said.get("id")) or log.session, as_string(said.get("cwd")) or log.cwd
    used = as_mapping(as_mapping(said.get("info")).get("last_token_usage"))
    total = _number(used.get("total_tokens")) or _number(used.get("input_tokens")) + _number(used.get("output_tokens"))
    if said.get("type") == "token_count" and total:
        log.add(f"{as_string(record.get('timestamp'))}:{log.key}", AGENT, str(total))
    return True


READERS = {
    "claude-code": Reader(_read_claude_code, 1),
    "codex": Reader(_read_codex, 2),
    "gemini": Reader(_read_gemini, 1),
    "qwen-code": Reader(_read_qwen_code, 1),
}
USAGE_READERS = {
    "claude-code": Reader(_claude_code_usage, 1),
    "qwen-code": Reader(_qwen_code_usage, 1),
    "codex": Reader(_codex_usage, 1),
}
"""Readers of token counts, which are the texts of their events; a reply counts once, also when a fork copied it."""
