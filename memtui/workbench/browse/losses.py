"""What others made disappear: deleted memories, counted on the rows above them, and roots whose folder is gone.

Neither has a row of its own to carry a sign, and without one nobody would look for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from memtui.engine.model import Address
from memtui.workbench.browse.nodes import FOLDER, Key, Node, line_up


class Losses:
    """Deletions the user has not seen, and vanished roots."""

    def __init__(self) -> None:
        self.vanished: Mapping[str, int] = {}
        """Root id to how many memories it held, of roots whose folder is gone."""
        self.total = 0
        """Memories others deleted that the user has not seen."""
        self._below: Counter[Key] = Counter()

    def set_deleted(self, addresses: Iterable[Address], homes: Mapping[str, Node]) -> frozenset[Key]:
        """Count what others deleted.

        Args:
            addresses: the memories.
            homes: root id to its row; of other roots nothing is counted.

        Returns:
            The rows whose count is another one now.
        """
        before, self._below, self.total = self._below, Counter(), 0
        for address in addresses:
            home = homes.get(address.root)
            if home is None:
                continue
            self.total += 1
            self._below.update(line_up(home))
            folders = address.path.split("/")[:-1]
            self._below.update((FOLDER, address.root, "/".join(folders[: n + 1])) for n in range(len(folders)))
        keys = before.keys() | self._below.keys()
        return frozenset(key for key in keys if before[key] != self._below[key])

    def below(self, node: Node) -> int:
        """How many memories others deleted below a row."""
        return self._below[node.key] if self._below else 0
