"""docs/configuration.md, made from the tables of settings; a test compares the page with what this makes.

To write it anew: `python -m tests.config.test_page`.
"""

from collections.abc import Iterable

from memtui.config.named import NAMED, NamedKey
from memtui.config.settings import ACCESS, FIELDS, ROOT_KEYS, TABLES, VARIABLES, SettingField

_HEAD = """\
# Configuration

memtui works without any configuration. What can be chosen is in one file, `config.toml`; `memtui config` shows every
setting with its value and where that came from, `memtui config path` says where the file is looked for, and
`memtui config check` reads it and complains.

An option of the command line beats the file, the file beats the environment, and the environment beats the default.
A mistake in the file stops memtui with `E_CONFIG`, the file, the line, the key and what was probably meant: a setting
that is silently ignored would be worse. No memory is touched. Nothing inside a repository is read as configuration.
"""

_EXAMPLE = """\
## An example

```toml
project_memory = "host"      # keep project memories out of the checkout
editor = "nvim -c 'set tw=100'"

[retention]
versions = 50

[merge]
when_mergeable = "save"

[keys]
pin = "P"

[access]
"*" = "plan"                 # any agent: everything but what lies in a checkout
claude-code = "rw"

[access.codex]
global = "ro"
workspace = "off"

[[roots]]
name = "notes"
dir = "~/notes/agents"

[[roots]]
name = "team"
dir = "/srv/team/memory"
agent = "claude-code"
scope = "project"
```
"""

_AGENTS = """\
## What agents may do

`agents.enabled = false` shuts every door for every agent. While they are open, `[access]` says what each may do, by the
name under which it is installed (`claude-code`, `codex`, `gemini`, `qwen`, `vscode`), or the name any other MCP client
gives when it connects. Upper and lower case do not matter.

An entry is one word for all scopes, or a table with a word for each scope; `"*"` stands for the scopes that are not
named there. `"*"` as the client stands for what a client's own entries leave open. What nothing speaks about is `rw`:
an agent reaches memtui only because you put it into that agent's configuration.

A door has a flag of its own: `--access rw`, `plan` or `ro` of `memtui mcp` and `memtui tool`. It can only narrow: an
agent gets the less of what its flag and this table allow, in each root. Neither is a matter of what an agent was told:
the engine refuses the change with `E_ACCESS`, whoever asks. People are not meant: the workbench and the commands you
type yourself are not limited here, only by `--read-only`.
"""

_ROOTS = """\
## Roots by hand

Each `[[roots]]` table is what `--root NAME=DIR[,agent=KIND][,scope=SCOPE]` is for one command. A relative folder of
`--root` is taken from the working directory; in the file, paths are absolute or begin with `~/`. A root named by hand
counts as accepted, also inside a checkout: you chose it. The folder may be missing; it is then an empty root.
`--only-root` leaves out everything but the `--root` options and memtui's own roots.
"""

_NAMED = """\
## Tables with names of your own

Jobs, deliveries, channels and budgets do nothing until they are named here. A secret is never written into the
settings: an entry says where it is, `env:NAME` for a variable, `file:PATH` for a file of your own that nobody else may
read (0600). [Schedules](guide/schedules.md) shows them at work.

```toml
[jobs.standup]
argv = ["/usr/local/bin/standup", "--short"]
cwd = "/srv/team"

[channels.team-eng]
speak = true
quiet = "22:00-07:00"
zone = "Europe/Berlin"

[delivery.team]
kind = "feishu"
channel = "team-eng"
to = "oc_5ad11d72b830411d72b836c20"
app = "cli_a1b2"
secret = "env:TEAM_APP_SECRET"

[budgets."channel:team-eng"]
limit = 200000
unit = "tokens"
window = "day"
```
"""

_FOLDERS = """\
## Folders

| What | With `MEMTUI_HOME` or `--home` | Otherwise, on Linux | Otherwise, on macOS |
| --- | --- | --- | --- |
| `config.toml` | in that folder | `~/.config/memtui/` | `~/Library/Application Support/memtui/` |
| ledger (`state.db`), locks, drafts | in that folder | `~/.local/state/memtui/` | the same |
| memtui's own memories | below it, in `memory/` | `~/.local/share/memtui/memory/` | the same |

Global memories are in `memory/global/`, those of a workspace in `memory/workspace/`, one folder for each checkout, and
those of a project in the project's own `.memtui/memory/`, or with `project_memory = "host"` in `memory/project/`.
Reading never creates a folder; each is made when something is first written there.

The project is the folder of `--project`, else the nearest folder at or above the working directory with `.git` in it,
else the working directory. Without `HOME` the password database is asked for the home folder; when that knows none
either, memtui needs `MEMTUI_HOME` and finds no agent's folders.
"""


def render() -> str:
    """Make the whole page."""
    return "\n".join(
        (
            _HEAD,
            "## Settings\n",
            _table(("Setting", "Type", "Default", "What it does"), (_setting(field) for field in FIELDS)),
            "Besides these simple ones:\n",
            _table(("Setting", "What it is"), ((f"`{name}`", text) for name, text in TABLES)),
            _EXAMPLE,
            _AGENTS,
            _table(("Word", "What the agent may do"), ((f"`{word}`", text) for word, text in ACCESS)),
            _ROOTS,
            _table(
                ("Key", "Needed", "What it is"),
                ((f"`{name}`", "yes" if needed else "no", text) for name, text, needed in ROOT_KEYS),
            ),
            _NAMED,
            _table(
                ("Table", "Key", "Needed", "What it is"),
                (
                    (f"`[{table}.NAME]`", f"`{one.key}`", "yes" if one.needed else "no", _said(one))
                    for table, (_, keys) in NAMED.items()
                    for one in keys
                ),
            ),
            "## Environment variables\n",
            _table(
                ("Variable", "Whose", "What it does"), ((f"`{name}`", whose, text) for name, whose, text in VARIABLES)
            ),
            _FOLDERS,
        )
    )


def _said(one: NamedKey) -> str:
    words = " or ".join(f'`"{choice}"`' for choice in one.choices)
    return f"{one.text} {words[:1].upper()}{words[1:]}.".replace(" .", "")


def _setting(field: SettingField) -> tuple[str, str, str, str]:
    kind = field.kind
    if field.choices:
        kind = " or ".join(f'`"{choice}"`' for choice in field.choices)
    elif field.kind == "number":
        kind = f"whole number, {field.least} to {field.most:,}"
    elif field.kind == "yes/no":
        kind = "`true` or `false`"
    elif field.kind == "texts":
        kind = "list of texts"
    plain = "[]" if field.default == () else str(field.default).lower()
    default = f'"{field.default}"' if isinstance(field.default, str) else plain
    return f"`{field.key}`", kind, f"`{default}`" + (f"; {field.otherwise}" if field.otherwise else ""), field.text


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
