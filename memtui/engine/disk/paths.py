"""The only judge of names: which are allowed, which are memories, and which are confusable.

A scan visits a project folder of thousands of files for the two that matter, and never lists a file under two roots.
Two names that a file system folds would swap contents on another machine, and a planted name would pass for the one it
imitates. Errors of the system are turned into refusals here as well.
"""

import errno
import os
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress

from memtui.engine.disk import fsio
from memtui.engine.model import Policy, Problem
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

MAX_COMPONENT = 255
MAX_COMPONENTS = 20
MAX_PATH = 1_024
TEMP_PREFIX = ".memtui-"
"""Prefix of memtui's temporary files; with 16 hex digits behind it, 24 bytes, so any memory name has room."""

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"] + [f"{n}{d}" for n in ("com", "lpt") for d in "123456789¹²³"]
)
_REFUSED_CHARACTERS = frozenset('<>:"|?*\\/')
_LISTED = "Nothing was changed; a file that already has such a name stays listed and readable."


def require_creatable(parts: Sequence[str]) -> None:
    """Require that memtui itself would create these names; raises `E_NAME` or `E_RESERVED`."""
    for part in parts:
        if problem := name_problem(part):
            code, reason = problem
            raise refused("/".join(parts), reason, code)


def name_problem(name: str) -> tuple[str, str] | None:
    """Return the code and the reason why memtui would not create this name; None when it would."""
    if name.isascii() and name.replace("-", "a").replace("_", "a").replace(".", "a").isalnum() and name[0] not in ".-":
        stem = name.partition(".")[0].lower()
        if name[-1] != "." and stem not in _DEVICES and "~" not in name:
            return None
    return _slow_name_problem(name)


def _slow_name_problem(name: str) -> tuple[str, str] | None:
    if name[0].isspace() or name[-1].isspace():
        return "E_NAME", "it begins or ends with a space"
    bare = unicodedata.normalize("NFKC", "".join(c for c in name if unicodedata.category(c) != "Cf")).casefold()
    if bare.rstrip(". ") == ".git" or bare.startswith("git~"):
        return "E_RESERVED", "git reserves this name"
    if name.endswith("."):
        return "E_NAME", "it ends with a dot"
    if bare.partition(".")[0].rstrip() in _DEVICES:
        return "E_RESERVED", "Windows reserves this name for a device"
    for character in name:
        if character in _REFUSED_CHARACTERS:
            return "E_NAME", f"it holds {character!r}, which is not portable"
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"):
            return "E_NAME", f"it holds an invisible or control character (U+{ord(character):04X})"
        if category == "Zs" and character != " ":
            return "E_NAME", f"it holds an unusual space (U+{ord(character):04X})"
    if name[0] == "-":
        return "E_NAME", "it begins with '-', which programs read as an option"
    if name[0] == "~":
        return "E_NAME", "it begins with '~', which shells replace"
    if name[0] == ".":
        return "E_NAME", "it begins with a dot, and hidden files are not listed as memories"
    return None


def fold(name: str) -> str:
    """Return the form in which two names clash on a file system that ignores case or Unicode form."""
    return unicodedata.normalize("NFKC", name).casefold()


def refused(path: str, reason: str, code: str = "E_NAME") -> RefusedError:
    """Return the refusal of a name."""
    return RefusedError(
        f"The name {path!r} is refused: {reason}.", code=code, unharmed=_LISTED, hint="Choose another name."
    )


_CODES: dict[int, tuple[type[MemtuiError], str, str]] = {
    errno.ENOENT: (NotFoundError, "E_NOT_FOUND", "Check the address with `memtui ls`."),
    errno.ENOTDIR: (NotFoundError, "E_NOT_FOUND", "Part of the path is a file, not a folder."),
    errno.EEXIST: (ConflictError, "E_EXISTS", "Choose another name, or save over it with the version you saw."),
    errno.ENOTEMPTY: (ConflictError, "E_EXISTS", "Choose another name."),
    errno.EISDIR: (RefusedError, "E_NOT_REGULAR", "Only regular files are memories."),
    errno.ELOOP: (RefusedError, "E_SYMLINK", "Links inside a root are never followed."),
    errno.EACCES: (RefusedError, "E_PERMISSION", "Check the owner and the permission bits."),
    errno.EPERM: (RefusedError, "E_PERMISSION", "Check the owner, the permission bits and file attributes."),
    errno.EROFS: (RefusedError, "E_READ_ONLY", "The file system is mounted read-only."),
    errno.EXDEV: (RefusedError, "E_OTHER_DEVICE", "Register the mounted folder as a root of its own."),
    errno.ENAMETOOLONG: (RefusedError, "E_NAME_TOO_LONG", "Choose a shorter name."),
    errno.ENOSPC: (StorageError, "E_DISK_FULL", "Free some space, then try again; your text is kept."),
    errno.EDQUOT: (StorageError, "E_DISK_FULL", "Your quota is used up; your text is kept."),
    errno.EFBIG: (StorageError, "E_DISK_FULL", "A file size limit is set for this process; your text is kept."),
    errno.EMFILE: (StorageError, "E_IO", "Too many files are open; close something and try again."),
    errno.ENFILE: (StorageError, "E_IO", "The system has too many open files; try again."),
}


