"""The values every room exchanges: immutable, comparable, without behaviour beyond reading themselves.

They are named tuples: `import dataclasses` alone costs a one-shot command more than Python's start. Identity is root
and path. Times are milliseconds since 1970, hashes hex sha-256 of raw bytes, sizes bytes. Nothing touches the disk.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtui.engine.policy import ARCHIVE as ARCHIVE
from memtui.engine.policy import Policy as Policy
from memtui.engine.policy import Root as Root
from memtui.errors import MemtuiError, RefusedError, UsageError

SCOPES = ("global", "project", "workspace", "channel")
"""Every scope, in the order in which it is always shown."""


class Actor(NamedTuple):
    """Who did it."""

    name: str
    """`tui`, `cli`, `mcp:<client>`, `http:<client>`, `agent:<name>` when proven, else `outside`."""

    def __str__(self) -> str:
        return self.name


OUTSIDE = Actor("outside")
"""A writer memtui knows nothing about."""


def is_person(actor: str) -> bool:
    """Whether an actor's name is the user at this machine, whose own changes are not news to them."""
    return actor in ("tui", "cli") or actor.startswith(("tui:", "cli:"))


def is_reserved(actor: str) -> bool:
    """Whether a name would be taken for the person at the keys, so that no program may be given it."""
    plain = actor.strip().casefold().removeprefix("agent:").strip()
    return plain in ("tui", "you", "person") or plain.startswith(("tui:", "cli:"))


APPROVALS = ("reviewed", "seen", "redacted", "accepted", "rejected", "muted")
"""Operations of the audit that only a person does: approvals. They are marks, and no change of a memory."""
SETTING = "setting"
MARKS = (*APPROVALS, SETTING)
"""Operations that change no memory: approvals, and settings, which whoever may write their file changes."""


class Address(NamedTuple):
    """How a memory is named: `<root id>/<path>`."""

    root: str
    path: str
    """Relative to the root, separated by `/`. Undecodable bytes are surrogate escapes, as `os.fsdecode` gives them."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Split `<root id>/<path>`; the path is not validated here (`paths.py` does that).

        Raises:
            UsageError: there is no `/`, or one side of it is empty.
        """
        root, slash, path = text.partition("/")
        if not (root and slash and path):
            raise UsageError(
                f"{text!r} is not an address.", hint="Write <root id>/<path>, such as memtui:global/preferences.md."
            )
        return cls(root, path)

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition("/")[2]

    def __str__(self) -> str:
        return f"{self.root}/{self.path}"


TYPES = ("user", "feedback", "project", "reference")
"""The types agents give their memories in front matter, where they give any."""


class RootStatus(NamedTuple):
    """A root as it was last found on disk."""

    root: Root
    exists: bool
    writable: bool
    accepted: bool
    """False only for a root inside a checkout with versions that wait for a review."""
    files: int
    bytes: int
    truncated: bool
    problems: "tuple[Problem, ...]"

    @property
    def unreadable(self) -> bool:
        """Whether its folder, or a part of it, is there and cannot be read; the problems say why."""
        return any(problem.code.startswith("E_") for problem in self.problems)


LOCAL, REVIEWED, BROUGHT = "local", "reviewed", "brought"
"""What a version in a checkout is: written here through memtui, reviewed by a person as exactly these bytes, or
neither, so that a repository may have brought it and no agent is given it unasked."""


class FieldEdit(NamedTuple):
    """A field of the front matter, and what it shall be."""

    path: tuple[str, ...]
    """Its name; of a field inside another one, that one's name first."""
    value: str | tuple[str, ...] | None
    """A text, a list of texts, or None to remove it."""


class Problem(NamedTuple):
    """Something about a memory or a root that the user should know; never hides the row."""

    code: str
    """Of `errors.CODES`, or: being-written, clash, look-alike, over-agent-limit, front-matter, generated, protected,
    truncated, unreviewed, conflict-markers, hidden-characters, no-memory, open-private, private-about, withheld."""
    text: str
    """One sentence. May hold hostile text."""


