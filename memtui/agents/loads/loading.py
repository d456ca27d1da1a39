"""What an agent loads when a session starts, as data: its sources in order, and what became of each file.

An agent's rules for loading change every few weeks; each agent's are one table in `loads/tables/`, and nothing here
knows an agent's name. `gathering.py` turns tables into what is loaded here and now.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.loads.cutting import CUT, Gap, Limits, loaded
from memtui.agents.loads.importing import Imports
from memtui.config.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE = ""
CUT_OFF, ON_DEMAND, MATCHING, APPROVAL, MISSING, SKIPPED, NAMES_ONLY = (
    "cut",
    "on demand",
    "only when matching files are touched",
    "needs approval",
    "missing",
    "skipped",
    "names only",
)
MARKS = (WHOLE, CUT_OFF, ON_DEMAND, MATCHING, APPROVAL, MISSING, SKIPPED, NAMES_ONLY)
"""What is said of a file: nothing when it is loaded whole."""
AT_START = frozenset({WHOLE, CUT_OFF, NAMES_ONLY})
"""Marks of what a session begins with."""

HOME, PROJECT, FOLDER, CHAIN, ANCESTORS, SYSTEM = "home", "project", "folder", "chain", "ancestors", "system"
NAMED = "named"
"""Where a source looks: the agent's own folders; the project; the folder the session starts in; from the checkout down
to that folder; from the top of the file system down to it; the folder of this machine's administrators; `NAMED`: those
that the user's settings name, each from its checkout down. Anything else is the id or alias of a root, or with `*` at
its end the beginning of the ids of roots."""

BY_PATH, BY_NAME, BY_FOLDER = "path", "name", "folder"
"""What `Excluded.pattern` is: a shell pattern of absolute paths (`patterns.Matching`); one of the names that the agent
is given, in which `*` goes across folders; the path of a folder."""


class Verdict(NamedTuple):
    """What an agent does with a rule file."""

    mark: str = WHOLE
    why: str = ""


class Source(NamedTuple):
    """One thing an agent looks for when a session starts."""

    label: str
    """What it is, for people: `user instructions`."""
    place: str
    """One of the places above, or the id or alias of a root: `claude-code:project`."""
    names: tuple[str, ...]
    """Paths below the place, as `reading.matches` takes them, in the order in which they are loaded."""
    first: bool = False
    """Only the first of the names that is there, in each folder."""
    mark: str = WHOLE
    """What is said of every file of it: `ON_DEMAND` ones are listed and not read."""
    why: str = ""
    """One sentence that goes with the mark."""
    limits: Limits = Limits()
    """How much of one file is loaded; those of the root's own layout go first."""
    budget: str = ""
    """Files with the same word share one number of bytes, in order; see `Table.budgets`."""
    by_lines: bool = False
    """That number is one of lines, and each file takes one more, for its name."""
    largest: int | None = None
    """Bytes; a larger file is left out."""
    advised: int | None = None
    """Characters that a file should not have more of; it is loaded all the same."""
    imports: Imports | None = None
    comments: bool = False
    """Block comments of HTML are dropped."""
    front_matter: bool = False
    """Front matter is dropped."""
    blank: bool = True
    """Whether a blank file counts as one."""
    judge: "Callable[[dict[str, str]], Verdict] | None" = None
    """Decides by the front matter of a rule."""
    rules_in: str = ""
    """Only files with this in their path are rules: front matter of the others is text."""
    system: tuple[str, ...] = ()
    """Of `SYSTEM`: folders there, of which the first that exists is meant."""
    except_for: tuple[str, ...] = ()
    """Names (last part) that belong to another source."""
    excludable: bool = True
    """Whether settings can leave single files of it out."""
    named_below: str = ""
    """The folder in the place, with a final `/`, from which the names that the agent is given count."""


class Excluded(NamedTuple):
    """Files that the agent's settings leave out."""

    pattern: str
    why: str
    """One sentence."""
    by: str = BY_PATH
    """`BY_PATH`, `BY_NAME` or `BY_FOLDER`."""
    file: str = ""
    """The settings that say so."""


