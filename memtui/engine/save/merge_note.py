"""The audit's note about a merge (its texts and decisions), and the draft its undo restores.

A merge ends a draft, so undoing the merge must restore it, or the user would be left with the other writer's text
alone. A draft begun since then is never touched.
"""

from typing import NamedTuple

from memtui.engine.ledger.audit import AuditStep
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Conflict, Draft, MergeOf, Outcome
from memtui.errors import MemtuiError

_BEGINS = "merge: "
_MOST = 100
"""Places that are written down; the rest is counted."""


class Merged(NamedTuple):
    """The texts of a merge, by SHA-256."""

    base: str | None
    """None: both sides created the memory."""
    yours: str


def merge_note(merge: MergeOf, result: str) -> str:
    """Return the note for a merge; `result` is the SHA-256 of the merged text."""
    decided = merge.decided
    texts = (
        ("base", merge.base_sha256),
        ("yours", merge.yours_sha256),
        ("agent", merge.theirs_sha256),
        ("result", result),
    )
    rest = f", {len(decided) - _MOST:,} more" if len(decided) > _MOST else ""
    places = f"; {', '.join(decided[:_MOST])}{rest}" if decided else ""
    return _BEGINS + ", ".join(f"{name} {sha or 'none'}" for name, sha in texts) + places


def read_note(note: str) -> Merged | None:
    """Parse the note, also when an undo or redo repeats it; None when it is about something else."""
    _, found, rest = note.partition(_BEGINS)
    texts = dict(part.split(" ", 1) for part in rest.split(";")[0].split(", ") if " " in part)
    if not found or "base" not in texts or len(texts.get("yours", "")) != 64:
        return None
    return Merged(None if texts["base"] == "none" else texts["base"], texts["yours"])


def repeated(note: str, kind: str) -> str:
    """Return the note of an undo or redo (`kind`) of a merge; empty for anything else."""
    _, found, rest = note.partition(_BEGINS)
    return f"{kind} of {found}{rest}" if found else ""


class MergeDrafts:
    """Restores and drops drafts on undo and redo of merges."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def follow(self, step: AuditStep, outcome: Outcome, kind: str) -> str:
        """Restore or drop a draft after `step` was undone or redone (`kind`); return a sentence when there is one."""
        merged = read_note(step.note)
        if merged is None or outcome.error is not None:
            return ""
        if isinstance(outcome.result, Conflict):
            if kind == "undo" and step.before is not None and self._give(step, outcome, step.after, step.before):
                return "c merges the draft of it."
        elif kind == "undo":
            if self._give(step, outcome, merged.base, merged.yours):
                return "Your text is a draft again."
        else:
            self._take(step, merged)
        return ""

    def _draft(self, step: AuditStep) -> Draft | None:
        return next(
            (draft for draft in self._ledger.drafts.all({step.uid: ""}) if draft.address.path == step.path), None
        )

    def _give(self, step: AuditStep, outcome: Outcome, base: str | None, text: str) -> bool:
        """Make a stored text a draft again; False when there is one already or it cannot be one."""
        try:
            data = self._ledger.versions.blob(text)
        except MemtuiError:
            return False  # redacted or damaged: history says so where it is looked at
        if data is None or self._draft(step) is not None:
            return False
        try:
            draft = Draft(outcome.address, base, data.decode(), (0, 0), self._ledger.clock())
        except UnicodeDecodeError:
            return False
        self._ledger.drafts.given.add(draft.text)
        self._ledger.drafts.save(step.uid, draft._replace(address=draft.address._replace(path=step.path)))
        return True

    def _take(self, step: AuditStep, merged: Merged) -> None:
        """Drop the draft that the undo restored, unless something was typed in it since."""
        draft = self._draft(step)
        if draft is not None and draft.base_sha256 == merged.base and _is(self._ledger, merged.yours, draft.text):
            self._ledger.drafts.drop(step.uid, step.path)


def _is(ledger: Ledger, sha: str, text: str) -> bool:
    return ledger.versions.blob(sha) == text.encode("utf-8", "surrogatepass")
