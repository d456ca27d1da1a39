"""Other machines of the settings, the command line that reaches them, and its encoding as one shell-safe word.

Apart so that tests can attack one function that builds a command line. The remote shell is unknown and names of
memories are hostile, so the word holds letters and digits only. A mark tells the answer from what a login prints; both
ends of a call use it.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from memtui.config.settings import Settings
from memtui.errors import RefusedError, UsageError

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

    `asked` is what `pack` makes: the remote shell reads it. `terminal` is for a person at the keys.
    """
    if host.argv:
        return [*host.argv, *host.command, *asked]
    options = (*_OPTIONS, *(() if terminal else ("BatchMode=yes",)))
    dashed = [word for option in options for word in ("-o", option)]
    return [*_SSH, "-t" if terminal else "-T", *dashed, "--", host.ssh, shlex.join((*host.command, *asked))]


# --- a command line as one word

OPTION = "--asked="
MAX_PACKED = 96 * 1024
"""Characters of a packed command line, below the limit of every system."""


def pack(mark: str, words: Sequence[str], given: bytes | None = None) -> str:
    """Pack a command line into one word, with a token to print before the answer and the digest of its text."""
    whole = [mark, "" if given is None else sha256(given).hexdigest(), *words]
    packed = base64.urlsafe_b64encode(json.dumps(whole).encode("utf-8")).decode("ascii").rstrip("=")
    if len(packed) > MAX_PACKED:
        raise UsageError("That is too much for one command on another machine.", hint="Give a long text with --file.")
    return OPTION + packed


def unpack(word: str) -> tuple[str, list[str]]:
    """Unpack a word: the line to print before the answer, and the command line."""
    packed = word.removeprefix(OPTION)
    try:
        whole = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        mark, sha, *words = whole
        if not all(isinstance(one, str) for one in whole) or not (mark.isalnum() and mark.isascii()):
            raise ValueError(mark)
    except (ValueError, TypeError, binascii.Error):
        raise UsageError(
            "Only memtui --on on another machine writes --asked.", hint="Write memtui --on HOST."
        ) from None
    return answer_mark(mark).strip(), [f"--given={sha}", *words] if sha else words


def answer_mark(mark: str) -> str:
    """Return the line before an answer."""
    return f"memtui answers {mark}\n"
