"""Style names to colours, made once per theme; component classes would slow down the start.

The last check before the terminal: every run is made safe here again, so that no control byte or secret gets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from memtui.safe_text import cell_width, steady, visible
from memtui.ui.draw.text import INKED, Run

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
