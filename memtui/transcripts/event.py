"""Events of a session in file order, without rolled back turns."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from memtui.mask import mask

USER, AGENT, TOOL = "user", "agent", "tool"
"""Roles: user messages, the agent's answers, tool calls."""
SUMMARY = "summary"
"""Tool name of a summary that replaces earlier context."""
MAYBE = "maybe user"
"""Role of a possible user message, which counts when the session has no formal ones (`Log.formal`)."""

MAX_TEXT = 65_536
MAX_FAILURE = 400
_TARGETS = (
    *("file_path", "absolute_path", "filePath", "notebook_path", "path", "dir_path", "paths", "filesRead"),
    *("command", "cmd", "url", "pattern"),
)
"""Arguments that tell what a call is about, by preference."""
NOTHING: Mapping[str, object] = {}


class SessionEvent(NamedTuple):
    """An event of a session."""

    uuid: str
    """Of the message or call; equal in copies of the session."""
    session: str
    at: int
    """Milliseconds since 1970, at most the file's modification time."""
    cwd: str
    role: str
    text: str
    """The message; of a failed call, the beginning of its output."""
    tool: str
    """The agent's name of the tool; of a user message `SUMMARY` or empty."""
    target: str
    """Path, command or address of a call as given; several are lines."""
    failed: bool
    meta: bool
    """Whether it is in the user's role without being typed: a summary, hook text, notice."""
    sidechain: bool
    file: str
    offset: int
    length: int
    """Bytes of its line in the file."""
    program: bool = False
    """Whether the session answers a program (`claude -p`, `codex exec`), as far as the format tells."""
    asked: Mapping[str, object] = NOTHING
    """Arguments of a call; only when requested (`Log`)."""
    gave: Mapping[str, object] = NOTHING
    """Result of a call besides text; only when requested."""

    @property
    def typed(self) -> bool:
        """Whether it is in the main conversation and not meta."""
        return self.role == USER and not (self.meta or self.sidechain)


