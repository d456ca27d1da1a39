"""What tool calls did to which files and what they read from outside, as far as their arguments tell.

Tool names are those of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and Qwen Code 0.24.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from memtui.transcripts.event import SessionEvent, as_list, as_mapping, as_string

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
    """Return what a call read from outside: `web: pkgs.example`, `mcp: github`, `file: outside`, or nothing.

    `inside` tells whether an absolute path outside the working directory is the agent's own.
    """
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
