"""Every theme of ours can be read, and NO_COLOR never ends in black on black."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from memtui.config.settings import Settings
from memtui.ui.draw import paint
from memtui.ui.draw.paint import (
    DEFAULT,
    GROUNDS,
    LEAST_CONTRAST,
    LEAST_RULE,
    MONOCHROME,
    THEMES,
    Paint,
    choose,
    contrast,
)
from tests.workbench.shown import DIRECTORIES, shown

KNOWN = frozenset(theme.name for theme in THEMES)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_ink_can_be_read(theme: Theme) -> None:
    back = Color.parse(theme.background or "")
    inks = {name: getattr(theme, name) for name in ("foreground", "accent", "error", "warning", "success")}
    inks["primary-lighten"] = theme.variables["primary-lighten"]
    low = {name: round(contrast(Color.parse(ink), back), 2) for name, ink in inks.items()}
    assert all(ratio >= 4.5 for ratio in low.values()), low


@pytest.mark.parametrize(
    "theme", [*THEMES, *(one for one in BUILTIN_THEMES.values() if not one.ansi)], ids=lambda theme: theme.name
)
def test_every_style_can_be_read_on_every_ground(theme: Theme) -> None:
    paint = Paint({**theme.to_color_system().generate(), **theme.variables})
    low = {}
    for name in paint._styles:
        for ground in GROUNDS:
            style = paint.style(name, ground)
            assert style.color is not None
            assert style.bgcolor is not None
            ratio = contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))
            if ratio < (LEAST_RULE if name == "rule" else LEAST_CONTRAST):
                low[name, ground] = round(ratio, 2)
    assert not low


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color(119, 119, 119), Color(255, 255, 255)) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", ["memtui-contrast", "memtui-contrast-light"])
def test_high_contrast_is_high(name: str) -> None:
    theme = next(theme for theme in THEMES if theme.name == name)
    assert contrast(Color.parse(theme.foreground or ""), Color.parse(theme.background or "")) >= 15


def test_colour_blind_themes_do_not_set_red_against_green() -> None:
    for theme in (theme for theme in THEMES if "blue-orange" in theme.name):
        good, bad = Color.parse(theme.success or ""), Color.parse(theme.error or "")
        assert good.b > good.g > good.r
        assert bad.r > bad.g > bad.b


def test_no_color_forces_the_monochrome_one() -> None:
    assert choose("textual-ansi", no_color=True, known=KNOWN) == (MONOCHROME, "")


def test_auto_is_ours_and_unknown_is_said() -> None:
    assert choose("auto", no_color=False, known=KNOWN) == (DEFAULT, "")
    name, problem = choose("nice", no_color=False, known=KNOWN)
    assert name == DEFAULT
    assert "'nice'" in problem


def test_a_known_one_is_used() -> None:
    assert choose("memtui-light", no_color=False, known=KNOWN) == ("memtui-light", "")


def settings(theme: str = "auto", origin: str = "default") -> Settings:
    return Settings(DIRECTORIES, "/home/ann", theme=theme, origins=(("theme", origin),))


def test_what_was_chosen_is_there_at_the_next_start_unless_it_is_set_otherwise_since() -> None:
    kept = paint.stored_choice("memtui-light", settings())
    assert paint.at_start(settings(), kept) == "memtui-light"
    assert paint.at_start(settings("memtui-contrast", "config.toml, line 2"), kept) == "memtui-contrast"
    assert paint.at_start(settings("auto", "--theme"), kept) == "auto"
    assert paint.at_start(settings("memtui-mono", "MEMTUI_THEME"), kept) == "memtui-mono"
    over = paint.stored_choice("memtui-light", settings("memtui-contrast", "config.toml, line 2"))
    assert paint.at_start(settings("memtui-contrast", "config.toml, line 9"), over) == "memtui-light"


@pytest.mark.parametrize("found", [None, [], "x", {}, {"theme": 3, "instead": "auto"}, {"theme": "memtui-light"}])
def test_nonsense_that_was_kept_is_no_theme(found: object) -> None:
    assert paint.at_start(settings(), found) == "auto"


async def test_the_theme_that_is_chosen_is_kept() -> None:
    async with shown(read_only=True) as screen:
        await screen.press("T")
        await screen.type("memtui-light")
        await screen.press("enter")
        await screen.until_text("--read-only keeps nothing")
        assert screen.engine.engine.places.load(paint.STORED_AS).value is None
    async with shown() as screen:
        await screen.press("T")
        await screen.type("memtui-light")
        await screen.press("enter")
        await screen.until_text("Theme memtui-light, at the next start too.")
        engine = screen.engine
    async with shown(engine, kept_theme=engine.engine.places.load(paint.STORED_AS).value) as screen:
        assert screen.app.theme == "memtui-light"
