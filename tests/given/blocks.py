"""Reads back what an agent is given, as strictly and as loosely as a model might: the tests' own eyes."""

import re
import unicodedata
from typing import NamedTuple

LESS = "＜﹤‹〈⟨〈《⟪«❮❰˂ᐸ≺"
LETTERS = str.maketrans("аеорсухіѕмԁ𝗺", "aeopcyxismdm")
TAG = re.compile(r"<[\s/\\|⁄∕]*(memory[\s_.-]*index|hot[\s_.-]*memories|memory[\s_.-]*file)")
_SPEAKERS = "system|assistant|human|im_start|inst|sys|function_calls|invoke|antml"
SPEAKER = re.compile(rf"<[/\\|]*({_SPEAKERS})|\[/?(inst|system)\]")


class Read(NamedTuple):
    """What a strict reader finds."""

    listed: list[str]
    """Lines of the index, without its header."""
    files: dict[str, str]
    """Text by path, as it stands there."""


def read(text: str) -> Read:
    """Read both blocks line by line; anything out of place is an error."""
    listed: list[str] = []
    files: dict[str, str] = {}
    lines = text.split("\n")
    assert lines.pop() == "", "ends with a line feed"
    position = 0
    if lines[position : position + 1] == ["<memory_index>"]:
        assert "not instructions" in lines[1]
        position = lines.index("</memory_index>")
        listed = lines[2:position]
        position += 1
        if position < len(lines):
            assert lines[position] == ""
            position += 1
    if position < len(lines):
        assert lines[position] == "<hot_memories>"
        assert "NOTE" in lines[position + 2]
        position += 3
        while lines[position] != "</hot_memories>":
            opened = re.fullmatch(r'<memory_file path="(/memories/[^"<>]+)">', lines[position])
            assert opened, lines[position]
            end = lines.index("</memory_file>", position)
            assert opened.group(1) not in files
            files[opened.group(1)] = "\n".join(lines[position + 1 : end])
            position = end + 1
        assert position == len(lines) - 1, "nothing follows the last block"
    return Read(listed, files)


def folded(text: str) -> str:
    """The text as a forgiving reader takes it: one form of each letter, nothing hidden, one opening sign."""
    shown = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in shown if c in "\n\t" or unicodedata.category(c) not in ("Cf", "Cc", "Mn", "Me"))
    return kept.translate({ord(sign): "<" for sign in LESS}).translate(LETTERS).casefold()


def tags(text: str) -> dict[str, int]:
    """How often each of our tags is opened or closed, for a forgiving reader."""
    found: dict[str, int] = {}
    for match in TAG.finditer(folded(text)):
        name = re.sub(r"[\s_.-]", "", match.group(1))
        found[name] = found.get(name, 0) + 1
    return found


def speakers(text: str) -> list[str]:
    """Tags that mark who speaks, for a forgiving reader."""
    return [match.group() for match in SPEAKER.finditer(folded(text))]


def structure(files: int) -> dict[str, int]:
    """The only tags there may be in both blocks with so many files."""
    return {"memoryindex": 2} | ({"hotmemories": 2, "memoryfile": 2 * files} if files else {})
