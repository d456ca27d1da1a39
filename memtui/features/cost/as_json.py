"""What agents load when a session starts, as JSON; the field names are a contract for scripts."""

from memtui.agents.loaded_text import line_of
from memtui.features.cost.start_cost import Cost, Item
from memtui.wire.outcomes import Json


def document(found: Cost) -> Json:
    """Turn what one agent starts with into JSON."""
    return summary(found) | {"note": found.note, "items": [_item(item) for item in found.items]}


def summary(found: Cost) -> Json:
    """Turn the sums of one agent into JSON."""
    marks = dict.fromkeys(item.loaded.mark for item in found.items)
    return {
        "agent": found.agent,
        "title": found.title,
        "project": found.project,
        "files": found.files,
        "bytes": found.bytes,
        "tokens": found.tokens,
        "tokens_by": found.method,
        "below_limits": found.below,
        "marks": {mark: found.marked(mark) for mark in sorted(marks) if mark},
    }


def _item(item: Item) -> Json:
    loaded, gap = item.loaded, item.loaded.cut
    return {
        "what": loaded.label,
        "path": None if loaded.made else loaded.path,
        "address": str(item.address) if item.address is not None else None,
        "mark": loaded.mark,
        "why": loaded.why,
        "size": loaded.size,
        "bytes": item.bytes,
        "tokens": item.tokens,
        "below_limits": item.below,
        "cut_line": line_of(loaded.raw, gap.start) if gap is not None and loaded.raw else None,
        "depth": loaded.depth,
        "files": loaded.stands_for,
    }
