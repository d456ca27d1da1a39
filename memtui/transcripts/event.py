"""What is read from a session: events, in the order of the file, without those of turns that were rolled back."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from memtui.mask import mask

USER, AGENT, TOOL = "user", "agent", "tool"
"""Who an event is of: what stands where a person's words do; the agent's answer; a call of a tool."""
SUMMARY = "summary"
"""What stands as the tool of a text that sums up what came before, so that the agent may forget it."""
MAYBE = "maybe user"
"""What a person may have typed: it counts in sessions that never say formally what was typed (`Log.formal`)."""

TEXT = 65_536
"""Characters of a text that are kept."""
FAILURE = 400
"""Characters of what a failed call gave back that are kept."""
_TARGETS = (
    *("file_path", "absolute_path", "filePath", "notebook_path", "path", "dir_path", "paths", "filesRead"),
    *("command", "cmd", "url", "pattern"),
)
"""Arguments of tools that say what a call is about, the most telling first."""
NOTHING: Mapping[str, object] = {}


class SessionEvent(NamedTuple):
    """One thing that happened in a session."""

    uuid: str
    """Of the message, or of the call; a copy of the session in another file has the same."""
    session: str
    at: int
    """Milliseconds since 1970; never after the file was last written."""
    cwd: str
    """The agent's working directory as it says; empty where it does not."""
    role: str
    text: str
    """What was said; of a call that failed, the beginning of what it gave back."""
    tool: str
    """As the agent calls it; empty when only the result of a call is new. Of what stands where a person's words do:
    `SUMMARY`, or nothing."""
    target: str
    """The path, command or address that a call is about, as the agent gave it; several are lines."""
    failed: bool
    """Whether a call failed, or was refused."""
    meta: bool
    """Whether it stands where a person's words do and is none: a summary, a hook's text, a notice."""
    sidechain: bool
    """Whether a subagent did it."""
    file: str
    offset: int
    length: int
    """The line that says so: its bytes in the file."""
    program: bool = False
    """Whether the session answers a program once (`claude -p`, `codex exec`), as far as the format tells."""
    asked: Mapping[str, object] = NOTHING
    """Of a call, the arguments as the agent gave them; only where they are wanted (`Log`)."""
    gave: Mapping[str, object] = NOTHING
    """Of a call that ended, what its result says besides text; only where it is wanted."""

    @property
    def typed(self) -> bool:
        """Whether a person typed it to the agent itself."""
        return self.role == USER and not (self.meta or self.sidechain)


