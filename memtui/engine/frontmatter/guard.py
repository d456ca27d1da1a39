"""YAML, behind a guard: a block is walked as a stream of events before anything builds data from it.

Anchors, aliases, tags, merge keys, depth and size are refused on sight, so bombs cost milliseconds and never a crash,
and nothing in a file can be constructed. No other module passes untrusted text to a YAML loader.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import yaml
from frontmatter.default_handlers import YAMLHandler

from memtui.engine.frontmatter import BROKEN, DUPLICATE, EMPTY, LIMIT, OK, OTHER, TOO_BIG, UNSAFE, Value
from memtui.engine.model import Problem

if TYPE_CHECKING:
    from typing import Any

DEPTH = 16
EVENTS = 2_000

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Knows only text, lists and mappings: no tag resolves to anything else."""

_TOO_DEEP = f"The front matter is nested deeper than {DEPTH} levels."

_CODES = {UNSAFE: "E_FRONTMATTER_UNSAFE", TOO_BIG: "E_FRONTMATTER_TOO_BIG"}


class GuardReport(NamedTuple):
    """The guard's findings."""

    status: str
    reason: str
    """For people; empty when all is well."""


class _StopError(Exception):
    """Ends the walk of the guard, with the status and reason of its report."""


class _Frame:
    def __init__(self, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.at_key = is_mapping
        self.keys: set[str] = set()


def read(block: bytes) -> tuple[str, dict[str, Value], Problem | None]:
    """Read a block: its status (as in `FrontMatter`), its fields, and its problem."""
    if len(block) > LIMIT:
        # A bomb is called a bomb, whatever its size; its head is enough to tell.
        seen = survey(block[: LIMIT // 4].decode("utf-8", "ignore"))
        if seen.status != UNSAFE:
            seen = GuardReport(TOO_BIG, f"The front matter is larger than {LIMIT:,} bytes, so it is read as text.")
        return seen.status, {}, _problem(seen)
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        line = block.count(b"\n", 0, error.start) + 2
        seen = GuardReport(BROKEN, f"The front matter is not UTF-8 in line {line}.")
        return BROKEN, {}, _problem(seen)
    seen = survey(text)
    fields: dict[str, Value] = {}
    if seen.status in (OK, DUPLICATE):
        fields = YAMLHandler().load(text, Loader=_LOADER)
    return seen.status, fields, _problem(seen)


def events(text: str) -> Iterator[Any]:
    """Walk a block as YAML events; raises `yaml.YAMLError` on the way. Call `survey` first."""
    walk: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
    return walk


def survey(text: str) -> GuardReport:
    """Walk a block (the text between the fences) without building anything from it; never raises."""
    for index, character in enumerate(text if not text.isprintable() else ""):
        if not character.isprintable() and not _is_yaml(character):
            return GuardReport(
                BROKEN, f"The front matter holds the control character U+{ord(character):04X}{_at(text, index)}"
            )
    walk = _Walk(text)
    try:
        return walk.run()
    except _StopError as stop:
        return GuardReport(*stop.args)
    except yaml.MarkedYAMLError as error:
        if _is_nesting(error):
            return GuardReport(UNSAFE, _TOO_DEEP)
        mark = error.problem_mark or error.context_mark
        where = _at(text, mark.index) if mark else "."
        return GuardReport(BROKEN, f"The front matter is not valid YAML: {error.problem or error.context}{where}")
    except yaml.YAMLError as error:
        return GuardReport(BROKEN, f"The front matter is not valid YAML: {error}")


def _is_nesting(error: yaml.YAMLError) -> bool:
    """Return whether the parser itself refused the depth: libyaml 0.2.6 reads ahead, and stops at 1,000 levels."""
    return isinstance(error, yaml.MarkedYAMLError) and "nesting depth" in (error.problem or "")


def is_too_deep(text: str) -> bool:
    """Return whether a block is nested deeper than `DEPTH`, as far as it can be walked; never raises."""
    depth = 0
    try:
        for event in events(text):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEPTH:
                    return True
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError as error:  # what comes behind is no YAML, and so has no depth
        return _is_nesting(error)
    return False


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.frames: list[_Frame] = []
        self.duplicate = ""
        self.root: Any = None
        self.documents = 0

    def run(self) -> GuardReport:
        for count, event in enumerate(events(self.text)):
            if count >= EVENTS:
                raise _StopError(TOO_BIG, f"The front matter has more than {EVENTS:,} parts, so it is read as text.")
            self._take(event)
        if self.root is None or (isinstance(self.root, yaml.ScalarEvent) and not self.root.value):
            return GuardReport(EMPTY, "The front matter is empty.")
        if not isinstance(self.root, yaml.MappingStartEvent):
            what = "a list" if isinstance(self.root, yaml.SequenceStartEvent) else "text"
            return GuardReport(
                OTHER, f"What stands between the two lines --- is {what}, not fields, so it is read as text."
            )
        if self.duplicate:
            text = f"The front matter has the field {self.duplicate!r} twice; the last one counts."
            return GuardReport(DUPLICATE, text)
        return GuardReport(OK, "")

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1 or event.explicit or event.version or event.tags:
                raise self._stop(event, BROKEN, "holds a YAML directive or a second document")
        elif isinstance(event, yaml.NodeEvent):
            for unsafe, name in (
                (isinstance(event, yaml.AliasEvent), "an alias (*)"),
                (event.anchor is not None, "an anchor (&)"),
                (getattr(event, "tag", None) is not None, "a tag (!)"),
            ):
                if unsafe:
                    raise self._stop(event, UNSAFE, f"uses {name}, which is never followed")
            self.root = event if self.root is None else self.root
            if self.frames and self.frames[-1].at_key:
                self._key(event, self.frames[-1])
            if isinstance(event, yaml.ScalarEvent):
                self._node_ends()
            else:
                self.frames.append(_Frame(isinstance(event, yaml.MappingStartEvent)))
                if len(self.frames) > DEPTH:
                    raise _StopError(UNSAFE, _TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.frames.pop()
            self._node_ends()

    def _stop(self, event: Any, status: str, text: str) -> _StopError:
        return _StopError(status, f"The front matter {text}{_at(self.text, event.start_mark.index)}")

    def _key(self, event: Any, frame: _Frame) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._stop(event, BROKEN, "uses a list or a mapping as the name of a field")
        if event.value == "<<" and not event.style:
            raise self._stop(event, UNSAFE, "uses a merge key (<<), which is never followed")
        if event.value in frame.keys:
            self.duplicate = self.duplicate or event.value
        frame.keys.add(event.value)

    def _node_ends(self) -> None:
        if self.frames and self.frames[-1].is_mapping:
            self.frames[-1].at_key = not self.frames[-1].at_key


def _problem(seen: GuardReport) -> Problem | None:
    if not seen.reason:
        return None
    return Problem(_CODES.get(seen.status, "front-matter"), seen.reason)


def _at(text: str, index: int) -> str:
    """Name the line in the file, whose first line is the opening fence."""
    return f" (line {text.count(chr(10), 0, index) + 2})."


def _is_yaml(character: str) -> bool:
    """Return whether YAML allows an unescaped character that Python does not call printable.

    A byte-order mark is not: the loader would drop it, and every offset behind it would be wrong.
    """
    code = ord(character)
    return character in "\t\n\r\x85" or (0xA0 <= code <= 0xFFFD and code != 0xFEFF) or code > 0xFFFF