class Memory(NamedTuple):
    """One row of a list."""

    address: Address
    scope: str
    agent: str
    bytes: int
    modified_at: int
    sha256: str | None
    """None when the content could not be read (see `problems`)."""
    description: str = ""
    """One line from the front matter, at most 200 characters and an ellipsis; may hold hostile text."""
    pinned: bool = False
    uses: int = 0
    heat: float = 0.0
    """Uses, each halved for every seven days that passed since it."""
    last_used_at: int | None = None
    last_written_at: int | None = None
    unseen: bool = False
    actor: str = "outside"
    """Who wrote the current version, when known."""
    version: int = 0
    """How many versions history holds, the current one included; 0 when none was recorded yet."""
    problems: tuple[Problem, ...] = ()
    missing: bool = False
    """Gone from disk, but not long enough ago to be believed."""
    trust: str = ""
    """Of a version in a checkout: `LOCAL`, `REVIEWED` or `BROUGHT`; empty elsewhere."""

    @property
    def writable(self) -> bool:
        """Whether the content can be edited as text here; front matter that is not read is still text."""
        codes = [problem.code for problem in self.problems if not problem.code.startswith("E_FRONTMATTER")]
        return self.sha256 is not None and not any(code.startswith("E_") for code in codes)


class Listing(NamedTuple):
    """Rows of one or more roots, ordered by root, then path."""

    items: tuple[Memory, ...]
    truncated: bool
    roots: tuple[RootStatus, ...] = ()


class TreeEntry(NamedTuple):
    """One name in a folder, whatever it is."""

    path: str
    """Relative to the folder; a folder's ends in `/`."""
    bytes: int
    """As the system gives it, for a folder as well."""


class Tree(NamedTuple):
    """What a folder holds: files and folders, hidden names left out, each folder followed by what is in it."""

    bytes: int
    """Of the folder itself, as the system gives it."""
    entries: tuple[TreeEntry, ...]


class Snapshot(NamedTuple):
    """One complete read of a memory."""

    address: Address
    bytes: bytes
    """The raw content."""
    sha256: str
    modified_at: int
    settled: bool = True
    """False: a writer may still be at it; the same bytes were not yet seen twice."""

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.bytes)

    @property
    def text(self) -> str:
        """The content as text, a byte-order mark included, so that encoding it again gives the same bytes.

        Raises:
            RefusedError: `E_TEXT`, when the bytes are not UTF-8.
        """
        try:
            return self.bytes.decode()
        except UnicodeDecodeError as error:
            raise RefusedError(
                f"{self.address} is not UTF-8 at byte {error.start}.",
                code="E_TEXT",
                hint="Open it with an editor that knows its encoding; memtui keeps it as it is.",
            ) from None


class Saved(NamedTuple):
    """The new text is under the name, and on disk."""

    address: Address
    sha256: str
    before: str | None
    """The version it replaced; None when the memory is new."""
    txn: str
    """The transaction, as `undo` and the audit know it."""


class Unchanged(NamedTuple):
    """The text was already there; nothing was written."""

    address: Address
    sha256: str


class Conflict(NamedTuple):
    """Somebody else's version is under the name. Both texts are in history; the file is as they left it."""

    address: Address
    current_sha256: str | None
    """What is there now; None when the memory is gone."""
    expected_sha256: str | None
    """What the edit started from; None when it expected no file."""
    yours_sha256: str | None
    """The refused text, readable with `read_version`."""
    txn: str


class Usage(NamedTuple):
    """How often a memory was used, as another program counted it."""

    address: Address
    uses: int
    last_used_at: int | None = None
    last_written_at: int | None = None


class Version(NamedTuple):
    """One text a memory had."""

    sha256: str
    bytes: int
    actor: str
    at: int
    operation: str
    """`created`, `modified`, `deleted`, `renamed` or `restored`."""
    redacted: bool = False
    note: str = ""
    """Why it was kept when it never was (or no longer is) under the name: `yours in conflict`, `late write`, ..."""


class Change(NamedTuple):
    """What happened to one memory."""

    address: Address
    kind: str
    """`created`, `modified`, `deleted` or `renamed`."""
    actor: str
    before: str | None
    after: str | None
    at: int
    old_address: Address | None = None
    """Where it was, for `renamed`; where the user last saw it, when it was renamed and is changed besides."""


