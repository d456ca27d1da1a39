"""Where memtui's own files live: the only answer, so that none of them lands inside a root.

Nothing here creates a folder. XDG variables are read directly where they apply, because importing platformdirs costs
every command more than reading its memories does.
"""

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from memtui.errors import UsageError


class Directories(NamedTuple):
    """The folders of memtui's own files; any of them may not exist yet."""

    config: str
    """Holds `config.toml`."""
    state: str
    """Holds `state.db`, locks and drafts."""
    data: str
    """Holds memtui's own memories, below `memory/`."""
    origin: str
    """What decided: `--home`, `MEMTUI_HOME`, or `per user`."""

    @property
    def config_file(self) -> str:
        """The settings file, whether it exists or not."""
        return os.path.join(self.config, "config.toml")


def user_home(environ: Mapping[str, str]) -> str | None:
    """Return the home folder: `HOME` (`USERPROFILE` on Windows), else the password database's; None when unknown."""
    variable = "USERPROFILE" if sys.platform == "win32" else "HOME"
    home = environ.get(variable, "")
    if home:
        if not os.path.isabs(home):
            raise UsageError(
                f"{variable} is {home!r}, which is not an absolute path.",
                code="E_CONFIG",
                hint=f"Set {variable} to your home folder.",
            )
        return home
    if sys.platform == "win32":
        return None
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None
    return home if os.path.isabs(home) else None


def find_directories(environ: Mapping[str, str], user: str | None, override: str | None = None) -> Directories:
    """Decide where memtui's own files live.

    Args:
        environ: the environment.
        user: the user's home folder, when known.
        override: `--home`; a relative path is taken from the working directory.

    Raises:
        UsageError: `E_CONFIG`, when there is no usable answer.
    """
    if override is not None:
        return _one_folder(_absolute(override, user), "--home")
    named = environ.get("MEMTUI_HOME", "")
    if named:
        expanded = expand_user(named, user)
        if not os.path.isabs(expanded):
            raise UsageError(
                f"MEMTUI_HOME is {named!r}, which is not an absolute path.",
                code="E_CONFIG",
                hint="Set MEMTUI_HOME to an absolute path, or give --home DIR.",
            )
        return _one_folder(expanded, "MEMTUI_HOME")
    if sys.platform in ("darwin", "win32"):
        return _by_platform()
    return Directories(
        config=_xdg(environ, "XDG_CONFIG_HOME", user, ".config"),
        state=_xdg(environ, "XDG_STATE_HOME", user, ".local/state"),
        data=_xdg(environ, "XDG_DATA_HOME", user, ".local/share"),
        origin="per user",
    )


def expand_user(path: str, user: str | None) -> str:
    """Replace a leading `~` or `~/` by the user's home folder."""
    if user is not None and (path == "~" or path.startswith("~/")):
        return user + path[1:]
    return path


def _one_folder(path: str, origin: str) -> Directories:
    path = _storable(os.path.normpath(path), origin)
    return Directories(path, path, path, origin)


def _absolute(path: str, user: str | None) -> str:
    expanded = expand_user(path, user)
    if not path:
        raise UsageError("--home is empty.", hint="Give --home DIR.")
    try:
        return os.path.abspath(expanded)
    except OSError as error:
        raise UsageError(
            f"--home {path!r} is relative, and the working directory is gone.",
            code="E_CONFIG",
            hint="Give an absolute path.",
        ) from error


def _xdg(environ: Mapping[str, str], variable: str, user: str | None, default: str) -> str:
    base = environ.get(variable, "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is invalid and ignored
        if user is None:
            raise UsageError(
                "There is no home folder: HOME is not set, and the password database knows none.",
                code="E_CONFIG",
                hint="Set HOME, or set MEMTUI_HOME to a folder for everything memtui keeps.",
            )
        base = os.path.join(user, default)
    return os.path.join(_storable(os.path.normpath(base), variable), "memtui")


def _storable(path: str, origin: str) -> str:
    """Refuse a folder whose name is not UTF-8, because SQLite cannot open a database in it."""
    if path.isascii() or not any("\ud800" <= c <= "\udfff" for c in path):
        return path
    raise UsageError(
        f"{origin}: the name of the folder {path} is not UTF-8.",
        code="E_CONFIG",
        hint="Set MEMTUI_HOME to another folder, or give --home DIR.",
    )


def _by_platform() -> Directories:
    import platformdirs

    return Directories(
        config=platformdirs.user_config_dir("memtui", appauthor=False),
        state=platformdirs.user_state_dir("memtui", appauthor=False),
        data=platformdirs.user_data_dir("memtui", appauthor=False),
        origin="per user",
    )
