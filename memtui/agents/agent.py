"""The data types that each file of `known/` is made of: roots, what a session loads, client configuration, transcripts.

Nothing here knows an agent's name.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.config.surroundings import Surroundings
from memtui.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memtui.engine.model import Policy, Root

WHOLE = ""
CUT_OFF, ON_DEMAND, MATCHING, APPROVAL, MISSING, SKIPPED, NAMES_ONLY = (
    "cut",
    "on demand",
    "only when matching files are touched",
    "needs approval",
    "missing",
    "skipped",
    "names only",
)
MARKS = (WHOLE, CUT_OFF, ON_DEMAND, MATCHING, APPROVAL, MISSING, SKIPPED, NAMES_ONLY)
"""How a file is treated; `WHOLE` (empty) means that all of it is loaded."""
BY_INDEX = "The agent reads it when the index makes it look."
AT_START = frozenset({WHOLE, CUT_OFF, NAMES_ONLY})
"""Marks of what is loaded when a session begins."""

HOME, PROJECT, FOLDER, CHAIN, ANCESTORS, SYSTEM = "home", "project", "folder", "chain", "ancestors", "system"
ABOVE, NAMED = "above", "named"
"""Where a source looks: the agent's own folders; the project; the folder the session starts in; from the checkout down
to that folder (`CHAIN`); from the top of the file system down to it (`ANCESTORS`); the folder of this machine's
administrators; from the folder above the checkout, or above the home folder, down (`ABOVE`); the folders that the
user's settings name, each from its checkout down (`NAMED`). Any other place is the id or alias of a root, or ends in
`*` and is the beginning of root ids."""
PLACES = frozenset({HOME, PROJECT, FOLDER, CHAIN, ANCESTORS, SYSTEM, ABOVE, NAMED})
"""The places that are not roots."""

BY_PATH, BY_NAME, BY_FOLDER = "path", "name", "folder"
"""How `Excluded.pattern` is read: a shell pattern of absolute paths (`settings.Matching`); a pattern of the names that
the agent is given, in which `*` crosses folders; the path of a folder."""

FOLLOWED, PASSED_OVER = "followed", "passed over"
"""What a source does with links. `FOLLOWED`: links to folders are entered. `PASSED_OVER`: no link is loaded. Otherwise
links to files are loaded and links to folders are not entered."""

ON_TOP = "Its own system prompt, tools and MCP servers come on top."

USER = "user"
LEVELS = (USER, PROJECT)
"""Where an entry can be: in the user's own configuration, or in the project's, which others share."""
SECONDS = 10
"""How long an agent waits for the context at the start of a session."""
_SESSIONS = "startup|clear|compact"
"""Events of sessions that begin with an empty context; a resumed session still has what it was given."""


class AgentHome(NamedTuple):
    """Where an agent keeps its own files."""

    variables: tuple[str, ...] = ()
    """Environment variables that name its folder; the first one that is set wins."""
    at_home: tuple[str, ...] = ()
    """Its folders below the home folder, where no variable is set."""
    in_config: tuple[str, ...] = ()
    """Its folders below the settings folder, where no variable is set."""
    inside: str = ""
    """The path below the folder that a variable names."""

    def folders(self, surroundings: Surroundings) -> tuple[str, ...]:
        """Return the absolute paths of its folders, existing or not."""
        for variable in self.variables:
            named = surroundings.variable(variable)
            if named:
                folder = surroundings.folder(named)
                return (os.path.join(folder, self.inside) if self.inside else folder,)
        found = [os.path.join(surroundings.home, name) for name in self.at_home] if surroundings.home else []
        config = surroundings.config_home()
        if config:
            found += [os.path.join(config, name) for name in self.in_config]
        return tuple(found)

    def folder(self, surroundings: Surroundings) -> str | None:
        """Return its first folder; None when no home folder is known."""
        return next(iter(self.folders(surroundings)), None)

    def needed(self, surroundings: Surroundings) -> str:
        """Return its first folder; `UsageError` (`E_CONFIG`) when no home folder is known."""
        found = self.folder(surroundings)
        if found is None:
            raise no_home()
        return found


def no_home() -> UsageError:
    """Make the error for an agent whose configuration cannot be found."""
    return UsageError(
        "There is no home folder, so no agent's configuration can be found.", code="E_CONFIG", hint="Set HOME."
    )


class Limits(NamedTuple):
    """How much of a text is loaded; None: no limit of this kind."""

    lines: int | None = None
    bytes: int | None = None
    units: int | None = None
    """UTF-16 units, as JavaScript counts characters."""
    characters: int | None = None
    middle: int | None = None
    """Bytes; a longer text loses its middle."""
    head: float = 1.0
    """The part of `units` that is taken from the beginning of a longer text; the rest is taken from its end."""

    @property
    def any(self) -> bool:
        """Whether any limit is set."""
        return any(limit is not None for limit in self[:-1])

    def words(self) -> str:
        """Describe the limits: `200 lines or 25,000 bytes`."""
        names = ("lines", "bytes", "characters", "characters", "bytes, from both ends")
        said = [f"{limit:,} {name}" for limit, name in zip(self[:-1], names, strict=True) if limit is not None]
        return " or ".join(said) + (", from both ends" if self.head < 1 else "")


class ImportRule(NamedTuple):
    """How an agent follows the `@path` imports of an instruction file."""

    depth: int
    markdown: bool
    """Code is recognised as in Markdown (fences and spans); else it is text between equal runs of backticks."""
    approval: bool
    """Files outside are loaded once the user has approved them, and from the user's own files at once; else never.
    Outside of the folder the session starts in, or where nobody is asked, of the project."""
    home: bool = True
    once: bool = True
    endings: frozenset[str] | None = None
    """Endings of names that are imported, in lower case; None: any."""
    trimmed: str = ""
    """Characters that are not part of a path when they end it."""
    after: str = ""
    """Characters that may stand before an import, besides blanks."""
    behind: bool = False
    """Whether paths in a file behind a link count from the file's real folder, not the link's."""


class RuleVerdict(NamedTuple):
    """How an agent treats a rule file."""

    mark: str = WHOLE
    why: str = ""


def matching(field: str, always: tuple[str, ...] = ("",)) -> "Callable[[dict[str, str]], RuleVerdict]":
    """Make a judge of rules that are loaded for files matching a field of theirs; for `always`, at the start."""

    def judge(fields: dict[str, str]) -> RuleVerdict:
        pattern = fields.get(field, "")
        return RuleVerdict() if pattern in always else RuleVerdict(MATCHING, f"{field}: {pattern}")

    return judge


class LoadSource(NamedTuple):
    """One kind of file that an agent looks for when a session starts."""

    label: str
    place: str
    """One of `PLACES`, or the id or alias of a root: `claude-code:project`."""
    names: tuple[str, ...]
    """Paths below the place, as `reader.matches` takes them, in the order of loading."""
    first: bool = False
    """In each folder, load only the first of the names that exists."""
    upwards: bool = False
    mark: str = WHOLE
    """The mark of all its files; `ON_DEMAND` ones are listed and not read."""
    why: str = ""
    limits: Limits = Limits()
    """How much of one file is loaded; a root's own layout takes precedence."""
    budget: str = ""
    """Files with the same word share one number of bytes, in order; see `Loads.budgets`."""
    by_lines: bool = False
    """The budget counts lines, and each file takes one more, for its name."""
    by_units: bool = False
    largest: int | None = None
    """Bytes; a larger file is left out."""
    advised: int | None = None
    """Characters that a file should not exceed; it is loaded all the same."""
    imports: ImportRule | None = None
    comments: bool = False
    front_matter: bool = False
    hidden: "Callable[[bytes], tuple[tuple[int, int, str], ...]] | None" = None
    """Finds further spans that are dropped, as `loaded_text.Gap`."""
    blank: bool = True
    judge: "Callable[[dict[str, str]], RuleVerdict] | None" = None
    rules_in: str = ""
    """Only files with this in their path are rules; the others are loaded whatever their front matter says."""
    system: tuple[str, ...] = ()
    """For `SYSTEM`: folders there, of which the first existing one is used."""
    links: str = ""
    """`FOLLOWED` or `PASSED_OVER`."""
    excludable: bool = True
    """Whether settings can leave out single files."""
    named_below: str = ""
    """The folder in the place, with a final `/`, from which the names that the agent is given count."""


