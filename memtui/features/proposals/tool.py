"""The tool `memory_propose`: a client suggests one change, and a person decides; it writes no memory."""

from __future__ import annotations

from collections.abc import Mapping

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Remove, Rename, Step, Write
from memtui.engine.proposal import WAITING, Evidence
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.feature import Offer
from memtui.features.proposals.value import QUOTE_CHARS, WHY_CHARS, judge_all, proposal
from memtui.given import reach
from memtui.memory_tool.call import Refusal, Result, SecretTouched, check_masks, parse_path

MAX_OPEN = 20
MAX_BYTES = 65_536
_MOST = {"kind": 10, "path": 1_024, "new_path": 1_024, "why": WHY_CHARS, "quote": QUOTE_CHARS}
"""Maximum characters of fields that are no memory texts."""
_NEEDS = {"add": ("text",), "replace": (), "remove": (), "move": ("new_path",)}
_MAY = {"replace": ("text", "old_text")}
_SAID = {
    "kind": "",
    "path": "",
    "text": "to add, or to come in",
    "old_text": "to go; all when left out",
    "new_path": "",
    "why": "",
    "quote": "what the user said",
}
_PROPERTIES = {
    name: {"type": "string", **({"description": said} if said else {"enum": list(_NEEDS)} if name == "kind" else {})}
    for name, said in _SAID.items()
}


def offer(_engine: Engine) -> Offer:
    """Describe the tool."""
    return Offer(
        "Propose one change of a memory to the user, who decides.",
        {"type": "object", "properties": _PROPERTIES, "required": ["kind", "path", "why"]},
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    )


def call(engine: Engine, actor: Actor, given: Mapping[str, object]) -> Result:
    """Store one proposal and report its state; raises UsageError for a bad field, or why it is refused."""
    fields = _fields(given)
    try:
        step = _step(engine, fields)
    except Refusal as refusal:
        return Result(ok=False, text=refusal.text)
    waiting = engine.proposals.all((*WAITING, "accepted"))
    if sum(one.by == actor.name for one in waiting) >= MAX_OPEN:
        raise RefusedError(
            f"{MAX_OPEN} proposals of {actor.name} wait already.",
            code="E_TOO_MANY",
            hint="The user decides about them with memtui review.",
        )
    evidence = [Evidence("request", "mcp", quote=fields.get("quote", ""))]  # of any client: a rejection holds for all
    made = proposal(engine, fields["kind"], [step], actor.name, fields["why"], evidence)
    (kept,) = engine.proposals.add(judge_all(engine, [made]))
    if kept.state == "rejected":
        why = f": {kept.note}" if kept.note else ""
        again = "" if engine.proposals.refusal(made) else " It may come again when the memory has changed."
        return Result(ok=False, text=f"The user rejected this{why}.{again}")
    if kept.state == "blocked":
        return Result(ok=False, text=f"This cannot be accepted. {kept.note}")
    return Result(ok=True, text=f"Proposed as number {kept.id}; the user decides. {kept.note}".rstrip())


def _fields(given: Mapping[str, object]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in given.items():
        if name not in _SAID:
            raise UsageError(f"There is no field {name!r}.", hint=f"Fields: {', '.join(_SAID)}.")
        if value in (None, ""):
            continue  # a strict schema requires every field
        if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
            raise UsageError(f"{name!r} must be a text.", hint="Send it as a string of Unicode.")
        if len(value) > _MOST.get(name, MAX_BYTES) or len(value.encode()) > MAX_BYTES:
            most = f"{_MOST[name]:,} characters" if name in _MOST else f"{MAX_BYTES:,} bytes"
            raise UsageError(f"{name!r} is too long.", hint=f"Send at most {most}.")
        fields[name] = value
    kind = fields.get("kind", "")
    if kind not in _NEEDS:
        raise UsageError(f"'kind' must be one of {', '.join(_NEEDS)}.")
    needed = ("path", "why", *_NEEDS[kind])
    for name in needed:
        if not fields.get(name, "").strip():
            raise UsageError(f"{kind} requires {name!r}.")
    if kind == "replace" and not fields.keys() & {"text", "old_text"}:
        raise UsageError("replace requires 'text' or 'old_text'.")
    for name in fields.keys() - {"kind", "quote", *needed, *_MAY.get(kind, ())}:
        raise UsageError(f"{kind} takes no {name!r}.")
    return fields


def _step(engine: Engine, fields: Mapping[str, str]) -> Step:
    kind, address = fields["kind"], _address(engine, fields["path"])
    text = fields.get("text", "").encode()
    if kind == "add":
        return Write(address, text, None)
    row = engine.rows.get(address)
    if not reach.reviewed(row):
        raise RefusedError(
            f"{fields['path']} came with the checkout, and nobody has reviewed it.",
            code="E_UNREVIEWED",
            hint="Ask the user to review it.",
        )
    there = engine.read(address)
    if kind == "remove":
        return Remove(address, there.sha256)
    if kind == "move":
        return Rename(address, _address(engine, fields["new_path"]), there.sha256)
    old = fields.get("old_text", "").encode()
    alone = not old or there.bytes.count(old) == 1
    after = (there.bytes.replace(old, text) if old else text) if alone else there.bytes
    try:
        check_masks(there.bytes, after, old.decode())
    except SecretTouched:
        raise RefusedError(
            f"This would change a secret in {fields['path']} that is masked for you.",
            code="E_MASKED",
            hint="Propose a change of the text around it.",
        ) from None
    if not alone:
        raise NotFoundError(f"'old_text' does not stand in {fields['path']} exactly once.", hint="View it first.")
    return Write(address, after, there.sha256)


def _address(engine: Engine, path: str) -> Address:
    place = parse_path(path)
    if not place.parts:
        raise Refusal(f"'{path}' is a directory; give a file path under /memories/<scope>/")
    root = engine.roots.find(f"memtui:{place.scope}")
    engine.access.require(root)
    return Address(root.id, place.path)
