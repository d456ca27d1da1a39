"""What memtui itself wrote into an agent's configuration, told from what merely speaks of memtui.

Only an entry of exactly the shape `start.py` gives may be changed or taken out. A looser test would one day take a line
of the user's own, such as `memtui context | tee notes`, for ours, and delete it.
"""

import os
import shlex
import sys
from typing import TYPE_CHECKING

from memtui.clients.start import NO_CONTEXT, SHORT_CONTEXT

if TYPE_CHECKING:
    from typing import Any

_PYTHONS = ("python", "pypy", "graalpy")
_MODULES = (("-P", "-m", "memtui"), ("-m", "memtui"))
_HOOK = ("context", "--format", "hook", "--client")
_LEVELS = ("rw", "plan", "ro")


def hook_client(line: object) -> str | None:
    """Return the client that `install` wrote a hook's command for; None when the command is the user's own."""
    if not isinstance(line, str):
        return None
    try:
        words = tuple(shlex.split(line))
    except ValueError:
        return None
    if shlex.join(words) != line:
        return None  # more than words: something a shell would act on
    rest = _arguments(words)
    client, options = rest[len(_HOOK) : len(_HOOK) + 1], rest[len(_HOOK) + 1 :]
    if rest[: len(_HOOK)] != _HOOK or not client or client[0].startswith("-"):
        return None
    return client[0] if _is_home(options) else None


def is_server(value: object) -> bool:
    """Whether a server is started as `install` would; what else its entry says may be the user's."""
    if not isinstance(value, dict):
        return False
    entry: dict[str, Any] = value
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return False
    if entry.get("type", "stdio") != "stdio" or not isinstance(entry.get("env", {}), dict):
        return False
    rest = _arguments((command, *args))
    if rest[:1] != ("mcp",):
        return False
    options = rest[1:]
    if options[:1] == ("--access",):
        if options[1:2] == () or options[1] not in _LEVELS:
            return False
        options = options[2:]
    return _is_home(options[1:] if options[:1] in ((NO_CONTEXT,), (SHORT_CONTEXT,)) else options)


def _arguments(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what memtui is given by a command; nothing when the command is another program's."""
    if not words:
        return ()
    program, name = words[0], os.path.basename(words[0])
    if name == "memtui" and program in (name, os.path.abspath(program)):
        return words[1:]
    if program == sys.executable or name.startswith(_PYTHONS):
        for module in _MODULES:
            if words[1 : 1 + len(module)] == module:
                return words[1 + len(module) :]
    return ()


def _is_home(options: tuple[str, ...]) -> bool:
    return not options or (len(options) == 2 and options[0] == "--home" and not options[1].startswith("-"))
