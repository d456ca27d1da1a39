"""`memtui web` starts a workbench that stands where the command did, read-only unless asked."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from memtui.cli.main import run
from tests.cli.conftest import FakeWorkbench


@pytest.mark.parametrize(
    ("words", "handed_on"),
    [
        ([], ["--read-only"]),
        (["--write"], []),
        (["--write", "--read-only"], ["--read-only"]),
        (["--demo"], ["--read-only", "demo"]),
        (
            ["--write", "--root", "a=/x", "--root", "b=/y", "--only-root", "--actor", "ann"],
            ["--root", "a=/x", "--root", "b=/y", "--only-root", "--actor", "ann"],
        ),
    ],
)
def test_what_each_visitor_is_started_with(workbench: FakeWorkbench, words: list[str], handed_on: list[str]) -> None:
    assert run(["web", *words]) == 0
    assert workbench.served == [(handed_on, 0)]


def test_the_address_is_data_and_the_rest_is_not(workbench: FakeWorkbench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["web", "--json", "--port", "8017"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out) == {"address": "http://127.0.0.1:1/?token=x", "write": False}
    assert "can read your memories" in err
    assert "said by a workbench" in err


def test_a_browser_is_told_a_file_that_only_the_user_reads(
    workbench: FakeWorkbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened: list[tuple[str, int, str]] = []

    def browse(address: str) -> bool:
        file = Path(unquote(urlsplit(address).path))
        opened.append((urlsplit(address).scheme, file.stat().st_mode & 0o777, file.read_text("utf-8")))
        return False

    monkeypatch.setenv("MEMTUI_HOME", str(tmp_path / "own"))
    monkeypatch.setattr("webbrowser.open", browse)
    assert run(["web", "--open"]) == 0
    ((scheme, mode, text),) = opened
    assert (scheme, mode) == ("file", 0o600)
    assert "http://127.0.0.1:1/?code=y" in text
    assert "No browser could be opened here" in capfd.readouterr().err
    assert not list((tmp_path / "own").rglob("open-in-browser*"))


def test_a_workbench_without_the_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    from memtui import __main__ as front

    monkeypatch.setattr(sys, "argv", ["memtui", "web"])
    monkeypatch.delitem(sys.modules, "memtui.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert front.main() == 5
    assert "python3 -m pip install 'memtui[web]'" in capsys.readouterr().err
