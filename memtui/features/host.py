"""What the view of a feature may ask of the workbench it is shown in; one class there answers all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Actor, Address, Change, Root
from memtui.errors import MemtuiError
from memtui.ui.keys.fence import OLDEST, Hold
from memtui.ui.view_screen import Shell

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.typed_address import Target

T = TypeVar("T")

READ, WRITE = "read", "write"
"""Lanes of jobs: looking at memories; changing things, in the order asked."""


class Jobs(Protocol):
    """Runs what may block in threads; results come back on the event loop."""

    actor: Actor
    """Who the changes are recorded for."""
    read_only: bool

    @property
    def closed(self) -> bool:
        """Whether nobody waits for anything any more; from any thread."""

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
        """Run a job with the engine in a thread.

        Args:
            job: called with the engine, off the event loop; touches no widget.
            then: called on the event loop with its result.
            what: what is tried, for people (`rename notes.md`); shown when it fails.
            otherwise: called on the event loop with the error, instead of showing it.
            lane: `READ`, or `WRITE` for anything that changes something: writes keep their order.
            latest: a group of which only the newest job matters: older ones are skipped and their results dropped.
            awaited: the keys that follow are for what comes of it on the screen, and wait for that.
            doing: what is said of a write while it changes many memories: `Moving 5,000 memories to the trash`.
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
        """Run a job with partial results: it also gets what says whether nobody wants them, and what takes one."""

    def drop(self, group: str) -> None:
        """Forget the jobs of a `latest` group: nothing of theirs arrives any more."""

    def hold(self, what: str, seconds: float = OLDEST, *, optional: bool = True) -> Hold:
        """Have keys wait for something."""

    def refresh(
        self, addresses: Iterable[Address] = (), *, everything: bool = False, shows: Hold | None = None
    ) -> None:
        """Ask for the rows of these memories again; `shows` ends once they are told."""

    def refresh_drafts(self) -> None:
        """Ask again which memories have unsaved text."""

    def reload(self) -> None:
        """Read and hash everything again."""


class OfMemory(Protocol):
    """A view that is about one memory."""

    about: Callable[..., None]
    """Shows another memory, from its address; one that can begin somewhere in it takes that too."""


class Destinations(Protocol):
    """Where the user can be taken."""

    def back(self) -> None:
        """Go back to the tree."""

    def reveal(self, address: Address) -> bool:
        """Put the tree's cursor on a memory; False when it has no row."""

    def reveal_root(self, root: str) -> bool:
        """Put the tree's cursor on a root; False when it has no row."""

    def tree(self, address: Address, may_show: str = "A or esc") -> bool:
        """Go back to the tree, to a memory; False when it has no row there, which is said.

        Args:
            address: which.
            may_show: the keys that may bring a memory into the tree that has no row there.
        """

    def edit(self, address: Address, *, then: str = "") -> None:
        """Go back to the tree and open a memory in the editor, which says what is wrong where there is none.

        Args:
            address: which.
            then: `compare`, `outside`, or a place such as `line 12`.
        """

    def resolve(self, near: Address | None) -> None:
        """Go back to the tree and open the conflict of this memory, or the next one; say so where there is none."""

    def open_found(self, address: Address, place: tuple[int, int], words: str) -> None:
        """Go back to the tree and open a memory where a search found something.

        Args:
            address: which.
            place: line and column from 1; line 0 for the first place in the text.
            words: what was searched for.
        """

    def history(self, address: Address, *, at: str | None = None) -> None:
        """Show the history of a memory over what is shown now, beginning at the version with this sha-256."""

    def blame(self, address: Address) -> None:
        """Show who wrote each line of a memory over what is shown now."""

    def lay_over(self, view: str) -> None:
        """Show a view without a tab over what is shown now, by its id."""

    def edit_entry(self, address: Address, entry: Any) -> None:
        """Edit one entry of a memory that holds many, by what `entry_names.exact` says of it; None: a new one."""

    def edit_text(self, data: bytes, name: str, edited: Callable[[bytes], None]) -> None:
        """Open a text that is no memory yet in the user's own editor; `edited` is called with what comes back."""

    def describe(self, address: Address) -> None:
        """Show the front matter of a memory as a form."""

    def repoint(self, root: str) -> None:
        """Ask where the project of a root is now, at its row in the tree."""


