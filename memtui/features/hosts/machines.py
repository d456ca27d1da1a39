"""Other machines of the settings, and the command line that reaches them.

Apart so that tests can attack one function that builds a command line.
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
"""Options of OpenSSH; the user's own configuration still gives alias, jump host and key."""


class RemoteHost(NamedTuple):
    """Another machine, as the settings name it."""

    name: str
    ssh: str
    argv: tuple[str, ...]
    """A command that runs there what is appended to it; empty: ssh does."""
    command: tuple[str, ...]
    """How memtui is started there."""
    project: str
    run: str
    """The working directory of ssh, where its control sockets fit: a socket's path is short."""

    @property
    def shown(self) -> str:
        """The command that reaches it, for people."""
        return shlex.join(self.argv) if self.argv else f"ssh {self.ssh}"


def hosts(settings: Settings) -> Mapping[str, RemoteHost]:
    """Return the machines of the settings by name."""
    run = os.path.join(settings.state_dir, "run")
    return {
        name: RemoteHost(
            name,
            entry.text("ssh", name),
            entry.texts("argv"),
            entry.texts("command") or ("memtui",),
            entry.text("project"),
            run,
        )
        for name, entry in settings.entries("hosts").items()
    }


def host_named(settings: Settings, name: str) -> RemoteHost:
    """Return a machine by name; raises `E_HOST` for an unknown one."""
    found = hosts(settings)
    if name not in found:
        known = f"There are: {', '.join(found)}." if found else "None is named there yet."
        raise RefusedError(
            f"The settings name no other machine {name!r}.", code="E_HOST", hint=f"{known} Add [hosts.NAME]."
        )
    return found[name]


def command_line(host: RemoteHost, asked: Sequence[str], *, terminal: bool = False) -> list[str]:
    """Return the command line that runs memtui there.

    `asked` is what `envelope.py` packs: the remote shell reads it. `terminal` is for a person at the keys.
    """
    if host.argv:
        return [*host.argv, *host.command, *asked]
    options = (*_OPTIONS, *(() if terminal else ("BatchMode=yes",)))
    dashed = [word for option in options for word in ("-o", option)]
    return [*_SSH, "-t" if terminal else "-T", *dashed, "--", host.ssh, shlex.join((*host.command, *asked))]
