"""Building blocks of layouts: roots that exist, links, files on the way to the user's folder, projects behind slugs.

Everything here but session files and `.git` files looks at names only. It runs no program, follows nothing a repository
wrote, and treats "missing" and "not allowed" alike: discovery shows what exists and never fails because of what does
not. A `.git` file is part of a checkout, so it is believed only when the repository it points to points back. What
session files name is a label for people; nothing is opened, followed or written because of it.
"""

import errno
import os
import stat
from collections.abc import Container, Iterator
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from memtui.agents.agent import Transcripts
from memtui.agents.reader import BoundedReader, is_within
from memtui.agents.settings import is_path
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.model import Policy, Root

SLUG_LENGTH = 200
"""Agents cut longer slugs and add a hash of their own."""
BOOKKEEPING = (".DS_Store", ".git", "*.lock")
"""Names that are no memories in any layout."""
MAX_LINKS = 40
ABOVE = "These files lie above the project and hold for everything below them."


def slug(path: str) -> str:
    """Name a folder after a path as Claude Code and Qwen Code do: all but ASCII letters and digits become dashes.

    Characters beyond the basic plane become two dashes, because those agents count UTF-16 units.
    """
    if path.isascii() and path.replace("/", "").isalnum():
        return path.replace("/", "-")
    return "".join(c if c.isascii() and c.isalnum() else "-" if ord(c) < 0x10000 else "--" for c in path)


def has_any(folder: str, paths: tuple[str, ...]) -> bool:
    """Whether any of these paths exists below the folder."""
    top = folder.rstrip("/") + "/"  # looking at a name costs less than joining it
    return any(os.path.lexists(top + path) for path in paths)


def names_in(folder: str) -> tuple[str, ...]:
    """Return the sorted names in a folder; none when it is missing, unreadable or no folder."""
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


def short_path(path: str, home: str | None) -> str:
    """Shorten a path for a label: the home folder becomes `~`."""
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def not_loaded(surroundings: Surroundings, path: str, key: str = "", words: str = "switched off in") -> str:
    """Say that a settings file, or a key in it, keeps an agent from loading something."""
    return f"Not loaded: {words} {short_path(path, surroundings.home)}{f' ({key})' if key else ''}."


def own_place(surroundings: Surroundings, path: str, by: str = "") -> str | None:
    """Return where a link or import of the user's own leads, when that is the user's as well, below the home folder.

    The user's own link may lead into a checkout, such as dotfiles kept in git; a link in a checkout may not lead out of
    it, nor what the file `by` (without links) in a checkout imports.
    """
    try:
        real, bounds = _resolve(path)
        status = os.stat(real, follow_symlinks=False)
    except OSError:
        return None
    home = os.path.realpath(surroundings.home) if surroundings.home else ""
    checkout = find_checkout(os.path.dirname(by)) if by else None
    bounds += (home, checkout or os.sep)
    exists = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    is_mine = home not in ("", real) and status.st_uid == os.geteuid()
    return real if exists and is_mine and all(is_within(real, (bound,)) for bound in bounds) else None


def strays(surroundings: Surroundings, path: str, by: str = "") -> bool:
    """Whether a link leads out of its checkout on the way to a path, unless the home folder is in that checkout."""
    real = os.path.realpath(path)
    if real == path and not by:
        return False
    try:
        checkouts = _resolve(path)[1]
    except OSError:  # gone, or more links than the system follows
        return os.path.isfile(real)
    home = os.path.realpath(surroundings.home or os.sep)
    checkouts += (find_checkout(os.path.dirname(by)) or os.sep,) if by else ()
    return any(not is_within(real, (one,)) and not is_within(home, (one,)) for one in checkouts)


def _resolve(path: str) -> tuple[str, tuple[str, ...]]:
    """Follow links one by one; return the target and the checkouts that some lie in. `OSError` for a circle."""
    at = os.sep
    bounds: list[str] = []
    ahead = path.split(os.sep)[::-1]
    while ahead:
        name = ahead.pop()
        step = os.path.dirname(at) if name == ".." else os.path.join(at, name) if name not in ("", ".") else at
        if step == at or name == ".." or not os.path.islink(step):
            at = step
            continue
        if len(bounds) >= MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step)
        bounds.append(find_checkout(at) or os.sep)
        ahead += target.split(os.sep)[::-1]
        at = os.sep if target.startswith(os.sep) else at
    return at, tuple(bounds)


