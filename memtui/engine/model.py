"""Values every package exchanges: immutable, comparable, without I/O.

They are named tuples because `import dataclasses` alone costs a one-shot command more than Python's start. Identity is
root and path. Times are milliseconds since 1970, hashes hex SHA-256 of raw bytes, sizes bytes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtui.engine.policy import ARCHIVE as ARCHIVE
from memtui.engine.policy import Policy as Policy
from memtui.engine.policy import Root as Root
from memtui.errors import MemtuiError, RefusedError, UsageError

SCOPES = ("global", "project", "workspace", "channel")
"""Every scope, in display order."""


class Actor(NamedTuple):
    """Who made a change."""

    name: str
    """`tui`, `cli`, `mcp:<client>`, `http:<client>`, `agent:<name>` when proven, else `outside`."""

    def __str__(self) -> str:
        return self.name


OUTSIDE = Actor("outside")
"""A writer memtui knows nothing about."""


def is_person(actor: str) -> bool:
    """Return whether an actor is the user at this machine, whose own changes are not news to them."""
    return actor in ("tui", "cli") or actor.startswith(("tui:", "cli:"))


def is_reserved(actor: str) -> bool:
    """Return whether a name could pass for the person at the keyboard, so that no program may have it."""
    plain = actor.strip().casefold().removeprefix("agent:").strip()
    return plain in ("tui", "you", "person") or plain.startswith(("tui:", "cli:"))


APPROVALS = ("reviewed", "seen", "redacted", "accepted", "rejected", "muted")
"""Audit operations only a person performs. They are marks, not changes of a memory."""
SETTING = "setting"
MARKS = (*APPROVALS, SETTING)
"""Audit operations that change no memory: approvals and settings."""


class Address(NamedTuple):
    """The address of a memory: `<root id>/<path>`."""

    root: str
    path: str
    """Relative to the root, separated by `/`. Undecodable bytes are surrogate escapes, as in `os.fsdecode`."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Split `<root id>/<path>`, neither empty; `paths.py` validates the path."""
        root, slash, path = text.partition("/")
        if not (root and slash and path):
            raise UsageError(
                f"{text!r} is not an address.", hint="Write <root id>/<path>, such as memtui:global/preferences.md."
            )
        return cls(root, path)

    @property
    def name(self) -> str:
        """The last path component."""
        return self.path.rpartition("/")[2]

    def __str__(self) -> str:
        return f"{self.root}/{self.path}"


TYPES = ("user", "feedback", "project", "reference")
"""The values of `type` that agents use in front matter."""


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
        """Whether its folder, or a part of it, cannot be read; the problems say why."""
        return any(problem.code.startswith("E_") for problem in self.problems)


LOCAL, REVIEWED, BROUGHT = "local", "reviewed", "brought"
"""Trust of a version in a checkout: written here through memtui, reviewed by a person as exactly these bytes, or
neither (a repository may have brought it, so no agent is given it unasked)."""


class FieldEdit(NamedTuple):
    """A front matter field and its new value."""

    path: tuple[str, ...]
    """The field's name; for a nested field, the outer name first."""
    value: str | tuple[str, ...] | None
    """A text, a list of texts, or None to remove the field."""


class Problem(NamedTuple):
    """Something the user should know about a memory or a root; never hides the row."""

    code: str
    """One of `errors.CODES`, or: being-written, clash, look-alike, over-agent-limit, front-matter, generated,
    protected, truncated, unreviewed, conflict-markers, hidden-characters, no-memory, open-private, private-about,
    withheld."""
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
    """Uses, each halved for every seven days since."""
    last_used_at: int | None = None
    last_written_at: int | None = None
    unseen: bool = False
    actor: str = "outside"
    """Who wrote the current version, when known."""
    version: int = 0
    """Number of versions in history, including the current one; 0 when none was recorded yet."""
    problems: tuple[Problem, ...] = ()
    missing: bool = False
    """Gone from disk, but not long enough to count as deleted."""
    trust: str = ""
    """In a checkout: `LOCAL`, `REVIEWED` or `BROUGHT`; empty elsewhere."""

    @property
    def writable(self) -> bool:
        """Whether the content can be edited as text here; front matter that cannot be parsed is still text."""
        codes = [problem.code for problem in self.problems if not problem.code.startswith("E_FRONTMATTER")]
        return self.sha256 is not None and not any(code.startswith("E_") for code in codes)


