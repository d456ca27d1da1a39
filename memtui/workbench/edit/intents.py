"""What the editor asks for: every wish of the user that the editor cannot fulfil itself, as a message.

Values only, so that editor and engine can each be tested without the other, and no widget ever calls another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from memtui.engine.model import Draft

if TYPE_CHECKING:
    from memtui.workbench.edit.core import EditorCore


class Intent(Message):
    """Something the user wants that this pane cannot do itself."""

    def __init__(self, editor: EditorCore) -> None:
        """Remember who asks."""
        super().__init__()
        self.editor = editor

    @property
    def control(self) -> EditorCore:
        """The editor that asks."""
        return self.editor


class SaveAsked(Intent):
    """ctrl+s."""


class LeaveAsked(Intent):
    """esc: back to the tree, the draft stays."""


class ExternalAsked(Intent):
    """f4: the user's own editor."""


class CompareAsked(Intent):
    """f8: show both sides."""


class RenameAsked(Intent):
    """f2: the new name is to be asked for."""


class Answer(Intent):
    """A line was typed."""

    def __init__(self, editor: EditorCore, value: str) -> None:
        """Carry what was typed."""
        super().__init__(editor)
        self.value = value


class Renamed(Answer):
    """The new name was typed."""


class DescribeAsked(Intent):
    """f9: the form of the front matter is to be shown."""


class Looked(Intent):
    """The user has seen what somebody else changed."""


class DraftDue(Intent):
    """What is typed should be on disk now."""


class CompareDue(Intent):
    """The text changed while somebody else's version waits: the counts are old."""


class DraftAnswered(Intent):
    """The question about an old draft was answered."""

    def __init__(self, editor: EditorCore, draft: Draft, answer: str) -> None:
        """Carry the draft and `restore`, `discard` or `later`."""
        super().__init__(editor)
        self.draft = draft
        self.answer = answer


class StateChanged(Intent):
    """The state (and so the badge) of the open memory is another one."""
