"""Token usage of model replies in session files; a reply counts once, also when a fork copied it."""

from __future__ import annotations

from memtui.transcripts.event import AGENT, Log, Reader, as_mapping, as_string

_MOST = 10**9


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else 0


def _known(log: Log, record: dict[str, object]) -> None:
    log.session = as_string(record.get("sessionId")) or log.session
    log.cwd = as_string(record.get("cwd")) or log.cwd


def _claude(log: Log, record: dict[str, object]) -> bool:
    _known(log, record)
    message = as_mapping(record.get("message"))
    used = as_mapping(message.get("usage"))
    read = sum(
        _number(used.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    )
    if read:
        log.add(as_string(message.get("id")) or log.key, AGENT, str(read))
    return True


def _qwen(log: Log, record: dict[str, object]) -> bool:
    _known(log, record)
    used = as_mapping(record.get("usageMetadata"))
    total = _number(used.get("totalTokenCount")) or sum(
        _number(used.get(name)) for name in ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    )
    if total:
        log.add(as_string(record.get("uuid")) or log.key, AGENT, str(total))
    return True


def _codex(log: Log, record: dict[str, object]) -> bool:
    said = as_mapping(record.get("payload"))
    if record.get("type") == "session_meta":
        log.session, log.cwd = as_string(said.get("id")) or log.session, as_string(said.get("cwd")) or log.cwd
    used = as_mapping(as_mapping(said.get("info")).get("last_token_usage"))
    total = _number(used.get("total_tokens")) or _number(used.get("input_tokens")) + _number(used.get("output_tokens"))
    if said.get("type") == "token_count" and total:
        log.add(f"{as_string(record.get('timestamp'))}:{log.key}", AGENT, str(total))
    return True


READERS = {"claude-code": Reader(_claude, 1), "qwen-code": Reader(_qwen, 1), "codex": Reader(_codex, 1)}
"""By agent id; the text of each event is its token count."""
