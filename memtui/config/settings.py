"""The settings as one value, with the origin of each, and the tables of all that can be set.

Settings are passed in, never fetched. Reading, checking, `memtui config` and docs/configuration.md come from the
tables, so that none of them can miss a setting.
"""

from typing import NamedTuple

from memtui.config.directories import Directories
from memtui.config.named import NAMED, NamedEntry

Value = str | int | bool | tuple[str, ...]
"""The value of a simple setting."""


SCOPES = ("global", "project", "workspace", "channel")
"""The scopes a root can have; a test compares them with the engine's."""


class RootEntry(NamedTuple):
    """A root the user named by hand, in the settings or with `--root`."""

    name: str
    dir: str
    agent: str = "files"
    scope: str = "global"
    origin: str = "config.toml"
    """`--root`, or the file and line."""


def root_problem(entry: RootEntry) -> tuple[str, str] | None:
    """Return what is wrong with a root given by hand and what to do, one sentence each; None when it is sound."""
    if not entry.name or "/" in entry.name or entry.name != entry.name.strip() or not entry.name.isprintable():
        return (
            f"{entry.name!r} cannot be a root's name.",
            "A name has no `/`, no control characters, and no space at either end.",
        )
    if entry.name.startswith(("-", "~", ".")):
        return f"the name {entry.name!r} is not free to use.", "Choose another name, such as notes."
    if entry.scope not in SCOPES:
        return f"there is no scope {entry.scope!r}.", f"The scopes are {', '.join(SCOPES)}."
    if "\0" in entry.dir:
        return "the folder's path holds a NUL character.", "Give the folder's path."
    return None


class AccessRule(NamedTuple):
    """One entry of the `[access]` table: what a client may do."""

    client: str
    """As the user wrote it; `*` is every client without an entry of its own."""
    scope: str
    """`*`: every scope the client has no entry for."""
    access: str
    """`rw`, `plan`, `ro` or `off`."""
    origin: str = "config.toml"
    """The file and line."""


class Terminal(NamedTuple):
    """What the environment says about the terminal."""

    name: str = ""
    """`TERM`."""
    no_color: bool = False
    remote: bool = False
    """Reached over SSH."""
    tmux: bool = False
    display: bool = False
    """A graphical session is in reach, so that a native clipboard can work."""
    web: bool = False
    """A page in a browser: standard output carries its packets, and no other program can use the screen."""


