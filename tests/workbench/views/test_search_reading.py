"""What a hit shows beside the list."""

from memtui.engine.model import Address, Hit, Memory
from memtui.errors import NotFoundError
from memtui.matching import parse
from memtui.ui.draw.pages import Page
from memtui.workbench.views.search_reading import beside
from tests.workbench.fake_engine import FakeEngine

A = "memtui:global/a.md"


def marks(page: Page) -> list[str]:
    return [text for line in page for text, style in line.runs if style == "match"]


def hit(engine: FakeEngine) -> Hit:
    row: Memory = engine.rows[Address.parse(A)]
    return Hit(row, "body", 2, "x")


def test_a_memory_is_shown_with_every_place_marked() -> None:
    engine = FakeEngine({A: "\ufeffone\nuse Tabs,\ntabs and tabs\n"})
    found = beside(engine, hit(engine), parse("tabs"), 60)
    assert marks(found.page) == ["Tabs", "tabs", "tabs"]
    assert found.lines == (2, 3)


def test_an_old_version_is_shown_as_it_was() -> None:
    engine = FakeEngine({A: "old tabs\n"})
    version = engine.versions[Address.parse(A)][0]
    engine.put(A, "new text\n")
    found = beside(engine, hit(engine)._replace(version=version), parse("tabs"), 60)
    assert marks(found.page) == ["tabs"]


def test_what_cannot_be_read_says_why() -> None:
    engine = FakeEngine({A: "x"})
    engine.failing["read"] = NotFoundError("It went.", hint="Look again.")
    found = beside(engine, hit(engine), parse("x"), 60)
    assert "It went." in "".join(text for line in found.page for text, _ in line.runs)
    assert found.lines == ()


def test_a_text_that_is_too_large_to_show_says_so() -> None:
    engine = FakeEngine({A: "tabs\n" * 300_000})
    found = beside(engine, hit(engine), parse("tabs"), 60)
    assert "Too large" in "".join(text for line in found.page for text, _ in line.runs)
