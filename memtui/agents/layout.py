"""What a layout is made of: slugs of paths, folders that may be missing, roots that are there, files along a path.

Everything here reads names. It runs no program, follows nothing a repository wrote, and treats "missing" and "not
allowed" alike: discovery shows what is there and never fails because of what is not. Every agent walks from a project
to the user the same way and differs only in names; files further down, and files these import, are not looked for.
"""

import errno
import os
import stat
from collections.abc import Iterator
from hashlib import sha256

from memtui.agents.reader import is_within
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.model import Policy, Root

SLUG_LENGTH = 200
"""Agents cut longer slugs and add a hash of their own making."""
BOOKKEEPING = (".DS_Store", ".git", "*.lock")
"""Names that are no memories in anybody's layout."""
MOST_LINKS = 40
"""So many links are followed on the way to one place."""
ABOVE = "These files lie above the project and hold for everything below them."


def slug(path: str) -> str:
    """Name a folder for a path as Claude Code and Qwen Code do: everything but ASCII letters and digits is a dash.

    Characters beyond the basic plane become two dashes, because those agents count UTF-16 units.
    """
    if path.isascii() and path.replace("/", "").isalnum():
        return path.replace("/", "-")
    return "".join(c if c.isascii() and c.isalnum() else "-" if ord(c) < 0x10000 else "--" for c in path)


def is_folder(path: str) -> bool:
    """Whether a folder is there; a link to one counts, because the user chose where it lies."""
    return os.path.isdir(path)


def has_any(folder: str, paths: tuple[str, ...]) -> bool:
    """Whether any of these paths exists below the folder."""
    top = folder.rstrip("/") + "/"  # a look at a name costs less than joining it
    return any(os.path.lexists(top + path) for path in paths)


def names_in(folder: str) -> tuple[str, ...]:
    """Give the sorted names in a folder; none when it is missing, unreadable or no folder."""
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


def short_path(path: str, home: str | None) -> str:
    """Shorten a path for a label: the home folder becomes `~`."""
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def own_place(surroundings: Surroundings, path: str, by: str = "") -> str | None:
    """Find what a link of the user's own leads to, or what they import, when that is theirs as well.

    Args:
        surroundings: where the user stands.
        path: what is a link, or is imported; absolute.
        by: the file that imports it, without links; what a file in a checkout imports stays in that checkout.

    Returns:
        The path without links of a file or folder of the user's below the home folder; None when it is anything else.
        The user's own link may lead into a checkout, as to dotfiles kept in git; one that lies in it may not lead out.
    """
    try:
        real, bounds = _led(path)
        found = os.stat(real, follow_symlinks=False)
    except OSError:
        return None
    home = os.path.realpath(surroundings.home) if surroundings.home else ""
    checkout = find_checkout(os.path.dirname(by)) if by else None
    bounds += (home, checkout or os.sep)
    is_there = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    is_mine = home not in ("", real) and found.st_uid == os.geteuid()
    return real if is_there and is_mine and all(is_within(real, (bound,)) for bound in bounds) else None


def strays(surroundings: Surroundings, path: str, by: str = "") -> bool:
    """Whether a link of a checkout leads out of it on the way to this path; see `own_place`.

    A checkout that holds the user's home folder is the user's own, and its links are as well.
    """
    real = os.path.realpath(path)
    if real == path and not by:
        return False
    try:
        checkouts = _led(path)[1]
    except OSError:  # gone, or more links than the system follows
        return os.path.isfile(real)
    home = os.path.realpath(surroundings.home or os.sep)
    checkouts += (find_checkout(os.path.dirname(by)) or os.sep,) if by else ()
    return any(not is_within(real, (one,)) and not is_within(home, (one,)) for one in checkouts)


def _led(path: str) -> tuple[str, tuple[str, ...]]:
    """Follow links one by one: where they lead, and the checkouts that some of them lie in.

    Raises:
        OSError: one is gone, or they go in circles.
    """
    at = os.sep
    bounds: list[str] = []
    ahead = path.split(os.sep)[::-1]
    while ahead:
        name = ahead.pop()
        step = os.path.dirname(at) if name == ".." else os.path.join(at, name) if name not in ("", ".") else at
        if step == at or name == ".." or not os.path.islink(step):
            at = step
            continue
        if len(bounds) >= MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step)
        bounds.append(find_checkout(at) or os.sep)
        ahead += target.split(os.sep)[::-1]
        at = os.sep if target.startswith(os.sep) else at
    return at, tuple(bounds)


