"""The style sheets of the workbench are parsed once in a process: users start one workbench, tests start thousands."""

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules
_parsed: dict[object, list[RuleSet]] = {}


def _parse_once(sheet: Stylesheet, *source: Any, **more: Any) -> list[RuleSet]:
    """Take the rules of a source from the sheet of an earlier workbench with the same variables."""
    key = (source, tuple(more.items()), tuple(sheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, *source, **more)
    return _parsed[key]


def keep() -> None:
    """Have all workbenches that are started in this process share what was parsed; nothing changes a rule."""
    Stylesheet._parse_rules = _parse_once  # type: ignore[assignment, method-assign]