class SeenMark(NamedTuple):
    """What the user had last looked at of one memory, before a mark: enough to take the mark back."""

    address: Address
    sha256: str | None
    """The version; None for none."""
    old_address: Address | None = None
    """The name it had then, when others have renamed it since."""


class PassedOver(NamedTuple):
    """What undo would take back although something newer was done where it cannot reach."""

    label: str
    """What it would take back, for people."""
    newer: str
    """What is newer, for people; without a folder who did the step, if not the user."""
    folder: str
    """The folder that was done in; it is not open here."""


class Vanished(NamedTuple):
    """A root whose folder is not there, although there were memories in it."""

    root: Root
    memories: int
    """How many the ledger knows; their texts are in history."""
    at: int
    """The newest change known in it."""


class Notice(NamedTuple):
    """Something the user must be told although no call of theirs is waiting for an answer."""

    kind: str
    """`late-write`, `overwritten`, `ledger`, `recovered`, `root`, `draft`; `waiting`, which is over soon."""
    text: str
    address: Address | None = None
    base: str | None = None
    yours: str | None = None
    theirs: str | None = None
    at: int = 0


class Health(NamedTuple):
    """How a watch is doing."""

    state: str
    """`watching` (events and scans), `polling` (scans only), `stopped`."""
    reason: str = ""


class Changes(NamedTuple):
    """Everything one quiet period brought, as one value."""

    changes: tuple[Change, ...] = ()
    touched: frozenset[Address] = frozenset()
    """Rows that differ without a change of content: being written, missing, pins, uses, seen marks."""
    roots: frozenset[str] = frozenset()
    """Roots that appeared, went away or were replaced."""
    notices: tuple[Notice, ...] = ()
    health: Health | None = None
    """Set when it changed."""
    rows: Mapping[Address, Memory | None] = MappingProxyType({})
    """The row of each memory named above as it is now, None where there is none; one that is not here is asked for."""
    order: int = 0
    """Of two that carry a row of the same memory, the one with the higher number knows it better."""


class Outcome(NamedTuple):
    """What an operation did to one memory."""

    address: Address
    result: "Saved | Unchanged | Conflict | None"
    """None when it was deleted, or failed."""
    error: MemtuiError | None = None
    new_address: Address | None = None

    @property
    def ok(self) -> bool:
        """Whether the memory is now as asked."""
        return self.error is None and not isinstance(self.result, Conflict)


class Done(NamedTuple):
    """A finished operation: one undo step, with a result for each memory."""

    txn: str
    operation: str
    """`save`, `create`, `rename`, `delete`, `restore`, `pin`, `unpin`, `undo`, `redo`."""
    outcomes: tuple[Outcome, ...]
    label: str = ""
    """For people: `delete 3 memories`."""
    left: str = ""
    """For undo and redo: what was done later in folders that are not open here, and so was left alone; one sentence."""
    also: str = ""
    """For undo: what came back besides, such as the draft a merge was made of; one sentence."""

    @property
    def addresses(self) -> set[Address]:
        """Everything the operation touched, under its old and its new name."""
        found = {outcome.address for outcome in self.outcomes}
        return found | {outcome.new_address for outcome in self.outcomes if outcome.new_address is not None}


class AuditRecord(NamedTuple):
    """One audited change; `who` says who asked for it, as a gateway said: `ann · qwen · team-eng`."""

    seq: int
    txn: str
    address: Address
    new_address: Address | None
    actor: str
    operation: str
    before: str | None
    after: str | None
    at: int
    state: str
    """`intent` while it runs, then `done`, `aborted` or `conflict`."""
    note: str = ""
    who: str = ""


class Operation(NamedTuple):
    """One operation of the audit as a whole: what `undo` takes back as one."""

    txn: str
    kind: str
    """`do`, `undo` or `redo`."""
    label: str
    """For people: `delete 3 memories`."""
    records: int
    """How many audit records it has."""
    undone: bool
    """It was taken back, and not done again since."""
    deleted: int = 0
    """How many memories it deleted."""


class TrashEntry(NamedTuple):
    """A deleted memory that can be restored."""

    address: Address
    sha256: str
    bytes: int
    actor: str
    at: int
    txn: str
    taken: bool = False
    """Another memory has its name by now."""


