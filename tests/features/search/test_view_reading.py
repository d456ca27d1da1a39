"""What a hit shows beside the list."""

from memtui.engine.model import Address, Hit, Memory
from memtui.features.search.view import hit_page
from memtui.matching import parse
from memtui.ui.draw.pages import Page
from tests.workbench.memories import Memories

A = "memtui:global/a.md"


def marks(page: Page) -> list[str]:
    return [text for line in page for text, style in line.runs if style == "match"]


def hit(engine: Memories) -> Hit:
    row: Memory = engine.rows[Address.parse(A)]
    return Hit(row, "body", 2, "x")


def test_a_memory_is_shown_with_every_place_marked() -> None:
    engine = Memories({A: "\ufeffone\nuse Tabs,\ntabs and tabs\n"})
    found = hit_page(engine.engine, hit(engine), parse("tabs"), 60)
    assert marks(found.page) == ["Tabs", "tabs", "tabs"]
    assert found.lines == (2, 3)


def test_an_old_version_is_shown_as_it_was() -> None:
    engine = Memories()
    engine.save(A, "old tabs\n", "new text\n")
    version = engine.versions(A)[1]
    found = hit_page(engine.engine, hit(engine)._replace(version=version), parse("tabs"), 60)
    assert marks(found.page) == ["tabs"]


def test_what_cannot_be_read_says_why() -> None:
    engine = Memories({A: "x"})
    went = hit(engine)
    engine.path(went.memory.address).unlink()
    found = hit_page(engine.engine, went, parse("x"), 60)
    assert "There is no memory" in "".join(text for line in found.page for text, _ in line.runs)
    assert found.lines == ()


def test_a_text_that_is_too_large_to_show_says_so() -> None:
    engine = Memories({A: "tabs\n" * 300_000})
    found = hit_page(engine.engine, hit(engine), parse("tabs"), 60)
    assert "memtui reads up to" in "".join(text for line in found.page for text, _ in line.runs)
