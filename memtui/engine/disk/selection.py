"""Which names below a root are memories: the layout's `include`, `elsewhere` and `ignore`, ready for a scan to ask.

It exists so that a scan visits a project folder of thousands of files for the two that matter, and never lists a file
under two roots.
"""

from collections.abc import Iterable

from memtui.engine.model import Policy


class Names:
    """One level of a set of paths: what is named here, and what is named further down."""

    __slots__ = ("below", "file", "whole")

    def __init__(self) -> None:
        """Begin with nothing named."""
        self.file = False
        self.whole = False
        self.below: dict[str, Names] = {}

    @classmethod
    def of(cls, paths: Iterable[str]) -> "Names":
        """Build it from paths in the form of `Policy.include`: `a.md` is one file, `rules/` is everything below."""
        top = cls()
        for path in paths:
            here = top
            for part in path.split("/"):
                if part:
                    here = here.below.setdefault(part, cls())
            if path.endswith("/"):
                here.whole = True
            else:
                here.file = True
        return top


class Selection:
    """What one folder of a root may show."""

    __slots__ = ("hidden", "ignore", "only")

    def __init__(self, only: Names | None, hidden: Names | None, ignore: "Patterns") -> None:
        """Remember the rules of one folder.

        Args:
            only: the names that count; None when all do that do not begin with a dot.
            hidden: names that belong to another root; None when there are none here or further down.
            ignore: names the layout never shows.
        """
        self.only = only
        self.hidden = hidden
        self.ignore = ignore

    @classmethod
    def of(cls, policy: Policy) -> "Selection":
        """The rules of a root's top folder."""
        return cls(
            None if policy.include is None else Names.of(policy.include),
            Names.of(policy.elsewhere) if policy.elsewhere else None,
            Patterns(policy.ignore),
        )

    def named(self) -> list[str] | None:
        """The only names worth looking at; None when the folder has to be listed."""
        return None if self.only is None else list(self.only.below)

    def covers(self, path: str) -> bool:
        """Whether a file of this path, relative to the folder, is a memory of this root."""
        here = self
        *folders, name = path.split("/")
        for folder in folders:
            below = here.folder(folder)
            if below is None:
                return False
            here = below
        return here.file(name)

    def file(self, name: str) -> bool:
        """Whether a file of this name is a memory of this root."""
        if self.only is None:
            if name[0] == ".":
                return False
        elif not ((found := self.only.below.get(name)) and found.file):
            return False
        if self.hidden is not None and (taken := self.hidden.below.get(name)) and taken.file:
            return False
        return not self.ignore.match(name)

    def folder(self, name: str) -> "Selection | None":
        """The rules of a folder of this name; None when it is not looked into."""
        only = None
        if self.only is None:
            if name[0] == ".":
                return None
        else:
            found = self.only.below.get(name)
            if found is None or not (found.whole or found.below):
                return None
            only = None if found.whole else found
        hidden = None if self.hidden is None else self.hidden.below.get(name)
        if (hidden is not None and hidden.whole) or self.ignore.match(name):
            return None
        return Selection(only, hidden if hidden is not None and hidden.below else None, self.ignore)


class Patterns:
    """Shell patterns for names or paths; plain ones are compared without a regular expression."""

    __slots__ = ("_ends", "_exact", "_others", "_starts")

    def __init__(self, patterns: Iterable[str]) -> None:
        """Sort the patterns by what they need; `x/` is everything below a folder."""
        exact, ends, starts, others = [], [], [], []
        for given in patterns:
            pattern = given + "*" if given.endswith("/") else given
            special = sum(pattern.count(character) for character in "*?[")
            if not special:
                exact.append(pattern)
            elif special == 1 and pattern[0] == "*":
                ends.append(pattern[1:])
            elif special == 1 and pattern[-1] == "*":
                starts.append(pattern[:-1])
            else:
                others.append(pattern)
        self._exact, self._ends, self._starts, self._others = frozenset(exact), tuple(ends), tuple(starts), others

    def match(self, text: str) -> bool:
        """Whether any pattern matches the whole text."""
        if text in self._exact or text.endswith(self._ends) or text.startswith(self._starts):
            return True
        if not self._others:
            return False
        from fnmatch import fnmatchcase

        return any(fnmatchcase(text, pattern) for pattern in self._others)
