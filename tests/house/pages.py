"""The documentation as the house tests see it: links, headings, commands, tables and the files it names."""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`((?:memtui|tests|docs|screenshots|engine|config|agents|wire|cli|ui|workbench)/[\w./-]*)`")
CODE = re.compile(r"`([^`\n]+)`")


def prose(text: str) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors a page's headings have on the usual hosts."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> Iterator[str]:
    """Links of a page that lead to no file or no heading; addresses of other hosts are not followed."""
    for target in LINK.findall(prose(page.read_text("utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name) if name else page
        if not there.exists() or (anchor and anchor not in anchors(there.read_text("utf-8"))):
            yield f"{page.name}: {target}"


def missing_files(page: Path, root: Path) -> Iterator[str]:
    """Files and folders of the project that a page names and that are not there."""
    for name in FILE.findall(prose(page.read_text("utf-8"))):
        if not (root / name).exists() and not (root / "memtui" / name).exists():
            yield f"{page.name}: {name}"


def shell_lines(text: str) -> list[str]:
    """The commands of a page's shell examples, without comments, continued lines joined."""
    blocks = [body for language, body in FENCE.findall(text) if language in ("sh", "shell", "console", "bash")]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [found for line in lines if (found := re.sub(r"(^|\s)#.*$", "", line.removeprefix("$ ")).strip())]


def unknown_commands(text: str, verbs: Mapping[str, Collection[str]], options: Collection[str]) -> Iterator[str]:
    """The `memtui` commands of a page, in blocks and in line, whose verb or options do not exist.

    Args:
        text: the page.
        verbs: each verb with its own options.
        options: the options that every verb takes.
    """
    inline = [code for code in CODE.findall(prose(text)) if code.startswith("memtui ")]
    for command in (part for line in [*shell_lines(text), *inline] for part in re.split(r"\s*(?:&&|\||;)\s*", line)):
        words = shlex.split(command, comments=True) if command.count("'") % 2 == 0 else command.split()
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words[:1] != ["memtui"]:
            continue
        # The value of an option may come before the verb, so any word may be it.
        candidates = [word for word in words[1:] if not word.startswith("-")]
        verb = next((word for word in candidates if word in verbs), "")
        if candidates and not verb:
            yield command
            continue
        known = {*options, *verbs.get(verb, ()), "--help", "-h"}
        if any(word.startswith("--") and word.partition("=")[0] not in known for word in words):
            yield command


SPOKEN = {"esc": "escape", "page down": "pagedown", "page up": "pageup", "arrows": "down"}
"""Keys as a page may call them."""


def unknown_keys(text: str, keys: Collection[str]) -> Iterator[str]:
    """The keys in a page's tables of keys (their first column is headed Key) that no action has.

    Args:
        text: the page.
        keys: every key there is, sequences with a blank.
    """
    known = {*keys, *(part for key in keys for part in key.split(" "))}
    for table in re.findall(r"(?m)^\| *[Kk]ey *\|.*\n\|[ -]+\|.*\n((?:\|.*\n?)+)", text):
        for row in table.splitlines():
            for code in CODE.findall(row.split("|")[1]):
                spoken = SPOKEN.get(code, code)
                if spoken not in known:
                    yield code


def table_rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its two head lines."""
    section = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)
    assert len(section) == 2, f"no heading {heading!r}"
    lines = re.split(r"^#+ ", section[1], maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in rows[2:]]
