"""A picture shows what the screen shows: characters, colours and styles, and is well-formed XML."""

from xml.etree import ElementTree

import pyte

from screenshots.svg import BACKGROUND, FOREGROUND, picture

SVG = "{http://www.w3.org/2000/svg}"


def drawn(data: str) -> ElementTree.Element:
    screen = pyte.Screen(12, 3)
    pyte.Stream(screen).feed(data)
    return ElementTree.fromstring(picture(screen, "a & b"))


def look(found: ElementTree.Element, words: str) -> str:
    """The rule of the style sheet that a word follows."""
    (name,) = (text.get("class") for text in found.iter(f"{SVG}text") if text.text == words)
    return (found.findtext(f"{SVG}style") or "").partition(f".{name}{{")[2].partition("}")[0]


def test_text_keeps_its_place_and_colours() -> None:
    found = drawn("\x1b[2;3H\x1b[38;2;1;2;3m\x1b[48;2;9;8;7m\x1b[1m<a>\x1b[0m plain")
    texts = {text.text: text.attrib for text in found.iter(f"{SVG}text")}
    assert look(found, "<a>") == "fill:#010203;font-weight:bold"
    assert look(found, "plain") == f"fill:{FOREGROUND}"
    assert texts["<a>"]["x"] == "26.8"
    assert texts["<a>"]["y"] == "39.8"
    assert "#090807" in [rect.get("fill") for rect in found.iter(f"{SVG}rect")]
    assert texts["plain"]["x"] == "60.4"
    assert texts["plain"]["textLength"] == "42.0"
    assert found.findtext(f"{SVG}title") == "a & b"


def test_reverse_swaps_the_colours() -> None:
    found = drawn("\x1b[7mx")
    assert look(found, "x") == f"fill:{BACKGROUND}"
    assert FOREGROUND in [rect.get("fill") for rect in found.iter(f"{SVG}rect")]
