"""`memtui orphans` and `memtui repoint`."""

import os

from memtui.agents.layout import short_path
from memtui.config.directories import expand_user
from memtui.errors import MemtuiError
from memtui.features.moved_projects import moves
from memtui.features.moved_projects.moves import SURE, Collision, Orphan, RepointPlan, Survey, Worktrees, survey
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import other_projects

DEPTH = 16
"""Levels of folders in which memories are counted."""


def orphans(call: Call) -> int:
    """List misplaced memories."""
    roots = other_projects(call.session)
    found = survey(roots, call.settings.home)
    call.engine.roots.add(one.root for one in found.orphans)
    held = {one.root.id: _held(call, one.root.id) for one in found.orphans}
    kept = tuple(one for one in found.orphans if held[one.root.id][0])
    if call.out.json:
        answer = values.listing(_orphan_json(one, *held[one.root.id]) for one in kept)
        answer["collisions"] = [_collision_json(one) for one in found.collisions]
        answer["worktrees"] = [_family_json(one) for one in found.worktrees]
        call.out.document(answer)
        return outcomes.DONE
    call.out.table(
        (
            Column("PROJECT", flexible=True),
            Column("AGENT"),
            Column("FILES", "number"),
            Column("SURE"),
            Column("NOW", flexible=True),
        ),
        [
            (
                _short(call, one.decoded.projects[0]) if one.decoded.projects else one.root.id,
                one.root.agent,
                held[one.root.id][0],
                one.decoded.sure,
                _short(call, one.moved[0].path) if len(one.moved) == 1 else one.sure,
            )
            for one in kept
        ],
    )
    _tell(call, kept, found)
    return outcomes.DONE


def _held(call: Call, root_id: str) -> tuple[int, int]:
    """Count a root's memories and their bytes from its folder, as thousands of roots are not registered."""
    try:
        found = call.engine.folders.items(root_id, depth=DEPTH, sizes=True)
    except MemtuiError as error:
        call.out.say(f"{root_id} cannot be looked at: {error.message}")
        return 0, 0
    memories = [item for item in found.items if item.kind == "memory" and item.shown]
    return len(memories) + found.left_out, sum(item.bytes for item in memories)


def _tell(call: Call, kept: tuple[Orphan, ...], found: Survey) -> None:
    say = call.out.say
    for one in kept:
        say(f"{one.root.id}: {SURE[one.decoded.sure]}.")
        for moved in one.moved:
            say(f"  perhaps {_short(call, moved.path)}: {moved.why}.")
        if one.moved:
            say(f"  memtui repoint {one.root.id} {_short(call, one.moved[0].path)}")
    for both in found.collisions:
        shown = ", ".join(_short(call, path) for path in both.projects)
        sure = "the agent's own files name all of them" if both.sure == "exact" else "each of them fits the name"
        say(f"{both.root.id} is one folder for {shown}: {sure}.")
    for family in found.worktrees:
        others = ", ".join(_short(call, path) for path in family.checkouts)
        how = "share one folder of memories" if family.kind == "shared" else "each have memories of their own"
        say(f"{family.agent}: {_short(call, family.main)} and {others} {how}.")
    if not kept and call.out.terminal:
        say("Every project with memories is where it was.")


def repoint(call: Call) -> int:
    """Show the plan for a moved project, or carry it out."""
    call.engine.roots.add(other_projects(call.session))
    old = call.args.text("old") or ""
    new = call.args.text("new") or ""
    home = call.settings.home
    old = os.path.abspath(expand_user(old, home)) if old.startswith(("/", "~", ".")) else old
    roots = moves.meant(call.engine.roots.all(), old)
    wanted = moves.plan(call.engine, roots, os.path.abspath(expand_user(new, home)))
    write = call.args.flag("write")
    done = moves.apply(call.engine, wanted, actor=call.actor) if write else None
    failed = [one for one in map(results.failure, done.outcomes) if one is not None] if done is not None else []
    if call.out.json:
        call.out.document(_plan_json(wanted, done.txn if done is not None and not failed else None))
    else:
        _show(call, wanted)
        if failed:
            call.out.error(failed[0])
        elif done is not None:
            call.out.say(f"Moved {wanted.words}. memtui undo takes it back.")
        else:
            call.out.say(f"Would move {wanted.words}. Nothing was written; --write does it.")
    return outcomes.exit_code(failed[0]) if failed else outcomes.DONE


def _show(call: Call, wanted: moves.RepointPlan) -> None:
    for old, new in wanted.pairs:
        call.out.say(f"{_short(call, old.path)} to {_short(call, new.path)}")
    call.out.table(
        (Column("MEMORY", flexible=True), Column("WHAT"), Column("WHY", flexible=True, optional=True)),
        [(line.address.path, line.what, line.why) for line in wanted.lines],
    )


def _short(call: Call, path: str) -> str:
    return short_path(path, call.settings.home)


def _orphan_json(value: Orphan, files: int, size: int) -> Json:
    return {
        "root": value.root.id,
        "agent": value.root.agent,
        "path": value.root.path,
        "files": files,
        "bytes": size,
        "sure": value.decoded.sure,
        "reason": SURE[value.decoded.sure],
        "projects": list(value.decoded.projects),
        "moved": [dict(one._asdict()) for one in value.moved],
    }


def _collision_json(value: Collision) -> Json:
    return {"root": value.root.id, "projects": list(value.projects), "sure": value.sure}


def _family_json(value: Worktrees) -> Json:
    return {
        **values.plain_fields(value, "kind agent main"),
        "roots": [root.id for root in value.roots],
        "checkouts": list(value.checkouts),
    }


def _plan_json(value: RepointPlan, txn: str | None) -> Json:
    return {
        "written": txn is not None,
        "txn": txn,
        "project": value.project,
        "roots": [{"from": old.id, "to": new.id, "path": new.path} for old, new in value.pairs],
        "lines": [
            {"from": str(line.address), "to": str(line.new) if line.new else None, "what": line.what, "why": line.why}
            for line in value.lines
        ],
    }
