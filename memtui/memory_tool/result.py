"""What a call of the memory tool answers: a success or a failure, each with a text that a model reads.

It exists so that no failure of a call leaves the tool as an exception: a model can only recover from what it is told.
"""

from typing import NamedTuple

_SHOWN = 2_048
"""Characters of a name that an answer repeats; nobody needs more to recognise it."""


class Result(NamedTuple):
    """The answer to one call."""

    ok: bool
    text: str


class Refusal(Exception):  # noqa: N818
    """A call that cannot be done; its text is the answer. Raised and caught inside the tool."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def shown(name: str) -> str:
    """A name as an answer repeats it: exactly, unless it is absurdly long or cannot be sent as UTF-8."""
    if len(name) > _SHOWN:
        name = name[:_SHOWN] + "…"
    return sendable(name)


def sendable(text: str) -> str:
    """Text in which what has no UTF-8 form is spelled out, because no protocol could carry it."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()
