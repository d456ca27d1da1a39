"""What a layout says about single files: the first pattern that fits counts."""

from memtui.engine.model import Policy

POLICY = Policy(
    entries=(("MEMORY.md", "hermes"), ("notes/", "plain"), ("*.txt", "goose")),
    shown_chars=(("MEMORY.md", 2_200), ("*.md", 9_000)),
)


def test_the_first_pattern_that_fits_says_the_format() -> None:
    found = {path: POLICY.format_of(path) for path in ("MEMORY.md", "notes/a.txt", "a.txt", "b/c.txt", "a.md", "notes")}
    assert found == {
        "MEMORY.md": "hermes",
        "notes/a.txt": "plain",
        "a.txt": "goose",
        "b/c.txt": "goose",
        "a.md": None,
        "notes": None,
    }


def test_the_first_pattern_that_fits_says_the_limit() -> None:
    assert [POLICY.limit_of(path) for path in ("MEMORY.md", "x.md", "x.txt")] == [2_200, 9_000, None]
    assert Policy().limit_of("MEMORY.md") is None
    assert Policy().format_of("MEMORY.md") is None


def test_an_index_is_where_its_layout_has_one() -> None:
    paths = ("MEMORY.md", "a/MEMORY.md", "a/b/MEMORY.md", "a/b.md")
    found = {
        wanted: [path for path in paths if Policy(index_file=wanted).is_index(path)]
        for wanted in (None, "MEMORY.md", "*/MEMORY.md", "**/MEMORY.md")
    }
    assert found == {
        None: [],
        "MEMORY.md": ["MEMORY.md"],
        "*/MEMORY.md": ["a/MEMORY.md"],
        "**/MEMORY.md": ["MEMORY.md", "a/MEMORY.md", "a/b/MEMORY.md"],
    }
