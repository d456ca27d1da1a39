"""Reader of Codex's sessions, a list of items in two formats; seen in 0.169. It is apart because one agent is one file.

Source: openai/codex, `codex-rs/rollout/src/policy.rs`: the older format has events beside the model's items, the newer
(`paginated`) only completed items. Only calls have ids, so messages are identified by time and text.
"""

import re
from hashlib import sha256

from memtui.transcripts.event import (
    AGENT,
    MAYBE,
    SUMMARY,
    TOOL,
    USER,
    Log,
    as_list,
    as_mapping,
    as_string,
    message_text,
    parsed,
    target_of,
)

KNOWN = frozenset(
    (
        *("session_meta", "turn_context", "event_msg", "response_item", "compacted", "world_state"),
        "inter_agent_communication",
    )
)
_NOT_TYPED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")
_LOADED = "# AGENTS.md instructions for "
"""Beginning of the message that loads a folder's instructions."""
_REQUEST = "## My request for Codex:"
"""Precedes the typed text where an editor adds context."""
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|\"exit_code\":)[ \t]*+(-?[0-9]{1,9})", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def read(log: Log, record: dict[str, object]) -> bool:
    """Add a record; see `Reader`."""
    kind, payload = as_string(record.get("type")), as_mapping(record.get("payload"))
    if kind not in KNOWN:
        return False
    if kind == "session_meta" and not log.session:
        log.session = as_string(payload.get("id"))
        log.paged = payload.get("history_mode") == "paginated"
        log.sidechain = "subagent" in as_mapping(payload.get("source"))
        log.program = payload.get("source") == "exec"
    if kind in ("session_meta", "turn_context"):
        log.cwd = as_string(payload.get("cwd")) or log.cwd
    elif kind == "event_msg":
        _event(log, as_string(payload.get("type")), dict(payload))
    elif kind == "response_item" and not log.paged:
        _item(log, as_string(payload.get("type")), dict(payload))
    elif kind == "compacted" and (said := as_string(payload.get("message"))):
        log.add(log.key, USER, said, meta=True, tool=SUMMARY)
    return True


def _event(log: Log, kind: str, payload: dict[str, object]) -> None:
    if kind == "user_message":
        _typed(log, as_string(payload.get("message")))
    elif kind == "agent_message" and (said := as_string(payload.get("message"))):
        log.add(_id(log, said), AGENT, said)
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
        _completed(log, dict(as_mapping(payload.get("item"))))


def _typed(log: Log, said: str) -> None:
    said = said.rpartition(_REQUEST)[2].strip()
    if said:
        log.formal = True
        uuid = _id(log, said)
        log.begin(f"{uuid}:{log.key}")
        log.add(uuid, USER, said, meta=said.startswith(_NOT_TYPED))


def _item(log: Log, kind: str, payload: dict[str, object]) -> None:
    """Add an item of the model; in the oldest sessions only this holds the user's text."""
    call = as_string(payload.get("call_id")) or log.key
    if kind == "message" and payload.get("role") == "user":
        said = message_text(payload.get("content"))
        if said.startswith(_LOADED):
            folder = said.removeprefix(_LOADED).partition("\n")[0].strip()
            log.add(log.key, TOOL, tool="instructions", target=f"{folder}/AGENTS.md")
        elif said and not said.startswith(_NOT_TYPED):
            log.add(f"item {_id(log, said)}", MAYBE, said)
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


def _completed(log: Log, item: dict[str, object]) -> None:
    kind, uuid = item.get("type"), as_string(item.get("id")) or log.key
    failed = item.get("status") in ("failed", "declined")
    if kind == "UserMessage":
        _typed(log, message_text(item.get("content")))
    elif kind == "AgentMessage" and (said := message_text(item.get("content"))):
        log.add(_id(log, said), AGENT, said)
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


def _id(log: Log, said: str) -> str:
    """Return an id from time and text, equal in copies of a session."""
    return sha256(f"{log.stamp or log.key}\n{said}".encode("utf-8", "replace")).hexdigest()[:32]


def _parsed(text: str) -> object:
    try:
        return parsed(text)
    except (ValueError, RecursionError):
        return None
