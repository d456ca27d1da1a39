"""Who may change what through one engine: a level for each scope, given when the engine is opened.

It exists so that a client's rights are checked where memories are changed, and not in a prompt or in each front.
"""

from typing import NamedTuple

from memtui.engine.disk import git
from memtui.engine.model import Root
from memtui.engine.policy import ROOM
from memtui.errors import RefusedError

LEVELS = ("rw", "plan", "ro", "off")
"""Read and write; write all but what lies in a checkout; read; neither."""


class Access(NamedTuple):
    """What one client may do."""

    label: str
    """One of `LEVELS`; or any other word, which then reads only, with levels of its own for some scopes."""
    scopes: tuple[tuple[str, str], ...] = ()
    """Pairs of a scope and its level, for scopes in which it is not the label."""
    room: str = ""
    """The folder of the one chat whose memory it may see; `*`: of all, as a person may."""

    def level(self, root: Root) -> str:
        """The level for a root: one of `LEVELS`."""
        if root.kind == ROOM and self.room not in ("*", root.path):
            return "off"
        level = dict(self.scopes).get(root.scope, self.label)
        return level if level in LEVELS else "ro"

    def allows(self, root: Root) -> bool:
        """Whether memories of this root may be changed."""
        level = self.level(root)
        return level == "rw" or (level == "plan" and not _in_checkout(root))

    def shows(self, root: Root) -> bool:
        """Whether memories of this root may be read."""
        return self.level(root) != "off"

    def require(self, root: Root) -> None:
        """Refuse a change that is not allowed.

        Raises:
            RefusedError: `E_ACCESS`.
        """
        if not self.allows(root):
            raise RefusedError(
                f"{root.id} may only be read here: this client has the access {self.level(root)!r}.",
                code="E_ACCESS",
                hint="The user can allow it, in the table [access] of config.toml or with --access.",
                details={"access": self.level(root), "root": root.id},
            )


def _in_checkout(root: Root) -> bool:
    """Whether a root lies in a checkout, by what is on disk: memtui's own folder may have been put into one."""
    return root.in_checkout or (root.path != "" and git.checkout_of(root.path) is not None)


READ_WRITE = Access("rw", room="*")
PLAN = Access("plan")
READ_ONLY = Access("ro")
OFF = Access("off")