class Settings(NamedTuple):
    """Everything the user chose, checked; `FIELDS` says what each setting means."""

    directories: Directories
    home: str | None
    """The user's home folder, below which agents keep theirs; None when unknown."""
    project_memory: str = "checkout"
    editor: str = "vi"
    theme: str = "auto"
    calm: bool = False
    ascii: bool = False
    retention_versions: int = 20
    retention_days: int = 30
    merge_when_mergeable: str = "ask"
    merge_auto_advance: str = "pause"
    agents_enabled: bool = True
    transcripts_read: str = "ask"
    transcripts_keep: str = "places"
    lifecycle_enabled: bool = True
    lifecycle_extract: str = "manual"
    lifecycle_dream: str = "manual"
    lifecycle_recall: bool = True
    lifecycle_worker: str = "none"
    lifecycle_command: tuple[str, ...] = ()
    lifecycle_model: str = ""
    lifecycle_private: tuple[str, ...] = ()
    lifecycle_apply: tuple[str, ...] = ()
    lifecycle_dream_hours: int = 24
    lifecycle_dream_sessions: int = 5
    observe_enabled: bool = True
    observe_agents: bool = True
    observe_days: int = 180
    observe_megabytes: int = 500
    daemon_enabled: bool = True
    daemon_clients: tuple[str, ...] = ()
    proposals_clients: tuple[str, ...] = ()
    telemetry: bool = False
    team_url: str = ""
    team_store: str = ""
    team_runs: tuple[str, ...] = ()
    access: tuple[AccessRule, ...] = ()
    """The `[access]` table, in the file's order."""
    keys: tuple[tuple[str, str], ...] = ()
    """Action id and key, in the file's order."""
    key_lines: tuple[tuple[str, int], ...] = ()
    """Action id and the line of the file that sets its key."""
    removed: tuple[str, ...] = ()
    """One sentence for each setting of the file that memtui no longer has."""
    roots: tuple[RootEntry, ...] = ()
    """The `[[roots]]` of the settings file."""
    named: tuple[NamedEntry, ...] = ()
    """The entries of the tables of `config/named.py`, in the file's order."""
    workspace: str | None = None
    """`MEMTUI_WORKSPACE`, checked; None: made from the checkout's path."""
    debug: bool = False
    worker: bool = False
    """Whether an agent that memtui itself started runs this process: hooks then answer nothing."""
    terminal: Terminal = Terminal()
    variables: tuple[tuple[str, str], ...] = ()
    """The agents' own environment variables that are set and not empty."""
    origins: tuple[tuple[str, str], ...] = ()
    """Setting key and origin, for every setting that is not at its default."""

    def value(self, key: str) -> Value:
        """Return a simple setting by its key, such as `retention.days`."""
        found: Value = getattr(self, key.replace(".", "_"))
        return found

    def origin(self, key: str) -> str:
        """Return where a setting's value came from: `default`, a file and line, a variable or an option."""
        return dict(self.origins).get(key, "default")

    def entries(self, table: str) -> dict[str, NamedEntry]:
        """Return the entries of a named table, such as `jobs`, by name."""
        return {one.name: one for one in self.named if one.table == table}

    @property
    def config_file(self) -> str:
        """The settings file; it may not exist."""
        return self.directories.config_file

    @property
    def state_dir(self) -> str:
        """Where the ledger, locks and drafts live; may not exist yet."""
        return self.directories.state

    @property
    def data_dir(self) -> str:
        """Where memtui's own memories live; may not exist yet."""
        return self.directories.data


class SettingField(NamedTuple):
    """One setting."""

    key: str
    """As written in `config.toml`; a dot separates table and key."""
    kind: str
    """`text`, `texts` (a list), `number` or `yes/no`."""
    text: str
    choices: tuple[str, ...] = ()
    """For `text`: the only values allowed; empty: any."""
    least: int = 0
    """For `number`."""
    most: int = 0
    otherwise: str = ""
    """What applies when the file says nothing, before the default does."""

    @property
    def default(self) -> Value:
        """The value when nothing else sets it."""
        found: Value = Settings._field_defaults[self.key.replace(".", "_")]
        return found


