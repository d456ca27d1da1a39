"""Building blocks of layouts: slugs of paths, roots that exist, links, and files along the way to the user's folder.

Everything here looks at names only. It runs no program, follows nothing a repository wrote, and treats "missing" and
"not allowed" alike: discovery shows what exists and never fails because of what does not.
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
"""Agents cut longer slugs and add a hash of their own."""
BOOKKEEPING = (".DS_Store", ".git", "*.lock")
"""Names that are no memories in any layout."""
MAX_LINKS = 40
"""Links followed on the way to one path."""
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


def own_place(surroundings: Surroundings, path: str, by: str = "") -> str | None:
    """Resolve a link or import of the user's own, when its target belongs to the user as well.

    Args:
        surroundings: where the user stands.
        path: absolute path of the link or the imported file.
        by: the importing file, without links; what a file in a checkout imports must stay in that checkout.

    Returns:
        The target without links, a file or folder of the user's below the home folder; else None. The user's own link
        may lead into a checkout, such as dotfiles kept in git; a link inside a checkout may not lead out of it.
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
    """Whether a link in a checkout leads out of it on the way to this path; arguments as for `own_place`.

    A checkout that holds the user's home folder is the user's own, and so are its links.
    """
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
    """Yield a root of the user's own instructions, and one for each part of it that is a link to another folder.

    Args:
        surroundings: where the user stands.
        root: the agent's own folder.
        names: files and folders below it that may be links.
        prefix: put before the name in the id, where several folders of one agent have the same names.

    Yields:
        First the root without these parts, then one read-only root for each of them: to change it, the user adds its
        folder as a root by hand.
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
    """Return the folders from `top` (the project or its checkout) down to where a session starts, relative to `top`.

    The first is the empty path; the others end in `/`.
    """
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
