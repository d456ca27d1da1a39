"""What memtui knows of one agent, as data: the values that each file of `known/` is made of.

A file says where the agent keeps memories, what a session of it loads at its start, how a client of it is configured,
and where its sessions are written down. Nothing here knows an agent's name.
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
"""What is said of a file: nothing when it is loaded whole."""
BY_INDEX = "The agent reads it when the index makes it look."
"""Why a file is read on demand; what no line of the index names is not read by itself at all."""
AT_START = frozenset({WHOLE, CUT_OFF, NAMES_ONLY})
"""Marks of what a session begins with."""

HOME, PROJECT, FOLDER, CHAIN, ANCESTORS, SYSTEM = "home", "project", "folder", "chain", "ancestors", "system"
ABOVE, NAMED = "above", "named"
"""Where a source looks: the agent's own folders; the project; the folder the session starts in; from the checkout down
to that folder; from the top of the file system down to it; the folder of this machine's administrators; `ABOVE`: from
the folder above the checkout down, without a checkout from the one above the home folder; `NAMED`: those that the
user's settings name, each from its checkout down. Anything else is the id or alias of a root, or with `*` at its end
the beginning of the ids of roots."""
PLACES = frozenset({HOME, PROJECT, FOLDER, CHAIN, ANCESTORS, SYSTEM, ABOVE, NAMED})
"""Those that are no roots."""

BY_PATH, BY_NAME, BY_FOLDER = "path", "name", "folder"
"""What `Excluded.pattern` is: a shell pattern of absolute paths (`patterns.Matching`); one of the names that the agent
is given, in which `*` goes across folders; the path of a folder."""

FOLLOWED, PASSED_OVER = "followed", "passed over"
"""What becomes of links among the files of a source: those to folders are entered; none is loaded. Otherwise those to
files are loaded and those to folders are not entered."""

ON_TOP = "Its own system prompt, tools and MCP servers come on top."
"""What most agents load besides, as `Loads.note`."""

USER = "user"
LEVELS = (USER, PROJECT)
"""Where an entry can stand: in the user's own configuration, or in the project's, which is shared with others."""
SECONDS = 10
"""How long an agent waits for the context at the start of a session."""
_SESSIONS = "startup|clear|compact"
"""When a session begins with an empty context; one that is resumed still has what it was given."""


class AgentHome(NamedTuple):
    """Where an agent keeps its own files."""

    variables: tuple[str, ...] = ()
    """Environment variables that name its folder; the first that is set is meant."""
    at_home: tuple[str, ...] = ()
    """Its folders below the home folder, where no variable is set."""
    in_config: tuple[str, ...] = ()
    """Its folders below the folder of settings, where no variable is set."""
    inside: str = ""
    """The path below the folder a variable names."""

    def folders(self, surroundings: Surroundings) -> tuple[str, ...]:
        """Give its folders, whether they exist or not: absolute paths."""
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
        """Give its first folder; None when no home folder is known."""
        return next(iter(self.folders(surroundings)), None)

    def needed(self, surroundings: Surroundings) -> str:
        """Give its first folder.

        Raises:
            UsageError: `E_CONFIG`, when no home folder is known.
        """
        found = self.folder(surroundings)
        if found is None:
            raise no_home()
        return found


def no_home() -> UsageError:
    """Say that an agent's configuration cannot be found."""
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
    """Bytes; what is longer loses its middle, and keeps its beginning and its end."""
    head: float = 1.0
    """Of `units`: which part of them comes from the beginning of a longer text; the rest comes from its end."""

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(limit is not None for limit in self[:-1])

    def words(self) -> str:
        """Say them: `200 lines or 25,000 bytes`."""
        names = ("lines", "bytes", "characters", "characters", "bytes, from both ends")
        said = [f"{limit:,} {name}" for limit, name in zip(self[:-1], names, strict=True) if limit is not None]
        return " or ".join(said) + (", from both ends" if self.head < 1 else "")


class ImportRule(NamedTuple):
    """How an agent follows the `@path` imports of an instruction file."""

    depth: int
    """A file so many imports away from the first is still loaded."""
    markdown: bool
    """Code is found as Markdown has it (fences and spans); else any text between equal runs of backticks."""
    approval: bool
    """What leads out is loaded once the user has approved it, and from the user's own files without; else it never is.
    Out of what: of the folder the session starts in; where nobody is asked, of the project."""
    home: bool = True
    """`~/` means the home folder."""
    once: bool = True
    """A file is loaded once, however often it is imported."""
    endings: frozenset[str] | None = None
    """What names of files end in that are imported, in lower case; None: anything."""
    trimmed: str = ""
    """Signs that are no part of a path where they end it."""
    after: str = ""
    """Signs that may stand before an import, besides blanks."""
    behind: bool = False
    """Of a file behind a link, paths count from where the file is, not from where the link is."""


class RuleVerdict(NamedTuple):
    """What an agent does with a rule file."""

    mark: str = WHOLE
    why: str = ""


BY_HAND = RuleVerdict(ON_DEMAND, "It is loaded when somebody names it.")


