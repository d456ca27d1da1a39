"""Reader of Qwen Code's sessions, a tree of Gemini messages; seen in 0.24. It is apart because one agent is one file.

Source: QwenLM/qwen-code, `packages/core/src/services/chatRecordingService.ts`.
"""

from memtui.transcripts.claude_code import head
from memtui.transcripts.event import AGENT, TOOL, USER, Log, as_list, as_mapping, as_string, message_text, target_of

_TYPED = (None, "mid_turn_user_message")
"""Subtypes of typed messages."""


def read(log: Log, record: dict[str, object]) -> bool:
    """Add a record; see `Reader`."""
    kind, subtype = record.get("type"), record.get("subtype")
    uuid, in_tree = head(log, record)
    if kind not in ("user", "assistant", "tool_result", "system"):
        return False
    parts = as_mapping(record.get("message")).get("parts")
    payload = as_mapping(record.get("systemPayload"))
    if kind == "user":
        typed = subtype in _TYPED and record.get("provenance") in (None, "real_user")
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
