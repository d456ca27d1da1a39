"""The table of settings: key, type and one sentence each; the file's checks and every list of settings read it.

Reading, checking, `memtui config` and docs/configuration.md come from this one table, so that none of them can forget
a setting or describe it differently.
"""

from typing import NamedTuple

from memtui.config.settings import Settings, Value


class Field(NamedTuple):
    """One setting."""

    key: str
    """As written in `config.toml`; a dot separates table and key."""
    kind: str
    """`text`, `number` or `yes/no`."""
    text: str
    """One sentence: what it does."""
    choices: tuple[str, ...] = ()
    """For `text`: the only values allowed; empty: any."""
    least: int = 0
    """For `number`."""
    most: int = 0
    """For `number`."""
    otherwise: str = ""
    """What decides when the file says nothing, before the default does."""

    @property
    def default(self) -> Value:
        """What it is when nothing says otherwise."""
        found: Value = Settings._field_defaults[self.key.replace(".", "_")]
        return found


FIELDS = (
    Field(
        "project_memory",
        "text",
        "Where memtui's own project memories live: in the checkout (`.memtui/memory/`, meant to be committed), or on "
        "this host only, in the data folder.",
        choices=("checkout", "host"),
    ),
    Field(
        "editor",
        "text",
        "The command that `memtui edit` and `f4` open a memory with; it may have arguments.",
        otherwise="`MEMTUI_EDITOR`, `VISUAL`, then `EDITOR`",
    ),
    Field(
        "theme",
        "text",
        "The workbench's theme; `auto` takes its own colours, or its monochrome ones under `NO_COLOR`.",
    ),
    Field(
        "calm",
        "yes/no",
        "No animation, fewer frames: for slow links and quiet eyes.",
        otherwise="on over SSH (`SSH_CONNECTION`)",
    ),
    Field(
        "ascii",
        "yes/no",
        "Draw with ASCII only: no boxes, no signs beyond the keyboard's.",
        otherwise="on when the locale (`LC_ALL`, `LC_CTYPE`, `LANG`) names an encoding other than UTF-8",
    ),
    Field(
        "retention.versions",
        "number",
        "How many of the newest versions of each memory are always kept.",
        least=1,
        most=100_000,
    ),
    Field(
        "retention.days",
        "number",
        "Every version of the last so many days on which memtui wrote something is kept, however many there are.",
        least=0,
        most=36_500,
    ),
    Field(
        "merge.when_mergeable",
        "text",
        "What a save does when an agent changed other lines of the same memory meanwhile: show the merged text and "
        "ask, or save it at once.",
        choices=("ask", "save"),
    ),
    Field(
        "merge.auto_advance",
        "text",
        "When a conflict is decided, go to the next open one: after a pause in which its result is seen (no pause with "
        "`calm`), at once, or only with the key for it.",
        choices=("pause", "at-once", "off"),
    ),
    Field(
        "agents.enabled",
        "yes/no",
        "Whether agents reach memories through memtui at all; `false` shuts every door: the MCP server lists no tool, "
        "and `memtui mcp`, `memtui tool` and `memtui context` answer `E_DISABLED`.",
    ),
)
"""Every simple setting, in the order of the page."""

TABLES = (
    ("keys", 'A table of `action = "key"`: gives an action of the workbench another key; `memtui keys` lists them.'),
    ("access", 'A table of `client = "rw"`, `"plan"`, `"ro"` or `"off"`: the most each agent may do; see below.'),
    ("roots", "An array of tables, each a folder of memories that memtui would not find by itself."),
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
    ("MEMTUI_DEBUG", "memtui", "`1`: show a traceback when memtui itself fails."),
    ("HOME", "memtui", "The home folder; when unset, the password database is asked; a relative path is refused."),
    (
        "XDG_CONFIG_HOME",
        "memtui, VS Code",
        "Where the settings' folder lies (Linux), and VS Code's own; a relative path is ignored.",
    ),
    ("XDG_STATE_HOME", "memtui", "Where the ledger's folder lies (Linux); a relative path is ignored."),
    ("XDG_DATA_HOME", "memtui", "Where the folder of memtui's own memories lies (Linux); a relative path is ignored."),
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
