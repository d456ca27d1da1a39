"""The pictures are all there, are what the pages show, hold nothing of a machine, and come out the same again."""

import re
import time
from pathlib import Path

import pytest

from screenshots import acts
from screenshots.shots import EVERY, SHOTS, USUAL, WEB, file_names
from screenshots.still import sitecustomize
from screenshots.take import HERE, kept_free, main, take
from tests.house.pages import LINK
from tests.house.source import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = sorted(path for path in HERE.iterdir() if path.suffix in (".svg", ".png"))
OF_A_MACHINE = re.compile(r"/(tmp|home|root|work|Users|var|private)\b|memtui-demo|[\w.-]+@[\w.-]+", re.IGNORECASE)
MOST_BYTES, MOST_TOGETHER = 200_000, 3_000_000


def shown_on_pages() -> set[str]:
    """The pictures that pages name, as their files are called."""
    targets = (target for page in PAGES for target in LINK.findall(page.read_text("utf-8")))
    return {Path(target).name for target in targets if Path(target).parent.name == "screenshots"}


def words_of(text: str) -> str:
    """What a picture says, without the drawing."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))


def test_the_list_and_the_folder_agree() -> None:
    assert [path.name for path in PICTURES] == sorted(file_names())


def test_every_picture_that_a_page_shows_is_there() -> None:
    shown = shown_on_pages()
    assert shown
    assert shown <= {path.name for path in PICTURES}


def test_every_screen_is_shown_on_a_page() -> None:
    shown = shown_on_pages()
    assert not [
        name
        for name in [*SHOTS, WEB]
        if not any(file.startswith(f"{name}-") or file == f"{name}.png" for file in shown)
    ]


def test_every_act_is_a_picture() -> None:
    own = {
        act
        for name, act in vars(acts).items()
        if callable(act) and not name.startswith("_") and act.__module__ == acts.__name__
    }
    assert own == {shot.act for shot in SHOTS.values()}


def test_the_screens_people_look_at_most_are_there_at_three_sizes() -> None:
    assert {len(shot.sizes) for shot in SHOTS.values()} == {1, len(EVERY)}
    assert all(USUAL in shot.sizes for shot in SHOTS.values())


@pytest.mark.parametrize("path", [path for path in PICTURES if path.suffix == ".svg"], ids=lambda path: path.stem)
def test_a_picture_holds_nothing_of_a_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not OF_A_MACHINE.search(words_of(text))
    assert "href" not in text
    assert "<script" not in text


def test_what_is_of_a_machine_is_found() -> None:
    for words in ("/home/ann/x", "in /tmp", "~/a then /work/b", "ann@desk"):
        assert OF_A_MACHINE.search(words_of(f"<svg><style>x@y</style><text>{words}</text></svg>"))
    assert not OF_A_MACHINE.search(words_of("<svg><style>a@b</style><text>~/tidewater</text></svg>"))


def test_pictures_are_small() -> None:
    assert max(path.stat().st_size for path in PICTURES) < MOST_BYTES
    assert sum(path.stat().st_size for path in PICTURES) < MOST_TOGETHER


def test_a_picture_comes_out_the_same_again() -> None:
    shot = SHOTS["workbench"]
    first, again = (take(shot, (80, 24), None) for _ in range(2))
    assert first == again
    assert "decisions.md" in first


def test_what_an_interrupted_run_left_is_taken_away(tmp_path: Path) -> None:
    place = tmp_path / "stage"

    def begin() -> None:
        with kept_free(str(place)):
            (place / "half").mkdir(parents=True)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert place.exists()
    with kept_free(str(place)):
        assert not place.exists()
        place.mkdir()
        place.rmdir()
    place.mkdir()
    with kept_free(str(place)):
        assert place.exists()  # after a run that ended well it is somebody else's


def test_a_folder_that_no_run_made_stays(tmp_path: Path) -> None:
    place = tmp_path / "stage"
    place.mkdir()
    with pytest.raises(KeyboardInterrupt), kept_free(str(place)):
        raise KeyboardInterrupt
    with kept_free(str(place)):
        assert place.exists()


def test_the_clock_of_the_test_itself_runs_on() -> None:
    assert sitecustomize.still() // 10**9 == sitecustomize.START // 10**9
    assert time.time_ns() // 10**9 != sitecustomize.START // 10**9


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workbench", "nothing"]) == 2
    assert "no such picture: nothing" in capsys.readouterr().err
