"""What pointers are tested with: texts as agents write them, texts nobody should write, and how long they take."""

import time
from collections.abc import Callable

from hypothesis import strategies as st

PIECES = (
    "- [A](a.md) — what it is\n",
    "* ★ [**`X-1` done**](topics/b.md) — *why*\n",
    "1. [C (old)](c%20d.md#part): see\n",
    "- [[a]] — by name\n",
    "See [[topics/b|the other]] and mem:topics/b, @a.md and @./topics/b.md.\n",
    "`[A](a.md)` and mem:a in code, ``[[a]] ` ``\n",
    "```\n[A](a.md)\n```\n",
    "~~~md\n- [A](a.md)\n~~~~\n",
    "<!-- [A](a.md) -->\n",
    "<!--\n- [A](a.md)\n-->\n",
    "---\nname: x\n---\n",
    "[A](<a b.md> \"title\") [B](a.md 'title') [C](a b.md)\n",
    "![picture](a.md) [![in a link](x.png)](a.md)\n",
    "[ref]: a.md\n",
    "- [A](a.md) · [B](topics/b.md) · [C](c.md)\n",
    "| [A](a.md) | a table |\n",
    "\\[A](a.md) [A\\](a.md)\n",
    "\r\n",
    "- [A](a.md)\r\n",
    "\ufeff",
    "[[[[]]](()",
    "](",
    "名前 [名](名前.md)\n",
    "\x00\x1b[31m",
)
"""Pieces that texts are put together from."""

texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join).map(str.encode)
"""Files made of them, in bytes."""
files = texts | st.binary(max_size=60) | st.tuples(texts, st.binary(max_size=9), texts).map(b"".join)
"""Those, and files that are no text."""

HOSTILE_TARGETS = (
    "../../etc/passwd",
    "../x.md",
    "a/../../x.md",
    "/etc/passwd",
    "//host/x.md",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%2f..%2fetc/passwd",
    "%2Fetc/passwd",
    "a/%2e%2e/%2e%2e/x",
    "file:///etc/passwd",
    "file%3A///etc/passwd",
    "FILE:a.md",
    "https://example.org/a.md",
    "javascript:alert(1)",
    "C:/windows/a.md",
    "c:a.md",
    "\\\\host\\share",
    "..\\..\\x.md",
    "a\\..\\..\\x.md",
    "..%5c..%5cx.md",
    "~/a.md",
    "~root/a.md",
    "%7e/a.md",
    "a\x00.md",
    "a%00.md",
    "a%0ab.md",
    "a\x1b[31m.md",
    "#part",
    "",
    ".",
    "./",
    "a/..",
    "%",
    "x" * 256,
    "a/" * 21 + "b.md",
    "x/" * 600 + "a.md",
    "y" * 100_000,
)
"""Targets that must lead nowhere, seen from a file at the top of a root; only the lone percent sign is a name."""

LONG: dict[str, Callable[[int], bytes]] = {
    "opening brackets": lambda size: b"[" * size,
    "opening pairs": lambda size: b"[[" * (size // 2),
    "closing brackets": lambda size: b"](" * (size // 2),
    "unfinished links": lambda size: b"[a](" * (size // 4),
    "unfinished titles": lambda size: b'[](a "' * (size // 6),
    "other titles": lambda size: b"[](a '" * (size // 6),
    "unfinished angles": lambda size: b"[](<" * (size // 4),
    "backticks": lambda size: b" ".join(b"`" * (number % 300 + 1) for number in range(size // 151)),
    "spaces": lambda size: b"- " + b" " * size,
    "spaces in targets": lambda size: b"[](a b" * (size // 6),
    "tabs": lambda size: b"[](" + b"\t" * size,
    "backslashes": lambda size: b"[](" + b"\\)" * (size // 2),
    "comments": lambda size: b"<!--" * (size // 4),
    "entries by name": lambda size: b"- [[" * (size // 4),
    "one long name": lambda size: b"- [[" + b"a" * size,
    "references": lambda size: b"mem:a" * (size // 5),
    "imports": lambda size: b"@a " * (size // 3),
    "signs": lambda size: b"@" * size,
    "dots": lambda size: b"[a](" + b"../" * (size // 3) + b")",
    "definitions": lambda size: b"[a]: " + b"a" * size,
    "quotes": lambda size: b">" * size,
    "an index of many lines": lambda size: b"- [a](a.md) - hook\n" * (size // 19),
    "many fences": lambda size: b"```\n" * (size // 4),
}
"""Texts of a size that are slow where something is read again and again."""


LIMIT = 32
"""Eight times the text may take so many times longer; the square of it would be 64."""


def growth(work: Callable[[bytes], object], make: Callable[[int], bytes], size: int = 20_000) -> float:
    """How many times longer eight times the text takes: about 8 where it is linear, 64 where it is the square."""
    short, long = make(size), make(8 * size)
    ratio = LIMIT * 2.0
    for _ in range(4):  # another program may be in the way
        ratio = min(ratio, _time(work, long) / max(min(_time(work, short) for _ in range(3)), 0.0005))
        if ratio < LIMIT / 2:
            break
    return ratio


def _time(work: Callable[[bytes], object], data: bytes) -> float:
    begin = time.thread_time()  # not the time other programs take
    work(data)
    return time.thread_time() - begin
