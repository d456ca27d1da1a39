"""The session as the command line opens it; the value itself is every front's, in `memtui.wire.session`."""

from memtui.wire.session import Options, Session, open_session, other_projects

__all__ = ["Options", "Session", "open_session", "other_projects"]
