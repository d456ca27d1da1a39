"""The front matter of a rule file, read as leniently as agents do: `globs: *.ts` is no YAML, and still means something.

Pure. Only plain fields at the left margin are seen, and short lists; whatever else is there is passed over. What is
nested deeper than memtui reads anywhere is no front matter: a bomb in one rule must not end the whole list.
"""

from memtui.agents.loads.cutting import front_matter

LIMIT = 16_384
"""Bytes of front matter that are looked at."""
DEPTH = 16
"""So deep lists and mappings may be nested; as `memtui.engine.frontmatter.guard.DEPTH`, which brings a YAML parser."""
_NESTS = "[{-:?"
"""Every level of nesting has one of these signs."""


class _TooDeepError(Exception):
    """A list is nested deeper than is looked at."""


def fields(data: bytes) -> dict[str, str]:
    """Give the fields of a text's front matter.

    Returns:
        Name to value, without quotes; of a list, its parts joined by `, `. Empty without front matter, and when it is
        nested too deep.
    """
    return _read(data) or {}


def is_text(data: bytes) -> bool:
    """Whether what looks like front matter is nested too deep to be any, so that it is text like the rest."""
    return _read(data) is None


def _read(data: bytes) -> dict[str, str] | None:
    gap = front_matter(data)
    if gap is None:
        return {}
    lines = data[gap.start : min(gap.end, LIMIT)].decode("utf-8", "replace").splitlines()[1:]
    if gap.end <= LIMIT:
        lines = lines[:-1]
    if _is_deep_yaml("\n".join(lines)):
        return None
    found: dict[str, str] = {}
    name = ""
    try:
        for line in lines:
            bare = line.strip()
            if bare.startswith("- ") and name:
                value = _plain(bare[2:])
                found[name] = f"{found[name]}, {value}" if found[name] else value
            elif bare and not line[0].isspace() and not bare.startswith("#"):
                key, colon, rest = bare.partition(":")
                name = key.strip() if colon else ""
                if name:
                    found[name] = _plain(rest)
    except _TooDeepError:
        return None
    return found


def _is_deep_yaml(block: str) -> bool:
    if sum(map(block.count, _NESTS)) <= DEPTH:
        return False
    from memtui.engine.frontmatter.guard import is_too_deep

    return is_too_deep(block)


def _plain(text: str, level: int = 1) -> str:
    """Give a value without quotes; the mapping around it is the first level."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        if level >= DEPTH:
            raise _TooDeepError
        return ", ".join(filter(None, (_plain(part, level + 1) for part in text[1:-1].split(","))))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
