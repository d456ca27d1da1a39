"""Claims of a text about a checkout: paths, commands, symbols and dependency versions.

It may extract too much, since only what was once true is reported. Lines that call something removed or planned make no
claim.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

PATH, COMMAND, SYMBOL, DEPENDENCY, MENTION = "path", "command", "symbol", "dependency", "mention"
"""A mention is a name followed by a number; it counts where such a dependency exists."""

_MAX_CLAIMS = 5_000
_MAX_LINE_LENGTH = 5_000
_PASSED = re.compile(
    r"(?i)\b(?:remov(?:ed?|es|ing|al)|renam\w+|formerly|deprecat\w+|no longer|instead of|will|todo|was|were"
    r"|plan(?:s|ned|ning)?|used to|moved?|previous(?:ly)?|delet\w+|replac\w+|legacy|dropped|gone|obsolete|old|not yet"
    r"|entfernt|gelöscht|früher|umbenannt|supprimée?s?|renommée?s?|eliminad[oa]s?)\b|删除|移除|以前|改名|廃止"
)
"""Words by which a line itself says that something is past or planned."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ASIDE = re.compile(
    r"(?i)\b(?:examples?|history|removed|changelog|archived?|deprecated|legacy|plans?|planned|roadmap|future|todo"
    r"|migrat\w+|renam\w+|done|log|obsolete|beispiele?|exemples?|ejemplos?)\b"
)
"""Words in headings above text that is not about the present."""
_DATED = re.compile(r"\W*(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b")
_DATED_NAME = re.compile(r"(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:[0-3]\d)")
_FENCE = re.compile(r"[ \t>]{0,12}(`{3,}|~{3,})")
_CODE = re.compile(r"`([^`\n]+)`")
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»")
_EDGE = r"\s\"'`|()\[\]“”«»"
_TOKEN = re.compile(rf"(?<![^{_EDGE}])(?:[^{_EDGE}/.]*+[/.][^{_EDGE}]*+|(?:Make|Docker|[Jj]ust|Proc|Gem|Rake)file)")
_NO_PATH = re.compile(r"[<>*?{}$~\\=%#^!&,;]|://|\.\.\.|…")
_PLACE = re.compile(r"(?::\d[\d:,-]*|#L\d[\dL-]*)$")
_SUFFIX = re.compile(
    r"[\w@+-][\w.@+-]*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|ex|exs|scala|sql"
    r"|sh|bash|md|mdx|rst|txt|toml|ya?ml|json|jsonc|ini|cfg|conf|lock|css|scss|html|vue|svelte|proto|graphql|tf|xml)"
)
_SYMBOL = re.compile(r"(?:[A-Za-z_]\w*(?:\.|::|#))*([A-Za-z_]\w{3,99})(\(\))?")
_SYMBOLIC = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_RUN = re.compile(r"\b(?:(npm|pnpm|yarn|bun) run(?:-script)?|(make|just)) ((?!-)[\w][\w:./-]*)")
_VERSION = re.compile(
    r"(?<![\w@/.-])(@?[A-Za-z][\w.-]*(?:/[\w.-]+)?)(@|==|>=|~=| )[v^~]?(\d{1,5}(?:\.\d+){0,3})(?![\w%])"
)
_NUMBER = re.compile(r"[@=> v^~]\d")


class Claim(NamedTuple):
    """One claim of a text."""

    kind: str
    start: int
    end: int
    """Offsets in characters; `end` is exclusive."""
    line: int
    """From 0."""
    name: str
    """A path without `./` and final `/`; a script or target; the last part of a symbol; a lower-case dependency."""
    more: str = ""
    """The tool of a command (`npm`, `make` or `just`), or the version of a dependency."""


class TextLine(NamedTuple):
    """One line about the present."""

    number: int
    """From 0."""
    start: int
    """Offset in characters."""
    text: str
    code: bool
    """Whether it is in a code fence."""


def lines(text: str, name: str) -> Iterator[TextLine]:
    """Yield the lines of a text that are about the present.

    Left out are front matter, sections such as Example or History, dated lines and sections, and files with a date in
    the
    name.
    """
    if _DATED_NAME.search(name):
        return
    fence, aside, at = "", 0, 0
    front = text.startswith("---\n")
    for number, line in enumerate(text.split("\n")):
        start, at = at, at + len(line) + 1
        if front:
            front = number == 0 or line.rstrip() not in ("---", "...")
            continue
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        heading = None if fence else _HEADING.match(line)
        if heading:
            level = len(heading[1])
            if not aside or level <= aside:
                aside = level if _ASIDE.search(heading[2]) or _DATED.match(heading[2]) else 0
        if not aside and not _DATED.match(line) and len(line) <= _MAX_LINE_LENGTH:
            yield TextLine(number, start, line, bool(fence))


def in_quotes(line: TextLine, place: int) -> bool:
    """Return whether a character of a line is quoted or code."""
    if line.code or line.text.lstrip().startswith(">"):
        return True
    return any(one.start() <= place < one.end() for one in _QUOTED.finditer(line.text))


def _says_so(line: str) -> bool:
    return _PASSED.search(line) is not None


def claims(text: str, name: str, checkout: str) -> tuple[Claim, ...]:
    """Return the claims of a text about a checkout, in order; absolute paths elsewhere make none."""
    found: list[Claim] = []
    for line in lines(text, name):
        if not _says_so(line.text) and len(found) < _MAX_CLAIMS:
            found += sorted(_in_line(line, checkout), key=lambda one: one.start)
    return tuple(found)


def _in_line(line: TextLine, checkout: str) -> Iterator[Claim]:
    for token in _TOKEN.finditer(line.text):
        path = _path(token[0], checkout)
        if path:
            start = line.start + token.start() + token[0].index(path)
            yield Claim(PATH, start, start + len(path), line.number, path)
    for span in _CODE.finditer(line.text) if not line.code else ():
        symbol = _SYMBOL.fullmatch(span[1])
        if symbol and symbol[1].isascii() and (symbol[2] or _SYMBOLIC.search(symbol[1])):
            yield Claim(SYMBOL, line.start + span.start(1), line.start + span.end(1), line.number, symbol[1])
    shell = [(0, line.text)] if line.code or line.text.lstrip().startswith("$ ") else ()
    runs = any(word in line.text for word in (" run", "make ", "just "))
    for at, code in (shell or [(one.start(1), one[1]) for one in _CODE.finditer(line.text)]) if runs else ():
        for run in _RUN.finditer(code):
            name = run[3].rstrip(".,:;")
            start = line.start + at + run.start()
            yield Claim(COMMAND, start, start + len(run[0]), line.number, name, "npm" if run[1] else run[2])
    for one in _VERSION.finditer(line.text) if _NUMBER.search(line.text) else ():
        kind = MENTION if one[2] == " " else DEPENDENCY
        yield Claim(kind, line.start + one.start(), line.start + one.end(), line.number, one[1].lower(), one[3])


def _path(token: str, checkout: str) -> str:
    """Return the path below the checkout that a word names; empty when it names none."""
    path = _PLACE.sub("", token.rstrip(".,;:!?*_").lstrip("*_"))
    if path.startswith(checkout + "/"):
        path = path[len(checkout) + 1 :]
    path = path.removeprefix("@").removeprefix("./").removesuffix("/")
    if not path or len(path) > 400 or path.startswith(("/", "-")) or _NO_PATH.search(path) or ":" in path:
        return ""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or not path.isprintable():
        return ""
    if len(parts) > 1 or _SUFFIX.fullmatch(path) or path.endswith("file"):
        return path
    return path if token.endswith("/") and len(path) > 2 else ""
