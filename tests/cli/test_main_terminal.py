"""The whole program on a pseudo-terminal, byte for byte."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

ATTACKS = [
    "\x1b[31mred", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;aGk=\x07", "\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\",
    "\x1bP1$r\x1b\\", "\x1b_Gf=1;\x1b\\", "\x1b^pm\x1b\\", "\x9b31m", "\x90x\x9c", "\x9d0;t\x9c", "\x1bc",
    "\x1b[?1049h",
    "\x7f\x08\r\x0b\x0c\x00", "\u202eevil\u2066x", "\U000e0041\U000e007f", "\u200b\u2028", "[@click=app.quit]x[/]",
]  # fmt: skip
"""One of each kind of terminal command and hidden character."""

ALLOWED = re.compile(rb"\x1b\[(0|1|2|31|31;1|32|33|36)?m")
"""The colours memtui itself uses."""


@pytest.fixture
def hostile(notes: Path) -> Path:
    """Memories whose names, descriptions and texts attack the terminal."""
    for number, attack in enumerate(ATTACKS):
        body = f"---\ndescription: 'd{attack}'\n---\nbody {attack}\n".encode("utf-8", "surrogatepass")
        (notes / f"text-{number}.md").write_bytes(body)
        name = f"name-{number}-{attack}.md".replace("/", "_").replace("\x00", "")
        (notes / name).write_bytes(b"x\n")
    (notes / os.fsdecode(b"raw-\xff-\x9b.md")).write_bytes(b"\xff\x9b2J\n")
    return notes


def run(*words: str, notes: Path, columns: int = 100, env: "dict[str, str] | None" = None) -> tuple[int, bytes]:
    command = [sys.executable, "-m", "memtui", "--root", f"notes={notes}", "--only-root", *words]
    with Terminal(command, columns=columns, env={**os.environ, **(env or {})}) as terminal:
        status = terminal.wait_exit()
        return status, bytes(terminal.raw)


def controls(raw: bytes) -> set[str]:
    """What a terminal would obey or not show, memtui's own colours and line ends left out."""
    text = ALLOWED.sub(b"", raw).replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    return {
        char
        for char in text
        if (ord(char) < 0x20 and char not in "\n\t")
        or 0x7F <= ord(char) < 0xA0
        or char in "\u200b\u2028\u202e\u2066"
        or 0xE0000 <= ord(char) <= 0xE007F
        or 0xDC80 <= ord(char) <= 0xDCFF
    }


@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("roots",),
        ("search", "body"),
        ("changes",),
        ("view", "notes/\x1b]0;t\x07.md"),
        ("fly\x1b[2J",),
        ("doctor",),
        ("--actor=\x1b[2J", "ls"),
    ],
)
def test_no_attack_reaches_the_terminal(hostile: Path, words: tuple[str, ...]) -> None:
    _, raw = run(*words, notes=hostile)
    assert raw
    assert controls(raw) == set()


def test_no_text_of_a_memory_is_obeyed(hostile: Path) -> None:
    for number in range(0, len(ATTACKS), 6):
        status, raw = run("view", f"notes/text-{number}.md", notes=hostile)
        assert status == 0
        assert b"body" in raw
        assert controls(raw) == set()


@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "dumb"},
        {"NO_COLOR": "1"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "xx_YY.latin1"},
    ],
    ids=str,
)
def test_poor_terminals_are_no_trouble(hostile: Path, env: dict[str, str]) -> None:
    status, raw = run("ls", notes=hostile, env=env)
    assert status == 0
    assert b"Traceback" not in raw
    assert controls(raw) == set()
    if "NO_COLOR" in env or env.get("TERM") == "dumb":
        assert b"\x1b" not in raw


@pytest.mark.parametrize("columns", [1, 10, 40])
def test_narrow_terminals_are_no_trouble(hostile: Path, columns: int) -> None:
    for words in (("ls",), ("doctor",), ("config",), ("view", "notes/gone.md")):
        _, raw = run(*words, notes=hostile, columns=columns)
        assert b"Traceback" not in raw
        assert b"E_INTERNAL" not in raw
        assert controls(raw) == set()
