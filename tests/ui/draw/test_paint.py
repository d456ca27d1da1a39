"""Styles by name: every name is known on every ground, in every theme, and nothing hostile passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from memtui.safe_text import cell_width, visible
from memtui.ui.draw.paint import GROUNDS, THEMES, Paint, contrast, in_ascii, readable


def paint_of(theme: Theme) -> Paint:
    return Paint(theme.to_color_system().generate() | theme.variables)


@pytest.mark.parametrize(
    "theme", [*THEMES, *(one for one in BUILTIN_THEMES.values() if not one.ansi)], ids=lambda theme: theme.name
)
def test_every_style_can_be_drawn_on_every_ground(theme: Theme) -> None:
    paint = paint_of(theme)
    for name in paint._styles:
        for ground in GROUNDS:
            style = paint.style(name, ground)
            assert style.color is None or style.color != style.bgcolor


def test_a_theme_that_leaves_colours_to_the_terminal_uses_none() -> None:
    paint = Paint({}, ansi=True)
    assert set(paint._styles) >= set(paint_of(THEMES[0])._styles)
    assert all(paint.style(name).color is None for name in paint._styles)


def test_a_line_is_exactly_as_wide_as_asked_and_safe() -> None:
    strip = paint_of(THEMES[0]).strip([("a\x1b[2Jb\x07", "name"), ("日本", "dim")], 30)
    assert strip.cell_length == 30
    assert "\x1b" not in strip.text
    assert "\x07" not in strip.text


def test_neighbours_of_one_style_are_one_segment() -> None:
    strip = paint_of(THEMES[0]).strip([("a", "name"), ("  ", "dim"), ("b", "name")], 4)
    assert len(list(strip)) == 1


@given(st.tuples(*[st.integers(0, 255)] * 3), st.tuples(*[st.integers(0, 255)] * 3))
def test_any_ink_can_be_read_on_anything(ink: tuple[int, int, int], behind: tuple[int, int, int]) -> None:
    made = readable(Color(*ink), Color(*behind), 4.5)
    assert contrast(made, Color(*behind)) >= 4.5
    if contrast(Color(*ink), Color(*behind)) >= 4.5:
        assert made == Color(*ink)


@given(st.text(max_size=12))
def test_ascii_is_ascii_cell_by_cell(text: str) -> None:
    safe = visible(text)
    plain = in_ascii(safe)
    assert plain.isascii()
    joined = any(cell_width(one) == 0 for one in safe) or cell_width(safe) != sum(map(cell_width, safe))
    assert cell_width(plain) == cell_width(safe) or joined
    assert in_ascii("a… ─▾") == "a~ -v"