class Restoring(NamedTuple):
    """A deleted memory that is to come back."""

    address: Address
    sha256: str
    """Which text."""
    to: Address | None = None
    """Another name for it; None: its own."""


class Draft(NamedTuple):
    """Unsaved text of the editor."""

    address: Address
    base_sha256: str | None
    """The version the edit started from; None for a new memory."""
    text: str
    cursor: tuple[int, int]
    """Line and column, from 0."""
    at: int
    base: bytes | None = None
    """The text of `base_sha256`, when it may not be in history yet: kept there with the draft. Read back only
    where the draft is in a file of its own."""


class MergeOf(NamedTuple):
    """What a saved text was merged from, for the audit and for undo."""

    base_sha256: str | None
    """What both sides started from; None for nothing."""
    yours_sha256: str
    theirs_sha256: str | None
    """None: the other side had deleted it."""
    decided: tuple[str, ...] = ()
    """How each place was decided, such as `line 6 yours`."""


class OpenConflict(NamedTuple):
    """A conflict that is being decided: every text in it, and the decisions so far."""

    address: Address
    base_sha256: str | None
    """What both sides started from; None when both created the memory."""
    yours: bytes
    theirs: bytes
    decisions: str
    """Whatever the front needs to go on at the same place; the engine does not read it."""
    at: int


class Wanted(NamedTuple):
    """What to search for, and where."""

    query: str
    """Words that must all occur; `"quoted"` ones together, `-excluded` ones not at all."""
    scope: str | None = None
    agent: str | None = None
    roots: frozenset[str] | None = None
    """Ids of the roots to look in; None: all of them."""
    bodies: bool = True
    """Also in the texts, not only in names and descriptions."""
    versions: bool = False
    """Also in texts that memories had, and in those of deleted memories."""
    limit: int = 200
    """So many hits are given back; the others are counted."""
    fresh: bool = True
    """List the roots first. Else what was listed last counts, for whoever is told of every change."""
    given: bool = False
    """An agent asks: nothing is found, or left out, for a word in a secret or in what a writer marked as private."""


class Hit(NamedTuple):
    """One search result."""

    memory: Memory
    """A deleted one has no version on disk, and is `missing`."""
    field: str
    """`name`, `description` or `body`: the best field that matched."""
    line: int | None
    """From 1, for `body`."""
    snippet: str
    """One line around the match; may hold hostile text."""
    column: int | None = None
    """From 1, in characters, for `body`."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where the snippet holds what was looked for: from, up to."""
    places: int = 0
    """How many places of the body do, a thousand at most."""
    version: Version | None = None
    """The version it is in, when that is not the one on disk."""


class Found(NamedTuple):
    """What a search has found, so far or altogether."""

    hits: tuple[Hit, ...]
    """The best ones, the best first."""
    total: int
    """How many there are."""
    roots: tuple[tuple[str, int], ...] = ()
    """How many of them are in each root, by id."""
    complete: bool = True
    """Everything was looked at."""


class Retention(NamedTuple):
    """Which old versions are kept; a version is kept when any rule keeps it."""

    versions: int = 20
    """The newest so many of each memory."""
    days: int = 30
    """Everything of the last so many days on which something was written."""


class Unerased(NamedTuple):
    """Where redacted texts may still be."""

    pending: bool
    """Whether freed bytes of the ledger and its backups are still to be overwritten; the next opening tries again."""
    damaged: tuple[str, ...] = ()
    """Paths of ledgers that cannot be read as a whole: nobody can tell what is in them."""


class Finding(NamedTuple):
    """One line of the doctor's report."""

    level: str
    """`ok`, `note`, `warning` or `error`."""
    topic: str
    text: str
    advice: str = ""


class Write(NamedTuple):
    """A new text for a memory, or a new memory."""

    address: Address
    data: bytes
    expected_sha256: str | None
    """The version it replaces; None: nothing may have the name."""


class Rename(NamedTuple):
    """Another name for a memory of a version (None: any), in its root or another one; pins and history follow."""

    address: Address
    new: Address
    expected_sha256: str | None = None


class Remove(NamedTuple):
    """A memory for the trash, of a version (None: any)."""

    address: Address
    expected_sha256: str | None = None


Step = Write | Rename | Remove