FIELDS = (
    SettingField(
        "project_memory",
        "text",
        "Where memtui's own project memories live: in the checkout (`.memtui/memory/`, meant to be committed), or on "
        "this host only, in the data folder.",
        choices=("checkout", "host"),
    ),
    SettingField(
        "editor",
        "text",
        "The command that `memtui edit` and `f4` open a memory with; it may have arguments.",
        otherwise="`MEMTUI_EDITOR`, `VISUAL`, then `EDITOR`",
    ),
    SettingField(
        "theme",
        "text",
        "The workbench's theme; `auto` takes its own colours, dark or light as the terminal says that it is, or its "
        "monochrome ones under `NO_COLOR`.",
    ),
    SettingField(
        "calm",
        "yes/no",
        "No animation, fewer frames: for slow links and quiet eyes.",
        otherwise="on over SSH (`SSH_CONNECTION`)",
    ),
    SettingField(
        "ascii",
        "yes/no",
        "Draw with ASCII only: no boxes, no signs beyond the keyboard's.",
        otherwise="on when the locale (`LC_ALL`, `LC_CTYPE`, `LANG`) names an encoding other than UTF-8",
    ),
    SettingField(
        "retention.versions",
        "number",
        "How many of the newest versions of each memory are always kept.",
        least=1,
        most=100_000,
    ),
    SettingField(
        "retention.days",
        "number",
        "Every version of the last so many days on which memtui wrote something is kept, however many there are.",
        least=0,
        most=36_500,
    ),
    SettingField(
        "merge.when_mergeable",
        "text",
        "What a save does when an agent changed other lines of the same memory meanwhile: show the merged text and "
        "ask, or save it at once.",
        choices=("ask", "save"),
    ),
    SettingField(
        "merge.auto_advance",
        "text",
        "When a conflict is decided, go to the next open one: after a pause in which its result is seen (no pause with "
        "`calm`), at once, or only with the key for it.",
        choices=("pause", "at-once", "off"),
    ),
    SettingField(
        "agents.enabled",
        "yes/no",
        "Whether agents reach memories through memtui at all; `false` shuts every door: the MCP server lists no tool, "
        "and `memtui mcp`, `memtui tool` and `memtui context` answer `E_DISABLED`.",
    ),
    SettingField(
        "transcripts.read",
        "text",
        "Whether memtui reads the session files of agents: not before you were asked, those of the project you stand "
        "in, all, or none; `memtui sessions` changes it.",
        choices=("ask", "project", "all", "off"),
    ),
    SettingField(
        "transcripts.keep",
        "text",
        "What is kept of them: places of reads and writes, and quotes in proposals; or also cards of what happened.",
        choices=("places", "cards"),
    ),
    SettingField(
        "lifecycle.enabled",
        "yes/no",
        "Whether memtui works on memories in the background: remember, extract, dream, recall, forget; `false` refuses "
        "every request and ends what runs.",
    ),
    SettingField(
        "lifecycle.extract",
        "text",
        "Whether what agents' sessions say is looked through for things to remember: never, when you ask, or by "
        "itself; it only makes proposals.",
        choices=("off", "manual", "auto"),
    ),
    SettingField(
        "lifecycle.dream",
        "text",
        "Whether memories are looked through for what can be tidied: never, when you ask, or by itself; it only makes "
        "proposals.",
        choices=("off", "manual", "auto"),
    ),
    SettingField(
        "lifecycle.recall",
        "yes/no",
        "Whether memories are recalled for a request: by `memtui recall`, by the tool `memory_recall` and by a hook of "
        "an agent's prompts.",
    ),
    SettingField(
        "lifecycle.worker",
        "text",
        "Who besides memtui's own rules reads texts for remember, extract and dream: nobody, a program you have, the "
        "command of `lifecycle.command`, or the model of `lifecycle.model`; what it is sent leaves memtui.",
        choices=("none", "claude", "codex", "qwen", "command", "model"),
    ),
    SettingField("lifecycle.command", "texts", "The command of the worker `command` and its arguments, each a text."),
    SettingField(
        "lifecycle.model", "text", "The model of the worker `model`, and of a command that is told one; empty: its own."
    ),
    SettingField(
        "lifecycle.private",
        "texts",
        "Addresses that no worker is sent and no prompt is given unasked, with `*` for any letters, such as "
        "`claude-code:*/private/*`.",
    ),
    SettingField(
        "lifecycle.apply",
        "texts",
        "Rules whose proposals are applied without being asked for, such as `exact`; no others are.",
    ),
    SettingField(
        "lifecycle.dream_hours", "number", "Hours between two dreams that begin by themselves.", least=1, most=8_760
    ),
    SettingField(
        "lifecycle.dream_sessions",
        "number",
        "Sessions of agents there must have been since the last dream before one begins by itself.",
        least=0,
        most=1_000,
    ),
    SettingField(
        "observe.enabled",
        "yes/no",
        "Whether small dated cards, observations, are derived from memories and can be searched; `false` answers "
        "`E_DISABLED` everywhere.",
    ),
    SettingField(
        "observe.agents", "yes/no", "Whether agents may search the observations of the memories they are given."
    ),
    SettingField("observe.days", "number", "How many days cards of sessions are kept.", least=1, most=36_500),
    SettingField(
        "observe.megabytes",
        "number",
        "How large all cards may be on disk before the oldest of sessions go; those you decided about stay.",
        least=1,
        most=1_000_000,
    ),
    SettingField("daemon.enabled", "yes/no", "Whether programs may ask memtui over HTTP for work on memories."),
    SettingField(
        "daemon.clients", "texts", "Client ids that are answered over HTTP; none: any that a client may have."
    ),
    SettingField(
        "proposals.clients",
        "texts",
        "Agents that may propose changes of memories over MCP, by the names of `[access]`.",
    ),
    SettingField(
        "telemetry",
        "yes/no",
        "Whether OpenTelemetry is told when memories are remembered, recalled, extracted, tidied or forgotten, how "
        "long it took and how it ended: never a text, a name or a path. memtui sends nothing itself; it wants "
        "`memtui[telemetry]`.",
    ),
    SettingField(
        "team.url",
        "text",
        "The team's PostgreSQL, such as `postgresql://ann@db.example/team`: no password, which stands in `~/.pgpass`. "
        "Empty: there is no team. It wants `memtui[team]`.",
    ),
    SettingField(
        "team.store", "text", "What this ledger is called there; empty: the beginning of its journal's first hash."
    ),
    SettingField(
        "team.runs", "texts", "Members whose schedules of the team this machine runs, besides your own; `*`: all."
    ),
)
"""Every simple setting, in the order of the page."""