class Log:
    """Collects the events of a file, or of its new part.

    Sessions are lists whose end is taken back (`begin`, `roll_back`, `rewind`) or trees that continue from an earlier
    record (`node`, `branch`, `seal`).
    """

    def __init__(self, file: str, *, whole: bool, leaf: str = "", latest: int = 0, calls: bool = False) -> None:
        """Start empty; `leaf` is the last tree record read before; with `calls` events have their arguments."""
        self._calls = calls
        self.session = self.cwd = ""
        self.at = 0
        self.stamp = ""
        self.sidechain = self.program = self.paged = self.formal = False
        self._file, self._whole, self._before, self._latest = file, whole, leaf, latest
        self.line = (0, 0)
        self.forget()

    def forget(self) -> None:
        """Drop all events, but keep what is known of the session."""
        self.leaf = self._leaf_before = self._before
        self.leaves: dict[int, str] = {}
        """The last record of the tree before each line that begins a turn, by its offset."""
        self.reaches_back = False
        """Whether something was rolled back that is before what is read here."""
        self._events: list[SessionEvent] = []
        self._places: dict[str, int] = {}
        self._turns: dict[str, int] = {}
        self._anchors: dict[str, str | None] = {}

    def events(self) -> tuple[SessionEvent, ...]:
        """Return the events that were not rolled back, in order."""
        plain = (one._replace(role=USER) if one.role == MAYBE and not self.formal else one for one in self._events)
        return tuple(one for one in plain if one.role != MAYBE)

    def record(self, offset: int, length: int, timestamp: object) -> None:
        """Start a line, with its ISO 8601 timestamp."""
        self.line, self._leaf_before = (offset, length), self.leaf
        self.stamp = as_string(timestamp)
        try:
            at = int(datetime.fromisoformat(self.stamp).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            at = 0
        self.at = min(at, self._latest) if at > 0 else self._latest

    @property
    def key(self) -> str:
        """Fallback id of the current record."""
        return f"{self.session}:{self.line[0]}"

    def add(
        self,
        uuid: str,
        role: str,
        text: str = "",
        *,
        tool: str = "",
        target: str = "",
        failed: bool = False,
        meta: bool = False,
        asked: Mapping[str, object] = NOTHING,
        gave: Mapping[str, object] = NOTHING,
    ) -> None:
        """Add an event, replacing one with the same id unless that is another call."""
        kept = _failure(text) if role == TOOL else text[:MAX_TEXT]
        shown, session, cwd, name = map(_clean, (kept, self.session, self.cwd, tool))
        event = SessionEvent(
            *(_clean(uuid), session, self.at, cwd, role, shown, name, _clean(target[:MAX_TEXT])),
            *(failed, meta, self.sidechain, self._file, *self.line, self.program),
            *((asked, gave) if self._calls else ()),
        )
        place = self._places.get(uuid, len(self._events))
        known = self._events[place] if place < len(self._events) else None
        if known is not None and known.uuid == event.uuid and _asks(known) == _asks(event):
            self._events[place] = event
        else:
            self._places[uuid] = len(self._events)
            self._events.append(event)

    def result(self, call: str, text: str, *, failed: bool, gave: Mapping[str, object] = NOTHING) -> None:
        """Record how a call ended; text is kept only of a failure."""
        place = self._places.get(call, -1)
        if 0 <= place < len(self._events) and self._events[place].uuid == call:
            output = _clean(_failure(text)) if failed else ""
            result = gave if self._calls else NOTHING
            self._events[place] = self._events[place]._replace(failed=failed, text=output, gave=result)
        elif failed and call:
            self.add(call, TOOL, text, failed=True)

    def begin(self, key: str) -> None:
        """Begin a turn, or another record that can be returned to."""
        self._turns.setdefault(key, len(self._events))
        self._anchors[key] = key
        self.leaves.setdefault(self.line[0], self._leaf_before)

    def roll_back(self, turns: int) -> None:
        """Remove the last turns."""
        self.reaches_back |= turns > len(self._turns) and not self._whole
        for _ in range(min(turns, len(self._turns))):
            self._drop()

    def rewind(self, key: str) -> None:
        """Remove a record and all after it; everything when it is unknown."""
        known = key in self._turns
        self.reaches_back |= not known and not self._whole
        while self._turns and (not known or key in self._turns):
            self._drop()

    def node(self, uuid: str, parent: str) -> None:
        """Add a record to the tree; one with an unreadable parent belongs to the last turn."""
        anchor: str | None = ""
        if parent in self._anchors:
            anchor = self._anchors[parent]
        elif parent and self._whole:
            anchor = next(reversed(self._turns), "")
        elif not self._whole and (not parent or parent != self._before):
            anchor = None
        self._anchors[uuid] = anchor
        self.leaf = uuid

    def branch(self, uuid: str) -> None:
        """Continue from a record; turns that do not lead to it are removed."""
        anchor = self._anchors.get(uuid)
        self.reaches_back |= anchor is None and not self._whole
        if not anchor or anchor in self._turns:
            while self._turns and next(reversed(self._turns)) != anchor:
                self._drop()

    def seal(self, uuid: str) -> None:
        """Restart the tree at a record, as compaction does; earlier events stay."""
        self._turns.clear()
        self._anchors[uuid] = ""

    def _drop(self) -> None:
        _, start = self._turns.popitem()
        del self._events[start:]


def _asks(event: SessionEvent) -> tuple[str, str, str, Mapping[str, object]]:
    return (TOOL, event.tool, event.target, event.asked) if event.role == TOOL else (event.role, "", "", NOTHING)


class Reader(NamedTuple):
    """Parser of one agent's lines."""

    read: Callable[[Log, dict[str, object]], bool]
    """Adds any record; returns False for an unknown one."""
    version: int
    """Raised when it reads more; files are then read again."""


def parsed(text: str) -> object:
    """Parse JSON, replacing lone surrogates; raises ValueError or RecursionError."""
    found: object = json.loads(text)
    if "\\ud" in text or "\\uD" in text:
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    return found


def as_string(value: object) -> str:
    """Return a string, or empty for anything else."""
    return value if isinstance(value, str) else ""


def as_mapping(value: object) -> Mapping[str, object]:
    """Return an object, or empty for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a list, or empty for anything else."""
    return value if isinstance(value, list) else []


def message_text(content: object) -> str:
    """Return the text of a message, without thoughts, calls and pictures."""
    parts = content if isinstance(content, list) else [content]
    plain = (
        part if isinstance(part, str) else "" if as_mapping(part).get("thought") else as_mapping(part).get("text")
        for part in parts
    )
    return "\n".join(text for text in map(as_string, plain) if text)


def target_of(arguments: object) -> str:
    """Return the path, command or address of a call's arguments."""
    for name in _TARGETS:
        value = as_mapping(arguments).get(name)
        text = "\n".join(filter(None, map(as_string, value))) if isinstance(value, list) else as_string(value)
        if text:
            return text
    return ""


def _failure(text: str) -> str:
    """Truncate a failed call's output after masking it, because a secret may lie at the cut."""
    return mask(text[:MAX_TEXT]).text[:MAX_FAILURE]


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