def linked(surroundings: Surroundings, root: Root, names: tuple[str, ...], whose: str = "") -> Iterator[Root]:
    """Give a root of the user's own instructions, and one for each part of it that is a link to another folder.

    Args:
        surroundings: where the user stands.
        root: the agent's own folder.
        names: files and folders below it that may be links.
        whose: put before the name in the id, where several folders of one agent's have the same names.

    Yields:
        First the root itself without these; each of the others has one file, or what is in one folder, and is read
        only: whoever wants to change it names its folder by hand.
    """
    found = {
        name: own_place(surroundings, path) for name in names if os.path.islink(path := os.path.join(root.path, name))
    }
    inside = (os.path.realpath(root.path),) if found else ()
    outside = {name: real for name, real in found.items() if real and not is_within(real, inside)}
    elsewhere = (*root.policy.elsewhere, *outside, *(f"{name}/" for name in outside))
    yield root._replace(policy=root.policy._replace(elsewhere=elsewhere)) if outside else root
    for name, real in outside.items():
        folder, base = (real, "") if os.path.isdir(real) else os.path.split(real)
        link = short_path(os.path.join(root.path, name), surroundings.home)
        instance = "-".join(filter(None, (whose, id_part(name.replace("/", "-")))))
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
    """Make a folder's name fit for a root id: what cannot be printed is replaced, with a hash to tell them apart."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else "_" for c in name) + "-" + sha256(os.fsencode(name)).hexdigest()[:8]


def there(*roots: Root) -> Iterator[Root]:
    """Give those of the roots of which anything is on disk: the folder, or one of the names that it holds only."""
    for root in roots:
        include = root.policy.include
        if has_any(root.path, include) if include is not None else is_folder(root.path):
            yield root


def in_project(surroundings: Surroundings, *roots: Root) -> Iterator[Root]:
    """Give those of the roots that are on disk, as roots of the current project."""
    for root in there(*roots):
        yield root._replace(
            scope="project", in_checkout=surroundings.checkout is not None, project=surroundings.project
        )


def on_the_way(surroundings: Surroundings, root: Root, inside: str) -> Iterator[Root]:
    """Give the roots of a folder of this name in the project, and in each folder from there down to the user."""
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
    """Whether a folder from an agent's setting holds the whole home folder, so that it is not believed."""
    home = (surroundings.home or "/").rstrip("/") + "/"
    return home.startswith(folder.rstrip("/") + "/")


def start_folder(surroundings: Surroundings) -> str:
    """Where a session starts: the working directory when it lies in the project, else the project."""
    return surroundings.cwd if is_within(surroundings.cwd, (surroundings.project,)) else surroundings.project


def chain(surroundings: Surroundings, top: str) -> tuple[str, ...]:
    """Give the folders from a project down to the user, as paths relative to the project.

    Args:
        surroundings: where the user stands.
        top: the project or its checkout, absolute.

    Returns:
        The empty path, then each folder on the way with a final `/`; only as far down as the project that was asked
        for, when the user stands outside of it.
    """
    place = start_folder(surroundings)
    parts = os.path.relpath(place, top).split(os.sep) if is_within(place, (top,)) and place != top else []
    return ("", *("/".join(parts[: count + 1]) + "/" for count in range(len(parts))))


def along(surroundings: Surroundings, top: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths of files with these names in every folder of the chain."""
    return tuple(folder + name for folder in chain(surroundings, top) for name in names)


def ancestors(folder: str, stop: str | None = None) -> Iterator[str]:
    """Give the folders above a folder, the outermost first, without the root of the file system.

    Args:
        folder: absolute; not given itself.
        stop: the outermost folder that counts; None: all.
    """
    found = []
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        if os.path.dirname(folder) != folder:
            found.append(folder)
        if folder == stop:
            break
    yield from reversed(found)


def here(surroundings: Surroundings, agent: str, label: str, top: str, policy: Policy, note: str) -> Iterator[Root]:
    """Give the root of a project's instruction files, when there is any."""
    include = policy.include or ()
    if has_any(top, include):
        yield Root(
            f"{agent}:project:instructions",
            top,
            agent,
            "project",
            label,
            policy,
            in_checkout=surroundings.checkout is not None,
            project=surroundings.project,
            note=note,
            kind="instructions",
        )


def above(
    surroundings: Surroundings, agent: str, label: str, folders: Iterator[str], policy: Policy, note: str
) -> Iterator[Root]:
    """Give a root for each folder above the project that has instruction files."""
    for folder in folders:
        if has_any(folder, policy.include or ()):
            yield Root(
                f"{agent}:project:above{slug(folder)}",
                folder,
                agent,
                "project",
                f"{label}, {short_path(folder, surroundings.home)}",
                policy,
                in_checkout=find_checkout(folder) is not None,
                project=surroundings.project,
                note=f"{note} {ABOVE}",
                kind="instructions",
            )
