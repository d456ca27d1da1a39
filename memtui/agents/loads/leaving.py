"""Which files an agent's own settings leave out, asked for every file of one look at what it loads.

A repository may have written those settings, so all questions together have one number of steps; what was not compared
any more is said, never taken for compared.
"""

from memtui.agents.loads.loading import BY_FOLDER, BY_NAME, Excluded
from memtui.agents.patterns import STEPS, Matching
from memtui.agents.reading import is_within


class LeavingOut:
    """Answers for one file after the other."""

    def __init__(self, excluded: tuple[Excluded, ...], steps: int = STEPS) -> None:
        """Take what the settings leave out, in order."""
        self._excluded = excluded
        self._matching = Matching(steps)
        self._uncompared = 0
        self._stopped_at = ""

    def why_not(self, path: str, name: str) -> str:
        """Why a file is left out.

        Args:
            path: absolute.
            name: what the agent calls it; empty when it has no name.

        Returns:
            One sentence; empty when it is not left out, or was not compared with everything any more.
        """
        for one in self._excluded:
            if one.by == BY_FOLDER:
                is_meant = is_within(path, (one.pattern,))
            elif one.by == BY_NAME:
                is_meant = self._matching.names(name, one.pattern)
            else:
                is_meant = self._matching.names_path(path, one.pattern)
            if is_meant:
                return one.why
            if self._matching.is_spent and one.by != BY_FOLDER:
                self._stopped_at = self._stopped_at or one.file
                self._uncompared += 1
                return ""
        return ""

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Give the files of settings that were not followed in all they leave out, each with the reason."""
        found = []
        for one in self._excluded:
            limit = self._matching.limit_of(one.pattern) if one.by not in (BY_FOLDER, BY_NAME) else ""
            if limit:
                found.append((one.file, f"Of a pattern that leaves files out: {limit}: {one.pattern[:100]}"))
        if self._uncompared:
            count = f"{self._uncompared:,} file{'s are' if self._uncompared > 1 else ' is'}"
            why = f"What it leaves out takes too long to find: {count} counted that it may leave out."
            found.append((self._stopped_at, why))
        return tuple(dict.fromkeys(found))
