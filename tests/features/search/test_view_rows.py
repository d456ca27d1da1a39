"""The rows of a search: grouped by root, marked, and as wide as there is room."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Hit, Memory, Root, SearchResult, Version
from memtui.features.search.view import hit_page
from memtui.features.search.view_rows import (
    HitGroup,
    More,
    Sources,
    count_line,
    hit_runs,
    items_of,
    label_of,
    name_room,
    nothing_lines,
    state_line,
)
from memtui.matching import parse, typed
from memtui.safe_text import cell_width
from memtui.ui.draw.text import Line, RowStyle
from tests.workbench.memories import Memories

LOOK = RowStyle(1_000_000)


def hit(root: str, path: str = "a.md", snippet: str = "the tabs here", **more: object) -> Hit:
    row = Memory(Address(root, path), "global", "files", 1, 0, "0" * 64)
    return Hit(row, "body", 12, snippet, 5, ((4, 8),))._replace(**more)  # type: ignore[arg-type]


def text(runs: list[tuple[str, str]]) -> str:
    return "".join(part for part, _ in runs)


def test_hits_are_grouped_in_the_order_of_their_best_ones() -> None:
    hits = (hit("b", "1"), hit("a", "2"), hit("b", "3"))
    found = SearchResult(hits, 10, (("a", 4), ("b", 6)))
    items = items_of(found, str.upper)
    assert items == (HitGroup("b", "B", 2, 6), hits[0], hits[2], HitGroup("a", "A", 1, 4), hits[1], More(7))
    assert items_of(found._replace(complete=False), str.upper)[-1] == hits[1]
    assert items_of(SearchResult((), 0), str) == ()


def test_a_root_is_named_as_a_person_does() -> None:
    names = {"project": "acme-api"}
    assert label_of(Root("memtui:project", "/x", "memtui", "project", "memtui"), names) == "PROJECT acme-api"
    assert label_of(Root("q:global", "/x", "q", "global", "Qwen Code memory"), names) == "GLOBAL Qwen Code memory"
    assert label_of(Root("notes", "/x"), names) == "GLOBAL notes"
    assert label_of(None, names) == "elsewhere"


def test_a_hit_says_where_and_what_with_its_marks() -> None:
    runs = hit_runs(hit("r", "notes/tabs.md"), typed("tabs"), 60, 20, LOOK)
    assert [part for part, style in runs if style == "match"] == ["tabs", "tabs"]
    assert text(runs).split() == ["notes/tabs.md", "12", "the", "tabs", "here"]
    about = hit("r")._replace(field="name", line=None, marks=())
    about = about._replace(memory=about.memory._replace(description="all about tabs"))
    assert text(hit_runs(about, typed("tabs"), 60, 20, LOOK)).split() == ["a.md", "all", "about", "tabs"]


def test_an_old_version_says_which_one() -> None:
    version = Version("ab" * 32, 1, "cli", 1_000_000 - 7_200_000, "modified")
    assert "old abababab 2h the tabs" in text(hit_runs(hit("r", version=version), typed("tabs"), 70, 12, LOOK))
    gone = hit("r", version=version)
    gone = gone._replace(memory=gone.memory._replace(missing=True))
    runs = hit_runs(gone, typed("tabs"), 70, 12, LOOK)
    assert "gone abababab" in text(runs)
    assert runs[0] == ("a.md", "missing")


@given(
    st.text("ab日\u200b\x1b[]/ ", max_size=80),
    st.text("ab日\u202e\x07[bold] ", max_size=200),
    st.integers(24, 160),
    st.booleans(),
)
def test_a_row_is_never_wider_than_its_room_and_holds_no_control(
    path: str, snippet: str, width: int, plain: bool
) -> None:
    query = typed("a b")
    assert query is not None
    one = hit("r", path, snippet, marks=tuple(query.spans(snippet)))
    room = name_room((one,), width)
    runs = hit_runs(one, query, width, room, RowStyle(0, plain))
    assert cell_width(text(runs)) <= max(width, room + 15)
    assert all(letter.isprintable() for letter in text(runs))
    assert 12 <= room <= max(width * 2 // 5, 12)


def test_every_place_is_marked_in_a_memory_and_in_an_old_version() -> None:
    engine = Memories()
    engine.save("memtui:global/a.md", "\ufeffone\nuse Tabs,\ntabs and tabs\n", "two tabs\n")
    found = hit("memtui:global")
    for one, lines, marked in (
        (found, (1,), ["tabs"]),
        (found._replace(version=engine.versions("memtui:global/a.md")[1]), (2, 3), ["Tabs", "tabs", "tabs"]),
    ):
        page = hit_page(engine.engine, one, parse("tabs"), 60)
        assert page.lines == lines
        assert [part for line in page.page for part, style in line.runs if style == "match"] == marked


def test_a_text_that_cannot_be_shown_says_why() -> None:
    engine = Memories({"memtui:global/a.md": "tabs\n" * 300_000})
    found = hit("memtui:global")
    for said in ("memtui reads up to", "There is no memory"):
        page = hit_page(engine.engine, found, parse("tabs"), 60)
        assert said in "".join(part for line in page.page for part, _ in line.runs)
        engine.path(found.memory.address).unlink(missing_ok=True)


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
