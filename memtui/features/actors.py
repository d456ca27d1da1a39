"""How those who write memories, and what they did, are named for people: one name for each on every screen.

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
"""Whoever wrote where no agent keeps its memories, and through none of our doors."""
ANOTHER = "another window of yours"
"""A person who did something, to the same person elsewhere."""
_OURS = {"lifecycle": "memtui", "recovery": "memtui", "tool": "memory tool", "http": "HTTP client"}
_OURS |= {"command": "your worker", "model": "a model"}
"""What wrote that has no name of its own, by what its actor begins with."""
_DOORS = ("mcp", "http", "agent", "tool")
_NOBODY = ("files", "memtui", "agents-md")
"""Beginnings of ids of roots that are no agent's own."""

KINDS = {"modified": "changed", "created": "new", "deleted": "deleted", "renamed": "renamed"}
"""Kinds of changes in the words of the screen."""

VERBS = {
    "save": "edit", "create": "create", "rename": "rename", "delete": "trash", "restore": "restore", "pin": "pin",
    "unpin": "unpin", "undo": "undo", "redo": "redo", "modified": "edit", "created": "create", "deleted": "delete",
    "renamed": "rename", "restored": "restore", "reviewed": "review", "observed": "decide",
}  # fmt: skip
"""Operations of the audit in the words of the screen."""


@lru_cache(4096)
def who_words(actor: str, root: str = "") -> str:
    """Name a writer, for people.

    Args:
        actor: as the ledger has it.
        root: the id of the root it wrote in; those of agents begin with the agent's (`docs/layouts.md`).

    Returns:
        `you`; the name of a client that came through a door of ours, `Claude Code`; `Claude Code?` where nobody knows
        who wrote in that agent's own folder; else `outside memtui`.
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
    """Name a writer in a table of a command: what is piped is for programs, and stays as it is stored."""
    return who_words(actor, root) if out.terminal else actor


def did(who: str, verb: str, *, begins: bool = False) -> str:
    """Say what a writer did: `Claude Code? saved`; `saved outside memtui`; `begins` a sentence with it."""
    if who in ("", UNKNOWN):
        return f"Somebody {UNKNOWN} {verb}" if begins else f"{verb} {UNKNOWN}"
    words = f"{who} {verb}"
    return words[0].upper() + words[1:] if begins and who == ANOTHER else words


def by(who: str) -> str:
    """Say who did it: `by Claude Code?`; `outside memtui`."""
    return UNKNOWN if who in ("", UNKNOWN) else f"by {who}"


def session_words(engine: "Engine", address: Address, sha: str | None) -> list[str]:
    """Say which agent's session wrote a text, as its own file says: what was asked, and what it had taken in before.

    Args:
        engine: where touches are kept.
        address: the memory.
        sha: the text; None for none.
    """
    touch = engine.touches.maker(engine.roots.uid(engine.roots.find(address.root)), address.path, sha) if sha else None
    if touch is None:
        return []
    from memtui.agents.table import title_of
    from memtui.transcripts.prompts import prompt_at

    after = f", after {touch.taint}" if touch.taint else ""
    asked = prompt_at(touch.agent, touch.prompt)
    said = f"Session {visible(touch.session)} of {title_of(touch.agent)} says it wrote this{visible(after)}."
    return [said, *([f"Asked: {visible(asked)}"] if asked else [])]


def origins(engine: "Engine", records: Iterable[AuditRecord]) -> dict[int, "list[Proposal]"]:
    """Find what was proposed of what records did, by the number of the record."""
    asked = [one for one in records if one.txn]
    proposed = engine.proposals.of({one.txn for one in asked})
    found = {one.seq: [each for each in proposed.get(one.txn, ()) if str(one.address) in each.targets] for one in asked}
    return {seq: some for seq, some in found.items() if some}


def origin_words(proposed: "Iterable[Proposal]") -> list[str]:
    """Say for people who proposed what somebody accepted, and what in which session said so."""
    said = []
    for one in proposed:
        heard = next((shown for shown in one.evidence if shown.kind == "turn"), None)
        told = f", from session {heard.name[:8]}: {heard.quote}" if heard is not None else ""
        said.append(visible(f"Proposal {one.id} of {who_words(one.by)}{told}"))
    return said


def taints(engine: "Engine", changes: Iterable[Change]) -> dict[Address, str]:
    """Say of which changes a session that wrote them says it had taken in something from outside before, and what."""
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
    """What a session had taken in that wrote some of its lines, where none says it wrote the whole text."""
    sha, origins = engine.origins.of(root, change.address.path)
    if sha != change.after:
        return ""
    before = max((one.at for one in engine.history.of(change.address) if one.sha256 == change.before), default=0)
    wrote = engine.touches.numbered({one.touch for one in origins if one.touch and one.at > before})
    return next((one.taint for one in wrote.values() if one.taint), "")


def common_place(addresses: list[Address]) -> str:
    """The folder or root that all lie in; nothing when they lie in several roots."""
    roots = {address.root for address in addresses}
    if len(roots) != 1:
        return f"{len(roots)} roots"
    folders = [os.path.dirname(address.path) for address in addresses]
    common = os.path.commonpath(folders) if all(folders) else ""
    return f"{roots.pop()}{'/' if common else ''}{common}"
