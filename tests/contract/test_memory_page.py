"""`docs/memory-tool.md` says what the tool does: its tables are compared with the code and the contract's calls."""

import re

import pytest

from memtui.features.tools.verbs import LONGEST
from memtui.memory_tool import call, scoped
from memtui.memory_tool.call import ALIASES, COMMANDS, NUMBERS, OPTIONAL, PATH_ALIASES, REQUIRED, TEXTS, read_request
from tests.contract.memory_calls import CASES
from tests.house import pages
from tests.house.source import ROOT

PAGE = (ROOT / "docs" / "memory-tool.md").read_text("utf-8")
ELSEWHERE = (
    "is read-only for",
    "is unavailable",
    "escapes the",
    "UTF-8 text file",
    "exceeds the",
    "is full",
    "failed:",
)
"""Refusals that take more than calls to bring about; `tests/memory_tool/test_scoped.py` does."""


def named(cell: str) -> list[str]:
    """The names in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def pattern(sentence: str) -> re.Pattern[str]:
    """A sentence with places for what differs."""
    return re.compile(
        "".join(".*" if n % 2 else re.escape(part) for n, part in enumerate(re.split(r"(<[\w]+>)", sentence)))
    )


def test_the_commands() -> None:
    rows = {named(row[0])[0]: row for row in pages.table_rows(PAGE, "Commands")}
    assert tuple(rows) == COMMANDS
    for command, row in rows.items():
        assert named(row[1]) == list(REQUIRED[command])
        assert named(row[2]) == list(OPTIONAL.get(command, ()))
        if command != "view":
            (answer,) = named(row[3])
            texts = [case.text for case in CASES if case.ok and case.call["command"] == command]
            assert texts
            assert all(pattern(answer.replace("/memories/<scope>/", "")).fullmatch(text) for text in texts)


def test_the_other_names() -> None:
    rows = pages.table_rows(PAGE, "Other names")
    written = [name for row in rows for name in named(row[0])]
    assert written == [*PATH_ALIASES, *ALIASES, "new_str", "insert", "path", "rename", "view_range"]
    for alias, field in [(alias, named(row[1])[0]) for row in rows for alias in named(row[0])[:1]]:
        if alias in ("path", "view_range") or field == "insert_text":
            continue
        others = {name: 1 if name in NUMBERS else "x" for name in ("path", "file_text", "old_str", "insert_line")}
        call = {"command": "create" if field in ("path", "file_text") else "str_replace", **others, alias: "seen"}
        assert getattr(read_request({k: v for k, v in call.items() if k != field}), field) == "seen"


def test_the_limits() -> None:
    numbers = [int(row[1].replace(",", "")) for row in pages.table_rows(PAGE, "Limits")]
    assert numbers == [call.MAX_BYTES, call.MAX_FILES, scoped.NAMES, LONGEST]


REFUSALS = [named(row[0])[0] for row in pages.table_rows(PAGE, "Refusals")]


@pytest.mark.parametrize("case", [case for case in CASES if not case.ok], ids=lambda case: case.name)
def test_each_refusal_is_on_the_page(case: object) -> None:
    text = getattr(case, "text", "")
    found = [
        sentence
        for sentence in REFUSALS
        if pattern(sentence).fullmatch(text)
        or pattern(sentence.replace("A file", "A directory")).fullmatch(text)
        or pattern(sentence.replace("offset must", "limit must")).fullmatch(text)
    ]
    assert found, text


@pytest.mark.parametrize("sentence", REFUSALS)
def test_each_sentence_on_the_page_is_said(sentence: str) -> None:
    if any(part in sentence for part in ELSEWHERE):
        return
    assert any(pattern(sentence).fullmatch(case.text) for case in CASES if not case.ok)


def test_every_field_is_on_the_page() -> None:
    assert [name for name in (*TEXTS, *NUMBERS) if f"`{name}`" not in PAGE] == []
