"""Whether agents' session files may be read: asked once, for all that reads them, and nothing is read before.

It is apart so that whoever reads sessions asks the same thing, and so that none of them decides for itself.
"""

import os
from typing import NamedTuple

from memtui.agents.table import agent_of
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.transcripts.sessions import READERS, session_files

ASK, PROJECT, ALL, OFF = "ask", "project", "all", "off"
CARDS = "cards"
NOT_ASKED, DISABLED = "not_asked", "disabled"
"""Why nothing is read."""


class Consent(NamedTuple):
    """What the user allowed."""

    skipped: str
    """Why nothing may be read: `NOT_ASKED` or `DISABLED`; empty: something may."""
    project: str
    """Only what happened in this folder; empty: everywhere."""
    cards: bool
    """Whether cards of what was observed may be kept; places of reads and writes, and quotes, may be in any case."""

    def covers(self, cwd: str) -> bool:
        """Whether what happened in a working directory may be used; in `project` not where an agent names none."""
        inside = cwd == self.project or cwd.startswith(self.project.rstrip("/") + "/")
        return not self.skipped and (not self.project or inside)


def consent(settings: Settings, place: Surroundings) -> Consent:
    """Say what the settings allow where the user stands."""
    skipped = {ASK: NOT_ASKED, OFF: DISABLED}.get(settings.transcripts_read, "")
    project = os.path.realpath(place.project) if settings.transcripts_read == PROJECT else ""
    return Consent(skipped, project, settings.transcripts_keep == CARDS)


def allowed_files(settings: Settings, place: Surroundings, *, since: int = 0) -> list[tuple[str, str]]:
    """List the session files that may be read, as agent (a key of `READERS`) and path; none before somebody said yes.

    Of one project's, too, all are listed: which project a session was in stands in its lines, and `Consent.covers` has
    to be asked for each event. See `session_files` for `since` and the order.
    """
    if consent(settings, place).skipped:
        return []
    return [(agent, path) for agent in READERS for path in session_files(agent_of(agent), place, since=since)]
