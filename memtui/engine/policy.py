"""A folder of memories, and what its layout says about its files: data that agents fill and the engine reads.

So the engine needs no agent's name, and a layout needs no code of the engine.
"""

from time import gmtime, strftime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


def _first(pairs: "tuple[tuple[str, T], ...]", path: str) -> "T | None":
    """What stands beside the first shell pattern that matches a path."""
    for pattern, value in pairs:
        if pattern == path or (pattern.endswith("/") and path.startswith(pattern)):
            return value
        if any(character in pattern for character in "*?["):
            from fnmatch import fnmatchcase

            if fnmatchcase(path, pattern):
                return value
    return None


ARCHIVE = "archive/"
"""Where in memtui's own roots those memories lie that no agent is given unasked."""


class Policy(NamedTuple):
    """What a layout says about the files of a root, as plain data, so that the engine needs no agent's name."""

    write_bytes: int = 262_144
    """The largest memory memtui writes here."""
    read_bytes: int = 1_048_576
    """The largest memory memtui reads here."""
    any_name: bool = False
    """Whether a memory may get any name the system takes, also one that another platform, git or a shell would not."""
    keep_folders: bool = False
    """Whether a folder stays when the last memory in it goes."""
    shown_bytes: int | None = None
    """The agent's own limit for one file: shown as a problem when exceeded, never enforced."""
    max_files: int | None = None
    """Creating more than this many is refused (`E_TOO_MANY`); None: no limit."""
    include: tuple[str, ...] | None = None
    """None: every file below the root. Else only these: `CLAUDE.md` is one file, `rules/` is everything below it."""
    ignore: tuple[str, ...] = ()
    """Names (last component, shell patterns) that are the agent's own bookkeeping and never memories."""
    protected: tuple[str, ...] = ()
    """Paths (shell patterns; `pinned/` is everything below it) that automatic work must leave alone."""
    generated: tuple[str, ...] = ()
    """Paths (shell patterns) the agent regenerates: an edit is possible but will be overwritten, and says so."""
    index_file: str | None = None
    """The index file's path, when the layout has one. `*/MEMORY.md`: each folder right below the root has its own, for
    what is in that folder; `**/MEMORY.md`: the root has one, and so has every folder below it."""
    elsewhere: tuple[str, ...] = ()
    """Paths (`a/b.md` is one file, `a/` everything below it) that belong to a root further in: listed and changed only
    there."""
    types: tuple[str, ...] = ()
    """What the agent gives as `type` in front matter; offered, never enforced."""
    whole: tuple[str, ...] = ()
    """Paths (shell patterns) of files the agent reads whole, so that front matter in them is text to it."""
    front_matter: str = "optional"
    """What the agent makes of front matter in a memory: `optional`, `required` (without it the agent does not see the
    memory) or `forbidden`. Shown, never enforced."""
    fields: tuple[str, ...] = ()
    """The fields of front matter the agent reads, in its order; empty where it has no rule. What comes from another
    agent is brought into this shape."""
    nests_type: bool = False
    """Whether the agent lately writes `type` below `metadata`; its memories, where there are any, say it better."""
    only_fields: bool = False
    """Whether the agent takes no other field than those."""
    suffix: str = ""
    """What names of memories end in where the agent reads no others, such as `.txt`; empty: anything."""
    index_format: str = ""
    """How the index names memories: `links` is a Markdown link a line; empty where there is none memtui can read."""
    index_lines: int | None = None
    """So many lines of the index the agent loads; None: all of them."""
    index_bytes: int | None = None
    """So many bytes of the index the agent loads; None: all of them."""
    index_units: int | None = None
    """So many UTF-16 code units of the index the agent loads, where it counts those instead; None: all of them."""
    index_uncounted: tuple[str, ...] = ()
    """What those limits leave out: `front-matter`, `comments`."""
    index_imports: bool = False
    """Whether an index also names files by `@path`, which are loaded with it."""
    pointer_chars: int | None = None
    """How long a line of the index may be, in characters, by the agent's own rule."""
    entries: tuple[tuple[str, str], ...] = ()
    """Files that hold many entries: a path (shell pattern) and the format its entries are in (`goose`, `hermes`,
    `codex`, `qwen-room`, `plain`; see `memtui/features/entries/formats.py`)."""
    shown_chars: tuple[tuple[str, int], ...] = ()
    """The agent's own limits in characters: a path (shell pattern) and how many; shown as a problem when exceeded."""

    new_in: str = ""
    """The folder, with a final `/`, in which the agent looks for what a person adds; empty: anywhere."""

    def place_of_new(self, path: str, now: int) -> str:
        """Give the path at which a memory is made that a person names right in the root.

        Args:
            path: as it was named; one with a folder, or of a file that the layout knows, stays.
            now: milliseconds since 1970; part of the name, in UTC.
        """
        known = self.is_index(path) or path in self.whole or self.format_of(path) is not None
        if not self.new_in or "/" in path or known:
            return path
        return f"{self.new_in}{strftime('%Y%m%dT%H%M%SZ', gmtime(now / 1_000))}-{path}"

    def is_index(self, path: str) -> bool:
        """Whether a path below the root is an index file."""
        wanted = self.index_file
        if wanted is None:
            return False
        if wanted.startswith("**/"):
            return path.rpartition("/")[2] == wanted[3:]
        if wanted.startswith("*/"):
            return path.partition("/")[2] == wanted[2:]
        return path == wanted

    def limit_of(self, path: str) -> int | None:
        """The agent's limit in characters for a path below the root; None when it has none."""
        return _first(self.shown_chars, path)

    def format_of(self, path: str) -> str | None:
        """The format of the entries in a file; None when it holds no entries."""
        return _first(self.entries, path)


ROOM = "room"
"""The kind of a root that holds what is remembered of one chat."""


class Root(NamedTuple):
    """One folder that holds memories of one scope for one agent."""

    id: str
    """`<agent>:<scope>` or `<agent>:<scope>:<instance>`; by hand, any name without `/`."""
    path: str
    """Absolute. May go through links; nothing below it may."""
    agent: str = "files"
    scope: str = "global"
    label: str = ""
    """What the tree shows instead of the id."""
    policy: Policy = Policy()
    read_only: bool = False
    in_checkout: bool = False
    """Inside a git checkout, so a repository could have planted it: unreviewed until the user accepts it."""
    aliases: tuple[str, ...] = ()
    """Other ids that mean this root, such as `claude-code:project` for the current project's."""
    project: str | None = None
    """The project this root belongs to (absolute path), when it is known."""
    note: str = ""
    """Who may rewrite these files behind us, in one sentence."""
    kind: str = "memories"
    """`memories` an agent writes, `instructions` people write for it, such as CLAUDE.md, `notes`, or `room`."""
    switched_off: str = ""
    """Where its agent is told to load none of it: `in ~/.claude/settings.json`; empty when nothing says so."""
    host: str = ""
    """The other machine it is on, where nothing of `path` is here; empty: this one."""