class Listing(NamedTuple):
    """Rows of one or more roots, ordered by root, then path."""

    items: tuple[Memory, ...]
    truncated: bool
    roots: tuple[RootStatus, ...] = ()


class TreeEntry(NamedTuple):
    """A name in a folder, of any kind."""

    path: str
    """Relative to the folder; a subfolder's ends in `/`."""
    bytes: int
    """As reported by the system, for a folder as well."""


class Tree(NamedTuple):
    """The content of a folder: files and folders, without hidden names, each folder followed by its content."""

    bytes: int
    """Size of the folder itself, as reported by the system."""
    entries: tuple[TreeEntry, ...]


class Snapshot(NamedTuple):
    """One complete read of a memory."""

    address: Address
    bytes: bytes
    sha256: str
    modified_at: int
    settled: bool = True
    """False: a writer may still be at work; the same bytes were not yet seen twice."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.bytes)

    @property
    def text(self) -> str:
        """The content as text, a byte-order mark included; raises `E_TEXT` when it is not UTF-8."""
        try:
            return self.bytes.decode()
        except UnicodeDecodeError as error:
            raise RefusedError(
                f"{self.address} is not UTF-8 at byte {error.start}.",
                code="E_TEXT",
                hint="Open it with an editor that knows its encoding; memtui keeps it as it is.",
            ) from None


class Saved(NamedTuple):
    """The new text is on disk under the name."""

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
    """Somebody else's version has the name. Both texts are in history; the file is as they left it."""

    address: Address
    current_sha256: str | None
    """The version on disk now; None when the memory is gone."""
    expected_sha256: str | None
    """The version the edit started from; None when it expected no file."""
    yours_sha256: str | None
    """The refused text, readable with `read_version`."""
    txn: str


class UseCount(NamedTuple):
    """How often a memory was used, as counted by another program."""

    address: Address
    uses: int
    last_used_at: int | None = None
    last_written_at: int | None = None


class Version(NamedTuple):
    """One version in a memory's history."""

    sha256: str
    bytes: int
    actor: str
    at: int
    operation: str
    """`created`, `modified`, `deleted`, `renamed` or `restored`."""
    redacted: bool = False
    note: str = ""
    """Why it was kept although it never was (or no longer is) under the name: `yours in conflict`, `late write`, ..."""


class Change(NamedTuple):
    """A change of one memory."""

    address: Address
    kind: str
    """`created`, `modified`, `deleted` or `renamed`."""
    actor: str
    before: str | None
    after: str | None
    at: int
    old_address: Address | None = None
    """The old name, for `renamed`; the name the user last saw, when it was renamed and changed besides."""


class SeenMark(NamedTuple):
    """The version of a memory the user had seen before a mark: enough to undo the mark."""

    address: Address
    sha256: str | None
    """The version; None for none."""
    old_address: Address | None = None
    """The name it had then, when others have renamed it since."""


class PassedOver(NamedTuple):
    """A step undo would take back although something newer was done out of its reach."""

    label: str
    newer: str
    """The newer step, for people; without a folder, who did it if not the user."""
    folder: str
    """The folder it was done in; it is not open here."""


class Vanished(NamedTuple):
    """A root whose folder is missing although it held memories."""

    root: Root
    memories: int
    """How many memories the ledger knows; their texts are in history."""
    at: int


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
    """The state of a watch."""

    state: str
    """`watching` (events and scans), `polling` (scans only), `stopped`."""
    reason: str = ""


class Changes(NamedTuple):
    """Everything that happened in one quiet period."""

    changes: tuple[Change, ...] = ()
    touched: frozenset[Address] = frozenset()
    """Rows that differ without a change of content: being written, missing, pins, uses, seen marks."""
    roots: frozenset[str] = frozenset()
    """Roots that appeared, went away or were replaced."""
    notices: tuple[Notice, ...] = ()
    health: Health | None = None
    """Set when it changed."""
    rows: Mapping[Address, Memory | None] = MappingProxyType({})
    """The current rows of the memories named above, None where there is none; a missing one must be asked for."""
    order: int = 0
    """Of two rows of the same memory, the one with the higher number is newer."""


