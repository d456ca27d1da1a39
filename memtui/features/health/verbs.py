"""`memtui health`: findings about indexes, and their fixes after confirmation.

An index of links is made anew from its memories, newest first, as a proposal; hand-kept indexes are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.differences import unified_file
from memtui.engine.model import Address, Done, Memory, Root, Write
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import NotFoundError, UsageError
from memtui.features.health.apply import Chosen, apply, choose, prepare, refuse_unread
from memtui.features.health.checks import LINKS, CheckedIndex, check
from memtui.features.health.model import (
    BY_NAME,
    CUT,
    LONG,
    ONE_BY_ONE,
    TOGETHER,
    UNNAMED,
    FixPreview,
    IndexFinding,
    IndexReport,
    apply_edits,
)
from memtui.features.health.survey import IndexChecker, by_index, has_index
from memtui.features.proposals.value import judge_all, proposal
from memtui.pointers.lines import index_of, is_entry, is_text, measure, spans, text_of
from memtui.pointers.links import parse_index
from memtui.wire import outcomes, places, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column

if TYPE_CHECKING:
    from memtui.engine import Engine

_YES = ("y", "yes")


def health(call: Call) -> int:
    """List findings, or fix them."""
    engine = call.engine
    named = call.args.text("root")
    chosen = None if named is None else places.place(engine, named).roots
    roots = [root for root in engine.roots.all() if chosen is None or root.id in chosen]
    reports = IndexChecker().look(engine, roots)
    if call.args.flag("rebuild"):
        return _rebuild(call, roots if named is not None else [])
    kind = call.args.text("fix")
    if kind is not None:
        return _fix(call, reports, kind, rebuilt=named is not None)
    if call.out.json:
        found = values.listing(_finding_json(one) for report in reports for one in report.findings)
        found["indexes"] = [_index_json(report) for report in reports]
        call.out.document(found)
        return outcomes.DONE
    _table(call, reports)
    _say(call, reports, roots)
    return outcomes.DONE


def _rebuild(call: Call, roots: Sequence[Root]) -> int:
    if len(roots) != 1:
        raise UsageError("--rebuild is for one root.", hint="Name it: memtui health ROOT --rebuild")
    suggested, changed = rebuild(call.engine, roots[0], call.actor.name)
    stored = None if suggested is None else call.engine.proposals.add((suggested,))[0]
    left = [path for one in changed for path in one.omitted]
    diffs = [(str(one.address), unified_file(str(one.address), one.before, one.after)) for one in changed]
    if call.out.json:
        found = {"id": None, "state": None, "note": None} if stored is None else stored._asdict()
        changes = [{"index": name, "diff": "\n".join(diff)} for name, diff in diffs]
        call.out.document(
            {"proposal": found["id"], "state": found["state"], "note": found["note"], "left": left, "changes": changes}
        )
        return outcomes.DONE
    for _, diff in diffs:
        call.out.diff(diff)
    if stored is None:
        call.out.say("The indexes are so already.")
    else:
        call.out.line_of("proposed", stored.id, *(name for name, _ in diffs))
        left_out = f"{len(left):,} of the oldest do not fit into what the agent loads" if left else ""
        results.beside(call.out, stored.note, left_out, "A person decides: memtui review")
    return outcomes.DONE


def _table(call: Call, reports: Sequence[IndexReport]) -> None:
    call.out.table(
        (
            Column("KIND"),
            Column("INDEX", flexible=True),
            Column("LINE", "number"),
            Column("FIX", optional=True),
            Column("PATH", flexible=True),
            Column("FINDING", flexible=True, wraps=True),
        ),
        [
            (
                one.kind,
                str(one.address),
                one.line,
                "" if one.fix is None else "offered" if one.fix.offered else "yes",
                one.path,
                one.text,
            )
            for report in reports
            for one in report.findings
        ],
    )


def _say(call: Call, reports: Sequence[IndexReport], roots: Sequence[Root]) -> None:
    out = call.out
    _tell_unread(call, reports)
    if not out.terminal:
        return
    for report in reports:
        if report.off and report.findings:
            out.say(f"{report.address}: {report.off}")
    if not any(report.findings for report in reports):
        looked = sum(map(has_index, roots))
        out.say(
            f"Nothing is wrong with the indexes of {looked:,} roots." if looked else "No agent keeps an index here."
        )
    else:
        _offer(call, reports)


def _tell_unread(call: Call, reports: Sequence[IndexReport]) -> None:
    for report in reports:
        if report.problem:
            call.out.say(f"{report.address} was not looked at: {report.problem}")


def _offer(call: Call, reports: Sequence[IndexReport]) -> None:
    root = call.args.text("root")
    offers = []
    for name, kinds in (("all", TOGETHER), (LONG, (LONG,)), (CUT, (CUT,))):
        count = sum(len(one.findings) for one in choose(reports, kinds, rebuilt=root is not None))
        if count:
            offers.append(f"--fix {name} ({count:,} finding{'s' * (count != 1)})")
    if offers:
        call.out.say(
            f"To see what a fix would change: memtui health {root or ''}{' ' * bool(root)}{', '.join(offers)}."
        )
    elif choose(reports, BY_NAME):
        call.out.say("What can be fixed here its agent makes anew: name the root to fix it all the same.")


def _fix(call: Call, reports: Sequence[IndexReport], kind: str, *, rebuilt: bool) -> int:
    engine, out = call.engine, call.out
    kinds = TOGETHER if kind == "all" else (kind,)
    line = call.args.number("line", 0) or None
    chosen = choose(reports, kinds, rebuilt=rebuilt, line=line)
    if kind in ONE_BY_ONE and (line is None or len(chosen) > 1):
        missing = "Name its line: --line N." if line is None else "Name the root."
        raise UsageError(f"Findings of the kind {kind} are fixed one by one.", hint=missing)
    if not chosen:
        refuse_unread(reports)
    previews = prepare(engine, chosen)
    if not out.json:
        for shown in previews:
            _show(call, shown)
        out.flush()
    done = apply(engine, previews, actor=call.actor) if previews and _agreed(call, previews) else None
    if out.json:
        out.document(_document(previews, done))
        return outcomes.DONE
    _tell(call, reports, previews, done, kind, rebuilt=rebuilt)
    return outcomes.DONE


def _agreed(call: Call, previews: Sequence[FixPreview]) -> bool:
    if call.args.flag("yes"):
        return True
    if call.out.json or not call.out.interactive:
        return False
    answer = call.out.ask(f"Make {_fixes(previews)}? [y/N] ")
    return answer is not None and answer.strip().casefold() in _YES


def _fixes(previews: Sequence[FixPreview]) -> str:
    count = sum(shown.fixes for shown in previews)
    words = "1 fix" if count == 1 else f"{count:,} fixes"
    fixed = [shown.address for shown in previews if shown.fixes]
    return f"{words} in {fixed[0]}" if len(fixed) == 1 else f"{words} in {len(fixed):,} indexes"


def _diff(shown: FixPreview, *, secrets: bool = False) -> list[str]:
    before = shown.before if shown.expected_sha256 else None
    return unified_file(str(shown.address), before, shown.after, secrets=secrets)


def _show(call: Call, shown: FixPreview) -> None:
    call.out.diff(_diff(shown, secrets=call.out.secrets))
    for note in shown.notes:
        call.out.say(note)


def _document(previews: Sequence[FixPreview], done: Done | None) -> outcomes.Json:
    return {
        "written": done is not None,
        "fixes": sum(shown.fixes for shown in previews),
        "txn": done.txn if done is not None else None,
        "changes": [
            {
                "index": str(shown.address),
                "fixes": shown.fixes,
                "diff": values.text_of(_diff(shown)),
                "notes": list(shown.notes),
            }
            for shown in previews
        ],
    }


def _tell(
    call: Call,
    reports: Sequence[IndexReport],
    previews: Sequence[FixPreview],
    done: Done | None,
    kind: str,
    *,
    rebuilt: bool,
) -> None:
    out = call.out
    kinds = TOGETHER if kind == "all" else (kind,)
    left = () if rebuilt else tuple(one for one in choose(reports, kinds) if one.report.rebuilt)
    if done is not None:
        out.say(f"Made {_fixes(previews)}. `memtui undo` takes it back.")
    elif previews:
        out.say(f"Nothing was written. To make the change: memtui health {_again(call)} --yes")
    else:
        out.say("There is nothing to fix.")
        for report, why in _reasons(reports, kinds):
            out.say(f"{report.address}: {why}")
    _tell_unread(call, reports)
    if left:
        out.say(
            f"Left alone, because the agent makes them anew: {_names(left)}. Name the root to fix one all the same."
        )
    long = choose(reports, (LONG,), rebuilt=rebuilt) if kind == "all" else ()
    if long:
        count = sum(len(one.findings) for one in long)
        out.say(f"Long lines are left as they are ({count:,}): --fix {LONG} shortens them, which loses words.")
    cut = choose(reports, (CUT,), rebuilt=rebuilt) if kind == "all" else ()
    if cut:
        out.say(f"Over the line: {_names(cut)}. --fix {CUT} moves what is not loaded to a second file.")


def _reasons(reports: Sequence[IndexReport], kinds: Sequence[str]) -> Iterator[tuple[IndexReport, str]]:
    for report in reports:
        for why in dict.fromkeys(one.why for one in report.findings if one.kind in kinds and one.fix is None):
            if why:
                yield report, why


def _again(call: Call) -> str:
    root, line = call.args.text("root"), call.args.number("line", 0)
    return " ".join(
        (*([root] if root else []), "--fix", call.args.need("fix"), *(["--line", str(line)] if line else []))
    )


def _names(chosen: Sequence[Chosen]) -> str:
    return ", ".join(str(one.report.address) for one in chosen[:3]) + (" and more" if len(chosen) > 3 else "")


def _finding_json(value: IndexFinding) -> Json:
    return {
        "kind": value.kind,
        "index": str(value.address),
        "line": value.line,
        "path": value.path,
        "memory": None if value.memory is None else str(value.memory),
        "text": value.text,
        "fix": None if value.fix is None else value.fix.label,
        "offered": value.fix is not None and value.fix.offered,
        "why": value.why,
    }


def _index_json(value: IndexReport) -> Json:
    found, policy = value.measure, value.policy
    return {
        "address": str(value.address),
        "lines": found.lines,
        "bytes": found.bytes,
        "units": found.units,
        "limits": {"lines": policy.index_lines, "bytes": policy.index_bytes, "units": policy.index_units},
        "cut": None if found.cut is None else found.cut + 1,
        "by": found.by or None,
        "lost_lines": found.lost_lines,
        "lost_bytes": found.lost_bytes,
        "below": [str(address) for address in value.below],
        "rebuilt": value.rebuilt,
        "problem": value.problem,
        "off": value.off,
    }


# --- an index made anew


_MAX_NAMED_PATHS = 10


class RebuiltIndex(NamedTuple):
    """The new state of an index."""

    address: Address
    before: bytes | None
    """None: there is none."""
    after: bytes
    omitted: tuple[str, ...]
    """Oldest memories, which do not fit."""


def rebuild(engine: Engine, root: Root, by: str) -> tuple[Proposal | None, tuple[RebuiltIndex, ...]]:
    """Return a proposal of the indexes of a root made anew (None when nothing would change), and those that change.

    Raises UsageError where the root has no index of links, or one with other text; NotFoundError without a memory.
    """
    if root.policy.index_format != LINKS or not root.policy.index_file:
        raise UsageError(f"{root.id} has no index of links.", hint="`memtui health` says which roots have one.")
    rows = {row.address.path: row for row in engine.rows.list([root.id]).items if not row.missing}
    rests = frozenset(filter(index_of, rows))  # what they hold is named anew
    homes = {
        home: sorted((rows[path] for path in paths), key=lambda one: (-one.modified_at, one.address.path))
        for home, paths in by_index(root.policy, rows, rests).items()
    }
    if not homes:
        raise NotFoundError(f"{root.id} has no memory that an index could name.")
    made = [_rebuilt(engine, root, home, named, rows) for home, named in sorted(homes.items())]
    changed = tuple(one for one in made if one.after != one.before)
    if not changed:
        return None, ()
    omitted = [path for one in changed for path in one.omitted]
    more = f" and {len(omitted) - _MAX_NAMED_PATHS} more" if len(omitted) > _MAX_NAMED_PATHS else ""
    why = f"{', '.join(str(one.address) for one in changed)} made anew from the memories, the newest first."
    if omitted:
        why += f" {len(omitted)} do not fit into what the agent loads: {', '.join(omitted[:_MAX_NAMED_PATHS])}{more}."
    steps = [
        Write(one.address, one.after, None if one.before is None else sha256(one.before).hexdigest()) for one in changed
    ]
    suggested = proposal(
        engine, kind="replace" if changed[0].before is not None else "add", steps=steps, by=by, why=why,
        evidence=[*_evidence(changed, homes)],
    )  # fmt: skip
    (judged,) = judge_all(engine, (suggested,))
    return judged, changed


def _rebuilt(engine: Engine, root: Root, home: str, named: Sequence[Memory], rows: dict[str, Memory]) -> RebuiltIndex:
    address = Address(root.id, home)
    if home not in rows and (there := engine.folders.kind(address)) not in ("", "file"):
        what = {"folder": "a folder", "link": "a link"}.get(there, "no regular file")
        raise UsageError(
            f"{address} is {what}, so no index can be written there. Nothing was changed.",
            hint="Move it away, then make the index anew.",
        )
    before = engine.read_bytes(address) if home in rows else None
    head = _head(address, before or b"")
    memories = {row.address.path: row.description for row in rows.values()}
    mine = tuple(row.address.path for row in named)
    found = check(CheckedIndex(address, head, root.policy, memories, mine=mine))
    edits = {
        finding.path: finding.fix.edits[0] for finding in found.findings if finding.kind == UNNAMED and finding.fix
    }
    kept = [path for path in mine if path in edits]
    after = apply_edits(head, [edits[path] for path in kept])
    cut = measure(after, root.policy).cut
    while cut is not None and kept:
        lost = max(1, len(spans(after)) - cut)
        kept = kept[:-lost]
        after = apply_edits(head, [edits[path] for path in kept])
        cut = measure(after, root.policy).cut
    return RebuiltIndex(address, before, after, tuple(path for path in mine if path in edits and path not in kept))


def _head(address: Address, data: bytes) -> bytes:
    """Return the text above the first pointer; raises UsageError if other text follows the pointers."""
    lines = spans(data)
    named = {pointer.line for pointer in parse_index(data, address.path)}
    first = min(named, default=len(lines))
    rest = [number for number in range(first, len(lines)) if text_of(data, lines[number]).strip()]
    if not is_text(data) or any(number not in named or not is_entry(text_of(data, lines[number])) for number in rest):
        raise UsageError(
            f"{address} holds more than lines that name memories: somebody keeps it by hand.",
            hint=f"`memtui health {address.root} --fix all` mends single lines.",
        )
    return data[: lines[first].start] if first < len(lines) else data


def _evidence(changed: Sequence[RebuiltIndex], homes: dict[str, list[Memory]]) -> Iterator[Evidence]:
    for one in changed:
        newest = homes[one.address.path][0]
        yield Evidence("memory", str(newest.address), newest.sha256 or "", "line 1", newest.description)