def translate(error: OSError, doing: str) -> MemtuiError:
    """Turn a system error into a refusal; `doing` begins its sentence: `Opening memtui:global/a.md`."""
    kind, code, hint = _CODES.get(
        error.errno or 0,
        (StorageError, "E_IO", "Check the disk and the system log, then try again; your text is kept."),
    )
    return kind(
        f"{doing} failed: {os.strerror(error.errno) if error.errno else error}.",
        code=code,
        unharmed="The memory on disk is as it was.",
        hint=hint,
        details={"errno": error.errno},
    )


def clash(parent: int, name: str) -> str | None:
    """Return a sibling that a case-folding or normalising file system would confuse with `name`, if any."""
    folded = fold(name)
    for other in names_in(parent):
        if (other.lower() if other.isascii() else fold(other)) == folded and other != name:
            return other
    return None


def names_in(parent: int) -> list[str]:
    """Return every name in an open folder."""
    try:
        return [entry.name for entry in fsio.list_dir(parent)]
    except OSError as error:
        raise translate(error, "Looking for names that are alike") from error


def refuse_clash(parent: int, name: str, *, besides: str | None = None) -> None:
    """Refuse (`E_CLASH`) a new name that some file system confuses with a sibling, except its old name `besides`."""
    refuse_alike(name, clash(parent, name), besides=besides)


def refuse_alike(name: str, other: str | None, *, besides: str | None = None) -> None:
    """Refuse a new name that would be confused with another one; see `refuse_clash`."""
    if other not in (None, besides):
        raise ConflictError(
            f"The name {name!r} differs from {other!r} only by case or Unicode form.",
            code="E_CLASH",
            hint="Choose another name, or use the one that exists.",
        )


class Siblings:
    """The names in a folder by folded form, listed again only when somebody else changed the folder.

    Without it, each of thousands of new names in one folder would list all of those before.
    """

    def __init__(self) -> None:
        self._stamp: tuple[int, int, int] | None = None
        self._names: dict[str, set[str]] = {}

    def clash(self, parent: int, name: str) -> str | None:
        """Return a name that clashes with this one; a name asked for counts as one of the folder from then on."""
        if self._stamp is None or self._stamp != _stamp(parent):
            self._names.clear()
            for other in names_in(parent):
                self._names.setdefault(fold(other), set()).add(other)
            self._stamp = _stamp(parent)
        alike = self._names.setdefault(fold(name), set())
        found = next((other for other in alike if other != name), None)
        alike.add(name)
        return found

    def settle(self, parent: int) -> None:
        """Treat the folder as known: what changed in it was asked for."""
        self.forget()
        with suppress(MemtuiError):
            self._stamp = _stamp(parent)

    def forget(self) -> None:
        """List the folder again next time: what was asked for was not put there."""
        self._stamp = None


def _stamp(folder: int) -> tuple[int, int, int]:
    try:
        status = fsio.fstat(folder)
    except OSError as error:
        raise translate(error, "Looking at a folder") from error
    return status.st_dev, status.st_ino, status.st_mtime_ns


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a path matches a layout's patterns: `pinned/` is everything below it, else a shell pattern."""
    if not patterns:
        return False
    import fnmatch

    folded = path.casefold()
    return any(
        folded.startswith(pattern.casefold())
        if pattern.endswith("/")
        else fnmatch.fnmatchcase(folded, pattern.casefold())
        for pattern in patterns
    )


