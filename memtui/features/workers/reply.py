"""Parsing a worker's answer: one JSON object, held to sizes, enumerations and what the worker was shown.

A reply holds no paths: memories are named by alias (`m3`), new ones by a plain name. Its text is data for people to
review; `proposals` looks for secrets and orders in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memtui.engine.disk import paths
from memtui.engine.model import TYPES
from memtui.errors import RefusedError

ADD, REPLACE, MERGE, REMOVE, MOVE, DESCRIBE = "add", "replace", "merge", "remove", "move", "describe"
SCOPES = ("global", "project")
MAX_BYTES = 262_144
MAX_DEPTH = 8
MAX_OPERATIONS = 20
MIN_QUOTE = 12
"""Minimum length of a quote, so that it identifies the speaker."""
_NUMBER, _TRIES = 20, 1_000
_SIZES = {"summary": 2_000, "description": 300, "why": 2_000, "how_to_apply": 2_000, "reason": 500, "quote": 4_000}
"""Maximum bytes of texts, where not 64; a memory's text is limited by the prompt."""
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*+")
_TARGETS = {ADD: (0, 0), REPLACE: (1, 1), MERGE: (2, 20), REMOVE: (1, 20), MOVE: (1, 1), DESCRIBE: (1, 1)}
"""Minimum and maximum number of target memories per kind."""
_NEEDS = {ADD: ("name", "text"), REPLACE: ("text",), MERGE: ("text",), DESCRIBE: ("description",), REMOVE: ("reason",)}
_TEXT: dict[str, Any] = {"type": "string"}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _object(**of: dict[str, Any]) -> dict[str, Any]:
    """Return an object schema; every key is required because some providers accept no other."""
    return {"type": "object", "properties": of, "required": list(of), "additionalProperties": False}


_OPERATION = _object(
    op={"type": "string", "enum": list(_TARGETS)},
    targets=_list(_TEXT),
    type={"type": "string", "enum": ["", *TYPES]},
    scope={"type": "string", "enum": ["", *SCOPES]},
    **dict.fromkeys(("name", "description", "text", "why", "how_to_apply", "reason"), _TEXT),
    evidence=_list(_object(turn=_TEXT, quote=_TEXT)),
    confidence={"type": "number"},
)
SCHEMA = _object(summary=_TEXT, operations=_list(_OPERATION))
"""JSON Schema of a reply; `read_reply` checks what it cannot express."""
_EMPTY = {"string": "", "array": [], "number": 0.5}


class ReplyLimits(NamedTuple):
    """Limits on the reply to one prompt."""

    kinds: tuple[str, ...] = tuple(_TARGETS)
    most: int = MAX_OPERATIONS
    shown: Mapping[str, bool] = {}
    """Aliases of the memories shown, and whether with text, without which they cannot be changed."""
    turns: Mapping[str, str] | None = None
    """The user's messages by alias, when operations must quote one."""
    scopes: tuple[str, ...] = SCOPES
    text_bytes: int = 65_536


class Quote(NamedTuple):
    """Evidence given by a worker."""

    turn: str
    quote: str


class ReplyOperation(NamedTuple):
    """A suggested change; unused fields are empty."""

    op: str
    """`ADD`, `REPLACE`, `MERGE`, `REMOVE`, `MOVE` or `DESCRIBE`."""
    targets: tuple[str, ...] = ()
    """Aliases; of a merge the first one stays."""
    type: str = ""
    scope: str = ""
    name: str = ""
    description: str = ""
    text: str = ""
    why: str = ""
    how_to_apply: str = ""
    reason: str = ""
    evidence: tuple[Quote, ...] = ()
    confidence: float = 0.5


class Reply(NamedTuple):
    """A parsed reply."""

    summary: str
    operations: tuple[ReplyOperation, ...]
    dropped: int = 0
    """Number of operations without a valid quote, which were removed."""


class _FaultError(Exception):
    """A rule broken by a reply; the text is one sentence for the worker."""

    def __init__(self, sentence: str, code: str = "E_REPLY") -> None:
        super().__init__(sentence)
        self.code = code


def read_reply(text: str, limits: ReplyLimits) -> Reply:
    """Parse the first JSON object in a worker's answer; raises `E_REPLY` or `E_NAME` with every fault."""
    read: list[ReplyOperation] = []
    faults: list[_FaultError] = []
    summary = ""
    try:
        found = _parsed(text)
        if "operations" not in found:
            raise _FaultError("It has no operations; an empty list says that there is nothing to do.")
        summary = _value(found.get("summary", ""), "summary", _TEXT, limits)
        operations = _value(found["operations"], "operations", _list({}), limits)
        _known(found, SCHEMA, "the reply")
        for number, one in enumerate(operations, start=1):
            try:
                read.append(_operation(one, limits))
            except _FaultError as fault:
                faults.append(_FaultError(f"Operation {number}: {fault}", fault.code))
        taken = [target for operation in read for target in operation.targets]
        if len(taken) > len(set(taken)):
            faults.append(_FaultError("Two operations name the same memory."))
    except _FaultError as fault:
        faults.append(fault)
    if faults:
        raise _refused(faults)
    kept = tuple(one for one in read if limits.turns is None or _quoted(one, limits.turns))
    return Reply(summary, kept, len(read) - len(kept))


