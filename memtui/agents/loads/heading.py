"""The front matter of a rule file, read as leniently as agents do: `globs: *.ts` is no YAML, and still means something.

Pure. Only plain fields at the left margin are seen, and short lists; whatever else is there is passed over.
"""

from memtui.agents.loads.cutting import front_matter

LIMIT = 16_384
"""Bytes of front matter that are looked at."""


def fields(data: bytes) -> dict[str, str]:
    """Give the fields of a text's front matter.

    Returns:
        Name to value, without quotes; of a list, its parts joined by `, `. Empty without front matter.
    """
    gap = front_matter(data)
    if gap is None:
        return {}
    found: dict[str, str] = {}
    name = ""
    for line in data[gap.start : min(gap.end, LIMIT)].decode("utf-8", "replace").splitlines()[1:-1]:
        bare = line.strip()
        if bare.startswith("- ") and name:
            value = _plain(bare[2:])
            found[name] = f"{found[name]}, {value}" if found[name] else value
        elif bare and not line[0].isspace() and not bare.startswith("#"):
            key, colon, rest = bare.partition(":")
            name = key.strip() if colon else ""
            if name:
                found[name] = _plain(rest)
    return found


def _plain(text: str) -> str:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return ", ".join(filter(None, (_plain(part) for part in text[1:-1].split(","))))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
