"""edit: whatever the editor, the user and an agent do, no text is lost."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.errors import RefusedError, StorageError
from memtui.features.edit.verbs import PrivateCopy, editor_command, run_in_terminal, run_in_window
from tests.cli.conftest import Cli, Editor, left_overs

BASE = "one\ntwo\nthree\nfour\nfive\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def memory(notes: Path) -> Path:
    path = notes / "edited.md"
    path.write_text(BASE)
    return path


def test_an_edit_is_saved_and_the_copy_is_outside_the_root(
    here: Cli, editor: Editor, memory: Path, notes: Path, home: Path
) -> None:
    log = editor('echo more >> "$1"')
    result = here("edit", "notes/edited.md", "--json")
    assert (result.status, result.json["result"], result.json["before"]) == (0, "saved", sha(BASE))
    assert memory.read_text() == BASE + "more\n"
    opened = Path(log.read_text().strip())
    assert opened.suffix == ".md"
    assert notes not in opened.parents
    assert left_overs(home) == []


def test_an_edit_that_changes_nothing_writes_nothing(here: Cli, editor: Editor, memory: Path) -> None:
    before = memory.stat()
    editor("true")
    result = here("edit", "notes/edited.md", "--json")
    assert (result.status, result.json["result"]) == (0, "unchanged")
    assert memory.stat().st_mtime_ns == before.st_mtime_ns
    assert memory.stat().st_ino == before.st_ino


def test_bytes_an_editor_keeps_are_kept(here: Cli, editor: Editor, memory: Path) -> None:
    memory.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    editor("printf ' more' >> \"$1\"")
    assert here("edit", "notes/edited.md").status == 0
    assert memory.read_bytes() == b"\xef\xbb\xbfone\r\ntwo more"


def test_a_new_memory_needs_a_word(here: Cli, editor: Editor, notes: Path) -> None:
    editor('echo fresh > "$1"', "true")
    refused = here("edit", "notes/new.md", "--json")
    assert (refused.status, refused.error["code"]) == (4, "E_NOT_FOUND")
    assert "--new" in str(refused.error["hint"])
    assert here("edit", "--new", "notes/new.md").status == 0
    assert (notes / "new.md").read_text() == "fresh\n"
    assert here("edit", "--new", "notes/empty.md", "--json").json["result"] == "unchanged"
    assert not (notes / "empty.md").exists()


def test_an_editor_that_fails_saves_nothing_and_keeps_the_text(
    here: Cli, editor: Editor, memory: Path, home: Path
) -> None:
    editor('echo more >> "$1"; exit 1')
    result = here("edit", "notes/edited.md")
    assert result.status == 5
    assert memory.read_text() == BASE
    (kept,) = left_overs(home)
    assert kept.read_text() == BASE + "more\n"
    assert str(kept) in result.err


def test_a_refused_text_is_kept(here: Cli, editor: Editor, memory: Path, home: Path) -> None:
    editor("head -c 300000 /dev/zero | tr '\\0' x > \"$1\"")
    result = here("edit", "notes/edited.md")
    assert result.status == 5
    assert "E_TOO_BIG" in result.err
    assert memory.read_text() == BASE
    (kept,) = left_overs(home)
    assert kept.stat().st_size == 300_000
    assert str(kept) in result.err


def test_a_missing_editor_says_how_to_name_one(here: Cli, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTUI_EDITOR", "no-such-editor")
    result = here("edit", "notes/edited.md", "--json")
    assert (result.status, result.error["code"]) == (5, "E_EDITOR")
    assert "MEMTUI_EDITOR" in str(result.error["hint"])


def kept_in_history(here: Cli, text: str) -> bool:
    return here("view", f"notes/edited.md@{sha(text)}").out == text


def test_what_cannot_be_saved_is_refused_before_the_editor_opens(here: Cli, editor: Editor, notes: Path) -> None:
    log = editor("true")
    (notes / "latin.md").write_bytes(b"caf\xe9\n")
    os.link(notes / "plain.md", notes / "linked.md")
    for name, code in (("latin.md", "E_TEXT"), ("linked.md", "E_HARDLINK")):
        result = here("edit", f"notes/{name}", "--json")
        assert (result.status, result.error["code"]) == (5, code)
    assert not log.exists()


MINE = "one\ntwo\nthree\nfour\nmine\n"
THEIRS = "theirs\ntwo\nthree\nfour\nfive\n"
BOTH = "theirs\ntwo\nthree\nfour\nmine\n"
CLASH = "one\ntwo\nthree\nfour\nclash\n"


def write(text: str, path: object) -> str:
    """A shell line that writes a text."""
    return f"printf '{text}' > \"{path}\"".replace("\n", "\\n")


def test_a_conflict_without_a_person_is_exit_3_with_both_texts_kept(
    here: Cli, editor: Editor, memory: Path, home: Path
) -> None:
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}")
    result = here("edit", "notes/edited.md", "--json")
    assert (result.status, result.error["code"]) == (3, "E_CONFLICT")
    assert result.error["yours_sha256"] == sha(MINE)
    assert memory.read_text() == THEIRS
    assert kept_in_history(here, MINE)
    assert left_overs(home) == []


def test_changes_in_different_places_merge(here: Cli, editor: Editor, memory: Path) -> None:
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}")
    result = here("edit", "notes/edited.md", stdin=b"?\nm\nw\n", terminal=True)
    assert result.status == 0
    assert "Both texts go together" in result.err
    assert memory.read_text() == BOTH
    assert all(kept_in_history(here, text) for text in (MINE, THEIRS, BOTH))


def test_a_merge_can_be_looked_at_first(here: Cli, editor: Editor, memory: Path) -> None:
    log = editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}", 'echo checked >> "$1"')
    assert here("edit", "notes/edited.md", stdin=b"m\ne\n", terminal=True).status == 0
    assert Path(f"{log}.2").read_text() == BOTH
    assert memory.read_text() == BOTH + "checked\n"


def test_a_real_conflict_goes_to_the_editor_with_markers(here: Cli, editor: Editor, memory: Path) -> None:
    decided = "one\ntwo\nthree\nfour\ndecided\n"
    log = editor(f"{write(MINE, '$1')}; {write(CLASH, memory)}", "true", write(decided, "$1"))
    result = here("edit", "notes/edited.md", stdin=b"m\ne\n", terminal=True)
    assert result.status == 0
    offered = Path(f"{log}.2").read_text()
    assert [text for text in ("mine", "five", "clash", "YOURS", "BASE", "AGENT") if text not in offered] == []
    assert Path(f"{log}.3").read_text() == offered
    assert memory.read_text() == decided
    assert all(kept_in_history(here, text) for text in (MINE, CLASH))


def test_a_merge_that_is_stopped_keeps_everything(here: Cli, editor: Editor, memory: Path, home: Path) -> None:
    editor(f"{write(MINE, '$1')}; {write(CLASH, memory)}", "true")
    result = here("edit", "notes/edited.md", stdin=b"m\ns\n", terminal=True)
    assert result.status == 3
    assert memory.read_text() == CLASH
    assert kept_in_history(here, MINE)
    (kept,) = left_overs(home)
    assert str(kept) in result.err.replace("\n", " ")


def test_yours_can_be_kept_as_a_version(here: Cli, editor: Editor, memory: Path, home: Path) -> None:
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}")
    result = here("edit", "notes/edited.md", stdin=b"k\n", terminal=True)
    assert result.status == 0
    assert sha(MINE)[:12] in result.out
    assert memory.read_text() == THEIRS
    assert kept_in_history(here, MINE)
    assert left_overs(home) == []


@pytest.mark.parametrize("answer", [b"s\n", b""])
def test_stopping_is_a_conflict(here: Cli, editor: Editor, memory: Path, answer: bytes) -> None:
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}")
    assert here("edit", "notes/edited.md", stdin=answer, terminal=True).status == 3
    assert memory.read_text() == THEIRS
    assert kept_in_history(here, MINE)


def test_a_third_writer_during_the_merge_loses_nothing(here: Cli, editor: Editor, memory: Path) -> None:
    third = "third\ntwo\nthree\nfour\nfive\n"
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}", f"{write(third, memory)}; true", "true")
    result = here("edit", "notes/edited.md", stdin=b"m\ne\nk\n", terminal=True)
    assert result.status == 0
    assert memory.read_text() == third
    assert all(kept_in_history(here, text) for text in (MINE, THEIRS, BOTH, third))


def test_a_memory_that_was_deleted_meanwhile_can_be_written_again(here: Cli, editor: Editor, memory: Path) -> None:
    editor(f'{write(MINE, "$1")}; rm "{memory}"')
    result = here("edit", "notes/edited.md", stdin=b"w\n", terminal=True)
    assert result.status == 0
    assert "deleted" in result.err
    assert memory.read_text() == MINE


def test_texts_that_are_not_utf_8_are_not_merged(here: Cli, editor: Editor, memory: Path) -> None:
    editor(f"printf '\\377mine' > $1; {write(THEIRS, memory)}")
    result = here("edit", "notes/edited.md", stdin=b"m\nk\n", terminal=True)
    assert "not UTF-8" in result.err
    assert result.status == 0
    assert memory.read_text() == THEIRS


def test_the_audit_says_what_a_merge_was_made_of_and_undo_gives_yours_back(
    here: Cli, editor: Editor, memory: Path
) -> None:
    editor(f"{write(MINE, '$1')}; {write(THEIRS, memory)}")
    assert here("edit", "notes/edited.md", stdin=b"m\nw\n", terminal=True).status == 0
    log = here("log", "--json").out
    told = f"merge: base {sha(BASE)}, yours {sha(MINE)}, agent {sha(THEIRS)}, result {sha(BOTH)}"
    assert told in log
    here("undo")
    assert memory.read_text() == THEIRS
    assert sha(MINE) in here("history", "notes/edited.md", "--json").out


KILLED = 'printf "one\\nmine\\n" > "$1"; kill -9 $PPID'
"""What an editor does whose memtui is killed under it."""


def killed(notes: Path, home: Path) -> None:
    """Edit in a process that is killed once the editor has saved."""
    script = home / "killer.sh"
    script.write_text(KILLED)
    words = ["--home", str(home / ".memtui-test"), "--root", f"notes={notes}", "--only-root", "edit", "notes/edited.md"]
    environ = {**os.environ, "MEMTUI_EDITOR": f"sh {script}"}
    done = subprocess.run([sys.executable, "-m", "memtui", *words], env=environ, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_the_text_of_a_killed_edit_is_offered_by_the_next_one(
    here: Cli, editor: Editor, memory: Path, notes: Path, home: Path
) -> None:
    killed(notes, home)
    assert memory.read_text() == BASE
    editor('echo more >> "$1"')
    result = here("edit", "notes/edited.md", stdin=b"g\n", terminal=True)
    assert result.status == 0
    assert "was never saved: 1 line of yours." in result.err
    assert memory.read_text() == "one\nmine\nmore\n"
    assert left_overs(home) == []
    assert "never saved" not in here("edit", "notes/edited.md", terminal=True).err


@pytest.mark.parametrize("answer", ["l", "d"])
def test_the_text_of_a_killed_edit_can_be_left_or_discarded(
    here: Cli, editor: Editor, memory: Path, notes: Path, home: Path, answer: str
) -> None:
    killed(notes, home)
    editor("true", "true")
    assert here("edit", "notes/edited.md", stdin=answer.encode() + b"\n", terminal=True).status == 0
    assert memory.read_text() == BASE
    assert len(left_overs(home)) == (answer == "l")
    again = here("edit", "notes/edited.md", "--json")
    assert ("It stays, and is offered in a terminal." in again.err) is (answer == "l")
    if answer == "d":
        assert here("view", f"notes/edited.md@{sha('one' + chr(10) + 'mine' + chr(10))[:12]}").out == "one\nmine\n"


def test_a_killed_edit_of_a_memory_that_changed_since_is_a_conflict_of_three_texts(
    here: Cli, editor: Editor, memory: Path, notes: Path, home: Path
) -> None:
    memory.write_text("one\n")
    killed(notes, home)
    memory.write_text("zero\none\n")
    editor("true")
    result = here("edit", "notes/edited.md", stdin=b"g\nm\nw\n", terminal=True)
    assert "and the memory changed since" in " ".join(result.err.split())
    assert result.status == 0
    assert memory.read_text() == "zero\none\nmine\n"


def test_the_text_of_a_killed_edit_is_named_by_doctor(here: Cli, memory: Path, notes: Path, home: Path) -> None:
    killed(notes, home)
    found = [item for item in here("doctor", "--json").items if item["topic"] == "drafts"]
    assert len(found) == 1
    assert str(left_overs(home)[0]) in str(found[0]["text"])
    assert "memtui edit notes/edited.md" in str(found[0]["advice"])


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
