"""A fault of the workbench: the draft is stored, and nothing of a memory is printed."""

import sys
from pathlib import Path

import pytest

from memtui.workbench.app import fault_text
from tests.terminal import Terminal

PROGRAM = """
import sys
from textual.widgets import Static
from memtui.workbench.app import SafeEnd

class Program(SafeEnd[int]):
    def compose(self):
        yield Static("ready", markup=False)
    def flush_drafts(self):
        {flush}
        open(sys.argv[1], "w").write("the draft")
        return 1
    def on_key(self, event):
        secret = "text of a memory"
        {leave}
        raise RuntimeError("\\x1b]0;title\\x07 [/red] " + chr(0x202e))

app = Program()
app.run()
sys.exit(app.return_code or 0)
"""


@pytest.mark.parametrize("leave", ["pass", "self.exit(0)"])
def test_the_draft_is_stored_and_the_words_are_harmless(tmp_path: Path, leave: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(flush="pass", leave=leave))
    with Terminal([sys.executable, str(program), str(tmp_path / "draft")], columns=120) as terminal:
        terminal.wait_for("ready")
        end = len(terminal.raw)
        terminal.type("x")
        assert terminal.wait_exit() == 1
        assert (tmp_path / "draft").read_text() == "the draft"
        said = bytes(terminal.raw[end:])
        assert b"\x1b]0;" not in said
        assert b"text of a memory" not in said
        assert "\u202e".encode() not in said
        assert b"E_INTERNAL" in said
        assert b"Your draft is on disk" in said


def test_a_draft_that_cannot_be_stored_is_said(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(flush="raise OSError", leave="pass"))
    with Terminal([sys.executable, str(program), str(tmp_path / "draft")], columns=120) as terminal:
        terminal.wait_for("ready")
        terminal.type("x")
        assert terminal.wait_exit() == 1
        assert b"A draft could not be stored (OSError)" in terminal.raw


def test_debug_adds_where_it_happened_and_no_values() -> None:
    secret = "text of a memory"

    def fail(text: str) -> None:
        raise ValueError(len(text))

    with pytest.raises(ValueError, match="16") as caught:
        fail(secret)
    words = fault_text(caught.value, kept="Kept.", debug=True).plain
    assert "test_app_faults.py" in words
    assert secret not in words
    assert "test_faults.py" not in fault_text(caught.value, kept="Kept.").plain
