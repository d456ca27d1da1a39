"""When to look where: turns hints, focus and the cost of looking into the next glance. No clock, no file.

It exists so that one save shows within a frame, a burst costs a few looks instead of thousands, and a quiet folder of
any size stays below half a percent of a processor.
"""

from collections.abc import Iterable, Mapping

from memtui.engine.look.root_pass import Glance

QUIET_MS, LONGEST_MS = 75, 500
"""A folder is listed again after so much quiet, or at the latest this long after its first hint."""
FOCUSED_MS, AWAY_MS, POLLING_MS = 2_000, 30_000, 2_000
"""How often everything is scanned, whatever was heard."""
_SHARE = 400
"""A scan that took a millisecond comes at most every 400 of them: a quarter of a percent, because the terminal's reader
and the looks at the ledger take as much again."""
_POLLING_SHARE, FEW = 125, 10_000
"""The same where nobody listens, but not below so many memories: then nothing but a scan tells of a change."""
_LIST_SHARE = 20
"""A folder that took a millisecond to list is listed again after 20 of them at the earliest."""
_NAMES_SHARE, _LONGEST_REST_MS = 7, 150
"""A look at names, or at what is undecided, that took a millisecond rests for seven of them, but not for longer than
this: a writer that never stops must not cost more than a part of a core, and a burst is shown soon after its end."""
_MANY = 400
"""More names than this in one folder are found by listing it."""


class Agenda:
    """What is to be looked at, and when. All times are ticks, in milliseconds."""

    def __init__(self, now: int) -> None:
        """Begin with everything to be scanned at once."""
        self.focused = True
        self.polling = False
        self.files = 0
        """How many memories there are."""
        self._scan_at = now
        self._asked = False
        self._scan_ms = self._last_ms = 0
        self._turns = 0
        self._names: dict[str, dict[str, set[str]]] = {}
        self._rest_until = now
        self._folders: dict[tuple[str, str], tuple[int, int]] = {}
        self._no_list_until = now

    def hint(self, root_id: str, folder: str, name: str, now: int) -> None:
        """Something happened to a name in a folder; an empty name means the folder itself."""
        self._names.setdefault(root_id, {}).setdefault(folder, set()).add(name)
        first, _ = self._folders.get((root_id, folder), (now, now))
        self._folders[root_id, folder] = (first, now)

    def scan(self, now: int) -> None:
        """Scan everything next."""
        self._scan_at = min(self._scan_at, now)
        self._asked = True

    def list(self, places: Iterable[tuple[str, str]], now: int) -> None:
        """List folders next: they are watched only from now on."""
        for place in places:
            self._folders[place] = (now - LONGEST_MS, now - QUIET_MS)

    def next(self) -> int:
        """When there is something to do."""
        ends = [self._scan_at]
        if self._names:
            ends.append(self._rest_until)
        ends += [
            max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)) for first, last in self._folders.values()
        ]
        return min(ends)

    def take(self, now: int, root_ids: Iterable[str]) -> Mapping[str, Glance]:
        """What to look at now, by root; nothing when it is too early for all of it."""
        if now >= self._scan_at:
            self._names.clear()
            self._folders.clear()
            self._asked = False
            self.rest(now)
            return {root_id: Glance() for root_id in root_ids}
        folders: dict[str, set[str]] = {}
        for (root_id, folder), (first, last) in list(self._folders.items()):
            if now >= max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)):
                del self._folders[root_id, folder]
                folders.setdefault(root_id, set()).add(folder)
        names: dict[str, dict[str, frozenset[str]]] = {}
        if now >= self._rest_until:
            for root_id, below in self._names.items():
                for folder, some in below.items():
                    if folder in folders.get(root_id, ()):
                        continue
                    if "" in some or len(some) > _MANY:
                        folders.setdefault(root_id, set()).add(folder)
                    else:
                        names.setdefault(root_id, {})[folder] = frozenset(some)
            self._names.clear()
        return {
            root_id: Glance(everything=False, folders=frozenset(folders.get(root_id, ())), names=names.get(root_id, {}))
            for root_id in folders.keys() | names.keys()
        }

    def looked(self, glances: Mapping[str, Glance], started: int, ended: int, *, found: bool) -> None:
        """Learn what a look cost.

        Args:
            glances: where it looked.
            started: when.
            ended: when.
            found: whether there was anything new; recording that is no part of the cost of looking.
        """
        took = ended - started
        if any(glance.everything for glance in glances.values()):
            if not found:
                # One that had to read much again says nothing about the next.
                self._scan_ms, self._last_ms = min(took, self._last_ms), took
            self.rest(ended)
        elif any(glance.folders for glance in glances.values()):
            self._no_list_until = ended + took * _LIST_SHARE
        else:
            self._rest_until = ended + min(took * _NAMES_SHARE, _LONGEST_REST_MS)

    def rested(self, due: int | None) -> int | None:
        """When to look at what is undecided, from when that would be due."""
        return None if due is None else max(due, self._rest_until)

    def rest(self, now: int) -> None:
        """Plan the next scan of everything, unless one is asked for already."""
        if self._asked:
            return
        base = POLLING_MS if self.polling else FOCUSED_MS if self.focused else AWAY_MS
        share = _SHARE if not self.polling else 0 if self.files < FEW else _POLLING_SHARE
        # Processes that started together drift apart, the same way in every run.
        self._turns += 1
        jitter = 0.9 + 0.1 * (self._turns * 0.618 % 1)
        self._scan_at = now + round(max(base, min(AWAY_MS, self._scan_ms * share)) * jitter)
