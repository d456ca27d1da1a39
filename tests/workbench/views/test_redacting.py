"""What redacting is said to do, before it is done."""

from __future__ import annotations

from memtui.engine.model import Address, Version
from memtui.workbench.views.history_rows import Facts, Past, time_line
from memtui.workbench.views.redacting import WORD, explanation

HERE = Address("notes", "a.md")


def past(*shas: str) -> Past:
    versions = [Version(sha * 64, 3, "tui", 10 - number, "modified") for number, sha in enumerate(shas)]
    return Past(HERE, time_line(HERE, Facts(versions, current="c" * 64, seen=None)), "c" * 64)


def test_it_says_what_goes_what_stays_and_how_to_stop() -> None:
    said = " ".join(explanation(past("c", "a"), past("c", "a").entries[1]))
    for words in (
        "Redact version 1 of notes/a.md?",
        "cannot be undone",
        "Its record stays",
        f"Type {WORD}",
        "esc leaves",
    ):
        assert words in said
    assert "same text" not in said


def test_other_versions_with_the_same_text_are_counted() -> None:
    found = past("c", "a", "b", "a", "a")
    assert "2 other versions of the same text: it is cleared there too." in explanation(found, found.entries[1])
