"""Making and judging proposals: what is forbidden to all of them, and how a repeated one is recognized.

None may touch pinned or protected memories, or add secrets, hidden characters or orders.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from unicodedata import normalize

from memtui.diff.differences import byte_lines, hunks_of
from memtui.engine import Engine
from memtui.engine.disk import handles, paths
from memtui.engine.frontmatter import EMPTY, NONE, OK
from memtui.engine.frontmatter.read import split
from memtui.engine.model import Address, Rename, Step, Write
from memtui.engine.proposal import KINDS, Evidence, Proposal
from memtui.errors import MemtuiError, UsageError
from memtui.given import neutral
from memtui.mask import mask, secrets
from memtui.pointers.lines import is_text
from memtui.safe_text import has_hidden

QUOTE_CHARS = 200
WHY_CHARS = 500
PASSING = (" is pinned.", " is read-only.")
"""Endings of block reasons that may pass."""
LOST_SHARE = 0.2
"""Share of a memory's words above which a proposal loses text."""
_ORDERS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|above|earlier) (?:\w+ )?"
    r"(?:instructions?|rules|prompts?|messages)"
    r"|\b(?:do not|don't|never) (?:tell|inform|show|mention (?:this|it) to) the (?:user|human)"
    r"|ignorier\w* (?:alle |die |sämtliche )*(?:vorherigen|bisherigen|obigen) (?:\w+ )?(?:anweisungen|regeln)"
    r"|ignore[sz]? (?:toutes? )?(?:les )?(?:instructions|consignes) (?:précédentes|antérieures)"
    r"|ignora (?:todas? )?(?:las )?(?:instrucciones|reglas) (?:anteriores|previas)"
    r"|忽略(?:所有|全部)?(?:之前|以上|先前)的?(?:指令|指示|规则)|(?:以前|これまで|上記)の(?:すべての)?(?:指示|命令)を無視"
)
"""Orders that take over an agent or hide things from the user, in six languages; `trust.md` I01 and I03."""


def proposal(
    engine: Engine,
    kind: str,
    steps: Iterable[Step],
    by: str,
    why: str,
    evidence: Iterable[Evidence],
    confidence: float = 1.0,
) -> Proposal:
    """Make a proposal, not stored; `why` and quotes are masked and truncated.

    `by` is `rule:exact`, `claude` or `mcp:<client>`. Raises UsageError without evidence or for an unknown kind, and
    `E_NO_ROOT`.
    """
    chosen, shown = tuple(steps), tuple(evidence)
    if kind not in KINDS or not shown:
        raise UsageError("A proposal needs a known kind and evidence.", hint=f"Kinds: {', '.join(KINDS)}.")
    names = {name for step in chosen for name in (step.address.root, getattr(step, "new", step.address).root)}
    about = [one.name for one in shown if one.kind == "memory"]
    if not chosen:  # it only says something, about these
        names = {Address.parse(name).root for name in about}
    return Proposal(
        id="",
        run="",
        by=by,
        kind=kind,
        steps=chosen,
        marks=(),
        why=_short(why, WHY_CHARS),
        evidence=tuple(one._replace(quote=_short(one.quote, QUOTE_CHARS)) for one in shown),
        confidence=min(1.0, max(0.0, confidence)),
        fingerprint=fingerprint(engine, kind, chosen, " ".join([why, *about])),
        folders=tuple((name, engine.roots.find(name).path) for name in sorted(names)),
    )


def fingerprint(engine: Engine, kind: str, steps: Iterable[Step], why: str = "") -> str:
    """Return an HMAC of kind, targets and changed lines, or of `why` without steps; the same in later versions."""
    said = [kind]
    for step in steps:
        said.append(f"{type(step).__name__} {engine.roots.find(step.address.root).path} {step.address.path}")
        if isinstance(step, Rename):
            said.append(f"{engine.roots.find(step.new.root).path} {step.new.path}")
        elif isinstance(step, Write):
            before = byte_lines(text_of(engine, step.address, step.expected_sha256) or b"")
            after = byte_lines(step.data)
            for hunk in hunks_of(before, after):
                said += [_folded(b"".join(before[slice(*hunk.before)])), _folded(b"".join(after[slice(*hunk.after)]))]
    told = "\0".join(said if len(said) > 1 else [kind, _folded(why.encode())])
    return hmac.new(engine.proposals.key(), told.encode("utf-8", "surrogateescape"), "sha256").hexdigest()


