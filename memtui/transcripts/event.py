"""Events of a session in file order, without rolled back turns, and what their calls did, as far as arguments tell.

Tool names are those of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and Qwen Code 0.24.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

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


# --- what calls did

OPENED, SEARCHED, LOADED = "opened", "searched", "loaded"
WROTE, CREATED, DELETED = "wrote", "created", "deleted"
KINDS = (OPENED, SEARCHED, LOADED, WROTE, CREATED, DELETED)
WRITES = (WROTE, CREATED, DELETED)

_READING = {"read", "read_file", "read_many_files", "view", "view_file", "at_command", "notebookread"}
_LOADING = {"nested_memory", "instructions"}
_SEARCHING = {
    *("grep", "glob", "ls", "grep_search", "search_file_content", "list_directory", "grep_files", "list_dir"),
}
_WRITING = {"write", "edit", "multiedit", "write_file", "edit_file", "replace", "apply_patch"}
_SHELL = {
    *("bash", "shell", "local_shell", "local_shell_call", "exec_command", "run_shell_command", "shell_command"),
    *("container.exec", "exec"),
}
_WEB = {"webfetch", "websearch", "web_fetch", "web_search", "google_web_search"}
_SHOWS = {"cat", "sed", "head", "tail", "nl", "bat", "less", "more", "tac", "awk", "wc"}
_FINDS = {"rg", "grep", "ls", "find", "fd", "tree", "stat"}
_PUTS = {"tee", "cp", "mv", "touch", "install"}
_MCP = re.compile(r"mcp(?:__(.{1,64}?)__|_([A-Za-z0-9-]{1,64}+))")
_URL = re.compile(r"https?://[^\s\"'<>|;)]{1,2000}+")
_PATCHED = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)|\*\*\* Move to: (.+)")
_PATH, _COMMAND, _HOST = 4_096, 65_536, 80
_TEXT = 16 * 1_048_576
"""Characters of the largest edited text."""
_OURS = "memtui"


class FileTouch(NamedTuple):
    """An effect of a call on a file."""

    kind: str
    path: str
    text: str | None = None
    """Whole content afterwards, if the call tells."""
    edits: tuple[tuple[str, str, bool], ...] = ()
    """Replacements: old text, new text, and whether all occurrences."""
    added: tuple[str, ...] = ()


def touched(event: SessionEvent, home: str) -> Iterator[FileTouch]:
    """Yield what a successful call did to files; `home` is what `~` means."""
    name = event.tool.lower()
    if event.failed or not name:
        return
    if name in _SHELL:
        yield from _commanded(command_of(event), event.cwd, home)
    elif name in _WRITING:
        yield from _written(event, home)
    else:
        kinds = ((OPENED, _READING), (LOADED, _LOADING), (SEARCHED, _SEARCHING))
        for kind in (kind for kind, names in kinds if name in names):
            for target in event.target.splitlines():
                if path := resolved(target, event.cwd, home):
                    yield FileTouch(kind, path)


def taint(event: SessionEvent, home: str, inside: Callable[[str], bool]) -> str:
    """Return what a call read from outside: `web: pkgs.example`, `mcp: github`, `file: outside`, or nothing."""
    name = event.tool.lower()
    if event.failed or not name:
        return ""
    if name in _WEB:
        return _web(as_string(event.asked.get("url")) or event.target or as_string(event.asked.get("prompt")))
    if name in _SHELL and (found := _URL.search(command_of(event))):
        return _web(found[0])
    server = _MCP.match(event.tool)
    called = server[1] or server[2] if server else name.partition(".")[0] if "." in name and name not in _SHELL else ""
    if called and called != _OURS:
        return f"mcp: {called[:_HOST]}"
    for one in touched(event, home):
        below = f"{one.path}/".startswith(event.cwd.rstrip("/") + "/")
        if event.cwd and one.kind == OPENED and not below and not inside(one.path):
            return "file: outside"
    return ""


def _web(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return f"web: {host[:_HOST] or 'search'}"


def resolved(path: str, cwd: str, home: str) -> str:
    """Return an absolute path as text; empty when it is unknown."""
    if path.startswith("~/") and home:
        path = home + path[1:]
    if not path or "\0" in path or len(path) > _PATH or not os.path.isabs(path if path[0] == "/" else cwd):
        return ""
    return os.path.normpath(os.path.join(cwd, path))


def after(text: str, edits: Sequence[tuple[str, str, bool]]) -> str | None:
    """Apply edits to a text; None when one does not fit or the result is too large."""
    for old, new, everywhere in edits:
        many = text.count(old) if old and everywhere else 1
        if not old or old not in text or len(text) + many * len(new) > _TEXT:
            return None
        text = text.replace(old, new) if everywhere else text.replace(old, new, 1)
    return text


def _written(event: SessionEvent, home: str) -> Iterator[FileTouch]:
    if event.asked.get("patch") is not None or event.asked.get("changes") is not None:
        yield from _patched(as_string(event.asked.get("patch")), event.cwd, home)
        yield from _changed(as_mapping(event.asked.get("changes")), event.cwd, home)
        return
    path = resolved(event.target.partition("\n")[0], event.cwd, home)
    if not path:
        return
    asked, gave = event.asked, event.gave
    content = asked.get("content")
    if isinstance(content, str):
        is_new = gave.get("type") == "create" or gave.get("originalContent", "") is None
        text = None if is_changed_by_user(event) else content
        yield FileTouch(CREATED if is_new else WROTE, path, text, added=tuple(content.splitlines()))
        return
    each = [as_mapping(one) for one in as_list(asked.get("edits"))] or [asked]
    edits = tuple(
        (as_string(one.get("old_string")), as_string(one.get("new_string")), one.get("replace_all") is True)
        for one in each
    )
    before, whole = gave.get("originalFile"), gave.get("newContent")
    text = whole if isinstance(whole, str) else after(before, edits) if isinstance(before, str) else None
    if not edits[0][0]:
        text = edits[0][1]
    added = tuple("\n".join(new for _, new, _ in edits).splitlines())
    if is_changed_by_user(event):
        yield FileTouch(WROTE, path, added=added)
    else:
        yield FileTouch(WROTE, path, text, edits, added)


def command_of(event: SessionEvent) -> str:
    """Return the shell command of a call; empty for other tools."""
    if event.tool.lower() not in _SHELL:
        return ""
    for name in ("command", "cmd"):
        value = event.asked.get(name)
        if isinstance(value, list):
            words = [as_string(one) for one in value]
            return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)
        if isinstance(value, str):
            return value
    return event.target


def only_reads(event: SessionEvent) -> bool:
    """Whether a call only looked at something, so that its failure says little."""
    words = command_of(event).split(maxsplit=1)
    looks = bool(words) and os.path.basename(words[0]) in _SHOWS | _FINDS
    return looks or event.tool.lower() in _READING | _SEARCHING | _LOADING | _WEB


def is_changed_by_user(event: SessionEvent) -> bool:
    """Whether a person changed the text of a call before it was written."""
    return event.gave.get("userModified") is True or event.asked.get("modified_by_user") is True


def _patched(patch: str, cwd: str, home: str) -> Iterator[FileTouch]:
    kind, path, added, after_path = "", "", list[str](), ""
    for line in (*patch.splitlines(), "*** End Patch"):
        head = _PATCHED.fullmatch(line.rstrip())
        if head is not None and head[3]:
            after_path = head[3]
        elif line.startswith("***") and line.rstrip() != "*** End of File":
            yield from _section(kind, path, after_path, added, cwd, home)
            kind, path, added, after_path = (head[1], head[2], [], "") if head is not None else ("", "", [], "")
        elif line.startswith("+"):
            added.append(line[1:])


def _section(kind: str, path: str, new_path: str, added: list[str], cwd: str, home: str) -> Iterator[FileTouch]:
    where, moved = resolved(path, cwd, home), resolved(new_path, cwd, home)
    if not where:
        return
    if kind == "Delete" or moved:
        yield FileTouch(DELETED, where)
    if kind == "Add":
        yield FileTouch(CREATED, where, "".join(f"{line}\n" for line in added), added=tuple(added))
    elif kind == "Update":
        yield FileTouch(CREATED if moved else WROTE, moved or where, added=tuple(added))


def _changed(changes: Mapping[str, object], cwd: str, home: str) -> Iterator[FileTouch]:
    for name, said in changes.items():
        change, path = as_mapping(said), resolved(name, cwd, home)
        kind = as_string(change.get("type")) or next(iter(change), "")
        inner = change if change.get("type") else as_mapping(change.get(kind))
        content, diff = inner.get("content"), as_string(inner.get("unified_diff"))
        if not path:
            continue
        if kind == "add" and isinstance(content, str):
            yield FileTouch(CREATED, path, content, added=tuple(content.splitlines()))
        elif kind == "delete":
            yield FileTouch(DELETED, path)
        else:
            put = tuple(line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++"))
            moved = resolved(as_string(inner.get("move_path")), cwd, home)
            if moved:
                yield FileTouch(DELETED, path)
            yield FileTouch(CREATED if moved else WROTE, moved or path, added=put)


def _commanded(command: str, cwd: str, home: str) -> Iterator[FileTouch]:
    if "*** Begin Patch" in command:
        yield from _patched(command[command.index("*** Begin Patch") :], cwd, home)
        return
    lexer = shlex.shlex(command[:_COMMAND].replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return
    part: list[str] = []
    for word in (*words, ";"):
        if word and not word.strip(";|&()"):
            if part[:1] == ["cd"] and len(part) == 2:
                cwd = resolved(part[1], cwd, home) or cwd
            yield from _simple(part, cwd, home)
            part = []
        else:
            part.append(word)


def _simple(part: list[str], cwd: str, home: str) -> Iterator[FileTouch]:
    name = os.path.basename(part[0]) if part else ""
    inputs: list[str] = []
    redirected = ""
    for word in part[1:]:
        if word.strip("<>") == "" and word:
            redirected = word
        elif redirected:
            path = resolved(word, cwd, home)
            if path and redirected in (">", ">>"):
                yield FileTouch(WROTE, path)
            redirected = ""
        elif not word.startswith("-"):
            inputs.append(word)
    in_place = name == "sed" and any(word.startswith("-i") for word in part)
    kind = next((kind for kind, names in ((OPENED, _SHOWS), (SEARCHED, _FINDS), (WROTE, _PUTS)) if name in names), "")
    kind = WROTE if in_place else DELETED if name in ("rm", "unlink") else kind
    for place, word in enumerate(inputs):
        path = resolved(word, cwd, home) if kind else ""
        if not path:
            continue
        if name in ("cp", "mv", "install") and place < len(inputs) - 1:
            yield FileTouch(DELETED if name == "mv" else OPENED, path)
        else:
            yield FileTouch(kind, path)
