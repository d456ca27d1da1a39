"""Cleanups found by rules alone, each as the change it would be; reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import byte_lines
from memtui.engine.frontmatter import OK
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.frontmatter.read import split
from memtui.engine.model import FieldEdit, Remove, Root, Step, Write
from memtui.engine.proposal import Evidence
from memtui.errors import MemtuiError
from memtui.features.health.apply import choose, prepare
from memtui.features.health.model import DANGLING, DUPLICATE, UNNAMED
from memtui.features.health.survey import IndexChecker
from memtui.features.hygiene.doubles import Doubles, ReadMemory, exact, near, read_all, repeated_entries, union
from memtui.features.remember.classify import first_sentence
from memtui.phrases import absolute
from memtui.pointers import references
from memtui.pointers.links import parse_index

if TYPE_CHECKING:
    from memtui.engine import Engine

_INDEX_RULES = {DANGLING: "dangling", UNNAMED: "unnamed", DUPLICATE: "pointer-twice"}
AUTOMATIC = (*_INDEX_RULES.values(), "exact", "entry-twice")
"""Rules allowed in `lifecycle.apply`, because they lose no text."""
_DESCRIPTION = 150


class Cleanup(NamedTuple):
    """A possible cleanup."""

    rule: str
    kind: str
    steps: tuple[Step, ...]
    why: str
    evidence: tuple[Evidence, ...]
    confidence: float = 1.0
    group: Doubles | None = None
    """Duplicates of which some go; their pointers follow later by `followed`, which reads much."""


def question(rule: str, why: str, *evidence: Evidence) -> Cleanup:
    """Return a finding that changes nothing and asks a person."""
    return Cleanup(rule, "note", (), why, evidence, 0.5)


def find(
    engine: Engine,
    roots: Sequence[Root],
    *,
    read: tuple[list[ReadMemory], list[ReadMemory]] | None = None,
    cancelled: Callable[[], bool] = bool,
    progress: Callable[[str], object] = str,
) -> Iterator[Cleanup]:
    """Yield possible cleanups, surest first; a removed duplicate is in no other one."""
    memories, files = read or read_all(engine, roots, cancelled=cancelled)
    doubles = exact(memories)
    yield from _indexes(engine, roots)
    for group in doubles:
        yield _exact(group)
    for file in files:
        yield from _entries(engine.roots.find(file.row.address.root), file)
    gone = {one.row.address for group in doubles for one in group.others}
    left = [one for one in memories if one.row.address not in gone and not one.row.pinned]
    progress(f"comparing {len(left):,} memories")
    groups = near(left, cancelled=cancelled)
    for group in groups:
        yield _near(group)
    gone = {one.row.address for group in groups for one in (group.stays, *group.others)}
    for one in left:
        if cancelled():
            return
        if one.row.address not in gone:
            yield from _dates(engine, one)
            yield from _description(engine.roots.find(one.row.address.root), one)


def _indexes(engine: Engine, roots: Sequence[Root]) -> Iterator[Cleanup]:
    for report in IndexChecker().look(engine, [root for root in roots if not root.read_only]):
        for kind, rule in _INDEX_RULES.items():
            for chosen in choose((report,), (kind,), rebuilt=False):
                try:
                    made = prepare(engine, (chosen,))
                except MemtuiError:
                    continue  # it changed since it was looked at: the next time
                steps = tuple(Write(one.address, one.after, one.expected_sha256) for one in made)
                said = [f"{finding.path}: {finding.text}" for finding in chosen.findings]
                evidence = tuple(
                    Evidence("memory", str(report.address), report.sha256 or "", f"line {one.line}", text)
                    for one, text in zip(chosen.findings[:3], said, strict=False)
                )
                more = f" and {len(said) - 1} more" if len(said) > 1 else ""
                yield Cleanup(
                    rule, "replace" if report.sha256 else "add", steps, f"{report.address}, {said[0]}{more}", evidence
                )


def _exact(group: Doubles) -> Cleanup:
    names = ", ".join(str(one.row.address) for one in group.others)
    why = f"{names} {'says' if len(group.others) == 1 else 'say'} the same as {group.stays.row.address}."
    stays = Write(group.stays.row.address, group.stays.data, group.stays.sha256)  # nothing goes unless that is there
    removals = [Remove(one.row.address, one.sha256) for one in group.others]
    return Cleanup("exact", "remove", (stays, *removals), why, (_shown(group.stays),), group=group)


def _near(group: Doubles) -> Cleanup:
    stays = group.stays
    merged = Write(stays.row.address, union(stays, group.others), stays.sha256)
    steps: tuple[Step, ...] = (merged, *(Remove(one.row.address, one.sha256) for one in group.others))
    names = ", ".join(str(one.row.address) for one in group.others)
    why = f"{names} and {stays.row.address} have {group.share:.0%} in common; every line of either is kept."
    evidence = tuple(map(_shown, (stays, *group.others)))
    kind = "merge" if merged.data != stays.data else "remove"
    return Cleanup("near", kind, steps, why, evidence, round(group.share, 2), group)


def followed(engine: Engine, group: Doubles) -> Iterator[Write]:
    """Yield the updates of pointers to a removed memory; an index that already names the survivor loses the line."""
    stays, others = group.stays.row.address, [one.row.address for one in group.others]
    root = engine.roots.find(stays.root)
    without = {step.address: step for step in references.plan(engine, (), others).steps}
    for step in references.plan(engine, [(one, stays) for one in others]).steps:
        if step.address == stays or step.address in others:
            continue
        if root.policy.is_index(step.address.path) and step.address in without:
            kept = parse_index(without[step.address].data, step.address.path)
            if any(pointer.path == stays.path for pointer in kept):
                yield without[step.address]
                continue
        yield step


def _entries(root: Root, file: ReadMemory) -> Iterator[Cleanup]:
    twice, data = repeated_entries(root, file)
    if data:
        address = file.row.address
        evidence = tuple(
            Evidence("memory", str(address), file.sha256, f"line {entry.line}", entry.title) for entry in twice[:3]
        )
        many = f"{len(twice)} entries stand" if len(twice) > 1 else "An entry stands"
        why = f"{many} in {address} twice; the first stays."
        yield Cleanup("entry-twice", "replace", (Write(address, data, file.sha256),), why, evidence)


def _dates(engine: Engine, one: ReadMemory) -> Iterator[Cleanup]:
    start = split(one.data).body
    lines = byte_lines(one.data[start:])
    text = [line.decode() for line in lines]
    relative = [number for number, line in enumerate(text) if absolute(line, one.row.modified_at) != line]
    if not relative:
        return
    came = engine.history.line_times(one.row.address, [lines[number] for number in relative])
    evidence = []
    for number in relative:
        at, sure = came.get(lines[number], (0, False))
        if sure:
            evidence.append(Evidence("memory", str(one.row.address), one.sha256, f"line {number + 1}", text[number]))
            lines[number] = absolute(text[number], at).encode()
    if evidence:
        step = Write(one.row.address, one.data[:start] + b"".join(lines), one.sha256)
        why = f"{one.row.address} names days by how far they were when it was written."
        yield Cleanup("date", "replace", (step,), why, tuple(evidence[:3]), 0.8)


def _description(root: Root, one: ReadMemory) -> Iterator[Cleanup]:
    front = split(one.data)
    if front.status != OK or str(front.fields.get("description", "")).strip():
        return
    if root.policy.fields and "description" not in root.policy.fields:
        return
    said = first_sentence(one.body.decode())[:_DESCRIPTION].strip()
    if not said:
        return
    try:
        data = set_fields(one.data, [FieldEdit(("description",), said)])
    except MemtuiError:
        return  # front matter that is not plain enough to be edited safely
    step = Write(one.row.address, data, one.sha256)
    why = f"{one.row.address} has no description, by which agents choose what to read."
    yield Cleanup("describe", "describe", (step,), why, (_shown(one),), 0.7)


def _shown(one: ReadMemory) -> Evidence:
    return Evidence("memory", str(one.row.address), one.sha256, quote=first_sentence(one.body.decode()))
