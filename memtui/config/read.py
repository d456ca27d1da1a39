"""Read the settings: the environment, of which this is the only reader, `config.toml`, and `--root`.

Nothing here creates a folder. What reads the file is imported only when there is one.
"""

import os
from collections.abc import Mapping
from typing import Any

from memtui.config.directories import expand_user, find_directories, user_home
from memtui.config.settings import AGENT_VARIABLES, FIELDS, RootEntry, Settings, Terminal, Value, root_problem
from memtui.errors import UsageError


def read_environment() -> dict[str, str]:
    """Copy the process's environment; nothing else in memtui looks at it."""
    return dict(os.environ)


def local_zone() -> str:
    """Return the machine's time zone, by `TZ` or its file of local time; else UTC."""
    from memtui.config.named_check import is_zone

    variable = read_environment().get("TZ", "").removeprefix(":")
    zone = variable or os.path.realpath("/etc/localtime").rpartition("/zoneinfo/")[2]
    return zone if zone and is_zone(zone) else "UTC"


def load_settings(
    environ: Mapping[str, str], *, home: str | None = None, options: Mapping[str, Value] | None = None
) -> Settings:
    """Read the settings: options of the command line first, then `config.toml`, the environment, the defaults.

    Args:
        environ: the environment, as `read_environment` returns it.
        home: `--home`: one folder for everything memtui keeps; overrides `MEMTUI_HOME`.
        options: settings given as options, by key, such as `{"calm": True}`.

    Raises:
        UsageError: `E_CONFIG`, with the file, the line and the key where there are some.
    """
    user = user_home(environ)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    _from_environment(environ, values, origins)
    settings = Settings(
        find_directories(environ, user, home),
        user,
        workspace=_workspace(environ),
        debug=environ.get("MEMTUI_DEBUG", "") not in ("", "0"),
        worker=bool(environ.get("MEMTUI_WORKER")),
        terminal=_terminal(environ),
        variables=tuple((name, environ[name]) for name in AGENT_VARIABLES if environ.get(name)),
    )
    settings = _from_file(settings, values, origins)
    for key, value in (options or {}).items():
        values[key], origins[key] = value, "--" + key.replace("_", "-").replace(".", "-")
    return _with_values(settings, values, origins)


def reread(settings: Settings) -> Settings:
    """Read the file again; what options and the environment say stays as it was. Raises what `load_settings` does."""
    origins = {key: origin for key, origin in settings.origins if not origin.startswith("config.toml")}
    values: dict[str, Value] = {}
    from_file: dict[str, str] = {}
    read = _from_file(settings._replace(keys=(), roots=(), access=(), named=()), values, from_file)
    changed = {field.key: values.get(field.key, field.default) for field in FIELDS if field.key not in origins}
    return _with_values(read, changed, origins | {key: from_file[key] for key in from_file.keys() & changed.keys()})


def _from_file(settings: Settings, values: dict[str, Value], origins: dict[str, str]) -> Settings:
    """Take the tables of the settings file, if there is one; add its simple settings to `values` and `origins`."""
    if not os.path.lexists(settings.config_file):
        return settings
    from memtui.config.config_file import read_config

    config = read_config(settings.config_file, settings.home)
    for key, value, origin in config.values:
        values[key], origins[key] = value, origin
    return settings._replace(
        keys=config.keys,
        key_lines=config.key_lines,
        removed=config.removed,
        roots=config.roots,
        access=config.access,
        named=config.named,
    )


def _with_values(settings: Settings, values: Mapping[str, Value], origins: Mapping[str, str]) -> Settings:
    given: dict[str, Any] = {key.replace(".", "_"): value for key, value in values.items()}
    return settings._replace(**given, origins=tuple(origins.items()))


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


def parse_root(text: str, *, cwd: str, home: str | None) -> RootEntry:
    """Read a `--root` option, `NAME=DIR[,agent=KIND][,scope=SCOPE]`; DIR may be relative to `cwd`."""
    name, equals, rest = text.partition("=")
    chosen: dict[str, str] = {}
    while True:  # from the right, because a folder's name may hold commas
        front, comma, part = rest.rpartition(",")
        key, sign, value = part.partition("=")
        if not comma or not sign or key not in ("agent", "scope") or key in chosen:
            break
        chosen[key], rest = value, front
    if not (equals and name and rest):
        raise UsageError(
            f"--root {text!r} does not name a folder.", hint="Write --root NAME=DIR[,agent=KIND][,scope=SCOPE]."
        )
    folder = os.path.normpath(os.path.join(cwd, expand_user(rest, home)))
    entry = RootEntry(name, folder, chosen.get("agent", "files"), chosen.get("scope", "global"), "--root")
    problem = root_problem(entry)
    if problem:
        raise UsageError(f"--root {text!r}: {problem[0]}", hint=problem[1])
    return entry
