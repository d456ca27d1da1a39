"""Making a proposal: its quotes masked, and a fingerprint by which the same suggestion is known when it comes again.

It is apart so that whatever proposes something needs nothing of how proposals are decided and carried out.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING
from unicodedata import normalize

from memtui.diff.hunks import byte_lines, hunks_of
from memtui.engine.model import Address, Rename, Step, Write
from memtui.engine.proposal import KINDS, Evidence, Proposal
from memtui.errors import MemtuiError, UsageError
from memtui.mask import mask

if TYPE_CHECKING:
    from memtui.engine import Engine

QUOTE = 200
"""Characters of a quote that are kept."""
WHY = 500
"""Characters of a reason."""


def proposal(
    engine: Engine,
    *,
    kind: str,
    steps: Iterable[Step],
    by: str,
    why: str,
    evidence: Iterable[Evidence],
    run: str = "",
    confidence: float = 1.0,
) -> Proposal:
    """Make a proposal; nothing is stored.

    Args:
        engine: has the memories.
        kind: one of `KINDS`.
        steps: what would be done, each with the sha-256 of the version it means.
        by: who suggests it: `rule:exact`, `claude`, `mcp:<client>`.
        why: a sentence for the person who decides; masked, and cut to `WHY` characters.
        evidence: what shows it, at least one; quotes are masked, and cut to `QUOTE` characters.
        run: the run it comes from.
        confidence: from 0 to 1.

    Raises:
        UsageError: there is no evidence, or no such kind.
        NotFoundError: `E_NO_ROOT`.
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
        run=run,
        by=by,
        kind=kind,
        steps=chosen,
        marks=(),
        why=_short(why, WHY),
        evidence=tuple(one._replace(quote=_short(one.quote, QUOTE)) for one in shown),
        confidence=min(1.0, max(0.0, confidence)),
        fingerprint=fingerprint(engine, kind, chosen, " ".join([why, *about])),
        folders=tuple((name, engine.roots.find(name).path) for name in sorted(names)),
    )


def fingerprint(engine: Engine, kind: str, steps: Iterable[Step], why: str = "") -> str:
    """Name a suggestion: HMAC-SHA-256, hex, of its kind, its targets and the lines it takes away and brings, folded.

    Lines elsewhere in a target do not count, so that the same suggestion about a later version has the same one.

    Args:
        engine: has the texts and the key.
        kind: one of `KINDS`.
        steps: what would be done.
        why: counts where there are no steps.
    """
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
    """The text of a version that a step starts from: as it is on disk, or kept; None when it is neither."""
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
    """Whether a step writes nothing: it says which version of a memory the other steps rely on."""
    return isinstance(step, Write) and sha256(step.data).hexdigest() == step.expected_sha256


def _short(text: str, most: int) -> str:
    """A text without its secrets, on one line; masked whole, so that half a secret is recognised too."""
    plain = " ".join(mask(text).text.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _folded(text: bytes) -> str:
    return " ".join(normalize("NFKC", text.decode("utf-8", "replace")).casefold().split())
