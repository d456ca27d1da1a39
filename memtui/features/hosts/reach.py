"""How another machine is reached: which ones there are, and the program that runs memtui there.

It is apart so that what is put on a command line is one function that tests can attack.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtui.config.settings import Settings
from memtui.errors import RefusedError

_SSH = ("ssh", "-x", "-a", "-k")
_OPTIONS = (
    "IgnoreUnknown=*",
    "RemoteCommand=none",
    "SessionType=default",
    "ForkAfterAuthentication=no",
    "StrictHostKeyChecking=yes",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "Compression=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlPath=%C",
    "ControlMaster=auto",
    "ControlPersist=60",
)
"""OpenSSH's, of which one before 8.7 knows not all; the user's own file still says alias, jump host and key."""


class HostAway(NamedTuple):
    """One other machine, as the settings name it."""

    name: str
    ssh: str
    argv: tuple[str, ...]
    """Runs there what is added to it, without a shell; empty: ssh does."""
    command: tuple[str, ...]
    """How memtui is started there."""
    project: str
    run: str
    """The folder that ssh runs in, for the connections it keeps for a minute: a socket has no room for a long path."""

    @property
    def shown(self) -> str:
        """How it is reached, for people."""
        return shlex.join(self.argv) if self.argv else f"ssh {self.ssh}"


def hosts(settings: Settings) -> Mapping[str, HostAway]:
    """Give the machines that the settings name, by name."""
    run = os.path.join(settings.state_dir, "run")
    return {
        name: HostAway(
            name,
            entry.text("ssh", name),
            entry.texts("argv"),
            entry.texts("command") or ("memtui",),
            entry.text("project"),
            run,
        )
        for name, entry in settings.entries("hosts").items()
    }


def host_named(settings: Settings, name: str) -> HostAway:
    """Give one of them.

    Raises:
        RefusedError: `E_HOST`: there is none of that name.
    """
    found = hosts(settings)
    if name not in found:
        known = f"There are: {', '.join(found)}." if found else "None is named there yet."
        raise RefusedError(
            f"The settings name no other machine {name!r}.", code="E_HOST", hint=f"{known} Add [hosts.NAME]."
        )
    return found[name]


def words_for(host: HostAway, asked: Sequence[str], *, terminal: bool = False) -> list[str]:
    """Give the command line that runs memtui there.

    Args:
        host: where.
        asked: what follows memtui's name; letters, digits, `-`, `_` and `=` only, as `asked.py` makes it, because
            the shell there reads it.
        terminal: a person sits at it.
    """
    if host.argv:
        return [*host.argv, *host.command, *asked]
    options = (*_OPTIONS, *(() if terminal else ("BatchMode=yes",)))
    dashed = [word for option in options for word in ("-o", option)]
    return [*_SSH, "-t" if terminal else "-T", *dashed, "--", host.ssh, shlex.join((*host.command, *asked))]