class Log:
    """Collects the events of a file, or of what is new of it.

    A reader tells it of each record where it belongs. Agents keep a session in two ways: as a list, of which the end is
    taken back (`begin`, `roll_back`, `rewind`); or as a tree, in which the next turn grows from an earlier record
    (`node`, `branch`, `seal`).
    """

    def __init__(self, file: str, *, whole: bool, leaf: str = "", latest: int = 0, calls: bool = False) -> None:
        """Begin with nothing, or with the id of the last record of the tree before (`leaf`) where it is not `whole`.

        No event is later than `latest`, when the file was last written. With `calls` they have what a call was asked
        and gave.
        """
        self._calls = calls
        self.session = self.cwd = ""
        self.at = 0
        self.stamp = ""
        self.sidechain = self.program = self.paged = self.formal = False
        self._file, self._whole, self._before, self._latest = file, whole, leaf, latest
        self.line = (0, 0)
        self.forget()

    def forget(self) -> None:
        """Drop all events; what is known of the session stays."""
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
        """Give what was not rolled back, in order."""
        plain = (one._replace(role=USER) if one.role == MAYBE and not self.formal else one for one in self._events)
        return tuple(one for one in plain if one.role != MAYBE)

    def record(self, offset: int, length: int, timestamp: object) -> None:
        """Say which line is read now, and when it says it was written: ISO 8601."""
        self.line, self._leaf_before = (offset, length), self.leaf
        self.stamp = string(timestamp)
        try:
            at = int(datetime.fromisoformat(self.stamp).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            at = 0
        self.at = min(at, self._latest) if at > 0 else self._latest

    @property
    def key(self) -> str:
        """A name for a record that has none."""
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
        """Add an event; one with the same id takes the place of the earlier, but for a call that asks something else.

        See `SessionEvent` for what it has.
        """
        kept = _failure(text) if role == TOOL else text[:TEXT]
        shown, session, cwd, name = map(_clean, (kept, self.session, self.cwd, tool))
        event = SessionEvent(
            *(_clean(uuid), session, self.at, cwd, role, shown, name, _clean(target[:TEXT])),
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
        """Say how a call ended; only of one that failed the text is kept."""
        place = self._places.get(call, -1)
        if 0 <= place < len(self._events) and self._events[place].uuid == call:
            told = _clean(_failure(text)) if failed else ""
            result = gave if self._calls else NOTHING
            self._events[place] = self._events[place]._replace(failed=failed, text=told, gave=result)
        elif failed and call:
            self.add(call, TOOL, text, failed=True)

    def begin(self, key: str) -> None:
        """Begin a turn, or any record that can be gone back to."""
        self._turns.setdefault(key, len(self._events))
        self._anchors[key] = key
        self.leaves.setdefault(self.line[0], self._leaf_before)

    def roll_back(self, turns: int) -> None:
        """Take back the last turns."""
        self.reaches_back |= turns > len(self._turns) and not self._whole
        for _ in range(min(turns, len(self._turns))):
            self._drop()

    def rewind(self, key: str) -> None:
        """Take back a record and all behind it; everything, where it is not known."""
        known = key in self._turns
        self.reaches_back |= not known and not self._whole
        while self._turns and (not known or key in self._turns):
            self._drop()

    def node(self, uuid: str, parent: str) -> None:
        """Put a record into the tree; one that grows from a line that could not be read belongs to the last turn."""
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
        """Go on from a record of the tree: turns that it does not grow from are rolled back."""
        anchor = self._anchors.get(uuid)
        self.reaches_back |= anchor is None and not self._whole
        if not anchor or anchor in self._turns:
            while self._turns and next(reversed(self._turns)) != anchor:
                self._drop()

    def seal(self, uuid: str) -> None:
        """Begin the tree anew at a record, as a session does that was compacted: what was before stays."""
        self._turns.clear()
        self._anchors[uuid] = ""

    def _drop(self) -> None:
        _, start = self._turns.popitem()
        del self._events[start:]


def _asks(event: SessionEvent) -> tuple[str, str, str, Mapping[str, object]]:
    """What makes a call another one, where a session gives two of them one id."""
    return (TOOL, event.tool, event.target, event.asked) if event.role == TOOL else (event.role, "", "", NOTHING)


class Reader(NamedTuple):
    """How the lines of one agent are read."""

    read: Callable[[Log, dict[str, object]], bool]
    """Adds what a record says; False when it does not know such records. It must take any object."""
    version: int
    """Rises when it reads more from the same lines: files are then read from 0."""


def parsed(text: str) -> object:
    """Read JSON; half of a pair of UTF-16, which an escape can write and UTF-8 cannot, becomes a question mark.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    found: object = json.loads(text)
    if "\\ud" in text or "\\uD" in text:
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    return found


def string(value: object) -> str:
    """Give a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """Give an object of JSON; empty for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    """Give a list; empty for anything else."""
    return value if isinstance(value, list) else []


def words(content: object) -> str:
    """Give the text of a message: a text, or its parts that have one; thoughts, calls and pictures have none."""
    parts = content if isinstance(content, list) else [content]
    plain = (
        part if isinstance(part, str) else "" if mapping(part).get("thought") else mapping(part).get("text")
        for part in parts
    )
    return "\n".join(text for text in map(string, plain) if text)


def target_of(arguments: object) -> str:
    """Give the path, command or address that a call of a tool is about."""
    for name in _TARGETS:
        value = mapping(arguments).get(name)
        text = "\n".join(filter(None, map(string, value))) if isinstance(value, list) else string(value)
        if text:
            return text
    return ""


def _failure(text: str) -> str:
    """The beginning of what a failed call gave back, without secrets: the end may lie in one."""
    return mask(text[:TEXT]).text[:FAILURE]


def _clean(text: str) -> str:
    """Give a text that has a UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