def new_root(
    root_id: str,
    path: str,
    label: str,
    policy: Policy,
    *,
    note: str = "",
    kind: str = "memories",
    project: str | None = None,
    in_checkout: bool = False,
    aliases: tuple[str, ...] = (),
    read_only: bool = False,
    switched_off: str = "",
) -> Root:
    """Make a root whose id, `<agent>:<scope>` or `<agent>:<scope>:<instance>`, names its agent and scope."""
    agent, scope = root_id.split(":")[:2]
    return Root(
        root_id, path, agent, scope, label, policy, read_only, in_checkout, aliases, project, note, kind, switched_off
    )


def linked(surroundings: Surroundings, root: Root, names: tuple[str, ...], prefix: str = "") -> Iterator[Root]:
    """Yield a root of the user's own instructions, and a read-only one for each part of it that is a link elsewhere.

    `names` are the parts that may be links; `prefix` goes before them in the id, where several folders of one agent
    have the same. To change such a part, the user adds its folder as a root by hand.
    """
    targets = {
        name: own_place(surroundings, path) for name in names if os.path.islink(path := os.path.join(root.path, name))
    }
    inside = (os.path.realpath(root.path),) if targets else ()
    outside = {name: real for name, real in targets.items() if real and not is_within(real, inside)}
    elsewhere = (*root.policy.elsewhere, *outside, *(f"{name}/" for name in outside))
    yield root._replace(policy=root.policy._replace(elsewhere=elsewhere)) if outside else root
    for name, real in outside.items():
        folder, base = (real, "") if os.path.isdir(real) else os.path.split(real)
        link = short_path(os.path.join(root.path, name), surroundings.home)
        instance = "-".join(filter(None, (prefix, id_part(name.replace("/", "-")))))
        include = (base,) if base else None
        yield root._replace(
            id=f"{root.agent}:global:link-{instance}",
            path=folder,
            label=f"{link}, {root.label}",
            policy=root.policy._replace(include=include, whole=(base,) if name in root.policy.whole else ()),
            read_only=True,
            in_checkout=find_checkout(folder) is not None,
            note=f"{root.note} {link} is a link to it, so it is read only: to change it, add its folder to [[roots]].",
        )


def id_part(name: str) -> str:
    """Make a folder's name fit for a root id: unprintable characters are replaced, and a hash keeps it unique."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else "_" for c in name) + "-" + sha256(os.fsencode(name)).hexdigest()[:8]


def existing(*roots: Root) -> Iterator[Root]:
    """Yield those of the roots that are on disk: the folder, or one of the only names that it holds."""
    for root in roots:
        include = root.policy.include
        if has_any(root.path, include) if include is not None else os.path.isdir(root.path):
            yield root


def in_project(surroundings: Surroundings, *roots: Root) -> Iterator[Root]:
    """Yield those of the roots that are on disk, as roots of the current project."""
    for root in existing(*roots):
        yield root._replace(
            scope="project", in_checkout=surroundings.checkout is not None, project=surroundings.project
        )


def on_the_way(surroundings: Surroundings, root: Root, inside: str) -> Iterator[Root]:
    """Yield roots for a folder of this name in the project and in each folder from there down to the user's."""
    for below in chain(surroundings, surroundings.project):
        one = root._replace(path=os.path.join(surroundings.project, below, inside))
        if below:
            name = below.rstrip("/")
            one = one._replace(id=f"{root.id}:below{slug('/' + name)}", label=f"{root.label}, {name}")
        yield from in_project(surroundings, one)


def only(root: Root, *names: str) -> Root:
    """Narrow a root to some names, in the form of `Policy.include`."""
    return root._replace(policy=root.policy._replace(include=names))


def is_too_wide(surroundings: Surroundings, folder: str) -> bool:
    """Whether a folder from an agent's setting holds the whole home folder, so that the setting is not believed."""
    home = (surroundings.home or "/").rstrip("/") + "/"
    return home.startswith(folder.rstrip("/") + "/")


def start_folder(surroundings: Surroundings) -> str:
    """Return where a session starts: the working directory when it lies in the project, else the project."""
    return surroundings.cwd if is_within(surroundings.cwd, (surroundings.project,)) else surroundings.project


def chain(surroundings: Surroundings, top: str) -> tuple[str, ...]:
    """Return the folders from `top` down to where a session starts, relative to it: an empty path, `a/`, `a/b/`."""
    place = start_folder(surroundings)
    parts = os.path.relpath(place, top).split(os.sep) if is_within(place, (top,)) and place != top else []
    return ("", *("/".join(parts[: count + 1]) + "/" for count in range(len(parts))))


