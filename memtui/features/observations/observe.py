"""`memtui observe TEXT`: a short note for later, as one more entry of the project's notes of this month.

Notes are files of the user's as memories are, with history and undo, but no agent is given them unasked: they are found
as observations.
"""

from __future__ import annotations

import re
from time import gmtime, strftime

from memtui import markers, mask
from memtui.agents.known.memtui_native import notes_root
from memtui.engine import now_ms
from memtui.engine.model import Address, Conflict
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memtui.features.entries import guarded
from memtui.features.entries.parse import parse
from memtui.features.observations.derive import catch_up
from memtui.features.observations.rules import clean
from memtui.features.observations.verbs import refuse_unobserved
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.times import rfc3339

FORMAT = "notes"
MOST = 16_384
"""Bytes of one note."""


def observe(call: Call) -> int:
    """Keep a note."""
    refuse_unobserved(call)
    text = _checked(call)
    now = now_ms()
    tags = _tags(call)
    head = " ".join((f"## {rfc3339(now)}", call.args.text("type") or "note", *(f"#{tag}" for tag in tags if tag)))
    entry = f"{head}\n\n{text}\n".encode()
    if len(parse(entry, FORMAT).entries) != 1:
        raise RefusedError(
            "A line that begins with `## ` would begin another note.", code="E_ENTRY", hint="Use `###` or a list."
        )
    root = notes_root(call.session.surroundings)
    call.engine.roots.add([root])
    address = Address(root.id, f"{strftime('%Y-%m', gmtime(now / 1_000))}.md")
    _append(call, address, entry)
    catch_up(call.engine)
    if call.out.json:
        call.out.document({"result": "observed", "address": str(address)})
    else:
        call.out.line_of("observed", str(address))
    return outcomes.DONE


def _checked(call: Call) -> str:
    """The text of the note, masked.

    Raises:
        UsageError: there is none. RefusedError: `E_TOO_BIG`, or its writer marked it as not to be kept.
    """
    words = call.args.texts("text")
    if words == ["-"]:
        call.args.values["source"] = "-"
        text = call.given_text().decode("utf-8", "replace")
    else:
        text = " ".join(words)
    if not text.strip():
        raise UsageError("There is no note.", hint="Write what to keep: memtui observe the pool dies at night")
    if len(text.encode("utf-8", "surrogatepass")) > MOST:
        raise RefusedError(f"A note has {MOST:,} bytes at most.", code="E_TOO_BIG", hint="Keep it as a memory instead.")
    cut = markers.cut(text)
    if cut.no_memory:
        raise RefusedError("The text is marked as not to be kept.", code="E_ACCESS", hint="Take <no-memory> out of it.")
    masked = mask.mask(cut.text)
    for count, what in ((len(masked.secrets), "secret"), (len(cut.spans), "private part")):
        if count:
            call.out.say(f"Left out: {count} {what}{'s' * (count > 1)}.")
    return masked.text.strip()


def _tags(call: Call) -> list[str]:
    """The tags, without those that are a secret or marked as private: in a tag nothing stands for what is left out."""
    given = [tag.lstrip("#") for tag in call.args.texts("tag")]
    kept = [re.sub(r"[^\w-]", "-", tag) for tag in given if clean(tag) == tag]
    kept = [tag for tag in kept if clean(tag) == tag]
    if len(kept) < len(given):
        call.out.say(f"Left out: {len(given) - len(kept)} tag{'s' * (len(given) - len(kept) > 1)} that nobody may see.")
    return kept


def _append(call: Call, address: Address, entry: bytes) -> None:
    try:
        result = guarded.add(call.engine, address, entry.strip(), actor=call.actor)
    except NotFoundError:
        call.engine.memories.create(address, entry, actor=call.actor)
        return
    if isinstance(result, Conflict):
        raise ConflictError(f"{address} was written by others again and again.", hint="Try it again.")
