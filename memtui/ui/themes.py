"""memtui's own themes: a plain pair, high contrast, safe for colour-blind eyes, and monochrome.

Textual's themes can be chosen too. With NO_COLOR only the monochrome one is used, because a theme that leaves colours
to the terminal is drawn black on black there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.theme import Theme

from memtui.matching import slips

if TYPE_CHECKING:
    from memtui.config.settings import Settings

DEFAULT, LIGHT = "memtui", "memtui-light"
MONOCHROME = "memtui-mono"


def _theme(name: str, colours: str, *, dark: bool = True) -> Theme:
    """Make a theme from: background, foreground, primary, brighter primary, accent, error, warning, success."""
    back, front, primary, light, accent, error, warning, success = colours.split()
    return Theme(
        name=name,
        dark=dark,
        primary=primary,
        secondary=primary,
        accent=accent,
        error=error,
        warning=warning,
        success=success,
        foreground=front,
        background=back,
        surface=back,
        panel=back,
        variables={"primary-lighten": light, "block-cursor-text-style": "bold"},
    )


THEMES = (
    _theme("memtui", "#16181d #d6d9e0 #3d6fb4 #86b2ee #f2b155 #f2777a #e6c35c #8fc07a"),
    _theme("memtui-light", "#fbfbf8 #22252b #2a62ad #1f4f91 #9a5b00 #b3261e #7d5a00 #2f6b2f", dark=False),
    _theme("memtui-contrast", "#000000 #ffffff #0060d0 #7fc4ff #ffd700 #ff6b6b #ffee58 #5dff8f"),
    _theme("memtui-contrast-light", "#ffffff #000000 #003f9e #002f7a #5c3600 #a00000 #4f3d00 #004d1a", dark=False),
    _theme("memtui-blue-orange", "#16181d #d6d9e0 #2f6db5 #7fb8ff #ffb454 #ff9e3d #f0d060 #5aa9ff"),
    _theme("memtui-blue-orange-light", "#fbfbf8 #22252b #1f5fae #174f95 #8a4b00 #a34f00 #6f5600 #0b57b0", dark=False),
    _theme("memtui-mono", "#101010 #dddddd #707070 #ffffff #ffffff #ffffff #e0e0e0 #cccccc"),
)
"""Every theme of ours; a test checks the contrast of each colour on its background."""


STORED_AS = "theme of the workbench"


def stored_choice(chosen: str, settings: Settings) -> dict[str, str]:
    """Return what is stored of a choice: the theme, and the setting it replaced."""
    return {"theme": chosen, "instead": settings.theme}


def at_start(settings: Settings, found: object) -> str:
    """Return the theme to start with: the stored choice, unless a setting overrides it or changed since."""
    chosen = found.get("theme") if isinstance(found, dict) else None
    given = not settings.origin("theme").startswith(("default", "config.toml"))
    if given or not isinstance(chosen, str) or not isinstance(found, dict) or found.get("instead") != settings.theme:
        return settings.theme
    return chosen


def follows_terminal(settings: Settings, found: object) -> bool:
    """Whether the terminal's background decides: no theme was chosen, and there are colours."""
    return not settings.terminal.no_color and at_start(settings, found) in ("", "auto")


def choose(wanted: str, *, no_color: bool, known: frozenset[str], light: bool | None = None) -> tuple[str, str]:
    """Choose the theme.

    Args:
        wanted: the setting; `auto` is ours.
        no_color: whether NO_COLOR is set.
        known: the available names.
        light: whether the terminal's background is light; None: unknown.

    Returns:
        The name, and one sentence when it is not the one asked for.
    """
    if no_color:
        return MONOCHROME, ""
    if wanted in ("", "auto"):
        return LIGHT if light else DEFAULT, ""
    if wanted in known:
        return wanted, ""
    near = slips(wanted, sorted(known))
    return DEFAULT, f"There is no theme {wanted!r}; {DEFAULT} is used.{f' Did you mean {near[0]}?' if near else ''}"