TABLES = (
    ("keys", 'A table of `action = "key"`: gives an action of the workbench another key; `memtui keys` lists them.'),
    ("access", 'A table of `client = "rw"`, `"plan"`, `"ro"` or `"off"`: the most each agent may do; see below.'),
    ("roots", "An array of tables, each a folder of memories that memtui would not find by itself."),
    *((name, text) for name, (text, _) in NAMED.items()),
)
"""Settings that are not simple values."""

REMOVED = ("digits",)
"""Settings that older versions had: a file that still has one is read, and the line is named."""

ACCESS = (
    ("rw", "reads and writes"),
    ("plan", "reads everything; writes everything but memories that lie in a checkout, as project memories do"),
    ("ro", "reads only"),
    ("off", "nothing: the door stays shut, or for one scope, the agent does not see it"),
)
"""The words of the `[access]` table, from the most to the least."""

ROOT_KEYS = (
    ("name", "The root's id, used in addresses: any name without `/`.", True),
    ("dir", "The folder: an absolute path, or one that starts with `~/`.", True),
    ("agent", "Whose layout it follows: `files` (the default), `memtui`, or an agent, such as `claude-code`.", False),
    ("scope", "`global` (the default), `project`, `workspace` or `channel`.", False),
)
"""The keys of one `[[roots]]` table: name, one sentence, whether it must be there."""

