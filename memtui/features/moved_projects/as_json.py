"""Orphans and plans for them to JSON, with the field names that scripts rely on."""

from memtui.features.moved_projects.orphans import SURE, Collision, Orphan, Worktrees
from memtui.features.moved_projects.repoint import Plan
from memtui.wire.outcomes import Json


def orphan(value: Orphan, files: int, size: int) -> Json:
    """Turn memories that lost their project into JSON, with how many there are and their bytes."""
    return {
        "root": value.root.id,
        "agent": value.root.agent,
        "path": value.root.path,
        "files": files,
        "bytes": size,
        "sure": value.decoded.sure,
        "reason": SURE[value.decoded.sure],
        "projects": list(value.decoded.projects),
        "moved": [{"path": one.path, "why": one.why} for one in value.moved],
    }


def collision(value: Collision) -> Json:
    """Turn a folder that projects share into JSON."""
    return {"root": value.root.id, "projects": list(value.projects), "sure": value.sure}


def family(value: Worktrees) -> Json:
    """Turn the checkouts of one repository into JSON."""
    return {
        "kind": value.kind,
        "agent": value.agent,
        "main": value.main,
        "roots": [root.id for root in value.roots],
        "checkouts": list(value.checkouts),
    }


def plan(value: Plan, txn: str | None) -> Json:
    """Turn a plan into JSON; `txn` is the transaction that did it, None when it was only shown."""
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
