"""What a feature's view may ask of the workbench around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Actor, Address, Change, Root
from memtui.errors import MemtuiError
from memtui.ui.keys.fence import HOLD_LIMIT, Hold
from memtui.ui.view_screen import Shell

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.typed_address import Target

T = TypeVar("T")

READ, WRITE = "read", "write"
"""Lanes of jobs: reading memories; changes, run in the order asked."""


class Jobs(Protocol):
    """Runs blocking work in threads; results arrive on the event loop."""

    actor: Actor
    """Who changes are recorded for."""
    read_only: bool

    @property
    def closed(self) -> bool:
        """Return whether results are no longer wanted; from any thread."""

    def run(
        self,
        job: Callable[[Engine], T],
        then: Callable[[T], None] | None = None,
        *,
        what: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        lane: str = READ,
        latest: str | None = None,
        awaited: bool = False,
        doing: str = "",
    ) -> None:
        """Run a job with the engine in a thread; `then` or `otherwise` is called on the event loop.

        Args:
            job: called off the event loop; must not touch widgets.
            what: the action, for error messages (`rename notes.md`).
            lane: `READ`, or `WRITE` for changes, which run in order.
            latest: a group of which only the newest job matters: older ones are skipped or their results dropped.
            awaited: later keys wait until the result is on the screen.
            doing: progress text of a change of many memories: `Moving 5,000 memories to the trash`.
        """

    def stream(
        self,
        job: Callable[[Engine, Callable[[], bool], Callable[[T], None]], T],
        then: Callable[[T], None],
        *,
        what: str,
        group: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        awaited: bool = False,
    ) -> None:
        """Run a job with partial results; it is also given a cancellation check and a function that takes a result."""

    def drop(self, group: str) -> None:
        """Discard the jobs of a `latest` group and their results."""

    def hold(self, what: str, seconds: float = HOLD_LIMIT, *, optional: bool = True) -> Hold:
        """Make later keys wait."""

    def refresh(
        self, addresses: Iterable[Address] = (), *, everything: bool = False, shows: Hold | None = None
    ) -> None:
        """Read the rows of these memories again; `shows` ends once they are shown."""

    def refresh_drafts(self) -> None:
        """Read again which memories have unsaved text."""

    def reload(self) -> None:
        """Read and hash everything again."""


class Destinations(Protocol):
    """Places the user can be taken to."""

    def back(self) -> None:
        """Return to the tree."""

    def reveal(self, address: Address) -> bool:
        """Put the tree's cursor on a memory; return False when it has no row."""

    def reveal_root(self, root: str) -> bool:
        """Put the tree's cursor on a root; return False when it has no row."""

    def tree(self, address: Address, may_show: str = "A or esc") -> bool:
        """Return to the tree, at a memory; if it has no row, say so, name the keys `may_show`, and return False."""

    def edit(self, address: Address, *, then: str = "") -> None:
        """Return to the tree and edit a memory; `then` is `compare`, `outside`, or a place such as `line 12`."""

    def resolve(self, near: Address | None) -> None:
        """Return to the tree and open the conflict of this memory, or the next one; say so if there is none."""

    def open_found(self, address: Address, place: tuple[int, int], words: str) -> None:
        """Return to the tree and open a memory at a search hit: line and column from 1; line 0 is the first hit."""

    def history(self, address: Address, *, at: str | None = None) -> None:
        """Show the history of a memory over the current view, starting at the version with the hash `at`."""

    def blame(self, address: Address) -> None:
        """Show who wrote each line of a memory, over the current view."""

    def lay_over(self, view: str) -> None:
        """Show a view without a tab over the current one, by its id."""

    def edit_entry(self, address: Address, entry: Any) -> None:
        """Edit one entry of a memory, as `entry_names.exact` identifies it; None: a new one."""

    def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        """Edit a text that is no memory yet in the user's own editor; `edited` takes the result."""

    def describe(self, address: Address) -> None:
        """Show the front matter of a memory as a form."""

    def repoint(self, root: str) -> None:
        """Ask where the project of a root is now, at its row in the tree."""


