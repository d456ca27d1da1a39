"""What the search says beside its hits."""

from memtui.engine.model import Address, Hit, Memory, SearchResult, Version
from memtui.features.search.view_rows import (
    Sources,
    count_line,
    nothing_lines,
    page_title,
    state_line,
)
from memtui.matching import typed
from memtui.ui.draw.spans import Line

ROW = Memory(Address("r", "a.md"), "global", "files", 1, 0, "0" * 64)
HIT = Hit(ROW, "body", 1, "x", places=2)
KEYS = {"search_texts": "f6", "search_versions": "f7", "search_projects": "f8"}


def words(line: Line) -> str:
    return "".join(text for text, _ in line).strip()


def test_how_much_was_found() -> None:
    assert words(count_line(None, searching=False)) == ""
    assert words(count_line(SearchResult((), 0), searching=False)) == "0 hits"
    assert words(count_line(SearchResult((HIT,), 1), searching=False)) == "1 hit"
    assert words(count_line(SearchResult((HIT,), 5_000), searching=True)) == "searching... 1 of 5,000 hits"


def test_what_is_looked_in() -> None:
    said = words(state_line(Sources(), typed("blue -red"), KEYS.__getitem__, 100))
    assert said.startswith("f6 [x] texts  f7 [ ] old versions  f8 [ ] every project")
    assert said.endswith("without red")
    said = words(state_line(Sources(bodies=False, versions=True, everywhere=True), None, KEYS.__getitem__, 60))
    assert said == "f6 [ ] texts  f7 [x] old versions  f8 [x] every project"
    said = words(state_line(Sources(), None, lambda id_: "" if id_ == "search_projects" else KEYS[id_], 80))
    assert said == "f6 [x] texts  f7 [ ] old versions"


def test_what_to_try() -> None:
    assert "f7 looks into old versions" in "\n".join(map(words, nothing_lines(Sources(), KEYS.__getitem__)))
    everything = Sources(bodies=True, versions=True, everywhere=True)
    assert [words(line) for line in nothing_lines(everything, KEYS.__getitem__)] == ["", "Nothing holds these words."]
    off = nothing_lines(Sources(), lambda id_: "" if id_ == "search_projects" else KEYS[id_])
    assert "every project" not in "\n".join(map(words, off))


def test_the_title_of_the_text() -> None:
    assert page_title(None) == ("Text", [])
    assert page_title(HIT) == ("r/a.md", [("2 places", "title")])
    old = HIT._replace(version=Version("ab" * 32, 1, "cli", 0, "modified"), places=0)
    assert page_title(old) == ("r/a.md version abababab", [])
