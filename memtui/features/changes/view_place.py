"""What the parts of Review that decide know of the view: where the cursor is, and what it shows afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from memtui.engine.model import Change
    from memtui.features.changes.view_rows import ReviewItem, ReviewRows
    from memtui.features.changes.view_texts import ShownChange
    from memtui.features.host import Host, Jobs
    from memtui.features.proposals.apply import ProposalView
    from memtui.ui.draw.pages import Page
    from memtui.ui.list_view import ViewList
    from memtui.ui.widgets.page_view import PageView
    from memtui.ui.widgets.prompts import Question


class ShownProposal(NamedTuple):
    """A proposal as it is shown."""

    view: ProposalView
    page: Page
    starts: tuple[int, ...]
    """The line of the page each place begins at."""
    places: tuple[tuple[int, int], ...]
    """Its step, and its hunk in that."""


class ReviewPane(Protocol):
    """The view, to what decides in it: where the cursor is, and what it shows afterwards."""

    host: Host
    jobs: Jobs
    list: ViewList
    rows: ReviewRows
    hunk: int
    """Which place of what is beside the list keys work on."""

    @property
    def item(self) -> ReviewItem | None:
        """The row under the cursor."""

    @property
    def shown(self) -> ShownChange | None:
        """The change beside the list."""

    @property
    def targets(self) -> tuple[Change, ...]:
        """The changes that an operation works on."""

    page: PageView

    @property
    def proposed(self) -> ShownProposal | None:
        """The proposal beside the list."""

    def give(self, page: Page) -> None:
        """Show a text beside the list."""

    @property
    def place_in_text(self) -> tuple[str | Change, int, int] | None:
        """While the cursor is in a text of several hunks: the change, or a proposal's id; the step, and the hunk."""

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user."""

    def ask(self, question: Question) -> None:
        """Ask for one line of text."""

    def close_prompt(self) -> None:
        """Put the line of text away."""

    def load(self) -> None:
        """Read the rows again."""

    def load_and_read(self) -> None:
        """Read the rows again, and what is beside them."""

    def read_again_after(self, words: str, level: str, *, go_on: bool) -> None:
        """Read again after a decision, say it, and go on to what is undecided below."""