class Operations(Protocol):
    """Operations that views and the tree share, with the same messages."""

    def pin(self, addresses: tuple[Address, ...], pinned: bool, then: Callable[[], None]) -> None:
        """Pin or unpin, say who is given it, then call `then`."""

    def install_hook(self, agent: str, then: Callable[[], None]) -> None:
        """Ask once, install memtui in an agent by its id, then call `then`."""

    def lift_line(self, address: Address) -> None:
        """Move the index line of a memory above the cut."""

    def see(self, changes: Iterable[Change], then: Callable[[], None]) -> None:
        """Mark changes as seen, as they were shown."""

    def review(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        """Mark versions as reviewed, whatever is stored under their names by now."""

    def seen_with(self, engine: Engine, changes: Iterable[Change], rejected: Iterable[str], *, joined: bool) -> object:
        """In a write job, mark changes as seen and note rejected proposals, as one step of undo.

        `joined`: part of the engine's last step, undone with it.
        """

    def undoable(
        self,
        engine: Engine,
        words: str,
        back: Callable[[Engine, Actor], bool],
        again: Callable[[Engine, Actor], object],
        then: Callable[[], object] = tuple,
    ) -> None:
        """In a write job, add a step of undo for something that is no change of a memory, for this run.

        `words` say what was done; `back` undoes it (False where nothing of it is left), `again` redoes it, `then` is
        called after either.
        """

    def accept(self, root: str, then: Callable[[], None]) -> None:
        """Show the unreviewed versions of a root, and review them."""

    def touched(self, addresses: Iterable[Address]) -> None:
        """Read memories again after an undo, even in a folder that had no row."""


class ProjectRoots(NamedTuple):
    """The roots of this project, and of others."""

    own_roots: Mapping[str, Root]
    """The roots of this project alone, by id."""
    scope_names: Mapping[str, str]
    """The display name of each scope, such as the project's."""
    demo: bool
    """Whether the memories are a throw-away copy."""
    more_roots: Callable[[], tuple[Root, ...]]
    """Finds the roots of every project; slow, so for a job only."""
    unread: frozenset[str]
    """Folders of other projects that were found but not read."""


class Host(Protocol):
    """The workbench, as a view sees it."""

    @property
    def shell(self) -> Shell:
        """Return what draws and takes keys around the view."""

    @property
    def jobs(self) -> Jobs:
        """Return the job runner."""

    @property
    def places(self) -> Destinations:
        """Return where the user can be taken."""

    @property
    def operations(self) -> Operations:
        """Return the shared operations."""

    @property
    def settings(self) -> Settings:
        """Return the user's settings."""

    @property
    def surroundings(self) -> Surroundings | None:
        """Return where the user stands; None in a demo."""

    @property
    def roots(self) -> Mapping[str, Root]:
        """Return every root shown, by id."""

    @property
    def projects(self) -> ProjectRoots:
        """Return the roots of this project, and of others."""

    @property
    def index_health(self) -> Any:
        """Return the health of indexes, as the health feature's `IndexHealth`."""

    def now(self) -> int:
        """Return milliseconds since the epoch."""

    def has_row(self, address: Address) -> bool:
        """Whether there is a memory of this name."""

    def shown(self, address: Address) -> str:
        """Format a memory's address for people."""

    def short(self, path: str) -> str:
        """Write a path below the user's home with `~`."""

    def renamed(self, address: Address) -> Target:
        """Return the start of typing a new name for a memory."""

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user, until the next key; all lines can be read again."""

    def show_error(self, what: str, error: MemtuiError) -> None:
        """Show what failed, what is unharmed, and what to do."""

    def copy(self, text: str, what: str) -> None:
        """Copy a text and say by which route; `what` names it in the message."""
