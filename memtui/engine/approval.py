"""Who approves through an engine: what only a person may do is refused to an agent, and recorded with its origin."""

from typing import NamedTuple

from memtui.errors import RefusedError


class Approver(NamedTuple):
    """Who sits at this process."""

    actor: str = ""
    """The actor to record; empty: unknown, as for a program that uses the engine directly, and nothing is recorded."""
    where: str = ""
    """The terminal, and the program that started this one."""
    agent: str = ""
    """The agent that runs this process, and the evidence, as a sentence; empty: none."""

    def require(self, act: str, hint: str = "") -> None:
        """Refuse an act only a person may do, such as `accept a root`, to an agent (`E_PERSON`)."""
        if self.agent:
            raise RefusedError(
                f"Only a person may {act}. {self.agent}",
                code="E_PERSON",
                hint=hint or "Do it in a memtui that you start yourself, in a terminal of your own.",
            )

    def note(self, text: str = "") -> str:
        """Return the note for the record of an approval: `text` and its origin."""
        return ", ".join(part for part in (text, self.where) if part)
