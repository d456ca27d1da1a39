"""What session files may say about a project: only a path that fits the folder's name, read from few first lines."""

import json
import os
from pathlib import Path

import pytest

from memtui.agents.agent import Transcripts
from memtui.agents.layout import slug
from memtui.agents.projects import FILES, HEAD_BYTES, fits, named_projects

OLD, BESIDE = "/home/ann/my_app", Transcripts()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / slug(OLD)
    made.mkdir()
    return made


def session(folder: Path, name: str, *lines: object) -> None:
    file = folder / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_working_directory_of_a_session_or_the_folder_above_it_names_the_project(folder: Path) -> None:
    session(folder, "a", {"type": "summary"}, {"cwd": OLD})
    assert named_projects(str(folder), BESIDE) == (OLD,)
    session(folder, "a", {"cwd": f"{OLD}/web/src"})
    assert named_projects(str(folder), BESIDE) == (OLD,)


def test_qwen_keeps_its_sessions_one_level_down(folder: Path) -> None:
    session(folder / "chats", "a", {"cwd": OLD})
    assert named_projects(str(folder), Transcripts("chats")) == (OLD,)
    assert named_projects(str(folder), BESIDE) == ()


def test_two_projects_in_one_folder_are_both_named(folder: Path) -> None:
    session(folder, "a", {"cwd": OLD})
    session(folder, "b", {"cwd": "/home/ann/my-app"})
    assert set(named_projects(str(folder), BESIDE)) == {OLD, "/home/ann/my-app"}


def test_what_does_not_fit_the_name_is_not_believed(folder: Path) -> None:
    session(
        folder, "a", {"cwd": "/etc"}, {"cwd": "home/ann/my_app"}, {"cwd": 7}, {"cwd": "/x\0"}, {"cwd": "\ud800"},
        {"cwd": "/" + "a" * 5_000}, ["cwd"], "cwd", {"cwd": "/home/ann\x1b[2J/other"},
    )  # fmt: skip
    with open(folder / "b.jsonl", "wb") as file:
        file.write(b'{"cwd": "' + b"\xff\xfe\n" + b"[" * 9_000 + b'"cwd"\n')
    assert named_projects(str(folder), BESIDE) == ()


def test_only_the_first_lines_of_few_files_are_read(folder: Path) -> None:
    session(folder, "z", {"text": "x" * HEAD_BYTES}, {"cwd": OLD})
    assert named_projects(str(folder), BESIDE) == ()
    session(folder, "a", {"cwd": OLD})
    for number in range(FILES):
        session(folder, f"b{number}", {"text": "nothing"})
    assert named_projects(str(folder), BESIDE) == ()


def test_links_out_pipes_and_unreadable_places_say_nothing(folder: Path, tmp_path: Path) -> None:
    session(tmp_path, "outside", {"cwd": OLD})
    (folder / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dir.jsonl").mkdir()
    assert named_projects(str(folder), BESIDE) == ()
    assert named_projects(str(tmp_path / "missing"), BESIDE) == ()


def test_a_long_path_fits_a_name_that_was_cut() -> None:
    long = "/home/" + "a" * 300
    assert fits(long, slug(long)[:200] + "-x1y2")
    assert not fits(long, slug(long))
    assert not fits(OLD, slug(OLD) + "-x")
