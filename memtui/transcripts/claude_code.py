"""Reader of Claude Code's sessions, a tree of records; seen in 2.1.

Sources: anthropics/claude-agent-sdk-python, `_internal/sessions.py`, and parsers' tests of others.
"""

from memtui.transcripts.event import (
    AGENT,
    NOTHING,
    SUMMARY,
    TOOL,
    USER,
    Log,
    as_list,
    as_mapping,
    as_string,
    message_text,
    target_of,
)

KNOWN = frozenset(
    (
        *("user", "assistant", "system", "attachment", "summary", "progress", "file-history-snapshot", "last-prompt"),
        *("queue-operation", "custom-title", "ai-title", "agent-name", "mode", "permission-mode", "tag", "pr-link"),
    )
)
_NOT_TYPED = (
    "<command-",
    "<local-command",
    "<system-reminder>",
    "<task-notification>",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
)
"""Beginnings of user messages that no person typed."""


def head(log: Log, record: dict[str, object]) -> tuple[str, bool]:
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


def read(log: Log, record: dict[str, object]) -> bool:
    """Add a record; see `Reader`."""
    kind = as_string(record.get("type"))
    uuid, in_tree = head(log, record)
    if kind not in KNOWN:
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
        _user(log, record, uuid, content, in_tree=in_tree)
    return True


def _user(log: Log, record: dict[str, object], uuid: str, content: object, *, in_tree: bool) -> None:
    results = [part for part in map(as_mapping, as_list(content)) if part.get("type") == "tool_result"]
    for part in results:
        failed = part.get("is_error") is True
        gave = as_mapping(record.get("toolUseResult")) if len(results) == 1 else NOTHING
        log.result(as_string(part.get("tool_use_id")), message_text(part.get("content")), failed=failed, gave=gave)
    said = message_text(content)
    if results or not said:
        return
    meta = record.get("isMeta") is True or record.get("isCompactSummary") is True or said.startswith(_NOT_TYPED)
    if in_tree and not meta:
        log.branch(uuid)
        log.begin(uuid)
    log.add(uuid, USER, said, meta=meta, tool=SUMMARY if record.get("isCompactSummary") is True else "")