class LoadSource(NamedTuple):
    """One thing an agent looks for when a session starts."""

    label: str
    """What it is, for people: `user instructions`."""
    place: str
    """One of the places above, or the id or alias of a root: `claude-code:project`."""
    names: tuple[str, ...]
    """Paths below the place, as `reader.matches` takes them, in the order in which they are loaded."""
    first: bool = False
    """Only the first of the names that is there, in each folder."""
    upwards: bool = False
    """The innermost folder comes first."""
    mark: str = WHOLE
    """What is said of every file of it: `ON_DEMAND` ones are listed and not read."""
    why: str = ""
    """One sentence that goes with the mark."""
    limits: Limits = Limits()
    """How much of one file is loaded; those of the root's own layout go first."""
    budget: str = ""
    """Files with the same word share one number of bytes, in order; see `Loads.budgets`."""
    by_lines: bool = False
    """That number is one of lines, and each file takes one more, for its name."""
    by_units: bool = False
    """That number is one of UTF-16 units, which `limits` has as well."""
    largest: int | None = None
    """Bytes; a larger file is left out."""
    advised: int | None = None
    """Characters that a file should not have more of; it is loaded all the same."""
    imports: ImportRule | None = None
    comments: bool = False
    """Block comments of HTML are dropped."""
    front_matter: bool = False
    """Front matter is dropped."""
    hidden: "Callable[[bytes], tuple[tuple[int, int, str], ...]] | None" = None
    """Finds further spans that are dropped, as `loaded_text.Gap`."""
    blank: bool = True
    """Whether a blank file counts as one."""
    judge: "Callable[[dict[str, str]], RuleVerdict] | None" = None
    """Decides by the front matter of a rule."""
    rules_in: str = ""
    """Only files with this in their path are rules; the others are loaded whatever their front matter says."""
    system: tuple[str, ...] = ()
    """Of `SYSTEM`: folders there, of which the first that exists is meant."""
    except_for: tuple[str, ...] = ()
    """Names (last part) that belong to another source."""
    links: str = ""
    """`FOLLOWED` or `PASSED_OVER`."""
    excludable: bool = True
    """Whether settings can leave single files of it out."""
    named_below: str = ""
    """The folder in the place, with a final `/`, from which the names that the agent is given count."""


class Excluded(NamedTuple):
    """Files that the agent's settings leave out."""

    pattern: str
    why: str
    """One sentence."""
    by: str = BY_PATH
    """`BY_PATH`, `BY_NAME` or `BY_FOLDER`."""
    file: str = ""
    """The settings that say so."""


class Besides(NamedTuple):
    """What a session begins with besides the files its agent looks for, because its settings say so."""

    label: str
    before: str
    """The label of the source that it comes before."""
    path: str
    """Absolute: the file, or the settings that the text stands in."""
    why: str
    text: str = ""
    """Empty: it is the file, which leads out and is counted without being read."""


