"""docs/configuration.md, made from the tables of settings; a test compares the page with what this makes.

To write it anew: `python -m tests.config.test_page`.
"""

from collections.abc import Iterable

from memtui.config.fields import FIELDS, ROOT_KEYS, TABLES, VARIABLES, Field

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

_ROOTS = """\
## Roots by hand

Each `[[roots]]` table is what `--root NAME=DIR[,agent=KIND][,scope=SCOPE]` is for one command. A relative folder of
`--root` is taken from the working directory; in the file, paths are absolute or begin with `~/`. A root named by hand
counts as accepted, also inside a checkout: you chose it. The folder may be missing; it is then an empty root.
`--only-root` leaves out everything but the `--root` options and memtui's own roots.
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
            _ROOTS,
            _table(
                ("Key", "Needed", "What it is"),
                ((f"`{name}`", "yes" if needed else "no", text) for name, text, needed in ROOT_KEYS),
            ),
            "## Environment variables\n",
            _table(
                ("Variable", "Whose", "What it does"), ((f"`{name}`", whose, text) for name, whose, text in VARIABLES)
            ),
            _FOLDERS,
        )
    )


def _setting(field: Field) -> tuple[str, str, str, str]:
    kind = field.kind
    if field.choices:
        kind = " or ".join(f'`"{choice}"`' for choice in field.choices)
    elif field.kind == "number":
        kind = f"whole number, {field.least} to {field.most:,}"
    elif field.kind == "yes/no":
        kind = "`true` or `false`"
    default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default).lower()
    return f"`{field.key}`", kind, f"`{default}`" + (f"; {field.otherwise}" if field.otherwise else ""), field.text


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
