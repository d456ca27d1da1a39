"""What no proposal may do, whoever makes it: touch what is pinned or protected, bring secrets, hidden signs or orders.

One validator for every door. What it refuses is kept as `blocked`, with why, so that a person sees it and nobody can
accept it; that a text is lost is only said. Only what a proposal brings is judged: what a memory holds already stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memtui.engine.disk import paths
from memtui.engine.frontmatter import EMPTY, NONE, OK
from memtui.engine.frontmatter.read import split
from memtui.engine.model import Address, Remove, Rename, Step, Write
from memtui.engine.proposal import Proposal
from memtui.errors import MemtuiError
from memtui.features.proposals.value import only_expects, text_of
from memtui.given import neutral
from memtui.mask import secrets
from memtui.pointers.lines import is_text
from memtui.safe_text import has_hidden

if TYPE_CHECKING:
    from memtui.engine import Engine

PASSING = (" is pinned.", " is read-only.")
"""How sentences end that say why a proposal is blocked as long as that is so."""
LOST = 0.2
"""The share of a memory's words above which a proposal is said to lose text."""
_ORDERS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|above|earlier) (?:\w+ )?"
    r"(?:instructions?|rules|prompts?|messages)"
    r"|\b(?:do not|don't|never) (?:tell|inform|show|mention (?:this|it) to) the (?:user|human)"
    r"|ignorier\w* (?:alle |die |sämtliche )*(?:vorherigen|bisherigen|obigen) (?:\w+ )?(?:anweisungen|regeln)"
    r"|ignore[sz]? (?:toutes? )?(?:les )?(?:instructions|consignes) (?:précédentes|antérieures)"
    r"|ignora (?:todas? )?(?:las )?(?:instrucciones|reglas) (?:anteriores|previas)"
    r"|忽略(?:所有|全部)?(?:之前|以上|先前)的?(?:指令|指示|规则)|(?:以前|これまで|上記)の(?:すべての)?(?:指示|命令)を無視"
)
"""Orders that take over an agent, in six languages, and what hides from the user; `trust.md` I01 and I03."""


def bounded(engine: Engine, proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Judge proposals, each as it is: those that may not be done come back `blocked`, with why in `note`.

    The versions they start from are kept, so that they can be merged when their memories have changed by then.
    """
    chosen = tuple(proposals)
    bases = (text_of(engine, step.address, step.expected_sha256) for one in chosen for step in one.steps)
    engine.proposals.keep_base(*(base for base in bases if base is not None))
    return tuple(_bounded(engine, one) for one in chosen)


def _bounded(engine: Engine, one: Proposal) -> Proposal:
    if one.state == "blocked":
        return one
    why = barred(engine, one) or next(_brought(engine, one), "")
    if why:
        return one._replace(state="blocked", note=why)
    return one._replace(note=lost(engine, one))


def barred(engine: Engine, one: Proposal) -> str:
    """Say why nobody may accept a proposal as things are now: what it changes is pinned or protected; else nothing."""
    for step in one.steps:
        for address in (step.address, step.new) if isinstance(step, Rename) else (step.address,):
            try:
                root = engine.roots.find(address.root)
                paths.split(address.path)
                if (step.expected_sha256 is None and isinstance(step, Write)) or address != step.address:
                    paths.creatable(address.path)
            except MemtuiError as error:
                return error.message
            if root.read_only:
                return f"{root.id} is read-only."
            if paths.matches(address.path, root.policy.protected):
                return f"{address} is protected."
        changes = (step.expected_sha256 is not None or not isinstance(step, Write)) and not only_expects(step)
        if changes and _pinned(engine, step.address):
            return f"{step.address} is pinned."
    return ""


def _pinned(engine: Engine, address: Address) -> bool:
    try:
        return engine.rows.get(address).pinned
    except MemtuiError:
        return False  # it is not there, which is said when the proposal is looked at


def _brought(engine: Engine, one: Proposal) -> Iterator[str]:
    """Say what of the texts a proposal writes must not come in."""
    for step in one.steps:
        if not isinstance(step, Write):
            continue
        before = text_of(engine, step.address, step.expected_sha256) or b""
        if not (is_text(step.data) and is_text(before)):
            yield f"{step.address} is no text."
            continue
        limit = engine.roots.find(step.address.root).policy.write_bytes
        if len(step.data) > max(limit, len(before)):
            yield f"{step.address} would have {len(step.data):,} bytes; the limit is {limit:,}."
        text, had = step.data.decode(), before.decode()
        for secret in secrets(text):
            if text[secret.start : secret.end] not in had:
                yield f"It brings what looks like a secret: {secret.kind}."
        known = set(had.splitlines())
        new = "\n".join(line for line in text.splitlines() if line not in known)
        if has_hidden(new.replace("\t", " ").removeprefix("\ufeff").replace("\n", " ")):
            yield "It brings characters that nobody sees."
        if _ORDERS.search(new) or neutral.body(new) != new:
            yield "It brings what reads as orders to agents."
        yield from _fence(one, step, before)


def _fence(one: Proposal, step: Write, before: bytes) -> Iterator[str]:
    """Say that a text would get a head that it has no reason to have."""
    front = split(step.data)
    if front.status not in (NONE, OK, EMPTY) and split(before).status != front.status:
        yield "Its front matter cannot be read safely."
    elif front.status != NONE and step.expected_sha256 and one.kind != "describe" and split(before).status == NONE:
        yield "It brings a fence of front matter into a text that has none."


def lost(engine: Engine, one: Proposal) -> str:
    """Say of which memories a proposal loses more than a fifth of the words; nothing when it loses none.

    Words that it writes somewhere, or that stand in a memory named as evidence, are not lost.
    """
    kept = Counter[str]()
    for step in one.steps:
        kept += _words(step.data if isinstance(step, Write) else b"")
    targets = {str(step.address) for step in one.steps}
    for shown in one.evidence:
        if shown.kind == "memory" and shown.name not in targets:
            kept += _words(text_of(engine, Address.parse(shown.name), shown.sha or None) or b"")
    said = []
    for step in one.steps:
        had = _words(_before(engine, step))
        gone = (had - kept).total()
        if gone > LOST * had.total():
            said.append(f"{step.address} loses text: {gone:,} of {had.total():,} words.")
    return " ".join(said)


def _before(engine: Engine, step: Step) -> bytes:
    """What a step takes away or writes over."""
    return (text_of(engine, step.address, step.expected_sha256) or b"") if isinstance(step, (Write, Remove)) else b""


def _words(data: bytes) -> Counter[str]:
    return Counter(re.findall(r"\w+", data.decode("utf-8", "replace").casefold()))