def _refused(faults: list[_FaultError]) -> RefusedError:
    code = next((fault.code for fault in faults if fault.code != "E_REPLY"), "E_REPLY")
    return RefusedError(
        f"The worker's reply cannot be used: {' '.join(map(str, faults))[:2_000]}",
        code=code,
        unharmed="Nothing of it was written.",
        hint="Run it again; `--show-prompt` shows what the worker is asked.",
    )


def _parsed(text: str) -> dict[str, object]:
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise _FaultError(f"It has more than {MAX_BYTES:,} bytes.")
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer)
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            found, _ = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            start = text.find("{", max(start + 1, error.pos))
        except RecursionError:
            raise _FaultError(f"It is nested deeper than {MAX_DEPTH}.") from None
        else:
            _measure(found, MAX_DEPTH)
            return dict(found)
    raise _FaultError("There is no object of JSON in it.")


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _FaultError("A key stands twice in one object.")
    return found


def _constant(name: str) -> float:
    raise _FaultError(f"{name} is no number of JSON.")


def _integer(digits: str) -> int:
    if len(digits) > _NUMBER:
        raise _FaultError("A number has too many digits.")
    return int(digits)


def _measure(value: object, left: int) -> None:
    if isinstance(value, dict | list):
        if not left:
            raise _FaultError(f"It is nested deeper than {MAX_DEPTH}.")
        for one in value.values() if isinstance(value, dict) else value:
            _measure(one, left - 1)


def _value(value: object, key: str, schema: dict[str, Any], limits: ReplyLimits) -> Any:
    kind = schema.get("type")
    if kind == "object":
        if not isinstance(value, dict):
            raise _FaultError(f"{key} must be an object.")
        _known(value, schema, key)
        parts = schema["properties"].items()
        return {name: _value(value.get(name, _EMPTY[one["type"]]), name, one, limits) for name, one in parts}
    if kind == "array":
        most = limits.most if key == "operations" else MAX_OPERATIONS
        if not isinstance(value, list) or len(value) > most:
            raise _FaultError(f"{key} must be a list of at most {most}.")
        return [_value(one, key, schema["items"], limits) for one in value]
    if kind == "number":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise _FaultError(f"{key} must be a number from 0 to 1.")
        return float(value)
    return _text(value, key, schema.get("enum"), limits) if kind else value


def _text(value: object, key: str, words: list[str] | None, limits: ReplyLimits) -> str:
    if key == "targets":
        if not isinstance(value, str) or value not in limits.shown:
            raise _FaultError("a target is none of the memories that are shown.", "E_NAME")
        return value
    if not isinstance(value, str):
        raise _FaultError(f"{key} must be a text.")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise _FaultError(f"{key} has half a character.") from None
    most = limits.text_bytes if key == "text" else _SIZES.get(key, 64)
    if "\0" in value or size > most:
        raise _FaultError(f"{key} must have at most {most:,} bytes, and no NUL.")
    chosen = {"op": limits.kinds, "scope": ("", *limits.scopes)}.get(key, words)
    if chosen is not None and value not in chosen:
        raise _FaultError(f"{key} must be one of {', '.join(filter(None, chosen))}.")
    return value


def _known(value: Mapping[str, object], schema: dict[str, Any], what: str) -> None:
    if unknown := sorted(value.keys() - schema["properties"].keys()):
        raise _FaultError(f"{what} has unknown keys: {', '.join(unknown)[:200]!a}.")


def _operation(value: object, limits: ReplyLimits) -> ReplyOperation:
    found = _value(value, "it", _OPERATION, limits)
    for key in ("name", "description", "why", "how_to_apply", "reason"):
        found[key] = found[key].strip()
    quotes = tuple(Quote(**one) for one in found["evidence"])
    operation = ReplyOperation(**found | {"targets": tuple(found["targets"]), "evidence": quotes})
    kind, targets = operation.op, operation.targets
    if operation.name:
        _check_name(operation.name)
    for key in _NEEDS.get(kind, ()):
        if not getattr(operation, key).strip():
            raise _FaultError(f"{kind} needs {key}.")
    least, most = _TARGETS[kind]
    if not least <= len(set(targets)) == len(targets) <= most:
        raise _FaultError(f"{kind} needs {least or 'no'}{' or more' * (most > least)} targets, each once.")
    if kind in (REPLACE, MERGE) and not all(limits.shown[target] for target in targets):
        raise _FaultError(f"{kind} needs targets whose text is shown.")
    if kind == MOVE and not (operation.type or operation.scope):
        raise _FaultError("move needs a type or a scope.")
    return operation


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or paths.name_problem(f"{name}.md"):
        raise _FaultError(
            "name must be small letters and digits with single hyphens between, and not reserved.", "E_NAME"
        )


def _quoted(operation: ReplyOperation, turns: Mapping[str, str]) -> bool:
    return any(
        len(words := _folded(one.quote)) >= MIN_QUOTE and words in _folded(turns.get(one.turn, ""))
        for one in operation.evidence
    )


def _folded(text: str) -> str:
    return " ".join(text.split())
