"""What the user chose, as one value, with where each choice came from; the only reader of the environment.

Settings are passed in, never fetched: a setting that can be reached from anywhere is a setting no test can hold still.
Nothing here creates a folder, and `config.toml` is parsed only when there is one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.config.directories import Directories, find_directories, user_home
from memtui.config.variables import AGENT_VARIABLES
from memtui.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

Value = str | int | bool
"""What a simple setting can hold."""


class RootEntry(NamedTuple):
    """A root the user named by hand, in the settings or with `--root`."""

    name: str
    dir: str
    """Absolute, as the user wrote it otherwise: links are not resolved."""
    agent: str = "files"
    scope: str = "global"
    origin: str = "config.toml"
    """`--root`, or the file and line."""


class AccessRule(NamedTuple):
    """One entry of the `[access]` table: what a client may do."""

    client: str
    """As the user wrote it; `*` is every client that has no entry of its own."""
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
    """A page in a browser: standard output carries its packets, and no other program can have the screen."""


class Settings(NamedTuple):
    """Everything the user chose, checked. `memtui.config.fields.FIELDS` says what each setting means."""

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
    access: tuple[AccessRule, ...] = ()
    """The `[access]` table, in the file's order."""
    keys: tuple[tuple[str, str], ...] = ()
    """Action id and key, in the file's order."""
    key_lines: tuple[tuple[str, int], ...] = ()
    """Action id and the line of the file its key is set on."""
    removed: tuple[str, ...] = ()
    """One sentence for each setting of the file that memtui no longer has."""
    roots: tuple[RootEntry, ...] = ()
    """The `[[roots]]` of the settings file."""
    workspace: str | None = None
    """`MEMTUI_WORKSPACE`, checked; None: made from the checkout's path."""
    debug: bool = False
    terminal: Terminal = Terminal()
    variables: tuple[tuple[str, str], ...] = ()
    """The agents' own environment variables that are set and not empty."""
    origins: tuple[tuple[str, str], ...] = ()
    """Setting key and where its value came from, for every setting that is not at its default."""

    def value(self, key: str) -> Value:
        """Give a simple setting by its key, such as `retention.days`."""
        found: Value = getattr(self, key.replace(".", "_"))
        return found

    def origin(self, key: str) -> str:
        """Say where a setting's value came from: `default`, a file and line, a variable or an option."""
        return dict(self.origins).get(key, "default")

    @property
    def config_file(self) -> str:
        """The settings file, whether it exists or not."""
        return self.directories.config_file

    @property
    def state_dir(self) -> str:
        """Where the ledger, locks and drafts live; may not exist yet."""
        return self.directories.state

    @property
    def data_dir(self) -> str:
        """Where memtui's own memories live; may not exist yet."""
        return self.directories.data


def read_environment() -> dict[str, str]:
    """Copy the process's environment; nothing else in memtui looks at it."""
    return dict(os.environ)


def load_settings(
    environ: Mapping[str, str], *, home: str | None = None, options: Mapping[str, Value] | None = None
) -> Settings:
    """Read the settings: options of the command line first, then `config.toml`, the environment, the defaults.

    Args:
        environ: the environment, as `read_environment` gives it.
        home: `--home`: one folder for everything memtui keeps; overrides `MEMTUI_HOME`.
        options: settings given as options, by key, such as `{"calm": True}`.

    Raises:
        UsageError: `E_CONFIG`, with the file, the line and the key where there are some.
    """
    user = user_home(environ)
    directories = find_directories(environ, user, home)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    keys: tuple[tuple[str, str], ...] = ()
    key_lines: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    roots: tuple[RootEntry, ...] = ()
    access: tuple[AccessRule, ...] = ()
    _from_environment(environ, values, origins)
    if os.path.lexists(directories.config_file):
        from memtui.config.file import read_config

        chosen = read_config(directories.config_file, user)
        keys, roots, access = chosen.keys, chosen.roots, chosen.access
        key_lines, removed = chosen.key_lines, chosen.removed
        for key, value, line in chosen.values:
            values[key], origins[key] = value, f"config.toml, line {line}" if line else "config.toml"
    for key, value in (options or {}).items():
        values[key], origins[key] = value, "--" + key.replace("_", "-").replace(".", "-")
    settings = Settings(
        directories,
        user,
        keys=keys,
        key_lines=key_lines,
        removed=removed,
        roots=roots,
        access=access,
        workspace=_workspace(environ),
        debug=environ.get("MEMTUI_DEBUG", "") not in ("", "0"),
        terminal=_terminal(environ),
        variables=tuple((name, environ[name]) for name in AGENT_VARIABLES if environ.get(name)),
        origins=tuple(origins.items()),
    )
    given: dict[str, Any] = {key.replace(".", "_"): value for key, value in values.items()}
    return settings._replace(**given)


def _from_environment(environ: Mapping[str, str], values: dict[str, Value], origins: dict[str, str]) -> None:
    for variable in ("MEMTUI_EDITOR", "VISUAL", "EDITOR"):
        if environ.get(variable, "").strip():
            values["editor"], origins["editor"] = environ[variable].strip(), variable
            break
    if environ.get("SSH_CONNECTION"):
        values["calm"], origins["calm"] = True, "SSH_CONNECTION"
    for variable in ("LC_ALL", "LC_CTYPE", "LANG"):
        locale = environ.get(variable, "")
        if locale:
            encoding = locale.partition(".")[2].partition("@")[0].lower().replace("-", "")
            if encoding not in ("", "utf8"):
                values["ascii"], origins["ascii"] = True, variable
            break


def _terminal(environ: Mapping[str, str]) -> Terminal:
    return Terminal(
        name=environ.get("TERM", ""),
        no_color=bool(environ.get("NO_COLOR")),
        remote=bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")),
        tmux=bool(environ.get("TMUX")),
        display=bool(environ.get("WAYLAND_DISPLAY") or environ.get("DISPLAY")),
        web=environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"),
    )


def _workspace(environ: Mapping[str, str]) -> str | None:
    name = environ.get("MEMTUI_WORKSPACE", "")
    if not name:
        return None
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (plain.isascii() and plain.isalnum()) or name.startswith((".", "-")) or len(name) > 64:
        raise UsageError(
            f"MEMTUI_WORKSPACE is {name!r}, which cannot name a folder.",
            code="E_CONFIG",
            hint="Use 1 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter, a digit or `_`.",
        )
    return name
