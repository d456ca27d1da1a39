"""What the terminal receives: ASCII alone when asked for, colours that can be read, no mouse when it is not wanted."""

import re
import sys
import time
from pathlib import Path

import pytest
from textual.color import Color

from memtui.ui.draw.paint import contrast
from tests.terminal import Terminal

COMMAND = [sys.executable, "-m", "memtui", "--only-root"]
CONTROL = re.compile(rb"\x1b\[[0-9;?<>=$]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[P_][^\x1b]*\x1b\\")
MOUSE = (b"\x1b[?1000h", b"\x1b[?1002h", b"\x1b[?1003h")
VIEWS = (
    ("1", "[1 Mem"),
    ("3", "[3 Rev"),
    ("4", "[4 Hot"),
    ("5", "[5 Act"),
    ("6", "[6 Trash"),
    ("7", "[7 Health"),
    ("8", "[8 "),
)


def start(tmp_path: Path, *more: str, size: tuple[int, int] = (120, 40), long: bool = False) -> Terminal:
    root = tmp_path / "root"
    if not root.exists():
        (root / "sub").mkdir(parents=True)
        (root / "a.md").write_text("---\ndescription: What it says\n---\n" + "one\n" * (200 if long else 3))
        (root / "sub" / "b.md").write_text("two\n" * (90 if long else 3))
    return Terminal([*COMMAND, "--root", f"notes={root}", *more], columns=size[0], rows=size[1])


def letters(data: bytes) -> bytes:
    """What is drawn, without what steers the terminal."""
    return CONTROL.sub(b"", data)


def tour(terminal: Terminal) -> None:
    """Through every view, the editor, help, palette, the landing prompt, the info and the search."""
    terminal.wait_for("a.md")
    terminal.settle(0.2)
    wide = terminal.screen.columns >= 200  # there it stands beside the text from the start, and the key takes it away
    for keys, shown in (
        ("i", "" if wide else "path"), ("?", "This pane"), ("esc", "enter edit"),
        (":", "what do you want"), ("esc", "enter edit"), ("C", "Copy 1 memory"), ("esc", "enter edit"),
        ("H", "History"), ("esc", "enter edit"), ("p", "pinned"), ("w", "No difference"), ("esc", "enter edit"),
        ("ctrl+f", "search"), ("one", "1 hit"), ("esc", ""), ("esc", "enter edit"),
    ):  # fmt: skip
        terminal.press(keys) if len(keys) < 2 or keys in ("esc", "ctrl+f") else terminal.type(keys)
        terminal.wait_for(shown)
        terminal.settle(0.15)
    for key, shown in VIEWS[1:] + VIEWS[:1]:
        terminal.press(key)
        terminal.wait_for(shown)
        terminal.settle(0.1)
    terminal.press("enter")
    terminal.wait_for("ctrl+s save")
    terminal.type("x")
    terminal.wait_for("draft")
    terminal.press("ctrl+f")
    terminal.settle(0.1)
    terminal.press("ctrl+q")
    terminal.wait_exit()


def test_ascii_draws_nothing_but_ascii_on_any_screen(tmp_path: Path) -> None:
    with start(tmp_path, "--ascii", size=(200, 60), long=True) as terminal:
        tour(terminal)
        drawn = letters(bytes(terminal.raw))
        odd = sorted({match.group() for match in re.finditer(rb"[\x80-\xff]+", drawn)})
        assert not odd, [one.decode("utf-8", "replace") for one in odd]


