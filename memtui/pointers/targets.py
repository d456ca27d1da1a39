"""Where a link leads: from the text somebody wrote to a path below the root, or to nowhere.

One place decides it, so that no pointer, link or import of a hostile memory leads out of its root: everything that is
not plainly a path below it is no path at all. Nothing here looks at the disk.
"""

import re
from collections.abc import Container

MOST_BYTES, MOST_PARTS, MOST_NAME = 1_024, 20, 255
"""No memory has a longer path, a deeper one or a longer name; see the engine's `paths`."""
MARKDOWN = ".md"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSAFE = re.compile(r"[\x00-\x20\x7f%()<>\\#\[\]\"]")
_FIRST_COLON = re.compile(r"[^/]*:")


def resolve(target: str, here: str) -> str | None:
    """Find the path a link's target means.

    Args:
        target: as written, such as `../a%20b.md#part`; bytes that are not UTF-8 as surrogate escapes.
        here: the path, below the root, of the file that has the link.

    Returns:
        A path below the root, with a `/` at its end when a folder is meant; None when it leads out of the root, to the
        web or to the file itself, or can be no path of a memory.
    """
    if len(target) > 3 * MOST_BYTES + MOST_NAME:  # a long fragment is no reason to look at all of it
        return None
    text = _ESCAPED.sub(r"\1", target).partition("#")[0]
    return None if not text or _outside(text) else resolve_plain(_decoded(text), here)


def readings(target: str, here: str) -> tuple[str | None, ...]:
    """Find every path that a link's target may mean, the likeliest first: the one `resolve` gives.

    Agents write names as they are, so `m%20x.md` may be the file of that very name and `n#1.md` no part of `n`. What
    exists decides: the first of these that is there is meant.
    """
    first = resolve(target, here)
    if ("%" not in target and "#" not in target) or len(target) > 3 * MOST_BYTES + MOST_NAME:
        return (first,)
    text = _ESCAPED.sub(r"\1", target)
    if _outside(text):
        return (first,)
    texts = (text, _decoded(text), text.partition("#")[0])
    return tuple(dict.fromkeys((first, *(resolve_plain(one, here) for one in texts))))


def part_of(target: str, here: str, path: str) -> str:
    """The `#part` of a target that means a path; empty when it has none, or the `#` belongs to the name."""
    before, hashed, part = target.partition("#")
    if not hashed or (path != resolve(target, here) and path not in readings(before, here)):
        return ""
    return hashed + part


def resolve_plain(path: str, here: str) -> str | None:
    """As `resolve`, for a path that is written as it is, as imports are: nothing in it stands for anything else."""
    if not path or len(path) > MOST_BYTES or _outside(path) or _CONTROL.search(path):
        return None
    decoded = _decoded(path)
    if decoded != path and resolve_plain(decoded, here) is None:
        return None  # there is no way around by encoding it once more
    parts = here.split("/")[:-1]
    wanted = path.split("/")
    for part in wanted:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return _checked(parts, folder=wanted[-1] in ("", ".", ".."))


def resolve_name(name: str, here: str) -> str | None:
    """Find the path that `[[name]]` means where nothing else is known: beside the file, and Markdown.

    Args:
        name: what stands between the brackets, with or without an ending, `#part` and `|shown text`.
        here: the path, below the root, of the file that has the link.
    """
    return _named(name_of(name), here)


def name_readings(name: str, here: str) -> tuple[str | None, ...]:
    """Find every path that `[[name]]` may mean, the likeliest first: the one `resolve_name` gives; see `readings`."""
    return tuple(dict.fromkeys(_named(bare, here) for bare in names_of(name)))


def name_of(name: str) -> str:
    """The part of what stands between `[[` and `]]` that names something."""
    return name.partition("|")[0].partition("#")[0].strip()


def names_of(name: str) -> tuple[str, ...]:
    """What of `[[name]]` may be the name, the likeliest first: a `#` or `|` may belong to it."""
    return tuple(dict.fromkeys((name_of(name), name.partition("|")[0].strip(), name.strip())))


def first_of(paths: tuple[str | None, ...], known: Container[str]) -> str | None:
    """The path that is meant, of all that may be: the first that is there, else the likeliest."""
    return paths[0] if len(paths) == 1 else next((path for path in paths if path in known), paths[0])


def is_writable(path: str) -> bool:
    """Whether a path can stand in a clean text: it holds no control character, and is UTF-8."""
    return _UNWRITABLE.search(path) is None


def without_controls(text: str) -> str:
    """A text for one line of an index: each run of what must not stand there (controls, half characters) is a space."""
    return _UNWRITABLE.sub(" ", text)


def with_ending(path: str) -> str:
    """A path with the ending of Markdown, unless it has it already."""
    return path if path.lower().endswith(MARKDOWN) else path + MARKDOWN


def without_ending(path: str) -> str:
    """A path without the ending of Markdown."""
    return path[: -len(MARKDOWN)] if path.lower().endswith(MARKDOWN) else path


def relative(path: str, here: str) -> str:
    """Write a path below the root as seen from a file."""
    base, parts = here.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(base), len(parts) - 1) and base[shared] == parts[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + parts[shared:])


def written(path: str, here: str, like: str, *, angled: bool = False) -> str | None:
    """Write a Markdown target that means a path, in the manner of the one it takes the place of.

    Args:
        path: what is meant.
        here: the file it is written in.
        like: the old target: its `./` and its `#part` stay.
        angled: it stands between `<` and `>`.

    Returns:
        None when it cannot be written so that it is read as meant, or would bring controls or invalid bytes along.
    """
    if not is_writable(path) and is_writable(like):
        return None
    plain = relative(path, here)
    text = plain if angled else _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", plain)
    dotted = like.startswith("./") and not text.startswith("../")
    if dotted or text[:1] == "~" or _FIRST_COLON.match(text):
        text = "./" + text
    hashed, part = like.partition("#")[1:]
    text += hashed + part
    if angled and ("<" in text or ">" in text):
        return None
    return text if resolve(text, here) == path else None


def _named(bare: str, here: str) -> str | None:
    found = resolve_plain(bare, here)
    return None if found is None or found.endswith("/") else with_ending(found)


def _outside(text: str) -> bool:
    return text[0] in "/\\~" or _SCHEME.match(text) is not None


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    data = text.encode("utf-8", "surrogateescape")
    return _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), data).decode("utf-8", "surrogateescape")


def _checked(parts: list[str], *, folder: bool) -> str | None:
    sizes = [len(part.encode("utf-8", "surrogateescape")) for part in parts]
    if not parts or len(parts) > MOST_PARTS or max(sizes) > MOST_NAME or sum(sizes) + len(parts) > MOST_BYTES + 1:
        return None
    return "/".join(parts) + "/" * folder
