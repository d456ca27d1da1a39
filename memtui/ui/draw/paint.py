"""Themes, and the styles of runs in them, made once per theme; component classes would slow down the start.

Besides our own themes (a plain pair, high contrast, safe for colour-blind eyes, monochrome) Textual's can be chosen.
With NO_COLOR only the monochrome one is used, because a theme that leaves colours to the terminal is drawn black on
black there. The last check before the terminal is here: every run is made safe again, so that no control byte or secret
gets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from textual.theme import Theme

from memtui.matching import slips
from memtui.safe_text import cell_width, steady, visible
from memtui.ui.draw.text import INKED, Run

if TYPE_CHECKING:
    from memtui.config.settings import Settings


FAINT, SOFT = 0.45, 0.25
"""How far `dim` and `description` are blended into the background."""

NEAREST = {"…": "~", "─": "-", "│": "|", "▏": "|", "▐": "|", "▾": "v", "▸": ">", "·": "."}
"""Our own signs and their ASCII replacements."""

LEAST_CONTRAST, LEAST_RULE = 4.5, 3.0
"""Minimum contrast of text, and of lines that only separate."""

STEPS = 20

GROUNDS = ("", "cursor", "rest", "bar")
"""Backgrounds of a line: the screen, the cursor in the focused pane, the cursor elsewhere, a title."""


class Paint:
    """The styles of one theme."""

    def __init__(self, variables: Mapping[str, str], *, ansi: bool = False, plain: bool = False) -> None:
        """Take the app's `theme_variables`; `ansi`: colours are the terminal's, so only bold, dim and reverse are
        used."""
        self._plain = plain
        self._grounds = _ansi_grounds() if ansi else _grounds(variables)
        self._styles = _ansi_styles() if ansi else _styles(variables)
        self._made: dict[tuple[str, str], Style] = {}

    def style(self, name: str, ground: str = "") -> Style:
        found = self._made.get((name, ground))
        if found is None:
            found = self._grounds[ground] + self._styles.get(name, self._styles["name"])
            if found.color is not None and found.bgcolor is not None:
                least = LEAST_RULE if name == "rule" else LEAST_CONTRAST
                ink, behind = (Color.from_rich_color(color) for color in (found.color, found.bgcolor))
                found += Style(color=readable(ink, behind, least).rich_color)
            if ground == "cursor":
                found += Style(bold=True)
            self._made[name, ground] = found
        return found

    def strip(self, runs: Iterable[Run], width: int, ground: str = "", *, secrets: bool = False) -> Strip:
        """Draw runs on a ground, exactly `width` cells wide; `secrets`: do not mask, as while one is typed."""
        runs = tuple(runs)
        secrets = secrets or any(name == "caret" for _, name in runs)
        segments: list[Segment] = []
        text, style = "", self.style("name", ground)
        for part, name in runs:
            wanted = self.style(name, ground)
            if wanted is not style and (name in INKED or not part.isspace()):
                if text:
                    segments.append(Segment(text, style))
                text, style = "", wanted
            safe = visible(part, secrets=secrets)
            text += in_ascii(safe) if self._plain else steady(safe)
        segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(width, self.style("name", ground))


def in_ascii(text: str) -> str:
    """Replace each cell that is not ASCII by its nearest sign, or `?`."""
    if text.isascii():
        return text
    return "".join(one if one.isascii() else NEAREST.get(one) or "?" * cell_width(one) for one in text)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colours, from 1 to 21, as the accessibility guidelines define it."""
    high, low = sorted((_light(one), _light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _light(color: Color) -> float:
    parts = [part / 255 for part in (color.r, color.g, color.b)]
    r, g, b = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def readable(ink: Color, behind: Color, least: float) -> Color:
    """Return the ink, made lighter or darker until it can be read on `behind`."""
    if contrast(ink, behind) >= least:
        return ink
    end = max((Color(0, 0, 0), Color(255, 255, 255)), key=lambda color: contrast(color, behind))
    steps = (ink.blend(end, step / STEPS) for step in range(1, STEPS))
    return next((one for one in steps if contrast(one, behind) >= least), end)


def _grounds(variables: Mapping[str, str]) -> dict[str, Style]:
    back, front = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    primary = Color.parse(variables["primary"])
    return {
        "": _on(back),
        "cursor": _on(back.blend(primary, 0.45)),
        "rest": _on(back.blend(front, 0.14)),
        "bar": _on(back.blend(front, 0.07)),
    }


def _on(color: Color) -> Style:
    return Style(bgcolor=color.rich_color)


def _styles(variables: Mapping[str, str]) -> dict[str, Style]:
    back, front = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    front = back.blend(front, front.a).with_alpha(1)

    # A theme of Textual's own has no primary-lighten; its text-primary is the primary colour made to be read.
    variables = {"primary-lighten": variables["text-primary"], **variables}

    def ink(name: str) -> Style:
        return Style(color=Color.parse(variables[name]).rich_color)

    def faded(amount: float) -> Style:
        return Style(color=front.blend(back, amount).rich_color)

    plain = Style(color=front.rich_color)
    return {
        "name": plain,
        "description": faded(SOFT),
        "dim": faded(FAINT),
        "scope": ink("primary-lighten") + Style(bold=True),
        "folder": ink("primary-lighten"),
        "problem": ink("warning") + Style(italic=True),
        "missing": faded(FAINT) + Style(strike=True),
        "pin": ink("success"),
        "agent": ink("accent") + Style(bold=True),
        "conflict": ink("error") + Style(bold=True),
        "draft": ink("warning") + Style(bold=True),
        "mark": ink("accent") + Style(bold=True),
        "cursor": plain + Style(bold=True),
        "title": faded(SOFT),
        "title-focus": plain + Style(bold=True, reverse=True),
        "rule": front_rule(front, back),
        "strong": plain + Style(bold=True),
        "caret": plain + Style(reverse=True),
        "key": ink("primary-lighten") + Style(bold=True),
        "error": ink("error") + Style(bold=True),
        "warning": ink("warning") + Style(bold=True),
        "good": ink("success"),
        "heading": ink("primary-lighten") + Style(bold=True),
        "add": ink("success"),
        "del": ink("error"),
        "number": front_rule(front, back),
        "match": ink("accent") + Style(bold=True, underline=True),
    }


def front_rule(front: Color, back: Color) -> Style:
    """Return the faintest ink that can still be read, for rules and line numbers."""
    return Style(color=front.blend(back, 0.58).rich_color)


def _ansi_grounds() -> dict[str, Style]:
    return {"": Style(), "cursor": Style(reverse=True), "rest": Style(underline=True), "bar": Style()}


def _ansi_styles() -> dict[str, Style]:
    bold, dim, plain = Style(bold=True), Style(dim=True), Style()
    strong = ("scope", "agent", "conflict", "draft", "mark", "cursor", "strong", "key", "error", "warning", "heading")
    quiet = ("description", "dim", "rule", "number", "title")
    styles = dict.fromkeys(strong, bold) | dict.fromkeys(quiet, dim) | {"missing": Style(strike=True, dim=True)}
    rest = ("name", "folder", "problem", "pin", "good", "add", "del")
    return (
        styles
        | dict.fromkeys(rest, plain)
        | {
            "title-focus": Style(bold=True, reverse=True),
            "caret": Style(reverse=True),
            "match": Style(bold=True, underline=True),
        }
    )


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
