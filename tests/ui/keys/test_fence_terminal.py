"""Keys typed ahead in the real program: all bytes of an opening key and what follows written at once, many times.

`MEMTUI_ROUNDS=20 pytest -s tests/ui/keys/test_fence_terminal.py` counts twenty rounds of each, at once and with
pauses of a hundredth of a second between the keys.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import KEYS, Terminal

ROUNDS = int(os.environ.get("MEMTUI_ROUNDS", "2"))
MANY = 24
F9 = KEYS["f9"]


def editor_holds(words: str) -> Callable[[Terminal], bool]:
    """Whether the text that is open begins with these words."""
    return lambda terminal: f"1  {words}" in terminal.text


def shows(*words: str) -> Callable[[Terminal], bool]:
    return lambda terminal: all(word in terminal.text for word in words)


CASES: dict[str, tuple[str, Callable[[Terminal], bool]]] = {
    "f9 dt": (F9 + "dt", shows("Front matter of", "description dt")),
    "e d t": ("ed t", editor_holds("d tline")),
    "enter text": ("\rd t", editor_holds("d tline")),
    "ctrl+f needle enter": ("\x06needle\r", shows("zz-haystack.md", "ctrl+s save")),
    ": quit": (":quit", shows(" :quit", "Quit at once")),
    "3 x": ("3x", shows("[3 Rev")),
    "H r": ("Hr", shows("History of", "current version already")),
    "/ words enter": ("/haystack\r", shows("1 of", "zz-haystack.md")),
    "C dt": ("Cdt", shows("copy to", "dt")),
}
"""What is typed, and what it must lead to."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    for number in range(MANY):
        (made / f"m{number:02}.md").write_text("line one\n")
    (made / "zz-haystack.md").write_text("a needle is here\n")
    return made


def snapshot(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir()}


def type_at(terminal: Terminal, keys: str, pause: float) -> None:
    """Write keys, all at once or with pauses; an escape sequence is never cut in two."""
    if not pause:
        terminal.type(keys)
        return
    rest = keys
    while rest:
        key = F9 if rest.startswith(F9) else rest[0]
        terminal.type(key)
        terminal.pump(pause)
        rest = rest[len(key) :]


def go_back(terminal: Terminal) -> None:
    """Press escape until the tree has the keys; a terminal's escape is one only after a moment without another key."""
    for _ in range(6):
        terminal.press("esc")
        terminal.settle(0.25)
        if "space mark" in terminal.text:
            return
    raise AssertionError(f"escape did not lead back to the tree:\n{terminal.text}")


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.03] if ROUNDS > 5 else [0.0])
@pytest.mark.parametrize("name", CASES)
def test_keys_typed_at_once_are_for_what_the_first_one_opens(name: str, pause: float, root: Path) -> None:
    keys, there = CASES[name]
    before = snapshot(root)
    command = [sys.executable, "-m", "memtui", "--only-root", "--fresh", "--root", f"notes={root}"]
    misdirected = []
    with Terminal(command, columns=120, rows=30) as terminal:
        terminal.wait_for("m00.md")
        terminal.wait_for("line one")
        terminal.settle(0.2)
        for number in range(ROUNDS):
            type_at(terminal, keys, pause)
            try:
                terminal.wait_for(there)
            except AssertionError as error:
                misdirected.append(f"round {number}: {error}")
                break
            if snapshot(root) != before:
                misdirected.append(f"round {number}: files changed")
                break
            go_back(terminal)
            terminal.press("j")
            terminal.settle(0.1)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    print(f"{name}: {len(misdirected)} of {ROUNDS} misdirected, {pause * 1000:.0f} ms between keys")
    assert not misdirected, misdirected[0]
    assert snapshot(root) == before


def test_keys_after_an_editor_of_one_s_own_or_a_refusal_are_dropped(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    before = snapshot(root)
    command = [sys.executable, "-m", "memtui", "--only-root", "--fresh", "--root", f"notes={root}"]
    with Terminal(command, columns=120, rows=30) as terminal:
        terminal.wait_for("line one")
        terminal.settle(0.2)
        for _ in range(ROUNDS):
            terminal.type(KEYS["f4"] + "dt")
            terminal.wait_for("typed for it were ignored")
            terminal.settle(0.1)
            assert "1  line one" in terminal.text
            go_back(terminal)
        terminal.press("home")
        for _ in range(ROUNDS):
            terminal.settle(0.3)
            terminal.type(F9 + "dt")
            terminal.wait_for("typed for it were ignored")
            terminal.settle(0.3)
            terminal.press("j", "k")
            terminal.wait_gone("typed for it were ignored")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert snapshot(root) == before
