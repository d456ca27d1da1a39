"""How a process was started: its environment, the programs above it and its terminal.

Code that asks who runs a command takes this value, so that a test can pass any machine. Programs are read from `/proc`;
without it, none is known.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.config.read import read_environment

_MOST = 64
"""Processes to look at; none has more ancestors."""
_INTERPRETERS = ("node", "bun", "deno", "python", "ruby")
_PTS_MAJOR, _TTY_MAJOR = range(136, 144), 4


class Program(NamedTuple):
    """One process at or above this one."""

    title: str
    """The name the kernel shows: at most 15 bytes."""
    names: tuple[str, ...] = ()
    """The names of the program, and of the script when an interpreter runs one."""
    login: bool = False
    """Whether it was started as a login shell."""

    @property
    def name(self) -> str:
        """Its name, for people."""
        return self.names[-1] if self.names else self.title


class Started(NamedTuple):
    """What is known of the start of a process."""

    environ: tuple[tuple[str, str], ...] = ()
    programs: tuple[Program, ...] = ()
    """This process, then each one above it."""
    terminal: str = ""
    """The controlling terminal, such as `pts/3`; empty when there is none."""


def read_started() -> Started:
    """Read how this process was started."""
    terminal = ""
    programs = []
    for place, (stat, words) in enumerate(_above(os.getpid())):
        if not place:
            terminal = _terminal(int(stat[5]))
        programs.append(_program(stat[0], words))
    return Started(tuple(read_environment().items()), tuple(programs), terminal)


def read_peer(pid: int) -> Started:
    """Read how another process of the same user was started."""
    programs = tuple(_program(stat[0], words) for stat, words in _above(pid))
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = (os.fsdecode(pair).partition("=") for pair in file.read().split(b"\0") if pair)
            return Started(tuple((name, value) for name, _, value in pairs), programs)
    except OSError:
        return Started(programs=programs)  # no `/proc` here, or it ended


def _above(pid: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each process from one up: its title with its `stat` from the state on, and its command line."""
    for _ in range(_MOST):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                before, _, after = file.read().decode("utf-8", "replace").rpartition(")")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")[:-1]
        except OSError:
            return  # no `/proc` here, or a process of somebody else that is hidden: nothing is known above it
        stat = [before.partition("(")[2], *after.split()]
        yield stat, words
        pid = int(stat[2])
        if not pid:
            return


def _program(title: str, words: list[str]) -> Program:
    first = words[0] if words else ""
    names = [os.path.basename(first.removeprefix("-"))] if first else []
    if names and names[0].startswith(_INTERPRETERS):
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        names += [os.path.basename(script)] if script else []
    return Program(title, tuple(names), login=first.startswith("-"))


def _terminal(number: int) -> str:
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    if major in _PTS_MAJOR:
        return f"pts/{(major - _PTS_MAJOR.start) * 256 + minor}"
    if major == _TTY_MAJOR:
        return f"tty{minor}"
    return f"terminal {major}:{minor}" if number else ""
