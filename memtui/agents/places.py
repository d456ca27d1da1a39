"""What simple layouts are made of: a root that is there, a root of the project, one line of an agent's own settings.

Most agents keep one folder, or a few named files, so their modules say only where and what; this one keeps the rules
they share in one place, such as that nothing is shown that is not on disk.
"""

import os
from collections.abc import Iterator

from memtui.agents.folders import has_any, is_folder, is_path, slug
from memtui.agents.instructions import chain
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root

BOOKKEEPING = (".DS_Store", ".git", "*.lock")
"""Names that are no memories in anybody's layout."""
LISTED = 50
"""So many values of a list in settings are taken."""


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


def settings_text(path: str) -> str:
    """Read an agent's own settings file of the user or the machine, never one inside a repository.

    Returns:
        Its text; empty when it is missing, unreadable or too large.
    """
    try:
        return (read_small(path) or b"").decode("utf-8", "replace")
    except OSError:
        return ""


def yaml_setting(text: str, key: str) -> str | None:
    """Find a plain value in the text of a YAML file by its key, which stands only once there.

    Returns:
        The value without quotes and comment; None when there is none on the key's own line.
    """
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if not colon or name.strip().strip("\"'") != key:
            continue
        value = _plain(value.strip())
        return value if is_path(value) else None
    return None


def _plain(value: str) -> str:
    """Give a value without its quotes, or without the comment behind it."""
    quote = value[:1] if value[:1] in ("'", '"') else ""
    return value[1:].partition(quote)[0] if quote else value.partition(" #")[0].strip()


def yaml_list(text: str, key: str) -> tuple[str, ...]:
    """Find a list of plain values in the text of a YAML file by its key at the left margin, on its line or below it.

    Returns:
        The values without quotes and comments, 50 at most; empty when there is no such list.
    """
    found: list[str] = []
    is_inside = False
    for line in text.splitlines():
        bare = line.strip()
        if is_inside and bare.startswith("- "):
            found.append(_item(bare[2:].strip())[0])
        elif bare and not bare.startswith("#"):
            name, colon, value = line.partition(":")
            is_inside = bool(colon) and name.rstrip() == key
            rest = value.strip().removeprefix("[") if is_inside and value.strip().startswith("[") else ""
            while rest and rest[0] != "]" and len(found) < LISTED:
                item, rest = _item(rest, ends=",]")
                found.append(item)
                rest = rest.lstrip().removeprefix(",").lstrip()
    return tuple(filter(None, found[:LISTED]))


def _item(text: str, ends: str = "") -> tuple[str, str]:
    """Give the value that a text begins with, and the rest; only in double quotes a backslash is written twice."""
    text = text.lstrip()
    if text[:1] in ("'", '"'):
        value, _, rest = text[1:].partition(text[0])
        return (value.replace("\\\\", "\\") if text[0] == '"' else value), rest
    end = min((at for at in map(text.find, ends) if at >= 0), default=len(text))
    return _plain(text[:end].strip()), text[end:]


def toml_flags(text: str, *names: str) -> dict[str, bool]:
    """Find switches in the text of a TOML file without parsing it, which takes as long as a whole command.

    Args:
        text: the whole file.
        names: each a table, a dot and a key.

    Returns:
        Name to value, without those that are not there, or not written as plainly as programs write them.
    """
    found: dict[str, bool] = {}
    inside = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("["):
            inside = bare.partition("#")[0].strip("[] ") + "."
        elif bare.partition("#")[0].rstrip().endswith(("true", "false")):
            name, _, value = bare.partition("#")[0].partition("=")
            if inside + name.strip() in names and value.strip() in ("true", "false"):
                found[inside + name.strip()] = value.strip() == "true"
    return found


def quoted_settings(text: str, key: str) -> tuple[str, ...]:
    """Find every quoted value of a key in a JSON file, also one with comments and bare keys, without parsing it.

    Returns:
        The values that can be paths, in order. Escapes are not resolved: a value with a backslash is left out.
    """
    found = []
    position = text.find(key)
    while position >= 0:
        end = position + len(key)
        if not (text[position - 1 : position].isalnum() or text[position - 1 : position] in ("_", "$")):
            rest = text[end : end + 1].replace('"', "").replace("'", "") + text[end + 1 : end + 5_000]
            _, colon, value = rest.partition(":")
            value = value.lstrip()
            if colon and not rest.partition(":")[0].strip() and value[:1] in ('"', "'"):
                inner, quote, _ = value[1:].partition(value[0])
                if quote and "\\" not in inner and is_path(inner):
                    found.append(inner)
        position = text.find(key, end)
    return tuple(found)


def number_setting(text: str, key: str, otherwise: int) -> int:
    """Find a whole number in the text of a YAML file; `otherwise` when there is none that can be believed."""
    found = yaml_setting(text, key)
    return int(found) if found is not None and found.isascii() and found.isdigit() and len(found) < 10 else otherwise


def home_of(surroundings: Surroundings, variable: str, name: str) -> str | None:
    """Give an agent's own folder: what its variable names, else a folder below the user's home folder."""
    named = surroundings.variable(variable)
    if named:
        return surroundings.folder(named)
    return os.path.join(surroundings.home, name) if surroundings.home else None