def test_without_ascii_there_are_boxes(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        terminal.wait_for("a.md")
        assert "─" in letters(bytes(terminal.raw)).decode("utf-8", "replace")


def cells(terminal: Terminal) -> list[tuple[Color, Color, str]]:
    """Ink, ground and text of every cell that holds something."""
    found = []
    for line in terminal.screen.buffer.values():
        for cell in line.values():
            if cell.data.strip():
                ink, ground = [Color.parse(f"#{one}") if one != "default" else None for one in (cell.fg, cell.bg)]
                assert ink is not None, cell
                assert ground is not None, cell
                found.append((ground, ink, cell.data) if cell.reverse else (ink, ground, cell.data))
    return found


@pytest.mark.parametrize("theme", ["", "ansi-dark"])
def test_no_color_is_grey_and_can_be_read(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    if theme:
        (home / ".memtui-test").mkdir(parents=True)
        (home / ".memtui-test" / "config.toml").write_text(f'theme = "{theme}"\n')
    with start(tmp_path) as terminal:
        terminal.wait_for("a.md")
        for key, shown in VIEWS[1:] + VIEWS[:1]:
            terminal.press(key)
            terminal.wait_for(shown)
            terminal.settle(0.2)
            seen = cells(terminal)
            assert len(seen) > 100
            for ink, ground, text in seen:
                assert ink.r == ink.g == ink.b, text
                assert ground.r == ground.g == ground.b, text
                least = 4.4 if text.isalnum() else 2.9  # the last digit of a colour is rounded on its way
                assert contrast(ink, ground) >= least, (text, ink.hex, ground.hex)


def test_the_mouse_is_asked_for_unless_it_is_not_wanted(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        terminal.wait_for("a.md")
        assert any(mode in bytes(terminal.raw) for mode in MOUSE)
    with start(tmp_path, "--no-mouse") as terminal:
        terminal.wait_for("a.md")
        terminal.press("j")
        terminal.settle(0.2)
        assert not any(mode in bytes(terminal.raw) for mode in MOUSE)


def click(column: int, row: int) -> str:
    """The bytes of a click at a cell, counted from 1."""
    return f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"


def test_a_click_selects_two_open_the_wheel_scrolls_and_tabs_work(tmp_path: Path) -> None:
    with start(tmp_path, long=True) as terminal:
        terminal.wait_for("b.md")
        terminal.settle(0.3)
        lines = terminal.text.split("\n")
        row = next(number for number, line in enumerate(lines, 1) if "a.md" in line.split("▏")[0])
        terminal.type(click(12, row))
        terminal.wait_for("1  ---")
        before = terminal.text
        terminal.type("\x1b[<65;90;12M" * 3)
        terminal.wait_for(lambda t: t.text != before and "1  ---" not in t.text)
        terminal.type(click(lines[1].index("5 Act") + 2, 2))
        terminal.wait_for("[5 Act")
        terminal.wait_for("esc back")
        terminal.press("\x1b")
        terminal.wait_for("[1 Mem")
        terminal.type(click(12, row) + click(12, row))
        terminal.wait_for("ctrl+s save")


def test_calm_sends_at_most_fifteen_frames_and_no_blinking(tmp_path: Path) -> None:
    with start(tmp_path, "--calm", long=True) as terminal:
        terminal.wait_for("a.md")
        terminal.press("enter")
        terminal.wait_for("ctrl+s save")
        terminal.settle(1.5)  # what blinks would draw for ever


def bursts(terminal: Terminal, seconds: float) -> int:
    """Hold `j` down, 100 times a second: how often something was drawn."""
    end, drawn, last = time.monotonic() + seconds, 0, 0.0
    while time.monotonic() < end:
        terminal.type("j")
        if terminal.pump(0.01):
            now = time.monotonic()
            drawn += now - last > 0.02
            last = now
    return drawn


def test_over_ssh_a_held_key_draws_at_most_fifteen_frames_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    root = tmp_path / "root"
    root.mkdir()
    for number in range(2_000):
        (root / f"n{number:04}.md").write_text(f"note {number}\n")
    with Terminal([*COMMAND, "--root", f"notes={root}"], columns=80, rows=24) as terminal:
        terminal.wait_for("n0000.md")
        terminal.settle(0.5)
        drawn = bursts(terminal, 2.0)
        assert drawn <= 2 * 15 + 4
        while "1  note 1999" not in terminal.text:  # a key that comes while it draws the ones before is ignored
            terminal.press("G")
            terminal.settle(0.5)
        before = len(terminal.raw)
        terminal.press("k")
        terminal.wait_for("1  note 1998")
        assert 0 < len(terminal.raw) - before < 7_000
        terminal.settle(2.0)  # nobody does anything, so nothing is sent
