"""Findings in the texts of memories, grouped and shaped like those of indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Memory, Policy
from memtui.features.health.model import Edit, Fix, IndexFinding, IndexReport
from memtui.features.hygiene.memory_scan import LABELS, NamedFinding, fix_edit, remaining_copies
from memtui.pointers.lines import measure

if TYPE_CHECKING:
    from memtui.engine import Engine

SECRETS, ORDERS, OUTDATED, DOUBLES = "secrets", "orders", "outdated", "doubles"
GROUPS = {
    SECRETS: (
        "Secrets",
        "Keys, tokens, passwords and numbers of people, masked here. d f puts a word in their place.",
        "Older versions, git and whoever was given the memory have them still: change the secret itself.",
    ),
    ORDERS: (
        "Hidden text and orders",
        "What nobody sees and an agent reads, and words that tell an agent what its user did not.",
        "A finding is a reason to look, no proof; a memory without one is not called safe.",
    ),
    OUTDATED: (
        "Outdated",
        "What memories say that was so when it was written, and is no longer: paths, commands, dependencies, links.",
        "e edits the memory at the line.",
    ),
    DOUBLES: (
        "Doubles",
        "Memories that say the same, and entries that stand twice in one file.",
        "memtui dream proposes which stays, and takes along what names the others.",
    ),
}
"""Title of each group and explanations, in display order."""
_FAMILIES = {"S": SECRETS, "P": SECRETS, "H": ORDERS, "I": ORDERS, "T": OUTDATED, "D": DOUBLES}
SIGNS = {SECRETS: "S", ORDERS: "h", OUTDATED: "o"}
_ALONE = ("H07", "H08", "H12", "I")
"""Rules whose fixes lose words, and are done one by one."""
_BY_HAND = {
    "open": "Only a person can tell whether it belongs there: enter opens the memory, e edits it.",
    "set": "What it should say only a person can tell: e edits the memory.",
    "D01": "memtui dream proposes which of them stays; enter goes to this one.",
}
_NOTHING = measure(b"", Policy())


def group_of(rule: str) -> str:
    """Return the group of a rule's findings."""
    return _FAMILIES[rule[0]]


def many_at_once(rule: str) -> bool:
    """Return whether several findings of a rule may be fixed at once: their fixes lose no words."""
    return rule[0] in "SP" or (rule[0] == "H" and rule < "H07")


def text_reports(found: Iterable[NamedFinding]) -> dict[str, tuple[IndexReport, ...]]:
    """Group findings, with a report for each memory; muted ones and those of severity I are left out."""
    groups: dict[str, dict[Memory, list[IndexFinding]]] = {name: {} for name in GROUPS}
    for one in found:
        if one.hazard.severity != "I" and not one.muted:
            groups[group_of(one.hazard.rule.id)].setdefault(one.row, []).append(_finding(one))
    return {
        name: tuple(
            IndexReport(row.address, row.sha256, _NOTHING, Policy(), tuple(some)) for row, some in findings.items()
        )
        for name, findings in groups.items()
        if findings
    }


def text_signs(reports: Mapping[str, tuple[IndexReport, ...]]) -> dict[Address, str]:
    """Return the sign of each memory with a finding that has one."""
    return {report.address: sign for name, sign in reversed(SIGNS.items()) for report in reports.get(name, ())}


def _finding(one: NamedFinding) -> IndexFinding:
    hazard, rule, address = one.hazard, one.hazard.rule, one.row.address
    said = f"{rule.what}: {hazard.text}"
    by_hand = rule.fix == "open" or (rule.fix == "set" and hazard.new is None)
    if by_hand or not one.row.writable:
        why = _BY_HAND.get(rule.id) or _BY_HAND.get(
            rule.fix if by_hand else "", "It is read-only, or no text that can be edited."
        )
        return IndexFinding(rule.id, address, hazard.line, address.path, said, None, why, address, hazard, one.id)
    fix = Fix(LABELS[rule.fix], (), offered=rule.id.startswith(_ALONE) or rule.fix == "set")
    return IndexFinding(rule.id, address, hazard.line, address.path, said, fix, "", address, hazard, one.id)


def resolved(
    engine: Engine, address: Address, data: bytes, findings: Iterable[IndexFinding]
) -> tuple[list[IndexFinding], list[str]]:
    """Compute the edits of findings in texts, and return them with sentences on what the fixes cannot reach."""
    found: list[IndexFinding] = []
    notes: list[str] = []
    for one in findings:
        fix = one.fix
        if one.hazard is not None and fix is not None:
            change = fix_edit(engine, address, data, one.hazard)
            if one.hazard.rule.fix == "mask":
                notes += remaining_copies(engine, address, data[one.hazard.start : one.hazard.end])
            fix = fix._replace(edits=() if change is None else (Edit(*change),))
        found.append(one._replace(fix=fix))
    return found, list(dict.fromkeys(notes))