class Options(NamedTuple):
    """What the agent's own settings change."""

    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a label: other names."""
    off: tuple[tuple[str, str], ...] = ()
    """Of a label: why it is not loaded at all."""
    places: tuple[tuple[str, str], ...] = ()
    """Of a label: another place."""
    folders: tuple[str, ...] = ()
    """What `NAMED` means: absolute paths from the user's own settings."""
    excluded: tuple[Excluded, ...] = ()
    budgets: tuple[tuple[str, int], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    """Files of settings that are taken as empty, each with the reason."""


class Table(NamedTuple):
    """How one agent starts."""

    agent: str
    """As in the ids of its roots."""
    title: str
    sources: tuple[Source, ...]
    variables: tuple[str, ...] = ()
    """Environment variables that name its folder; the first that is set is meant."""
    inside: str = ""
    """Below the folder a variable names."""
    at_home: tuple[str, ...] = ()
    """Its folders below the home folder."""
    in_config: tuple[str, ...] = ()
    """Its folders below the folder of settings."""
    in_project: tuple[str, ...] = ()
    """What shows in a project that it is in use. Not names that many agents read, such as `AGENTS.md`."""
    budgets: tuple[tuple[str, int], ...] = ()
    """Word to bytes, or lines, that the files of that budget share."""
    options: "Callable[[Surroundings, tuple[str, ...]], Options] | None" = None
    """Reads its settings: where the user stands, and its folders."""
    note: str = ""
    """One sentence: what it loads besides, which memtui cannot see."""
    also: tuple[str, ...] = ()
    """Other ids that mean it."""

    def homes(self, surroundings: Surroundings) -> tuple[str, ...]:
        """Its own folders, whether they exist or not."""
        for variable in self.variables:
            named = surroundings.variable(variable)
            if named:
                return (
                    os.path.join(surroundings.folder(named), self.inside)
                    if self.inside
                    else surroundings.folder(named),
                )
        found = [os.path.join(surroundings.home, name) for name in self.at_home] if surroundings.home else []
        config = surroundings.config_home()
        if config:
            found += [os.path.join(config, name) for name in self.in_config]
        return tuple(found)

    def in_use(self, surroundings: Surroundings) -> bool:
        """Whether it left a trace here."""
        folders = dict.fromkeys((surroundings.project, surroundings.checkout or surroundings.project))
        places = [os.path.join(folder, name) for folder in folders for name in self.in_project]
        return any(map(os.path.lexists, (*self.homes(surroundings), *places)))


class Loaded(NamedTuple):
    """What became of one file, or of one text the agent makes."""

    label: str
    path: str
    """Absolute; of a text the agent makes, what it is called."""
    mark: str = WHOLE
    why: str = ""
    size: int = 0
    """Bytes of the file; of one that is not read, as the system says."""
    raw: bytes = b""
    """What was read of it; empty where nothing is loaded."""
    gaps: tuple[Gap, ...] = ()
    """Spans of it that are not loaded."""
    unread: int = 0
    """Bytes that are loaded and were not read here, because there are too many."""
    depth: int = 0
    """How many imports away from a file the agent looks for itself."""
    made: bool = False
    """The agent makes it; there is no such file."""
    stands_for: int = 1
    """How many files; more than one for those that are only counted."""

    @property
    def at_start(self) -> bool:
        """Whether a session begins with it."""
        return self.mark in AT_START

    @property
    def text(self) -> bytes:
        """What is loaded of what was read."""
        return loaded(self.raw, self.gaps) if self.at_start else b""

    @property
    def cut(self) -> Gap | None:
        """What falls below a limit."""
        return next((gap for gap in self.gaps if gap.kind == CUT), None)


def chain(top: str, bottom: str) -> tuple[str, ...]:
    """Every folder from one down to another that lies in it."""
    found = [bottom]
    while found[-1] != top and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return tuple(reversed(found))
