"""Findings about indexes to JSON, with the field names that scripts rely on."""

from memtui.features.health.model import IndexFinding, IndexReport
from memtui.wire.outcomes import Json


def finding(value: IndexFinding) -> Json:
    """Turn a finding into JSON."""
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


def index(value: IndexReport) -> Json:
    """Turn what one index looks like into JSON."""
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