class LoadOptions(NamedTuple):
    """What the agent's own settings change."""

    sources: tuple[LoadSource, ...] = ()
    """In place of those of the agent's file; empty: those."""
    besides: tuple[Besides, ...] = ()
    approved: bool = False
    """The user has approved what this project imports from elsewhere."""

    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a label: other names."""
    off: tuple[tuple[str, str], ...] = ()
    """Of a label: why it is not loaded at all."""
    places: tuple[tuple[str, str], ...] = ()
    """Of a label: another place."""
    folders: tuple[str, ...] = ()
    """What `NAMED` means: absolute paths from the user's own settings."""
    excluded: tuple[Excluded, ...] = ()
    budgets: tuple[tuple[str, int], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Files of settings that are taken as empty, each with the reason."""


class Loads(NamedTuple):
    """What an agent loads when a session starts."""

    sources: tuple[LoadSource, ...]
    """In the order of loading."""
    in_project: tuple[str, ...] = ()
    """What shows in a project that it is in use. Not names that many agents read, such as `AGENTS.md`."""
    budgets: tuple[tuple[str, int], ...] = ()
    """Word to bytes, or lines, that the files of that budget share."""
    options: "Callable[[Surroundings, tuple[str, ...]], LoadOptions] | None" = None
    """Reads its settings: where the user stands, and its folders."""
    note: str = ""
    """One sentence: what it loads besides, which memtui cannot see."""
    checked: str = ""
    """The version of the agent that was run to check all this, and when: `2.1.330, 23 November 2026`."""


class Start(NamedTuple):
    """How an agent starts memtui."""

    command: str
    args: tuple[str, ...]
    """For the server."""
    hook: str
    """For a shell: prints the context at the start of a session."""
    env: tuple[tuple[str, str], ...] = ()
    """What the server needs in its environment to find what memtui finds now."""
    recall: str = ""
    """For a shell: answers a hook of prompts; empty: there is to be none."""
    extract: str = ""
    """For a shell: answers a hook at the end of a session; empty: there is to be none."""

    @property
    def server(self) -> "dict[str, object]":
        """The server as most agents write it."""
        server: dict[str, object] = {"command": self.command, "args": list(self.args)}
        if self.env:
            server["env"] = dict(self.env)
        return server


MORE_HOOKS = ("recall", "extract")
"""Hooks that are there when somebody asked for them, by the verb that answers."""


class ClientEntry(NamedTuple):
    """One thing of ours in a file of an agent's configuration."""

    what: str
    """`server`; `hook`, at the start of a session; `recall`, the hook of prompts; `extract`, at the end of a session;
    `value`, which the file needs beside them."""
    path: tuple[str, ...]
    """Where: the member itself, or for a hook the array that it is an item of."""
    value: object

    @property
    def is_hook(self) -> bool:
        """Whether it is one of the hooks."""
        return self.what in ("hook", *MORE_HOOKS)


class ClientFile(NamedTuple):
    """One file of an agent's configuration, and what of ours stands in it."""

    path: str
    """Absolute."""
    format: str
    """`json` (comments are accepted) or `toml`."""
    entries: tuple[ClientEntry, ...]
    inside: str | None = None
    """For a file of a project: the project's folder, which it must not lead out of."""
    beside: bool = False
    """It has the server of another machine: what the file held before memtui is told without it."""


class ClientNote(NamedTuple):
    """What the user should know or do about an installation: one sentence."""

    text: str
    level: str = ""
    """The level it is about; empty: both."""
    when: str = ""
    """`before`, only while nothing is written; `after`, only when it was; empty: always."""


class Client(NamedTuple):
    """An agent as a client of memtui's server: it speaks the Model Context Protocol."""

    name: str
    """What the user calls it: the first of the names in the agent's line of the table."""
    title: str
    """Its own name."""
    folder: "Callable[[Surroundings], str]"
    """Where it keeps its own files, absolute; when that is there, the agent is on this machine."""
    files: "Callable[[Surroundings, str, Start], tuple[ClientFile, ...]]"
    """The files of a level, and what to put into them to start memtui like this."""
    notes: tuple[ClientNote, ...] = ()
    hook_may_not_run: bool = False
    """Whether there are sessions in which it does not run its hook, so that the server gives a short index."""


def hook_group(hook: "dict[str, object]", matcher: str | None = _SESSIONS) -> "dict[str, object]":
    """Wrap a hook in a group, as Claude Code and those who follow it have them."""
    return ({"matcher": matcher} if matcher else {}) | {"hooks": [hook]}


def more_hooks(
    start: Start, hook: "dict[str, object]", prompt: str = "UserPromptSubmit", end: str = "SessionEnd"
) -> tuple[ClientEntry, ...]:
    """Make the hooks of prompts and of the end like the one at the start of a session; those that there are to be.

    Sources of the events: code.claude.com/docs, hooks; openai/codex, `codex-rs/hooks/src/schema.rs`;
    qwenlm.github.io/qwen-code-docs, hooks; geminicli.com/docs/hooks/reference.
    """
    wanted = zip(MORE_HOOKS, (prompt, end), (start.recall, start.extract), strict=True)
    return tuple(
        ClientEntry(what, ("hooks", event), hook_group(hook | {"command": command}, None))
        for what, event, command in wanted
        if command
    )


class Transcripts(NamedTuple):
    """Where an agent writes its sessions down: one JSON object a line, and some say `cwd`."""

    inside: str = ""
    """Where a folder whose name is the slug of a project's path holds the project's memories and sessions: the folder
    below it that these lie in; empty: the project's own."""
    files: tuple[str, ...] = ()
    """Their paths below the agent's folder, each part a shell pattern."""
    base: "Callable[[Surroundings], tuple[str, ...]] | None" = None
    """Finds that folder; None: the agent's home."""
    is_of: "Callable[[str, str], bool] | None" = None
    """Whether a session file is of a project folder, where the lines of it name no working directory."""


class KnownAgent(NamedTuple):
    """One agent; whatever memtui does not know of it is left out."""

    id: str
    """The first part of its roots' ids, and what `agent=` of a root by hand says."""
    title: str
    """Its name, for people."""
    roots: "Callable[..., Iterator[Root]] | None" = None
    """Finds its roots: `roots(surroundings, *, all_projects)`, lazily, none twice."""
    policy: "Policy | None" = None
    """The layout that a root by hand follows."""
    kind: str = "memories"
    """What such a root holds; `instructions` for agents that keep no memories on disk."""
    home: AgentHome = AgentHome()
    loads: Loads | None = None
    """None where nobody can check against the agent's own source what it loads."""
    client: Client | None = None
    transcripts: Transcripts | None = None
    staged: tuple[tuple[str, str], ...] = ()
    """Where it puts what it wants approved: folders below one of its roots, and what names of files there end in."""
    also: tuple[str, ...] = ()
    """Other ids that mean it."""

    def in_use(self, surroundings: Surroundings) -> bool:
        """Whether it left a trace of what it loads: one of its own folders, or a file in the project."""
        folders = dict.fromkeys((surroundings.project, surroundings.checkout or surroundings.project))
        names = self.loads.in_project if self.loads is not None else ()
        places = [os.path.join(folder, name) for folder in folders for name in names]
        return any(map(os.path.lexists, (*self.home.folders(surroundings), *places)))
