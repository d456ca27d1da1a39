"""Who approves through one engine: what only a person does is refused to an agent, and kept with where it came from.

It exists so that each door that approves is shut at one place, whichever front it belongs to.
"""

from typing import NamedTuple

from memtui.errors import RefusedError


class Approver(NamedTuple):
    """Who sits at this process."""

    actor: str = ""
    """Who is recorded; empty: nobody said, as for a program that uses the engine by itself, and nothing is recorded."""
    where: str = ""
    """The terminal, and the program that started this one."""
    agent: str = ""
    """The agent that runs this process, and what shows it, as a sentence; empty: none."""

    def require(self, act: str, hint: str = "") -> None:
        """Refuse to an agent, with `E_PERSON`, what only a person may do, as in `accept a root`.

        The hint says where a person does it.
        """
        if self.agent:
            raise RefusedError(
                f"Only a person may {act}. {self.agent}",
                code="E_PERSON",
                hint=hint or "Do it in a memtui that you start yourself, in a terminal of your own.",
            )

    def note(self, text: str = "") -> str:
        """What the record of an approval says: this text, and where it came from."""
        return ", ".join(part for part in (text, self.where) if part)
