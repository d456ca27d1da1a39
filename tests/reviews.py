"""What a person does with the versions of a root that they looked at."""

from memtui.engine import Engine
from memtui.engine.model import Actor


def review(engine: Engine, root_id: str = "memtui:project") -> int:
    """Review every version there is in a root."""
    versions = [(row.address, row.sha256) for row in engine.rows.list([root_id]).items if row.sha256]
    return engine.history.review(versions, actor=Actor("tui"))