class Outcome(NamedTuple):
    """What an operation did to one memory."""

    address: Address
    result: "Saved | Unchanged | Conflict | None"
    """None when it was deleted, or failed."""
    error: MemtuiError | None = None
    new_address: Address | None = None

    @property
    def ok(self) -> bool:
        """Whether the memory is now as requested."""
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
    """For undo and redo: later changes in folders that are not open here and were left alone; one sentence."""
    also: str = ""
    """For undo: what else came back, such as the draft a merge was made of; one sentence."""

    @property
    def addresses(self) -> set[Address]:
        """Everything the operation touched, under old and new names."""
        found = {outcome.address for outcome in self.outcomes}
        return found | {outcome.new_address for outcome in self.outcomes if outcome.new_address is not None}


class AuditRecord(NamedTuple):
    """One audited change; `who` names who asked for it, according to a gateway: `ann · qwen · team-eng`."""

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
    """One operation of the audit as a whole: one step of `undo`."""

    txn: str
    kind: str
    """`do`, `undo` or `redo`."""
    label: str
    """For people: `delete 3 memories`."""
    records: int
    undone: bool
    deleted: int = 0


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
    """A deleted memory to restore."""

    address: Address
    sha256: str
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
    """The text of `base_sha256`, when it may not be in history yet. Read back only from a draft in its own file."""


class MergeOf(NamedTuple):
    """The texts a saved text was merged from, for the audit and for undo."""

    base_sha256: str | None
    """The common base; None for none."""
    yours_sha256: str
    theirs_sha256: str | None
    """None: the other side had deleted it."""
    decided: tuple[str, ...] = ()
    """How each place was resolved, such as `line 6 yours`."""


class OpenConflict(NamedTuple):
    """A conflict being resolved: its texts, and the decisions so far."""

    address: Address
    base_sha256: str | None
    """The common base; None when both created the memory."""
    yours: bytes
    theirs: bytes
    decisions: str
    """Opaque state of the front, to continue at the same place."""
    at: int


class SearchQuery(NamedTuple):
    """A search query and where to search."""

    query: str
    """Words that must all occur; `"quoted"` ones together, `-excluded` ones not at all."""
    scope: str | None = None
    agent: str | None = None
    roots: frozenset[str] | None = None
    """Ids of the roots to search; None: all of them."""
    bodies: bool = True
    """Also search texts, not only names and descriptions."""
    versions: bool = False
    """Also search old versions and deleted memories."""
    limit: int = 200
    """The number of hits returned; the others are counted."""
    fresh: bool = True
    """List the roots first. Else the last listing counts, for callers that follow every change."""
    given: bool = False
    """An agent asks: words in secrets or in parts marked private neither match nor exclude."""


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
    """Matches within the snippet, as (start, end)."""
    places: int = 0
    """Number of matches in the body, a thousand at most."""
    version: Version | None = None
    """The version it is in, when that is not the one on disk."""


class SearchResult(NamedTuple):
    """The results of a search, so far or altogether."""

    hits: tuple[Hit, ...]
    """The best ones, best first."""
    total: int
    roots: tuple[tuple[str, int], ...] = ()
    """The number of hits by root id."""
    complete: bool = True


class Retention(NamedTuple):
    """Which old versions are kept; a version is kept when any rule keeps it."""

    versions: int = 20
    """The number of newest versions kept of each memory."""
    days: int = 30
    """The number of days, counting those with writes, whose versions are all kept."""


class Unerased(NamedTuple):
    """Where redacted texts may still be."""

    pending: bool
    """Whether freed bytes of the ledger and its backups still have to be overwritten; the next opening tries again."""
    damaged: tuple[str, ...] = ()
    """Paths of ledgers that cannot be read completely, so their content is unknown."""


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
    """A new name for a memory of a version (None: any), in its root or another one; pins and history follow."""

    address: Address
    new: Address
    expected_sha256: str | None = None


class Remove(NamedTuple):
    """A memory to move to the trash, of a version (None: any)."""

    address: Address
    expected_sha256: str | None = None


Step = Write | Rename | Remove