VARIABLES = (
    ("MEMTUI_HOME", "memtui", "One absolute folder for everything memtui keeps: settings, ledger, drafts, memories."),
    (
        "MEMTUI_WORKSPACE",
        "memtui",
        "The workspace's name, instead of one made from the checkout's path: 1 to 64 letters, digits, `-`, `_`, `.`.",
    ),
    (
        "MEMTUI_WORKER",
        "memtui",
        "`1`: memtui started the agent that runs this: hooks answer nothing, so that none goes on.",
    ),
    ("MEMTUI_DEBUG", "memtui", "`1`: show a traceback when memtui itself fails."),
    ("HOME", "memtui", "The home folder; when unset, the password database is asked; a relative path is refused."),
    (
        "XDG_CONFIG_HOME",
        "memtui, VS Code",
        "Where the settings' folder lies (Linux), and VS Code's own; a relative path is ignored.",
    ),
    ("XDG_STATE_HOME", "memtui", "Where the ledger's folder lies (Linux); a relative path is ignored."),
    (
        "XDG_RUNTIME_DIR",
        "memtui",
        "Where the socket of `memtui serve` lies when its path in the state folder is too long.",
    ),
    (
        "XDG_DATA_HOME",
        "memtui, Kilo Code",
        "Where the folder of memtui's own memories lies (Linux), and Kilo Code's; a relative path is ignored.",
    ),
    ("MEMTUI_EDITOR", "memtui", "The editor for memtui alone, when the settings name none."),
    ("VISUAL", "memtui", "The editor, when neither the settings nor `MEMTUI_EDITOR` name one."),
    ("EDITOR", "memtui", "The editor, when nothing above names one."),
    ("NO_COLOR", "memtui", "When set and not empty, no colour is used."),
    ("SSH_CONNECTION", "memtui", "When set, `calm` is on unless the settings say otherwise."),
    ("LC_ALL", "memtui", "The locale, then `LC_CTYPE`, then `LANG`: an encoding other than UTF-8 turns `ascii` on."),
    ("CLAUDE_CONFIG_DIR", "Claude Code", "Its folder, instead of `~/.claude`."),
    (
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "Claude Code",
        "`1`: it has no auto memory, and memtui says so; `0`: it has, whatever its settings say.",
    ),
    (
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
        "Claude Code",
        "`1`: it loads no instructions and no memories, and memtui says so.",
    ),
    ("CODEX_HOME", "Codex", "Its folder, instead of `~/.codex`."),
    ("GEMINI_CLI_HOME", "Gemini CLI", "The folder that its `.gemini` lies in, instead of the home folder."),
    ("COPILOT_HOME", "VS Code", "The folder of Copilot's hooks and instructions, instead of `~/.copilot`."),
    (
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS",
        "Copilot CLI",
        "Further folders of its instructions, with commas between them.",
    ),
    ("VSCODE_PORTABLE", "VS Code", "The data folder of a portable installation."),
    ("QWEN_HOME", "Qwen Code", "Its folder, instead of `~/.qwen`."),
    ("QWEN_RUNTIME_DIR", "Qwen Code", "Where it keeps memories, instead of its own folder."),
    ("QWEN_CODE_MEMORY_BASE_DIR", "Qwen Code", "The same, and stronger."),
    ("QWEN_CODE_MEMORY_LOCAL", "Qwen Code", "`1`: project memories live in the project, in `.qwen/memory/`."),
    (
        "QWEN_CODE_MEMORY_PROJECT_SCOPE",
        "Qwen Code",
        "`workspace`: project memories belong to the exact folder, not to the checkout.",
    ),
    ("QWEN_CODE_MEMORY_TEAM", "Qwen Code", "`1` or `0`: whether it loads team memories; memtui says so."),
    (
        "QWEN_CODE_MEMORY_TEAM_SYNC",
        "Qwen Code",
        "`1` or `0`: whether it pulls, commits and pushes team memories; memtui says so.",
    ),
    ("OPENCODE_CONFIG", "OpenCode", "One more file of its settings."),
    ("OPENCODE_CONFIG_DIR", "OpenCode", "The folder of its `AGENTS.md`, and of more settings."),
    ("OPENCODE_CONFIG_CONTENT", "OpenCode", "More of its settings, as JSON."),
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "OpenCode", "`1`: it loads no instructions and no settings of the project."),
    ("OPENCODE_DISABLE_CLAUDE_CODE", "OpenCode", "`1`: it loads no `CLAUDE.md`."),
    ("OPENCODE_DISABLE_CLAUDE_CODE_PROMPT", "OpenCode", "The same."),
    ("XUM_ROOT", "Mux", "Its folder, instead of `~/.xum`."),
    ("MUX_ROOT", "Mux", "The same, under its older name."),
    ("SERENA_HOME", "Serena", "Its folder, instead of `~/.serena`."),
    ("LETTA_MEMORY_DIR", "Letta Code", "The memories of the agent that is running."),
    ("MEMORY_DIR", "Letta Code", "The same, when it names a memory repository of Letta Code's."),
    ("LETTA_LOCAL_BACKEND_DIR", "Letta Code", "Where agents of this machine are kept, instead of `~/.letta`."),
    ("HERMES_HOME", "Hermes", "Its folder, or a profile's, instead of `~/.hermes`."),
    ("OPENCLAW_STATE_DIR", "OpenClaw", "Its folder, instead of `~/.openclaw`."),
    ("OPENCLAW_WORKSPACE_DIR", "OpenClaw", "The agent's workspace."),
    ("OPENCLAW_PROFILE", "OpenClaw", "The profile: its folder is `~/.openclaw-<profile>`."),
)
"""Every environment variable that changes what memtui does: name, whose it is, one sentence."""

AGENT_VARIABLES = tuple(name for name, whose, _ in VARIABLES if whose != "memtui")
"""Those of agents, which say where their memories and settings are, or switch them off."""