def text_of(engine: Engine, address: Address, sha: str | None) -> bytes | None:
    """Return the text of a version from disk or the store; None when neither has it."""
    if sha is None:
        return None
    try:
        there = engine.read(address)
        if there.sha256 == sha:
            return there.bytes
    except MemtuiError:
        pass  # gone or unreadable by now: what was kept counts
    try:
        return engine.proposals.base(sha)
    except MemtuiError:
        return None  # redacted or damaged: there is nothing to compare with


def only_expects(step: Step) -> bool:
    """Whether a step writes nothing and only requires a version."""
    return isinstance(step, Write) and sha256(step.data).hexdigest() == step.expected_sha256


def main_target(one: Proposal) -> str:
    """Return the first address that a proposal changes."""
    changed = (str(step.address) for step in one.steps if not only_expects(step))
    return next(changed, next(iter(one.targets), ""))


def _short(text: str, most: int) -> str:
    """Mask a text as a whole, put it on one line and truncate it."""
    plain = " ".join(mask(text).text.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _folded(text: bytes) -> str:
    return " ".join(normalize("NFKC", text.decode("utf-8", "replace")).casefold().split())


# --- what none may do


def judge_all(engine: Engine, proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Judge proposals, store the versions they start from, and make forbidden ones `blocked`."""
    chosen = tuple(proposals)
    bases = (text_of(engine, step.address, step.expected_sha256) for one in chosen for step in one.steps)
    engine.proposals.keep_base(*(base for base in bases if base is not None))
    return tuple(_bounded(engine, one) for one in chosen)


def _bounded(engine: Engine, one: Proposal) -> Proposal:
    if one.state == "blocked":
        return one
    if why := block_reason(engine, one):
        return one._replace(state="blocked", note=why)
    return one._replace(note=_lost_text(engine, one))


def block_reason(engine: Engine, one: Proposal) -> str:
    """Return why nobody may accept a proposal, or nothing."""
    return _barred(engine, one) or next(_brought(engine, one), "")


def _barred(engine: Engine, one: Proposal) -> str:
    """Return why its targets may not be changed now, or nothing."""
    for step in one.steps:
        for address in (step.address, step.new) if isinstance(step, Rename) else (step.address,):
            try:
                root = engine.roots.find(address.root)
                parts = handles.split(address.path)
                if (step.expected_sha256 is None and isinstance(step, Write)) or address != step.address:
                    paths.require_creatable(parts)
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
    front = split(step.data)
    if front.status not in (NONE, OK, EMPTY) and split(before).status != front.status:
        yield "Its front matter cannot be read safely."
    elif front.status != NONE and step.expected_sha256 and one.kind != "describe" and split(before).status == NONE:
        yield "It brings a fence of front matter into a text that has none."


def _lost_text(engine: Engine, one: Proposal) -> str:
    """Return which memories lose more than a fifth of their words; words kept elsewhere do not count."""
    kept = Counter[str]()
    for step in one.steps:
        kept += _words(step.data if isinstance(step, Write) else b"")
    targets = {str(step.address) for step in one.steps}
    for shown in one.evidence:
        if shown.kind == "memory" and shown.name not in targets:
            kept += _words(text_of(engine, Address.parse(shown.name), shown.sha or None) or b"")
    said = []
    for step in one.steps:
        keeps = isinstance(step, Rename)
        had = _words((not keeps and text_of(engine, step.address, step.expected_sha256)) or b"")
        gone = (had - kept).total()
        if gone > LOST_SHARE * had.total():
            said.append(f"{step.address} loses text: {gone:,} of {had.total():,} words.")
    return " ".join(said)


def _words(data: bytes) -> Counter[str]:
    return Counter(re.findall(r"\w+", data.decode("utf-8", "replace").casefold()))
