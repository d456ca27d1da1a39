"""The documentation is in step with what it describes."""

import re
import shlex
from pathlib import Path

import pytest

from memtui.cli.arguments import parse
from memtui.config.settings import FIELDS, TABLES, VARIABLES
from memtui.errors import CODES
from memtui.features.table import verbs
from memtui.wire.outcomes import EXIT, MEANING, REFUSED
from memtui.wire.params import GLOBALS
from memtui.workbench.actions import ACTIONS
from tests.house import pages
from tests.house.source import ROOT

VERBS = verbs()

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
COMMANDS = {verb.name: [param.name for param in verb.options] for verb in VERBS}
OPTIONS = [param.name for param in GLOBALS]
KEYS = {key for action in ACTIONS for key in action.keys}
README = (ROOT / "README.md").read_text("utf-8")
CI = (ROOT / ".ci/run").read_text("utf-8")


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def by_name(found: Path) -> str:
    return found.name


@pytest.mark.parametrize("found", PAGES, ids=by_name)
def test_links_lead_somewhere(found: Path) -> None:
    assert not list(pages.dead_links(found))


@pytest.mark.parametrize("found", PAGES, ids=by_name)
def test_files_that_are_named_exist(found: Path) -> None:
    assert not list(pages.missing_files(found, ROOT))


@pytest.mark.parametrize("found", PAGES, ids=by_name)
def test_commands_that_are_shown_exist(found: Path) -> None:
    assert not list(pages.unknown_commands(found.read_text("utf-8"), COMMANDS, OPTIONS))


@pytest.mark.parametrize("found", PAGES, ids=by_name)
def test_commands_in_blocks_are_taken_as_they_stand(found: Path) -> None:
    for line in pages.shell_lines(found.read_text("utf-8")):
        plain = re.sub(r">+ *\S+", "", line).replace("$SHA", "a" * 64)
        for command in re.findall(r"(?:^|[|;&] *)memtui +([^|;&]+)", plain):
            parse(shlex.split(command))


def test_every_page_is_in_the_index() -> None:
    linked = set(pages.LINK.findall(page("index.md")))
    assert {found.relative_to(DOCS).as_posix() for found in DOCS.rglob("*.md")} - {"index.md"} <= linked


def test_the_error_page_says_what_the_code_says() -> None:
    rows = pages.table_rows(page("errors.md"), "Codes")
    assert [row[:3] for row in rows] == [
        [f"`{code}`", text, str(EXIT.get(code, REFUSED))] for code, text in CODES.items()
    ]
    assert all(row[3] for row in rows)
    assert pages.table_rows(page("errors.md"), "Exit status") == [[str(n), text] for n, text in MEANING.items()]


def test_every_command_is_on_its_page() -> None:
    text = page("commands.md")
    headings = " ".join(line for line in text.splitlines() if line.startswith("#"))
    assert not [verb.name for verb in VERBS if not re.search(rf"(?<![\w-]){verb.name}(?![\w-])", headings)]
    assert not [name for name in {*OPTIONS, *(o for own in COMMANDS.values() for o in own)} if name not in text]


def test_every_setting_is_on_its_page() -> None:
    text = page("configuration.md")
    names = [*(field.key for field in FIELDS), *(name for name, _ in TABLES), *(name for name, _, _ in VARIABLES)]
    assert not [name for name in names if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)]
    assert not [field.key for field in FIELDS if field.text.split(";")[0].rstrip(".") not in text]


def test_every_action_is_on_its_page() -> None:
    text = page("keys.md")
    assert not [action.id for action in ACTIONS if action.help not in text]
    assert not [key for action in ACTIONS for key in action.keys if f"`{key}`" not in text]


@pytest.mark.parametrize("found", sorted((DOCS / "guide").glob("*.md")), ids=by_name)
def test_keys_that_the_guide_names_exist(found: Path) -> None:
    assert not list(pages.unknown_keys(found.read_text("utf-8"), KEYS))


def test_a_key_that_does_not_exist_is_found() -> None:
    table = "| Key | Does |\n| --- | --- |\n| `j` `esc`, `Q` | x |\n| `d t` | `never` |\n\n| a |\n| --- |\n| `Q` |\n"
    assert list(pages.unknown_keys(table, KEYS)) == ["Q"]


def test_the_readmes_commands_are_the_ones_that_are_checked() -> None:
    install, test = (line for line in pages.shell_lines(README) if line.startswith("python3 -m pip install"))
    assert install == "python3 -m pip install . && memtui demo"
    assert test == "python3 -m pip install '.[test]' && python3 -m pytest"
    for part in test.split(" && "):
        assert re.search(rf"(?m)^(check \"[\w ]+\" )?{re.escape(part)}( |$)", CI), part


def test_the_readme_shows_the_workbench_and_a_conflict() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures == ["screenshots/workbench-120x40.svg", "screenshots/conflict-120x40.svg"]
    assert all((ROOT / picture).stat().st_size > 5_000 for picture in pictures)


def test_the_changelog_has_a_place_for_the_next_change() -> None:
    headings = re.findall(r"^## (.+)$", page("changelog.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", heading) for heading in headings[1:])


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A page with one of everything that is wrong."""
    found = tmp_path / "bad.md"
    found.write_text(
        "# A head\n[a](gone.md) [b](#nowhere) [c](#a-head) [d](https://example.invalid/)\n"
        "`engine/gone.py` `memtui/errors.py` `memtui fly` `memtui ls --wings`\n"
        "```sh\nmemtui --ascii ls --json  # fine\nX=1 memtui swim && memtui view a/b\n```\n"
        "## T\n| a | b |\n| --- | --- |\n| 1 | x \\| y |\n## U\n| 2 |\n"
    )
    return found


def test_what_is_wrong_with_a_page_is_found(bad: Path) -> None:
    text = bad.read_text()
    assert list(pages.dead_links(bad)) == ["bad.md: gone.md", "bad.md: #nowhere"]
    assert list(pages.missing_files(bad, ROOT)) == ["bad.md: engine/gone.py"]
    found = list(pages.unknown_commands(text, COMMANDS, OPTIONS))
    assert found == ["X=1 memtui swim", "memtui fly", "memtui ls --wings"]
    assert pages.table_rows(text, "T") == [["1", "x | y"]]


def test_the_examples_in_the_help_are_commands() -> None:
    examples = "```sh\n" + "\n".join(line for verb in VERBS for line, _ in verb.examples) + "\n```\n"
    assert examples.count("memtui ") >= len(VERBS)
    assert not list(pages.unknown_commands(examples, COMMANDS, OPTIONS))
