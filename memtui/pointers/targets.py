"""Resolution of link targets to paths below the root, without looking at the disk.

Whatever is not plainly a path below the root resolves to None, so no link of an untrusted memory leads out of it.
"""

import re
from collections.abc import Container

MOST_BYTES, MOST_PARTS, MOST_NAME = 1_024, 20, 255
"""Limits of the engine's `paths`."""
MARKDOWN = ".md"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSAFE = re.compile(r"[\x00-\x20\x7f%()<>\\#\[\]\"]")
_FIRST_COLON = re.compile(r"[^/]*:")


def resolve(target: str, here: str) -> str | None:
    """Return the path below the root that a link target means, ending in `/` for a folder.

    None when it leads out of the root, to the web or to the file itself, or is no valid path of a memory.

    Args:
        target: as written, such as `../a%20b.md#part`; bytes that are not UTF-8 as surrogate escapes.
        here: the path below the root of the file with the link.
    """
    if len(target) > 3 * MOST_BYTES + MOST_NAME:  # a long fragment is no reason to look at all of it
        return None
    text = _ESCAPED.sub(r"\1", target).partition("#")[0]
    return None if not text or _outside(text) else resolve_plain(_decoded(text), here)


def readings(target: str, here: str) -> tuple[str | None, ...]:
    """Return all paths a link target may mean, the likeliest first.

    Agents write names as they are, so `m%20x.md` may be the name of a file, and `n#1.md` no part of `n`. The first path
    that exists is meant.
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
    """Return the `#part` of a target; empty when it has none, or the `#` belongs to the name."""
    before, hashed, part = target.partition("#")
    if not hashed or (path != resolve(target, here) and path not in readings(before, here)):
        return ""
    return hashed + part


def resolve_plain(path: str, here: str) -> str | None:
    """Resolve a path without escapes, as imports are written."""
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
    """Return the path that `[[name]]` means by default: a Markdown file beside the one with the link."""
    return _named(name_of(name), here)


def name_readings(name: str, here: str) -> tuple[str | None, ...]:
    """Return all paths that `[[name]]` may mean, the likeliest first; see `readings`."""
    return tuple(dict.fromkeys(_named(bare, here) for bare in names_of(name)))


def name_of(name: str) -> str:
    """Return the name within `[[...]]`, without `#part` and `|text`."""
    return name.partition("|")[0].partition("#")[0].strip()


def names_of(name: str) -> tuple[str, ...]:
    """Return the possible names within `[[...]]`, the likeliest first: a `#` or `|` may belong to the name."""
    return tuple(dict.fromkeys((name_of(name), name.partition("|")[0].strip(), name.strip())))


def first_of(paths: tuple[str | None, ...], known: Container[str]) -> str | None:
    """Return the first path that exists, else the likeliest."""
    return paths[0] if len(paths) == 1 else next((path for path in paths if path in known), paths[0])


def is_writable(path: str) -> bool:
    """Return whether a path is valid UTF-8 without control characters."""
    return _UNWRITABLE.search(path) is None


def without_controls(text: str) -> str:
    """Replace control characters and lone surrogates by spaces."""
    return _UNWRITABLE.sub(" ", text)


def with_ending(path: str) -> str:
    """Append the Markdown extension if it is missing."""
    return path if path.lower().endswith(MARKDOWN) else path + MARKDOWN


def without_ending(path: str) -> str:
    """Remove the Markdown extension."""
    return path[: -len(MARKDOWN)] if path.lower().endswith(MARKDOWN) else path


def relative(path: str, here: str) -> str:
    """Return a path below the root relative to a file."""
    base, parts = here.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(base), len(parts) - 1) and base[shared] == parts[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + parts[shared:])


def written(path: str, here: str, like: str, *, angled: bool = False) -> str | None:
    """Return a Markdown target for a path, written like the one it replaces; None when that is impossible.

    Args:
        here: the file it is written in.
        like: the old target: its `./` and its `#part` are kept.
        angled: the target stands between `<` and `>`.
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