def on_demand(label: str, place: str, *names: str, why: str) -> LoadSource:
    """Make a source whose files are listed, and not read at the start of a session."""
    return LoadSource(label, place, names, mark=ON_DEMAND, why=why)


class Excluded(NamedTuple):
    """Files that the agent's settings leave out."""

    pattern: str
    why: str
    by: str = BY_PATH
    """`BY_PATH`, `BY_NAME` or `BY_FOLDER`."""
    file: str = ""
    """The settings file that says so."""


class Besides(NamedTuple):
    """What a session begins with besides the files its agent looks for, because its settings say so."""

    label: str
    before: str
    """The label of the source that it comes before."""
    path: str
    why: str
    text: str = ""
    """Empty: it is the file, which leads out and is counted without being read."""


class LoadOptions(NamedTuple):
    """What the agent's own settings change."""

    sources: tuple[LoadSource, ...] = ()
    """Replaces the sources of the agent's file, unless empty."""
    besides: tuple[Besides, ...] = ()
    approved: bool = False
    """Whether the user has approved what this project imports from outside."""

    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Other names, by label."""
    off: tuple[tuple[str, str], ...] = ()
    """Why nothing of a label is loaded, by label."""
    places: tuple[tuple[str, str], ...] = ()
    """Another place, by label."""
    folders: tuple[str, ...] = ()
    """The folders that `NAMED` stands for: absolute paths from the user's own settings."""
    excluded: tuple[Excluded, ...] = ()
    budgets: tuple[tuple[str, int], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Settings files that are treated as empty, each with the reason."""


class Loads(NamedTuple):
    """What an agent loads when a session starts."""

    sources: tuple[LoadSource, ...]
    """In the order of loading."""
    in_project: tuple[str, ...] = ()
    """Names in a project that show that the agent is in use; none that many agents read, such as `AGENTS.md`."""
    budgets: tuple[tuple[str, int], ...] = ()
    """Bytes (or lines, or units) that the files of a budget share, by its word."""
    options: "Callable[[Surroundings, tuple[str, ...]], LoadOptions] | None" = None
    """Reads its settings, given where the user stands and the agent's folders."""
    note: str = ""
    """One sentence: what else it loads, which memtui cannot see."""
    checked: str = ""
    """The version of the agent that all this was checked against, and when: `2.1.330, 23 November 2026`."""


class Start(NamedTuple):
    """How an agent starts memtui."""

    command: str
    args: tuple[str, ...]
    hook: str
    """The shell command that prints the context at the start of a session."""
    env: tuple[tuple[str, str], ...] = ()
    """What the server needs in its environment to find what memtui finds now."""
    recall: str = ""
    """The shell command that answers the hook of prompts; empty: none."""
    extract: str = ""
    """The shell command that answers the hook at the end of a session; empty: none."""

    @property
    def server(self) -> "dict[str, object]":
        """The server's entry as most agents write it."""
        server: dict[str, object] = {"command": self.command, "args": list(self.args)}
        if self.env:
            server["env"] = dict(self.env)
        return server


MORE_HOOKS = ("recall", "extract")
"""Optional hooks, by the verb that answers them."""


class ClientEntry(NamedTuple):
    """One entry of memtui's in a file of an agent's configuration."""

    what: str
    """`server`; `hook`, at the start of a session; `recall`, the hook of prompts; `extract`, at the end of a session;
    `value`, which the file needs as well."""
    path: tuple[str, ...]
    value: object

    @property
    def is_hook(self) -> bool:
        """Whether it is one of the hooks."""
        return self.what in ("hook", *MORE_HOOKS)


class ClientFile(NamedTuple):
    """One file of an agent's configuration, and memtui's entries in it."""

    path: str
    format: str
    """`json` (comments are accepted) or `toml`."""
    entries: tuple[ClientEntry, ...]
    inside: str | None = None
    """For a file of a project: the project's folder, which it must not lead out of."""
    beside: bool = False
    """It holds the server of another machine, so the record of the file before memtui is not used."""


class ClientNote(NamedTuple):
    """One sentence that the user should know about an installation."""

    text: str
    level: str = ""
    """The level it is about; empty: both."""
    when: str = ""
    """`before`: only while nothing is written; `after`: only once it is; empty: always."""


class Client(NamedTuple):
    """An agent as a client of memtui's MCP server."""

    name: str
    """What the user calls it: the first of `Traces.client`."""
    title: str
    folder: "Callable[[Surroundings], str]"
    """Returns the absolute path of its own folder; when that exists, the agent is on this machine."""
    files: "Callable[[Surroundings, str, Start], tuple[ClientFile, ...]]"
    """Returns the files of a level, and the entries that start memtui."""
    notes: tuple[ClientNote, ...] = ()
    hook_may_not_run: bool = False
    """Whether there are sessions in which it does not run its hook, so that the server gives a short index."""


def hook_group(hook: "dict[str, object]", matcher: str | None = _SESSIONS) -> "dict[str, object]":
    """Wrap a hook in a group, as Claude Code and those who follow it have them."""
    return ({"matcher": matcher} if matcher else {}) | {"hooks": [hook]}


def hook_entries(
    start: Start,
    hook: "dict[str, object]",
    *,
    matcher: str | None = _SESSIONS,
    prompt: str = "UserPromptSubmit",
    end: str = "SessionEnd",
) -> tuple[ClientEntry, ...]:
    """Make the hook of a session's start and, where they are wanted, those of prompts and of its end, like it.

    Sources of the events: code.claude.com/docs, hooks; openai/codex, `codex-rs/hooks/src/schema.rs`;
    qwenlm.github.io/qwen-code-docs, hooks; geminicli.com/docs/hooks/reference.
    """
    hooks = (
        ("hook", "SessionStart", start.hook, matcher),
        *zip(MORE_HOOKS, (prompt, end), (start.recall, start.extract), (None, None), strict=True),
    )
    return tuple(
        ClientEntry(what, ("hooks", event), hook_group(hook | {"command": command}, only))
        for what, event, command, only in hooks
        if command
    )


class Transcripts(NamedTuple):
    """Where an agent writes its sessions: one JSON object a line, some with `cwd`."""

    inside: str = ""
    """The folder with session files below a folder whose name is the slug of a project's path; empty: that folder
    itself."""
    files: tuple[str, ...] = ()
    """Their paths below the agent's folder, each part a shell pattern."""
    base: "Callable[[Surroundings], tuple[str, ...]] | None" = None
    """Finds that folder; None: the agent's home."""
    is_of: "Callable[[str, str], bool] | None" = None
    """Whether a session file is of a project folder, where its lines name no working directory."""


class KnownAgent(NamedTuple):
    """One agent; what memtui does not know of it is left out."""

    id: str
    """The first part of its roots' ids, and the value of `agent=` of a root by hand."""
    title: str
    roots: "Callable[..., Iterator[Root]] | None" = None
    """Yields its roots, none twice: `roots(surroundings, *, all_projects)`."""
    policy: "Policy | None" = None
    """The layout that a root by hand follows."""
    kind: str = "memories"
    """The kind of such a root; `instructions` for agents that keep no memories on disk."""
    home: AgentHome = AgentHome()
    loads: Loads | None = None
    """None where what it loads cannot be checked against the agent's own source."""
    client: Client | None = None
    transcripts: Transcripts | None = None
    staged: tuple[tuple[str, str], ...] = ()
    """Where it puts what it wants approved: folders below one of its roots, and the ending of file names there."""
    also: tuple[str, ...] = ()

    def in_use(self, surroundings: Surroundings) -> bool:
        """Whether it left a trace of what it loads: one of its own folders, or a file in the project."""
        folders = dict.fromkeys((surroundings.project, surroundings.checkout or surroundings.project))
        names = self.loads.in_project if self.loads is not None else ()
        places = [os.path.join(folder, name) for folder in folders for name in names]
        return any(map(os.path.lexists, (*self.home.folders(surroundings), *places)))
