"""Hostile memories in the editor and the conflict screen of the real program: no byte of them is a control."""

import sys
from pathlib import Path

from tests.terminal import Terminal

HOSTILE = (
    b"\x1b]52;c;aGVsbG8=\x07 \x1b]0;evil title\x07 \x1b[2J\x1b[31mred \x1bPq#1\x1b\\ \x1b_Gf=100\x1b\\"
    b" \xc2\x9b31m \xc2\x9d0;x\xc2\x9c"
    b" \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 [@click=app.quit]x[/] [/] [red \x1b[?1003h \x1bc \x08\x0b\x7f"
    b" \xe2\x80\xae rtl \xf3\xa0\x81\xa1 tag\n"
)
FORBIDDEN = (
    b"\x1b]52;", b"\x1b]0;evil", b"\x1bPq#1", b"\x1b_Gf", b"\xc2\x9b", b"\xc2\x9d", b"\x1b]8;", b"\x1bc", b"\x08",
    b"\x0b", b"\xe2\x80\xae", b"\xf3\xa0\x81\xa1",
)  # fmt: skip


def check(terminal: Terminal) -> None:
    for sequence in FORBIDDEN:
        assert sequence not in terminal.raw, sequence


def start(tmp_path: Path, text: bytes) -> Terminal:
    root = tmp_path / "root"
    root.mkdir()
    (root / "note.md").write_bytes(text)
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    return Terminal(command, columns=160, rows=40)


def enter_note(terminal: Terminal) -> None:
    """Go to the memory and press enter, each key after the one before was taken."""
    terminal.wait_for("note.md")
    terminal.press("/")
    terminal.wait_for(lambda t: t.text.rstrip().split("\n")[-1].strip().startswith("/"))
    terminal.type("note")
    terminal.wait_for("/ note")
    terminal.press("enter")
    terminal.wait_for("enter edit")
    terminal.press("enter")


def open_note(terminal: Terminal) -> None:
    enter_note(terminal)
    terminal.wait_for(lambda t: ">note.md" in t.text or ">notes/note.md" in t.text)
    terminal.wait_for("ctrl+s save")


def test_a_hostile_memory_is_shown_as_tokens(tmp_path: Path) -> None:
    with start(tmp_path, HOSTILE + b"plain\n") as terminal:
        open_note(terminal)
        terminal.wait_for("raw, read-only")
        terminal.wait_for("␛]52;c;aGVsbG8=␇")
        terminal.press("ctrl+f")
        terminal.type("evil")
        terminal.settle()
        check(terminal)


def test_a_hostile_writer_in_a_conflict_is_shown_as_tokens(tmp_path: Path) -> None:
    with start(tmp_path, b"one\ntwo\n") as terminal:
        open_note(terminal)
        terminal.wait_for("1  one")
        terminal.type("mine ")
        terminal.wait_for("mine one")
        (tmp_path / "root" / "note.md").write_bytes(HOSTILE + b"two\n")
        terminal.wait_for("! saved outside memtui")
        terminal.press("f8")
        terminal.wait_for("CONFLICT")
        terminal.wait_for("␛]52;c;aGVsbG8=␇")
        terminal.press("b")
        terminal.settle()
        terminal.press("e", "a", "ctrl+s")
        terminal.wait_for("CONFLICT")
        terminal.settle()
        check(terminal)
        assert (tmp_path / "root" / "note.md").read_bytes() == HOSTILE + b"two\n"


def test_a_hostile_paste_is_cleaned(tmp_path: Path) -> None:
    with start(tmp_path, b"one\n") as terminal:
        open_note(terminal)
        terminal.wait_for("1  one")
        terminal.type(b"\x1b[200~" + HOSTILE.replace(b"\x1b[201~", b"") + b"\x1b[201~")
        terminal.wait_for("characters of the paste were left out")
        terminal.settle()
        check(terminal)