class Operations(Protocol):
    """What views and the tree do in the same way, with the same words."""

    def pin(self, addresses: tuple[Address, ...], pinned: bool, then: Callable[[], None]) -> None:
        """Pin or unpin, say who is given it, and go on when it is done."""

    def install_hook(self, agent: str, then: Callable[[], None]) -> None:
        """Ask once, put memtui into an agent, by its id, and go on when it is done."""

    def lift_line(self, address: Address) -> None:
        """Move the index line of a memory above the cut."""

    def see(self, changes: Iterable[Change], then: Callable[[], None]) -> None:
        """Say that the user has looked at changes as they were shown."""

    def review(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        """Review versions, whatever is under their names by now."""

    def seen_with(self, engine: Engine, changes: Iterable[Change], rejected: Iterable[str], *, joined: bool) -> None:
        """In a job of writes, say that the user has looked at changes, and which proposals they rejected, as one step.

        Args:
            engine: the job's.
            changes: as they were shown.
            rejected: ids of proposals; they are open again when the step is taken back.
            joined: it is a part of the engine's last step, and taken back with it.
        """

    def undoable(
        self,
        engine: Engine,
        words: str,
        back: Callable[[Engine, Actor], bool],
        again: Callable[[Engine, Actor], object],
        then: Callable[[], object] = tuple,
    ) -> None:
        """In a job of writes, have undo take back what was just done and is no change of a memory, in this run.

        Args:
            engine: the job's.
            words: what was done: `2 findings muted`.
            back: takes it back; False where nothing of it is left.
            again: does it again.
            then: called on the event loop after either.
        """

    def accept(self, root: str, then: Callable[[], None]) -> None:
        """Show what waits in a root, and review it."""

    def touched(self, addresses: Iterable[Address]) -> None:
        """Read what undo changed again, also in a folder that had no memory and so no row."""


class ProjectRoots(NamedTuple):
    """This project, and the others."""

    own_roots: Mapping[str, Root]
    """The roots of this project alone, by their id."""
    scope_names: Mapping[str, str]
    """What a scope is called here, such as the name of the project."""
    demo: bool
    """Whether the memories are a throw-away copy."""
    more_roots: Callable[[], tuple[Root, ...]]
    """Finds the roots of every project; slow, so it is for a job."""
    unread: frozenset[str]
    """The folders of other projects that were found and are not read."""


class Host(Protocol):
    """The workbench, to a view."""

    @property
    def shell(self) -> Shell:
        """What draws and takes keys around the view."""

    @property
    def jobs(self) -> Jobs:
        """What works."""

    @property
    def places(self) -> Destinations:
        """Where the user can be taken."""

    @property
    def operations(self) -> Operations:
        """What is done in the same way everywhere."""

    @property
    def settings(self) -> Settings:
        """What the user chose."""

    @property
    def surroundings(self) -> Surroundings | None:
        """Where the user stands, for what depends on more than the roots; None in a demo."""

    @property
    def roots(self) -> Mapping[str, Root]:
        """Every root that is shown, by its id."""

    @property
    def projects(self) -> ProjectRoots:
        """This project, and the others."""

    @property
    def index_health(self) -> Any:
        """What is known of the health of indexes, as `IndexHealth` of that feature has it."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def has_row(self, address: Address) -> bool:
        """Whether there is a memory of this name."""

    def shown(self, address: Address) -> str:
        """Name a memory for the eye."""

    def short(self, path: str) -> str:
        """Write a path below the user's home with `~`."""

    def renamed(self, address: Address) -> Target:
        """Where typing another name for a memory starts."""

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user, until the next key; all of them can be read again."""

    def show_error(self, what: str, error: MemtuiError) -> None:
        """Show what could not be done, what is unharmed, and what to do."""

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard and say by which route; `what` names it in the message."""
