"""Display names of writers and of what they did: one name for each on every screen.

What is stored, printed as JSON or piped stays the actor's own name.
"""

import os.path
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from memtui.agents.table import KNOWN, ONLY_RUN, canonical, traces_of
from memtui.engine.model import Address, AuditRecord, Change, is_person
from memtui.safe_text import visible

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.proposal import Proposal
    from memtui.wire.output import Output

UNKNOWN = "outside memtui"
"""A writer that used none of our doors, where no agent keeps its memories."""
ANOTHER = "another window of yours"
"""The user, in another window."""
_OURS = {"lifecycle": "memtui", "recovery": "memtui", "tool": "memory tool", "http": "HTTP client"}
_OURS |= {"command": "your worker", "model": "a model"}
"""The display name of actors that have none of their own, by their prefix."""
_DOORS = ("mcp", "http", "agent", "tool")
_NOBODY = ("files", "memtui", "agents-md")
"""Prefixes of root ids that belong to no agent."""

KINDS = {"modified": "changed", "created": "new", "deleted": "deleted", "renamed": "renamed"}
"""Display words for kinds of changes."""

VERBS = {
    "save": "edit", "create": "create", "rename": "rename", "delete": "trash", "restore": "restore", "pin": "pin",
    "unpin": "unpin", "undo": "undo", "redo": "redo", "modified": "edit", "created": "create", "deleted": "delete",
    "renamed": "rename", "restored": "restore", "reviewed": "review", "observed": "decide",
}  # fmt: skip
"""Display words for operations of the audit."""


@lru_cache(4096)
def who_words(actor: str, root: str = "") -> str:
    """Name a writer for people.

    Returns `you`; the name of a known client, `Claude Code`; `Claude Code?` for an unknown writer in that agent's
    folder (`root` begins with its id); else `outside memtui`.
    """
    if is_person(actor):
        return "you"
    if actor == "outside":
        agent, _, rest = root.partition(":")
        known = None if agent in _NOBODY or "instructions" in rest or "above" in rest else traces_of(agent)
        return f"{known.title}?" if known is not None and rest else UNKNOWN
    door, colon, name = actor.partition(":")
    if not colon or door in ("lifecycle", "recovery"):
        return _OURS.get(door, actor)
    name, slash, part = name.partition("/") if door == "agent" else (name, "", "")
    plain = canonical(name)
    titles = (one.title for one in (*KNOWN, *ONLY_RUN) if plain == one.id or plain in one.client)
    called = next(titles, name if door in _DOORS else actor)
    return f"{called} ({part})" if slash else called


def who_cell(out: "Output", actor: str, root: str = "") -> str:
    """Name a writer in a command's table; piped output keeps the stored name."""
    return who_words(actor, root) if out.terminal else actor


def did(who: str, verb: str, *, begins: bool = False) -> str:
    """Say what a writer did: `Claude Code? saved`; `saved outside memtui`; `begins`: it starts a sentence."""
    if who in ("", UNKNOWN):
        return f"Somebody {UNKNOWN} {verb}" if begins else f"{verb} {UNKNOWN}"
    words = f"{who} {verb}"
    return words[0].upper() + words[1:] if begins and who == ANOTHER else words


def by(who: str) -> str:
    """Say who did it: `by Claude Code?`; `outside memtui`."""
    return UNKNOWN if who in ("", UNKNOWN) else f"by {who}"


def session_words(engine: "Engine", address: Address, sha: str | None) -> list[str]:
    """Say which agent's session wrote a text, what was asked, and what it had read before; `sha` is the text's."""
    touch = engine.touches.maker(engine.roots.uid(engine.roots.find(address.root)), address.path, sha) if sha else None
    if touch is None:
        return []
    from memtui.agents.table import title_of
    from memtui.transcripts.sessions import prompt_at

    after = f", after {touch.taint}" if touch.taint else ""
    asked = prompt_at(touch.agent, touch.prompt)
    said = f"Session {visible(touch.session)} of {title_of(touch.agent)} says it wrote this{visible(after)}."
    return [said, *([f"Asked: {visible(asked)}"] if asked else [])]


def origins(engine: "Engine", records: Iterable[AuditRecord]) -> dict[int, "list[Proposal]"]:
    """Find the proposals behind audit records, by the number of the record."""
    asked = [one for one in records if one.txn]
    proposed = engine.proposals.of({one.txn for one in asked})
    found = {one.seq: [each for each in proposed.get(one.txn, ()) if str(one.address) in each.targets] for one in asked}
    return {seq: some for seq, some in found.items() if some}


def origin_words(proposed: "Iterable[Proposal]") -> list[str]:
    """Say who proposed an accepted change, and which session it came from."""
    said = []
    for one in proposed:
        heard = next((shown for shown in one.evidence if shown.kind == "turn"), None)
        told = f", from session {heard.name[:8]}: {heard.quote}" if heard is not None else ""
        said.append(visible(f"Proposal {one.id} of {who_words(one.by)}{told}"))
    return said


def taints(engine: "Engine", changes: Iterable[Change]) -> dict[Address, str]:
    """Find the changes whose session had read something from outside before, and what it was."""
    known = engine.touches.taints()
    written = {(root, path) for root, path, _ in known}
    found = {}
    for change in changes if known else ():
        place = engine.roots.uid(engine.roots.find(change.address.root)), change.address.path
        if change.after is None or place not in written:
            continue
        if taint := known.get((*place, change.after)) or _taint_of_lines(engine, place[0], change):
            found[change.address] = visible(taint)
    return found


def _taint_of_lines(engine: "Engine", root: int, change: Change) -> str:
    """Find the taint of a session that wrote some lines, where none wrote the whole text."""
    sha, origins = engine.origins.of(root, change.address.path)
    if sha != change.after:
        return ""
    before = max((one.at for one in engine.history.of(change.address) if one.sha256 == change.before), default=0)
    wrote = engine.touches.numbered({one.touch for one in origins if one.touch and one.at > before})
    return next((one.taint for one in wrote.values() if one.taint), "")


def common_place(addresses: list[Address]) -> str:
    """Return the folder or root all addresses lie in; a count of roots when they lie in several."""
    roots = {address.root for address in addresses}
    if len(roots) != 1:
        return f"{len(roots)} roots"
    folders = [os.path.dirname(address.path) for address in addresses]
    common = os.path.commonpath(folders) if all(folders) else ""
    return f"{roots.pop()}{'/' if common else ''}{common}"
