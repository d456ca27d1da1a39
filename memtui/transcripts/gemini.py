"""Reader of Gemini CLI's sessions, in which the last message of an id counts; seen in 0.61.

It is apart because one agent is one file. Source: google-gemini/gemini-cli,
`packages/core/src/services/chatRecordingService.ts`. Older releases write one object with all messages.
"""

from memtui.transcripts.event import AGENT, TOOL, USER, Log, as_list, as_mapping, as_string, message_text, target_of


def read(log: Log, record: dict[str, object]) -> bool:
    """Add a record; see `Reader`."""
    if "$rewindTo" in record:
        log.rewind(as_string(record["$rewindTo"]))
        return True
    if "$set" in record:
        return _session(log, dict(as_mapping(record["$set"])))
    if "sessionId" in record:
        return _session(log, record)
    return _message(log, record)


def _session(log: Log, record: dict[str, object]) -> bool:
    """Read session fields; messages among them replace all earlier ones."""
    log.session = as_string(record.get("sessionId")) or log.session
    log.sidechain = record.get("kind", "subagent" if log.sidechain else "main") == "subagent"
    messages = as_list(record.get("messages"))
    if messages:
        log.rewind("")
    for message in messages:
        log.record(*log.line, as_mapping(message).get("timestamp"))
        _message(log, dict(as_mapping(message)))
    return True


def _message(log: Log, record: dict[str, object]) -> bool:
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
