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
