"""The user's own editor: which one, on a copy nobody else can read, and back."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from memtui.errors import RefusedError, StorageError
from memtui.features.edit.verbs import PrivateCopy, editor_command, run_in_terminal, run_in_window


def found(name: str) -> str | None:
    return f"/usr/bin/{name}"


@pytest.mark.parametrize(
    ("setting", "argv", "windowed"),
    [
        ("vim", ("vim",), False),
        ("vim -f", ("vim", "-f"), False),
        ("nano -w", ("nano", "-w"), False),
        ("code", ("code", "--wait"), True),
        ("code --wait", ("code", "--wait"), True),
        ("code -w -n", ("code", "-w", "-n"), True),
        ("/opt/sublime/subl", ("/opt/sublime/subl", "--wait"), True),
        ("gvim", ("gvim", "--nofork"), True),
        ("my-editor --wait", ("my-editor", "--wait"), True),
        ("emacsclient -w 5", ("emacsclient", "-w", "5"), False),
        ("'/opt/my editor/run' -x", ("/opt/my editor/run", "-x"), False),
    ],
)
def test_how_an_editor_is_run(
    setting: str, argv: tuple[str, ...], windowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", found)
    command = editor_command(setting)
    assert command.argv == argv
    assert command.windowed is windowed


def test_without_a_setting_a_common_editor_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: found(name) if name == "vim" else None)
    assert editor_command("").argv == ("vim",)


@pytest.mark.parametrize(
    ("setting", "message"),
    [("vim 'unclosed", "cannot be read"), ("no-such-editor-here", "was not found"), ("", "No editor is set")],
)
def test_no_editor_is_a_refusal_with_the_next_step(setting: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(RefusedError, match=message) as refused:
        editor_command(setting)
    assert refused.value.code == "E_EDITOR"
    assert "EDITOR" in refused.value.hint


def test_the_copy_is_private_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    copy = PrivateCopy(b"text\n", name="a note.md", folder=str(folder))
    assert stat.S_IMODE(os.stat(copy.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(copy.path)).st_mode) == 0o700
    assert copy.path.endswith("/a note.md")
    assert copy.read() == b"text\n"
    copy.remove()
    assert list((folder / "edits").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("../../etc/passwd", "passwd"),
        ("-rf.md", "rf.md"),
        (".hidden", "hidden"),
        ("a\x1b[2Jb.md", "a__2Jb.md"),
        ("", "memory"),
    ],
)
def test_a_hostile_name_is_only_a_name(tmp_path: Path, name: str, seen: str) -> None:
    copy = PrivateCopy(b"", name=name, folder=str(tmp_path))
    assert os.path.basename(copy.path) == seen
    assert Path(copy.path).parent.parent == tmp_path / "edits"


def test_a_copy_that_is_gone_says_what_is_unharmed(tmp_path: Path) -> None:
    copy = PrivateCopy(b"", name="a.md", folder=str(tmp_path))
    os.unlink(copy.path)
    with pytest.raises(StorageError) as error:
        copy.read()
    assert error.value.unharmed == "The memory and the draft are as they were."


def test_a_copy_that_grew_without_limit_is_not_read(tmp_path: Path) -> None:
    copy = PrivateCopy(b"", name="a.md", folder=str(tmp_path))
    with open(copy.path, "wb") as file:
        file.truncate(5_000_000_000)
    with pytest.raises(RefusedError) as error:
        copy.read()
    assert error.value.code == "E_TOO_BIG"


@pytest.mark.parametrize("run", [run_in_terminal, run_in_window])
def test_the_editor_gets_the_file_and_its_status_comes_back(tmp_path: Path, run: object) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys; open(sys.argv[1], 'a').write('more'); sys.exit(3)")
    copy = PrivateCopy(b"text ", name="a.md", folder=str(tmp_path))
    command = editor_command(f"{sys.executable} {script}")
    assert callable(run)
    assert run(command, copy.path) == 3
    assert copy.read() == b"text more"