def along(surroundings: Surroundings, top: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of files with these names in every folder of the chain."""
    return tuple(folder + name for folder in chain(surroundings, top) for name in names)


def ancestors(folder: str, stop: str | None = None) -> Iterator[str]:
    """Yield the folders above a folder, from `stop` or the top of the file system (itself left out) down."""
    parents = []
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        if os.path.dirname(folder) != folder:
            parents.append(folder)
        if folder == stop:
            break
    yield from reversed(parents)


def project_instructions(
    surroundings: Surroundings, agent: str, label: str, top: str, policy: Policy, note: str
) -> Iterator[Root]:
    """Yield the root of a project's instruction files, when there are any."""
    if has_any(top, policy.include or ()):
        root = new_root(f"{agent}:project:instructions", top, label, policy, note=note, kind="instructions")
        yield root._replace(in_checkout=surroundings.checkout is not None, project=surroundings.project)


def above(
    surroundings: Surroundings, agent: str, label: str, folders: Iterator[str], policy: Policy, note: str
) -> Iterator[Root]:
    """Yield a root for each folder above the project that has instruction files."""
    for folder in folders:
        if has_any(folder, policy.include or ()):
            root_id, place = f"{agent}:project:above{slug(folder)}", short_path(folder, surroundings.home)
            root = new_root(root_id, folder, f"{label}, {place}", policy, note=f"{note} {ABOVE}", kind="instructions")
            yield root._replace(in_checkout=find_checkout(folder) is not None, project=surroundings.project)


# --- which project a folder belongs to

ORPHANED = "The project's folder is gone: it was moved, renamed or deleted, and these memories stayed behind."
EMPTIED = "The project's folder is gone, and no memory is left here."
FILES = 6
"""Session files that are read, those with the last names first."""
HEAD_BYTES = 16_384
LINES = 40
_POINTER_BYTES = 4_096
_MOST_WORKTREES = 200


def gone_note(folder: str) -> str:
    """Describe the memories of a project whose folder is gone."""
    return ORPHANED if names_in(folder) else EMPTIED


def other_projects(
    surroundings: Surroundings, template: Root, known: Container[str], transcripts: Transcripts
) -> Iterator[Root]:
    """Yield every project's memories below the folder of `template`, but for the folders named in `known`."""
    decoder = SlugDecoder()
    for name in names_in(template.path):
        folder = os.path.join(template.path, name)
        path = os.path.join(folder, "memory")
        if name in known or not os.path.isdir(path):
            continue
        decoded = decoder.decode(name)
        # What an agent's session files name is for people to read: the root belongs to no project because of it.
        named = () if decoded is not None and len(decoded) == 1 else named_projects(folder, transcripts)
        shown = named or decoded or ()
        note = template.note
        if len(shown) > 1:
            note = f"{note} {len(shown)} folders share them: {', '.join(shown)}."
        gone = not any(map(os.path.isdir, named)) if named else decoded == ()
        yield template._replace(
            id=f"{template.id}:{id_part(name)}",
            path=path,
            label=f"{template.label}, {short_path(shown[0], surroundings.home) if shown else name}",
            project=decoded[0] if decoded and len(decoded) == 1 else None,
            note=gone_note(path) if gone else note,
        )


def named_projects(folder: str, transcripts: Transcripts) -> tuple[str, ...]:
    """Return the projects that session files ran in, for an agent's folder whose name is the slug of a project."""
    names = names_in(folder)
    if names == ("memory",):  # most are looked at for nothing, and there may be thousands
        return ()
    inside = os.path.join(folder, transcripts.inside) if transcripts.inside else folder
    sessions = [one for one in (names_in(inside) if transcripts.inside else names) if one.endswith(".jsonl")]
    if not sessions:
        return ()
    name, bounds, reader = os.path.basename(folder), (os.path.realpath(folder),), BoundedReader()
    found: dict[str, None] = {}
    for session in reversed(sessions[-FILES:]):
        head = reader.head(os.path.join(inside, session), bounds, limit=HEAD_BYTES)
        if not isinstance(head, str):
            found.update(dict.fromkeys(_named(head.data, name)))
    return tuple(found)


def _named(data: bytes, name: str) -> list[str]:
    """Return the projects that the first lines name; a line that is cut, or no object, names none."""
    import json

    found = []
    for line in data.split(b"\n")[:LINES]:
        if b'"cwd"' not in line:
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        cwd = value.get("cwd") if isinstance(value, dict) else None
        project = _fitting(cwd, name) if isinstance(cwd, str) else None
        if project is not None:
            found.append(project)
    return found


def _fitting(cwd: str, name: str) -> str | None:
    """Return the folder at or above a working directory that has this slug: a session may start in a subfolder."""
    if not (is_path(cwd) and os.path.isabs(cwd) and len(cwd) < 4_096):
        return None
    path = os.path.normpath(cwd)
    while True:
        if fits(path, name):
            return path
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent


def fits(path: str, name: str) -> bool:
    """Whether a slug could have been made from a path; a long slug is cut and gets a hash."""
    made = slug(path)
    return made == name if len(made) <= SLUG_LENGTH else name.startswith(made[:SLUG_LENGTH] + "-")


class _Names(NamedTuple):
    by_slug: dict[str, list[str]]
    lengths: tuple[int, ...]


class SlugDecoder:
    """Turns slugs back into the folders they were made from, by walking the folders that exist.

    A slug does not say which dashes were slashes, so it may fit several folders, or none. Listings are cached, so that
    hundreds of slugs below one home cost one look at each folder.
    """

    most_folders = 2_000
    """Folders listed in all; slugs that would need more stay undecoded."""
    most_for_one = 300
    """Steps for one slug: folders that are links to themselves have endless paths."""
    most_answers = 4

    def __init__(self) -> None:
        self._listed: dict[str, _Names] = {}
        self._is_folder = cache(os.path.isdir)
        self._steps = 0

    def decode(self, text: str) -> tuple[str, ...] | None:
        """Return at most four existing folders with this slug, sorted; None when they cannot be determined."""
        if not text.startswith("-") or len(text) > SLUG_LENGTH or os.sep != "/":
            return None
        self._steps = 0
        found, told = self._walk("/", text[1:])
        return tuple(sorted(found)) if told or found else None

    def _walk(self, folder: str, rest: str) -> tuple[list[str], bool]:
        """Find the folders below `folder` whose slug is `rest`, and whether the search was complete."""
        self._steps += 1
        listed = self._list(folder) if self._steps <= self.most_for_one else None
        if listed is None:
            return [], False
        found: list[str] = []
        told = True
        most = len(rest)
        lead = folder if folder == "/" else folder + "/"
        for end in listed.lengths:  # a name ends at a dash, any dash, or at the end
            if end > most or (end < most and rest[end] != "-"):
                continue
            for name in listed.by_slug.get(rest[:end], ()):
                path = lead + name
                if len(found) >= self.most_answers or not self._is_folder(path):
                    continue
                if end == most:
                    found.append(path)
                    continue
                below, all_of_them = self._walk(path, rest[end + 1 :])
                found += below[: self.most_answers - len(found)]
                told = told and all_of_them
        return found, told

    def _list(self, folder: str) -> "_Names | None":
        if folder not in self._listed:
            if len(self._listed) >= self.most_folders:
                return None
            made: dict[str, list[str]] = {}
            for name in names_in(folder):
                made.setdefault(slug(name), []).append(name)
            self._listed[folder] = _Names(made, tuple(sorted(set(map(len, made)))))
        return self._listed[folder]


def main_checkout(checkout: str) -> str:
    """Return the canonical path of the main checkout of a worktree; `checkout` itself when it is none."""
    entry = os.path.join(checkout, ".git")
    if os.path.isdir(entry):
        return checkout
    git_dir = _pointer(entry, checkout, b"gitdir:")
    if git_dir is None:
        return checkout
    git_dir = os.path.realpath(git_dir)
    back = _pointer(os.path.join(git_dir, "gitdir"), git_dir)
    common = _pointer(os.path.join(git_dir, "commondir"), git_dir)
    if back is None or common is None or (back != entry and os.path.realpath(back) != os.path.realpath(entry)):
        return checkout
    above = os.path.dirname(git_dir)  # without links, and so is every folder around it
    common = common if above == os.path.join(common, "worktrees") else os.path.realpath(common)
    main = os.path.dirname(common)
    inside = above == os.path.join(common, "worktrees")
    return main if inside and os.path.basename(common) == ".git" and os.path.isdir(main) else checkout


def _pointer(path: str, base: str, prefix: bytes = b"") -> str | None:
    """Read a one-line file that holds a path; relative ones are taken from `base`."""
    try:
        data = read_small(path, _POINTER_BYTES)
    except OSError:
        return None
    if data is None or not data.startswith(prefix):
        return None
    target = data[len(prefix) :].strip()
    if not target or b"\n" in target or b"\0" in target:
        return None
    return os.path.normpath(os.path.join(base, os.fsdecode(target)))


def worktrees(checkout: str) -> tuple[str, ...]:
    """Return the canonical paths of a main checkout's worktrees, sorted; those whose folder is gone are left out."""
    folder = os.path.join(checkout, ".git", "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_MOST_WORKTREES]
    except OSError:
        return ()
    found = set()
    for name in names:
        entry = _pointer(os.path.join(folder, name, "gitdir"), os.path.join(folder, name))
        place = os.path.dirname(os.path.realpath(entry)) if entry is not None else None
        if place is not None and main_checkout(place) == checkout:
            found.add(place)
    return tuple(sorted(found))
