"""A terminal's screen as a picture: plain SVG that needs no font file, no script and no other host."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

import pyte

CELL_WIDTH, CELL_HEIGHT, BASELINE, MARGIN = 8.4, 17.0, 12.8, 10.0
"""Pixels, for a monospace font of 14 px."""

BACKGROUND, FOREGROUND = "#121212", "#e0e0e0"
"""What a cell without colours of its own gets."""

NAMED = {
    "black": "#000000",
    "red": "#cd3131",
    "green": "#0dbc79",
    "brown": "#e5e510",
    "yellow": "#e5e510",
    "blue": "#2472c8",
    "magenta": "#bc3fbc",
    "cyan": "#11a8cd",
    "white": "#e5e5e5",
    "brightblack": "#666666",
    "brightred": "#f14c4c",
    "brightgreen": "#23d18b",
    "brightbrown": "#f5f543",
    "brightyellow": "#f5f543",
    "brightblue": "#3b8eea",
    "brightmagenta": "#d670d6",
    "brightcyan": "#29b8db",
    "brightwhite": "#ffffff",
}


class Look(NamedTuple):
    """How one cell is drawn."""

    ink: str
    paper: str
    bold: bool
    italic: bool
    underlined: bool


class Looks:
    """The looks of one picture as rules of a style sheet: said once instead of at every word."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, look: Look) -> str:
        """The class of a look."""
        words = (
            (True, f"fill:{look.ink}"),
            (look.bold, "font-weight:bold"),
            (look.italic, "font-style:italic"),
            (look.underlined, "text-decoration:underline"),
        )
        rule = ";".join(said for wanted, said in words if wanted)
        return self._names.setdefault(rule, f"l{len(self._names)}")

    def rules(self) -> str:
        """The style sheet."""
        return "".join(f".{name}{{{rule}}}" for rule, name in self._names.items())


def picture(screen: pyte.Screen, title: str) -> str:
    """Draw a screen.

    Args:
        screen: what the program left on it.
        title: what somebody who cannot see the picture is told.
    """
    width = screen.columns * CELL_WIDTH + 2 * MARGIN
    height = screen.lines * CELL_HEIGHT + 2 * MARGIN
    looks = Looks()
    body = [line for row in range(screen.lines) for line in _row(screen, row, looks)]
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img">'
        ),
        f"<title>{escape(title)}</title>",
        f"<style>text{{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}}{looks.rules()}</style>",
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
    ]
    return "\n".join([*parts, *body, "</svg>", ""])


def _row(screen: pyte.Screen, row: int, looks: Looks) -> Iterator[str]:
    cells = [
        (column, char, _look(char)) for column, char in ((n, screen.buffer[row][n]) for n in range(screen.columns))
    ]
    top = MARGIN + row * CELL_HEIGHT
    # Of blanks only the paper is seen: with which ink they were drawn depends on what was there before.
    for paper, run in groupby(cells, key=lambda cell: cell[2].paper):
        columns = [column for column, _, _ in run]
        if paper != BACKGROUND:
            # Half a pixel more on each side, so that neighbours of one colour show no seam.
            yield (
                f'<rect x="{MARGIN + columns[0] * CELL_WIDTH:.1f}" y="{top:.1f}" '
                f'width="{len(columns) * CELL_WIDTH + 0.5:.1f}" height="{CELL_HEIGHT + 0.5:.1f}" fill="{paper}"/>'
            )
    # Each word says where it is and how wide, so that another font or its spaces shift nothing.
    for look, word in groupby(cells, key=lambda cell: None if cell[1].data == " " else cell[2]):
        if look is None:
            continue
        placed = list(word)
        text = escape("".join(char.data for _, char, _ in placed))
        yield (
            f'<text class="{looks.name(look)}" x="{MARGIN + placed[0][0] * CELL_WIDTH:.1f}" y="{top + BASELINE:.1f}" '
            f'textLength="{len(placed) * CELL_WIDTH:.1f}">{text}</text>'
        )


def _look(char: "pyte.screens.Char") -> Look:
    ink, paper = _colour(char.fg, FOREGROUND), _colour(char.bg, BACKGROUND)
    if char.reverse:
        ink, paper = paper, ink
    return Look(ink, paper, char.bold, char.italics, char.underscore)


def _colour(name: str, default: str) -> str:
    return default if name == "default" else NAMED.get(name, f"#{name}")
