"""A folder of memories and its layout, as plain data: agents fill it, the engine reads it.

So the engine needs no agent's name, and a layout needs no code in the engine.
"""

from time import gmtime, strftime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


def _first(pairs: "tuple[tuple[str, T], ...]", path: str) -> "T | None":
    for pattern, value in pairs:
        if pattern == path or (pattern.endswith("/") and path.startswith(pattern)):
            return value
        if any(character in pattern for character in "*?["):
            from fnmatch import fnmatchcase

            if fnmatchcase(path, pattern):
                return value
    return None


ARCHIVE = "archive/"
"""The folder of memtui's own roots whose memories are not given to agents unasked."""


class Policy(NamedTuple):
    """Rules of a layout about the files of a root."""

    write_bytes: int = 262_144
    read_bytes: int = 1_048_576
    any_name: bool = False
    """Whether any name the system takes is allowed, even one that another platform, git or a shell would not take."""
    keep_folders: bool = False
    """Whether a folder stays when its last memory goes."""
    shown_bytes: int | None = None
    """The agent's own limit for one file: shown as a problem when exceeded, never enforced."""
    max_files: int | None = None
    """Creating more than this many is refused (`E_TOO_MANY`); None: no limit."""
    include: tuple[str, ...] | None = None
    """None: every file below the root. Else only these: `CLAUDE.md` is one file, `rules/` is everything below it."""
    ignore: tuple[str, ...] = ()
    """Names (last component, shell patterns) of the agent's own bookkeeping, never memories."""
    protected: tuple[str, ...] = ()
    """Paths (shell patterns; `pinned/` is everything below it) that automatic work must not change."""
    generated: tuple[str, ...] = ()
    """Paths (shell patterns) the agent regenerates: edits are possible but will be overwritten."""
    index_file: str | None = None
    """The path of the index file, if the layout has one. `*/MEMORY.md`: one in each top-level folder, for that folder;
    `**/MEMORY.md`: one in the root and in every folder below it."""
    elsewhere: tuple[str, ...] = ()
    """Paths (`a/b.md` is one file, `a/` everything below it) that belong to a nested root and are listed and changed
    only there."""
    types: tuple[str, ...] = ()
    """The agent's values of `type` in front matter; offered, never enforced."""
    whole: tuple[str, ...] = ()
    """Paths (shell patterns) of files the agent reads whole, so that front matter in them is text to it."""
    front_matter: str = "optional"
    """How the agent treats front matter: `optional`, `required` (memories without it are ignored) or `forbidden`.
    Shown, never enforced."""
    fields: tuple[str, ...] = ()
    """Front matter fields the agent reads, in its order; empty where it has no rule. Transfers adopt this shape."""
    nests_type: bool = False
    """Whether the agent lately writes `type` below `metadata`; existing memories tell it better."""
    only_fields: bool = False
    suffix: str = ""
    """Suffix of memory names where the agent reads no others, such as `.txt`; empty: any."""
    index_format: str = ""
    """How the index names memories: `links` is a Markdown link per line; empty where memtui cannot read it."""
    index_lines: int | None = None
    """Number of index lines the agent loads; None: all."""
    index_bytes: int | None = None
    """Number of index bytes the agent loads; None: all."""
    index_units: int | None = None
    """Number of UTF-16 code units of the index the agent loads, where it counts those; None: all."""
    index_uncounted: tuple[str, ...] = ()
    """Parts those limits leave out: `front-matter`, `comments`."""
    index_imports: bool = False
    """Whether an index also names files by `@path`, which are loaded with it."""
    pointer_chars: int | None = None
    """The agent's limit for a line of the index, in characters."""
    entries: tuple[tuple[str, str], ...] = ()
    """Files that hold many entries: a path (shell pattern) and the entry format (`goose`, `hermes`, `codex`,
    `qwen-room`, `plain`; see `memtui/features/entries/formats.py`)."""
    shown_chars: tuple[tuple[str, int], ...] = ()
    """The agent's own limits in characters, by path (shell pattern); shown as a problem when exceeded."""

    new_in: str = ""
    """The folder, with a final `/`, in which the agent looks for what a person adds; empty: anywhere."""

    def place_of_new(self, path: str, now: int) -> str:
        """Return the path for a new memory that a person named directly in the root.

        A path with a folder, or of a file the layout knows, stays. `now` (milliseconds since 1970) becomes part of the
        name.
        """
        known = self.is_index(path) or path in self.whole or self.format_of(path) is not None
        if not self.new_in or "/" in path or known:
            return path
        return f"{self.new_in}{strftime('%Y%m%dT%H%M%SZ', gmtime(now / 1_000))}-{path}"

    def is_index(self, path: str) -> bool:
        """Return whether a path below the root is an index file."""
        wanted = self.index_file
        if wanted is None:
            return False
        if wanted.startswith("**/"):
            return path.rpartition("/")[2] == wanted[3:]
        if wanted.startswith("*/"):
            return path.partition("/")[2] == wanted[2:]
        return path == wanted

    def limit_of(self, path: str) -> int | None:
        """Return the agent's limit in characters for a path below the root; None when it has none."""
        return _first(self.shown_chars, path)

    def format_of(self, path: str) -> str | None:
        """Return the format of the entries in a file; None when it holds no entries."""
        return _first(self.entries, path)


ROOM = "room"
"""The kind of a root that holds the memory of one chat."""


class Root(NamedTuple):
    """A folder that holds memories of one scope for one agent."""

    id: str
    """`<agent>:<scope>` or `<agent>:<scope>:<instance>`; by hand, any name without `/`."""
    path: str
    """Absolute. May go through links; nothing below it may."""
    agent: str = "files"
    scope: str = "global"
    label: str = ""
    """Shown in the tree instead of the id."""
    policy: Policy = Policy()
    read_only: bool = False
    in_checkout: bool = False
    """Inside a git checkout, so a repository could have planted it: unreviewed until the user accepts it."""
    aliases: tuple[str, ...] = ()
    """Other ids of this root, such as `claude-code:project` for the current project's."""
    project: str | None = None
    """The project this root belongs to (absolute path), when it is known."""
    note: str = ""
    """Who may rewrite these files behind memtui's back, in one sentence."""
    kind: str = "memories"
    """`memories` an agent writes, `instructions` people write for it, such as CLAUDE.md, `notes`, or `room`."""
    switched_off: str = ""
    """Where its agent is told not to load it: `in ~/.claude/settings.json`; empty when nothing says so."""
    host: str = ""
    """The other machine it is on, where `path` does not exist here; empty: this one."""