class NameSet:
    """One level of a set of paths: what is named here, and what is named further down."""

    __slots__ = ("below", "file", "whole")

    def __init__(self) -> None:
        self.file = False
        self.whole = False
        self.below: dict[str, NameSet] = {}

    @classmethod
    def of(cls, paths: Iterable[str]) -> "NameSet":
        """Build it from paths as in `Policy.include`: `a.md` is one file, `rules/` is everything below."""
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
    """Rules for what one folder of a root may show."""

    __slots__ = ("hidden", "ignore", "only")

    def __init__(self, only: NameSet | None, hidden: NameSet | None, ignore: "Patterns") -> None:
        """Store the rules of one folder: the only names that count (None: all that are not hidden), names that belong
        to another root, and names the layout never shows."""
        self.only = only
        self.hidden = hidden
        self.ignore = ignore

    @classmethod
    def of(cls, policy: Policy) -> "Selection":
        """Return the rules of a root's top folder."""
        return cls(
            None if policy.include is None else NameSet.of(policy.include),
            NameSet.of(policy.elsewhere) if policy.elsewhere else None,
            Patterns(policy.ignore),
        )

    def named(self) -> list[str] | None:
        """Return the only names worth looking at; None when the folder has to be listed."""
        return None if self.only is None else list(self.only.below)

    def covers(self, path: str) -> bool:
        """Return whether a file at this path, relative to the folder, is a memory of this root."""
        here = self
        *folders, name = path.split("/")
        for folder in folders:
            below = here.folder(folder)
            if below is None:
                return False
            here = below
        return here.file(name)

    def file(self, name: str) -> bool:
        """Return whether a file of this name is a memory of this root."""
        if self.only is None:
            if name[0] == ".":
                return False
        elif not ((found := self.only.below.get(name)) and found.file):
            return False
        if self.hidden is not None and (taken := self.hidden.below.get(name)) and taken.file:
            return False
        return not self.ignore.match(name)

    def folder(self, name: str) -> "Selection | None":
        """Return the rules of a subfolder; None when it is not descended into."""
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
    """Shell patterns for names or paths; simple ones are matched without a regular expression."""

    __slots__ = ("_ends", "_exact", "_others", "_starts")

    def __init__(self, patterns: Iterable[str]) -> None:
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
        """Return whether any pattern matches the whole text."""
        if text in self._exact or text.endswith(self._ends) or text.startswith(self._starts):
            return True
        if not self._others:
            return False
        from fnmatch import fnmatchcase

        return any(fnmatchcase(text, pattern) for pattern in self._others)


_SHAPES = str.maketrans(
    # Cyrillic, then Greek, then Armenian and others, folded, beside the Latin letter they are drawn like.
    "аԁеѐёһіїјкӏмпорԛгѕтцԝхухвɡ" + "αβγεηικνορστυχω" + "օսոհցզ" + "ıȷꞵɑꜱʀʏᴏᴜᴠᴡᴢ⁄∕‐‑‒–—−",
    "adeeehiijklmnopqrstuwxyxbg" + "abyenikvopotuxw" + "ounhgq" + "ijbasryouvwz//------",
)


def skeleton(name: str) -> str:
    """Return the visual shape of a name: equal for names a person cannot tell apart, whatever their alphabets."""
    return fold(name).translate(_SHAPES)


def flags(names: Sequence[str]) -> dict[str, tuple[Problem, ...]]:
    """Return the problems of names in one folder that clash with or imitate another, by name."""
    if "".join(names).isascii():
        lowered = {name.lower() for name in names}
        return {} if len(lowered) == len(names) else _clashes(names)
    found = _clashes(names)
    shapes: dict[str, list[str]] = {}
    for name in names:
        shapes.setdefault(skeleton(name), []).append(name)
    for alike in shapes.values():
        if len({fold(name) for name in alike}) < 2:
            continue
        for name in alike:
            other = next((other for other in alike if fold(other) != fold(name)), None)
            if other is not None and not name.isascii():
                problem = Problem("look-alike", f"It looks like {other!r}, but is written with other letters.")
                found[name] = (*found.get(name, ()), problem)
    return found


def _clashes(names: Sequence[str]) -> dict[str, tuple[Problem, ...]]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(fold(name), []).append(name)
    return {
        name: (
            Problem(
                "clash",
                f"It differs from {next(other for other in alike if other != name)!r} only by case or Unicode form.",
            ),
        )
        for alike in folded.values()
        if len(alike) > 1
        for name in alike
    }
